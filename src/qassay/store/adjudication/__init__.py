"""Where assessors disagree (METHOD 4): the rules are `qassay.judging.settling`; here its rows are read and written.

settling     what all agree on is adjudicated by rule, and how much is left
rulings      what is left for a person, and what the person decided
own_lists    lists of nuggets side by side, and one of them adopted
"""
