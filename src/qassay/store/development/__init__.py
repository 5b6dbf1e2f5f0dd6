"""Question development: drafts, answers noted while searching, and the test set that is published.

drafts      questions that no run has been asked    ordering    their order
answers     what is known of a question             publishing  drafts into the test set
questions   the test set
"""
