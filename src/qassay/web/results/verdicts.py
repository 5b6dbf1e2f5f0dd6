"""What a judgment set says of responses, in words for a cell of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judging import KINDS, ROW_KINDS, Kind, kind_of_type
from qassay.judging.match import matched_nuggets
from qassay.judging.sets import JudgmentSet
from qassay.questions import Question
from qassay.tasks import QuestionRules

EMPTY = "(empty response)"


@dataclass(frozen=True)
class JudgmentLookup:
    """The judgments of one set on some questions: rows by kind and subject, and the labels of pairs."""

    rows: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]
    pairs: Mapping[str, str]

    def row(self, record: Kind, subject: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The judgment of a subject; None where it is not judged."""
        identity = (name for name in record.identity if name != "assessor")
        return self.rows[record.rows].get(tuple(subject.get(name) for name in identity))

    def support_of(self, question: str, run: str) -> dict[str, str]:
        """The support of each nugget by one answer."""
        rows = self.rows["support"].values()
        return {row["nugget"]: row["support"] for row in rows if (row["question"], row["run"]) == (question, run)}


def judgment_lookup(
    judged: JudgmentSet, questions: Collection[str], pairs: Mapping[str, str] | None = None
) -> JudgmentLookup:
    """The judgments of a set on these questions; `pairs` are labels that are not in the set itself."""
    rows: dict[str, dict[tuple[Any, ...], Mapping[str, Any]]] = {}
    for name, record in ROW_KINDS.items():
        table = judged.kind(name).filter(pl.col("question").is_in(list(questions)))
        # A rating names its judge; here the last one speaks for the set.
        identity = [field for field in record.identity if field != "assessor"]
        rows[name] = {tuple(row[field] for field in identity): row for row in table.iter_rows(named=True)}
    labels = {row["question"]: row["judgment"] for row in rows["pair"].values()}
    return JudgmentLookup(rows, pairs if pairs is not None else labels)


def verdict(lookup: JudgmentLookup, row: Mapping[str, Any], type_: str, rules: QuestionRules) -> str | None:
    """What the set says about one row of a run, in words; None where it says nothing."""
    record = kind_of_type(type_, rules)
    match record.name:
        case "pair":
            return lookup.pairs.get(row["question"])
        case "match":
            return _matched(lookup, row)
        case "support":
            return _cited(lookup, row)
        case _:
            judged = lookup.row(record, row)
            return None if judged is None else record.in_words(judged)


def support_counts(lookup: JudgmentLookup, question: str, run: str) -> str | None:
    """How many nuggets an answer supports fully, partially and not at all."""
    given = Counter(lookup.support_of(question, run).values())
    return ", ".join(f"{given[label]} {label}" for label in ("full", "partial", "none") if given[label]) or None


def answer_of(row: Mapping[str, Any], rules: QuestionRules) -> str:
    """What a row of a run answers."""
    if "decision" in row:
        return str(row["decision"])
    if row["rank"] == 0:
        return "NIL" if rules.nil else EMPTY
    if rules.response == "extract":
        return f"characters {row['start']}–{row['start'] + row['length']}"
    return row["text"] or ""


def documents_of(row: Mapping[str, Any]) -> str | None:
    """The document of a row, or those it cites."""
    cited = row.get("citations")
    return ", ".join(cited) if cited else row.get("doc")


def _matched(lookup: JudgmentLookup, row: Mapping[str, Any]) -> str | None:
    """Nuggets of a string; what is said about the response as a whole stands at its first string."""
    rows = lookup.rows["match"]
    whole = rows.get((row["question"], row["run"], None))
    own = rows.get((row["question"], row["run"], row["rank"] - 1))
    response = (row["question"], row["run"])
    if row["rank"] == 0 or not (whole or own or any(subject[:2] == response for subject in rows)):
        return None
    nuggets = matched_nuggets(own or {})
    if row["rank"] == 1:
        nuggets += [nugget for nugget in matched_nuggets(whole or {}) if nugget not in nuggets]
    words = f"nuggets {', '.join(nuggets)}" if nuggets else "none"
    return words if nuggets or whole is None or row["rank"] == 1 else None


def _cited(lookup: JudgmentLookup, row: Mapping[str, Any]) -> str | None:
    """The support of what a sentence cites."""
    citation = KINDS["citation"]
    words = []
    for doc in row.get("citations") or ():
        judged = lookup.row(citation, {**row, "sentence": row["rank"] - 1, "doc": doc})
        if judged is not None:
            words.append(f"{doc}: {citation.in_words(judged)}")
    return ", ".join(words) or None


def response_rows(evaluation: Evaluation, questions: Iterable[str], run: str | None = None) -> list[dict[str, Any]]:
    """The rows of all runs, or of one, on these questions, with plain names, question by question."""
    frame = evaluation.runs.table
    if run is not None:
        frame = frame.filter(pl.col("run") == run)
    place = {name: number for number, name in enumerate(questions)}
    frame = frame.filter(pl.col("question").cast(pl.String).is_in(list(place)))
    rows = frame.with_columns(pl.col("run", "question").cast(pl.String)).to_dicts()
    return sorted(rows, key=lambda row: (place[row["question"]], row["run"], row.get("rank") or 0))


def asked_text(question: Question) -> str:
    """What a question asks, whatever its type."""
    return question.hypothesis or question.text or question.target or ""
