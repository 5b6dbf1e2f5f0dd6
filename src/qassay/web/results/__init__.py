"""Results: what the pages show, computed from the evaluation by the calls that the commands make.

    choices       key, measure and rules, from lists of what there is
    finding       what a study found: a document, tables, a sentence
    request       what is asked of an evaluation, and the reply
    verdicts      what a judgment set says of responses, in words
    studies       leaderboard, spread, agreement, stability, sensitivity, compare
    units         the score matrix, a window at a time
    one_run, one_question     answer by answer
    compute       from a request to its finding
    csv_tables    tables as CSV
    worker        the process that computes
    jobs          its queue, and what it found before
    publishing    what readers see: kept as it was when it was published
    parameters    what an address may say
    views         the pages there are, and what each asks
    contexts      what templates and JSON twins get
    present       a page: found, being computed, or the reason why not

Everything above `publishing` knows nothing of requests and of who is asking.
"""
