"""Who judges what, and how far they are.

assignments    a question, a set, an assessor      spreading    who gets which question
progress       sums for the organiser              counting     how much of an item is judged
gate           what is not complete
"""
