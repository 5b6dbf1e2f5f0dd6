"""Results: what the pages show, computed from the evaluation by the calls that the commands make.

choices      key, measure and rules, from allow-lists
finding      what a study found: a document, tables, a sentence
studies      one function a page: leaderboard, units, agreement, stability, sensitivity, compare, run, question
verdicts     what a judgment set says of responses, in words
responses    the studies of one run and of one question
gate         what is still open, and so cannot be scored
laboratory   the process that computes, its queue, and what it found before
publishing   what readers see: kept as it was when it was published
sheets       tables as CSV
"""
