"""The other end of `module:callable`: a Python system as a command, in a process of its own.

There the harness can end it when it hangs, and nothing that the harness knows is within its reach. The callable takes
an Asked and returns an Answer, or the JSON object of one as a dictionary; spelled with brackets it is called once, as
`make(collection, **parameters)`, and what it returns is the system.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from qassay.errors import QassayError, UsageError
from qassay.questions import Question
from qassay.spelling import Spelled, arguments
from qassay.systems import Answer, Asked, load, spelled
from qassay.systems.harness.wire import answer_row, from_row


def main(spelling: str, folder: str) -> None:
    """Answer the questions on standard input until it ends."""
    sys.path.insert(0, str(Path.cwd()))
    # Output that the system prints is not an answer: only this file writes to the real standard output.
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        system = make(spelled(spelling), folder)
    except QassayError as error:
        sys.exit(str(error))
    for line in sys.stdin.buffer:
        asked = read_request(line)
        answer = system(asked)
        row = answer if isinstance(answer, dict) else answer_row(answer) if isinstance(answer, Answer) else None
        if row is None:
            sys.exit(f"{spelling} returned {type(answer).__name__}; a system returns an Answer or a dictionary")
        out.write(msgspec.json.encode(row) + b"\n")
        out.flush()


def make(parsed: Spelled, folder: str) -> Any:
    """The callable itself, or what it makes of the collection where it is spelled with brackets."""
    factory = load(parsed.name)
    if not callable(factory):
        raise UsageError(f"{parsed.name} is {type(factory).__name__}, which cannot be called")
    if not parsed.called:
        return factory
    collection = None
    if folder:
        from qassay.collections import open_collection

        collection = open_collection(Path(folder))
    system = factory(collection, **arguments(parsed, factory))
    if not callable(system):
        raise UsageError(f"{parsed.name} made {type(system).__name__}, which cannot be called")
    return system


def read_request(line: bytes) -> Asked:
    """The question and history of one line."""
    row = msgspec.json.decode(line)
    history = []
    for past in row["history"]:
        question = Question(**past["question"])
        history.append((question, from_row(past["answer"], question)))
    return Asked(Question(**row["question"]), tuple(history))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
