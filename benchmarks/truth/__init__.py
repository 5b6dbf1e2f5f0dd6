"""How often what people read is true: promises, the populations on which they are tried, and what was observed.

promises     what a promise is, and what became of it
populations  systems and questions whose true scores are known
judged       judgments whose errors are known
pairs        the promises about two systems
scores       the promises about the scores of several
judges       the promises about judgments
running      runs them, and keeps the result

Another promise is another entry in `PAIRS`, `SCORES` or `JUDGES`. What is measured is what people read: the results of
the public functions.
"""
