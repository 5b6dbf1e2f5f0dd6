"""The evaluation folder into the store, and the store as a folder.

incoming      files read and checked            intake      what they hold, taken into the store, all or nothing
differences   files that say something else     taking      kind by kind
snapshot      the store written out, to be read like any folder
"""
