"""Question development: drafts, answers noted while searching, and the test set that is published."""
