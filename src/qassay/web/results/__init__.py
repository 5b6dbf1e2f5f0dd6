"""Results: what the pages show, computed from the evaluation by the calls that the commands make.

    finding       what may be asked of a study, and what it finds; tables as CSV
    studies       pages of organisations
    units         every run on every unit or question
    answers       one run or one question, answer by answer, with what judgment sets say
    jobs          the process that computes, its queue, and the results so far
    publishing    what readers see: kept as it was when it was published
    saving        a figure as a file: SVG, PNG, PDF, CSV
    views         the register: one record per page
    present       a page: found, being computed, or the reason why not

Everything above `publishing` knows nothing of requests and of who is asking.
"""
