"""Who judges what, and how far they are.

assignments    a question, a set, an assessor; who gets which question
progress       how far assessors and questions are; what is not complete
counting       how much of an item is judged
"""
