"""Results: what the pages show, computed from the evaluation by the calls that the commands make.

    finding       a study as its page shows it: parts of long tables, pictures; tables as CSV
    choices       what an evaluation offers to choose from
    jobs          the process that computes, its queue, and the results so far
    publishing    what readers see: kept as it was when it was published
    saving        a figure as a file: SVG, PNG, PDF, CSV
    views         the register: one record per page
    permission    whether anything may be computed while work is open
    present       a page: found, being computed, or the reason why not

Everything above `publishing` knows nothing of requests and of who is asking.
"""
