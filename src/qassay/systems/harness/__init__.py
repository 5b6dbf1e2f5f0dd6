"""The harness: any system, driven over the questions of an evaluation, and its run written and checked.

opening.open_system     what the user names ──> UnderTest
driving.drive           questions, one at a time, a series in order ──> answers, each in the Log
writing.plan_run        answers ──> a checked run

callers and http put a question to a function, a command or an address, here or on a cluster, as wire writes it; worker
is the other end of a Python function. log has one line per call.
"""
