"""Scores of an automatic judge, corrected by people."""
