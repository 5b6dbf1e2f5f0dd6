"""Reading and writing files: `read_*` and `write_*`, one file per family of formats.

Everything that comes in is untrusted: an error names file, line and rule, and all errors of a file are reported
at once. Files are replaced whole, so that nothing is ever half written.
"""
