"""What an author should look at: warnings about questions under development. None of them stops a publication."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from qassay.questions import Question, TestSet
from qassay.store.development.answers import KnownAnswer

Answers = Mapping[str, Sequence[KnownAnswer]]
# Words that ask the same of the same: target and text.
AskedWords = tuple[str, str]
_SHOWN = 60


def words(text: str | None) -> str:
    """The words of a text in small letters, one blank around each, so that one text can be looked for in another.

    >>> words("Warsaw, Poland") in words("Was she born in WARSAW, Poland?")
    True
    """
    found = re.findall(r"\w+", (text or "").casefold())
    return f" {' '.join(found)} "


def asked_words(question: Question) -> AskedWords | None:
    """What a question asks, for finding those that ask the same; nothing where it has no words of its own."""
    if not question.text.strip():
        return None
    return words(question.target), words(f"{question.text} {question.hypothesis or ''}")


def same_questions(questions: TestSet | Iterable[Question]) -> dict[AskedWords, list[str]]:
    """The ids of questions by what they ask."""
    found: dict[AskedWords, list[str]] = {}
    for one in questions:
        if (key := asked_words(one)) is not None:
            found.setdefault(key, []).append(one.id)
    return found


def question_warnings(
    question: Question,
    earlier: Sequence[Question],
    answers: Answers,
    same: Iterable[str],
    names: Mapping[str, str],
    *,
    draft: bool,
) -> list[str]:
    """Warnings about one question: `earlier` are those before it in its series, `same` others that ask the same."""
    own = [one for one in answers.get(question.id, ()) if not one.withdrawn]
    told = [f"Question {names.get(other, other)} asks the same." for other in same if other != question.id]
    for one in own:
        wanted = words(one.answer)
        for other in earlier:
            name = names.get(other.id, other.id)
            if wanted.strip() and wanted in words(other.text):
                told.append(f"The text of question {name} gives the answer “{_cut(one.answer)}” away.")
            elif wanted.strip() and any(
                wanted in words(known.answer) for known in answers.get(other.id, ()) if not known.withdrawn
            ):
                told.append(f"The answer “{_cut(one.answer)}” is in an answer of the earlier question {name}.")
        if one.doc is None:
            told.append(f"The answer “{_cut(one.answer)}” has no document.")
    if draft and not own and question.type in ("factoid", "list"):
        nil = "NIL would be right" if question.type == "factoid" else "it would not be scored"
        told.append(f"It has no known answer yet: as long as no run finds one, {nil}.")
    return list(dict.fromkeys(told))


def series_warnings(questions: Sequence[Question], types: Iterable[str]) -> list[str]:
    """Warnings about a series as a whole."""
    told = []
    if "factoid" in types and not any(one.type == "factoid" for one in questions):
        told.append("The series has no factoid question.")
    return told


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
