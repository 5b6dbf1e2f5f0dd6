"""What a judgment set says of responses, in words for a cell of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from qassay.evaluation import Evaluation
from qassay.judgments import JudgmentSet
from qassay.questions import Question
from qassay.tasks import QuestionRules

EMPTY = "(empty response)"


@dataclass(frozen=True)
class JudgmentLookup:
    """The judgments of one set on some questions, to be looked up."""

    items: Mapping[tuple[Any, ...], str]
    lists: Mapping[tuple[Any, ...], str]
    matches: Mapping[tuple[str, str], Mapping[int | None, list[str]]]
    support: Mapping[tuple[str, str], Mapping[str, str]]
    citations: Mapping[tuple[Any, ...], str]
    whole: Mapping[tuple[str, str], str]
    pairs: Mapping[str, str]


def judgment_lookup(
    judged: JudgmentSet, questions: Collection[str], pairs: Mapping[str, str] | None = None
) -> JudgmentLookup:
    """The judgments of a set on these questions; `pairs` are labels that do not stand in the set itself."""

    def rows(kind: str) -> list[dict[str, Any]]:
        return judged.kind(kind).filter(pl.col("question").is_in(list(questions))).to_dicts()

    matches: dict[tuple[str, str], dict[int | None, list[str]]] = {}
    for row in rows("match"):
        matches.setdefault((row["question"], row["run"]), {})[row["item"]] = row["nuggets"]
    support: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows("support"):
        support.setdefault((row["question"], row["run"]), {})[row["nugget"]] = row["support"]
    return JudgmentLookup(
        items={_place(row): row["judgment"] for row in rows("item")},
        lists={_listed(row): _label(row) for row in rows("list")},
        matches=matches,
        support=support,
        citations={(r["question"], r["run"], r["sentence"], r["doc"]): r["support"] for r in rows("citation")},
        whole={(row["question"], row["run"]): _rated(row) for kind in ("rating", "holistic") for row in rows(kind)},
        pairs=pairs if pairs is not None else {row["question"]: row["judgment"] for row in rows("pair")},
    )


def verdict(found: JudgmentLookup, row: Mapping[str, Any], kind: str, rules: QuestionRules) -> str | None:
    """What the set says of one row of a run; None where it says nothing."""
    response = (row["question"], row["run"])
    match rules.response:
        case "ranked" | "one" | "extract":
            return found.items.get(_place(row))
        case "decision":
            return found.pairs.get(row["question"])
        case "justified":
            return found.whole.get(response)
        case "answer":
            return _cited(found, row)
        case "set" if kind == "list":
            return found.lists.get(_listed(row))
        case "set":
            return _matched(found, row)


def support_counts(found: JudgmentLookup, question: str, run: str) -> str | None:
    """How many nuggets an answer supports fully, partially and not at all."""
    given = Counter(found.support.get((question, run), {}).values())
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


def _matched(found: JudgmentLookup, row: Mapping[str, Any]) -> str | None:
    """Nuggets of a string; what is said of the response as a whole stands at its first string."""
    given = found.matches.get((row["question"], row["run"]))
    if given is None or row["rank"] == 0:
        return None
    there = list(given.get(row["rank"] - 1, ()))
    if row["rank"] == 1:
        there += [one for one in given.get(None, ()) if one not in there]
    told = f"nuggets {', '.join(there)}" if there else "none"
    return told if there or None not in given or row["rank"] == 1 else None


def _cited(found: JudgmentLookup, row: Mapping[str, Any]) -> str | None:
    """The support of what a sentence cites."""
    cited = row.get("citations") or ()
    told = [
        f"{doc}: {support}"
        for doc in cited
        if (support := found.citations.get((row["question"], row["run"], row["rank"] - 1, doc)))
    ]
    return ", ".join(told) or None


def _rated(row: Mapping[str, Any]) -> str:
    names = ("understandability", "correctness", "content", "organization")
    return ", ".join(f"{name} {row[name]}" for name in names if row[name] is not None)


def _label(row: Mapping[str, Any]) -> str:
    same = row["answer"] or ("distinct" if row["distinct"] else None)
    return f"{row['judgment']} ({same})" if same and row["judgment"] == "R" else str(row["judgment"])


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    if row.get("start") is not None:
        return (row["question"], row["doc"], row["start"], row["length"])
    return (row["question"], row["doc"], row.get("text"))


def _listed(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["question"], row["run"], row["doc"], row["text"])


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
