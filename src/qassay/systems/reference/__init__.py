"""Reference systems: real, small, and each explained at the head of the file it is in. (METHOD 8)

They give an evaluation something to score from the first minute, and a floor to compare one's own system with. Here is
`series`: one system for whole series, which hands every question to the system for its type.

    question ──> factoid ──> factoid(...)
             ├─> list ─────> list(...)
             └─> other, definition ──> definition(...) or sentence-baseline(...)
"""

from __future__ import annotations

from qassay.systems import Answer, Asked, Documents, System, make_reference, nothing


def series(
    collection: Documents,
    *,
    factoid: str = "factoid",
    list: str = "list",  # noqa: A002  # the name of the question type
    other: str = "definition",
    definition: str = "definition",
) -> System:
    """Make the system.

    Parameters: the system for each type of question, spelled as on the command line, for example
    `other=sentence-baseline` or `factoid=factoid(threshold=0.3)`.
    """
    parts = {
        "factoid": make_reference(factoid, collection),
        "list": make_reference(list, collection),
        "other": make_reference(other, collection),
        "definition": make_reference(definition, collection),
    }

    def answer(asked: Asked) -> Answer:
        part = parts.get(asked.question.type)
        return part(asked) if part else nothing(asked.question)

    return answer
