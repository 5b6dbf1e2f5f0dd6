"""The names that people give to the fields of their tables and logs, one list per meaning, the likeliest first.

Every reader takes them from here: answers, judgments, tables of scores, logs of other tools. (FORMATS 7)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

QUESTION_ID = ("question_id", "qid", "query_id", "sample_id", "id")
# What is asked, as a text.
QUESTION = ("question", "query", "user_input", "input", "prompt", "frage")
ANSWER = ("answer", "response", "output", "prediction", "actual_output", "actualOutput", "antwort")
GOLD = ("gold", "golds", "reference", "ground_truth", "expected_output", "expectedOutput", "target", "answers")
CONTEXTS = ("contexts", "retrieved_contexts", "context", "documents", "passages")
SYSTEM = ("system", "run", "model", "experiment", "provider", "modell")
JUDGMENT = ("judgment", "label", "verdict", "grade", "bewertung")
ASSESSOR = ("assessor", "annotator", "judge", "annotator_id", "worker", "worker_id")
SCORE = ("score", "value", "correct", "wert")
REPEAT = ("epoch", "repeat", "seed", "trial", "run_index")
METRIC = ("metric", "measure", "scorer")
# What scores may be averaged over, where no column has ids of questions.
UNIT = ("item", "unit", "topic", "series", "doc_id")
# Names in German: tables with one of them may say WAHR and FALSCH.
GERMAN = frozenset({"frage", "antwort", "modell", "bewertung", "wert", "nummer", "mittelwert"})
CONTEXT_TEXT = ("text", "page_content", "content")
CONTEXT_DOC = ("doc", "id", "doc_id", "source")

# Rows of an evaluation: what they are, their keys, and keys of which they have one or more.
_OWN_ROWS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    ("questions", frozenset({"id", "type", "text"}), frozenset()),
    ("judgments", frozenset({"question", "judgment"}), frozenset()),
    ("a run", frozenset({"run", "question"}), frozenset({"items", "nil", "decision"})),
    ("a nugget list", frozenset({"question", "nugget", "vital"}), frozenset()),
)
_BLANKS = re.compile(r"[\s-]+")
# Names are alike from this share of equal characters on; short ones never.
_ALIKE = 0.8
_SHORT = 4


def plain_name(key: str) -> str:
    """A key as it is compared: case, and blanks or hyphens for underscores, do not count.

    >>> plain_name("Ground truth"), plain_name("actualOutput")
    ('ground_truth', 'actualoutput')
    """
    return _BLANKS.sub("_", key.strip().lower())


def own_rows(names: Iterable[str]) -> str | None:
    """What rows with these keys are, where they are part of an evaluation and never scores.

    >>> own_rows(["run", "question", "items"]), own_rows(["run", "question", "score"])
    ('a run', None)
    """
    keys = set(names)
    for contents, needed, one_of in _OWN_ROWS:
        if needed <= keys and (not one_of or one_of & keys):
            return contents
    return None


def resembled(key: str, known: Mapping[str, Iterable[str]]) -> str | None:
    """The field that a key is likely meant to be, by its spelling, its plural, or another name of the field.

    `known` has the other names of each field.

    >>> known = {"items": ("answer", "output"), "nil": ()}
    >>> resembled("item", known), resembled("answers", known), resembled("anwser", known), resembled("cost", known)
    ('items', 'items', 'items', None)
    """
    names = {plain_name(name): field for field, others in known.items() for name in (field, *others)}
    name = plain_name(key)
    for spelling in (name, name.removesuffix("s"), f"{name}s"):
        if spelling in names:
            return names[spelling]
    close = difflib.get_close_matches(name, names, 1, _ALIKE) if len(name) >= _SHORT else []
    return names[close[0]] if close else None
