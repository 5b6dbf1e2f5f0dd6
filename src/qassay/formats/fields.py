"""The names that people give to the fields of their tables and logs, one list per meaning, the likeliest first.

Every reader takes them from here: answers, judgments, tables of scores, logs of other tools. (FORMATS 7)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable

QUESTION_ID = ("question_id", "qid", "query_id", "sample_id", "id")
# What is asked, as a text.
QUESTION = ("question", "query", "user_input", "input", "prompt")
ANSWER = ("answer", "response", "output", "prediction", "actual_output", "actualOutput")
GOLD = ("gold", "golds", "reference", "ground_truth", "expected_output", "expectedOutput", "target", "answers")
CONTEXTS = ("contexts", "retrieved_contexts", "context", "documents", "passages")
SYSTEM = ("system", "run", "model", "experiment", "provider")
JUDGMENT = ("judgment", "label", "verdict", "grade")
ASSESSOR = ("assessor", "annotator", "judge", "annotator_id", "worker", "worker_id")
SCORE = ("score", "value", "correct")
REPEAT = ("epoch", "repeat", "seed", "trial", "run_index")
METRIC = ("metric", "measure", "scorer")
# What scores may be averaged over, where no column has ids of questions.
UNIT = ("item", "unit", "topic", "series", "doc_id")
CONTEXT_TEXT = ("text", "page_content", "content")
CONTEXT_DOC = ("doc", "id", "doc_id", "source")

_BLANKS = re.compile(r"[\s-]+")
# Names are alike from this share of equal characters on.
_ALIKE = 0.75


def plain_name(key: str) -> str:
    """A key as it is compared: case, and blanks or hyphens for underscores, do not count.

    >>> plain_name("Ground truth"), plain_name("actualOutput")
    ('ground_truth', 'actualoutput')
    """
    return _BLANKS.sub("_", key.strip().lower())


def resembled(key: str, known: Collection[str], other_names: Iterable[Collection[str]] = ()) -> str | None:
    """The known field that an unknown one is likely meant to be: by its spelling, or as another name of it.

    `other_names` are groups of names with one meaning.

    >>> resembled("item", ["items", "nil"]), resembled("answers", ["items"], [("items", "answers")])
    ('items', 'items')
    >>> resembled("latency_ms", ["items", "nil"])
    """
    plain = {plain_name(name): name for name in known}
    name = plain_name(key)
    if name in plain:
        return plain[name]
    for group in other_names:
        names = {plain_name(each) for each in group}
        if {name, name.removesuffix("s"), f"{name}s"} & names and (meant := names & plain.keys()):
            return plain[min(meant)]
    close = difflib.get_close_matches(name, plain, 1, _ALIKE)
    return plain[close[0]] if close else None
