"""What a judgment set says of the answers of runs, in words: one row per answer, with the score of its question."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import polars as pl

from qassay.arrays import TIE, defined
from qassay.evaluation import Evaluation
from qassay.judging import OPINIONS, PAIRS, ROW_KINDS, kind_of_type
from qassay.judging import Kind as JudgmentKind
from qassay.judging.keys import Key
from qassay.judging.pair import label_row
from qassay.judging.sets import RATED, JudgmentSet
from qassay.questions import Question
from qassay.scoring import Scores
from qassay.tables import Cell, Column, Table, table
from qassay.tasks import QuestionRules

# The characters of a context that a table shows, and those of any text in a table of many answers.
CONTEXT_SHOWN = 200
TEXT_SHOWN = 160
Outcome = Literal["right", "partly", "wrong", "not-scored"]


def answers_by_run(evaluation: Evaluation, scores: Scores, runs: Sequence[str]) -> dict[str, Table]:
    """For each of these runs all its answers with their judgments, texts cut short; nothing of another run."""
    key = evaluation.key(scores.key)
    scored = set(scores.asked)
    ids = [question.id for question in evaluation.questions if question.id in scored]
    lookup = lookup_of_key(evaluation, key, ids)
    tables = {}
    for run in runs:
        by_question = question_scores(scores, run)
        shown = judged_answers(evaluation, key, response_rows(evaluation, ids, run), by_question, lookup)
        rows = tuple(tuple(_cut(cell) for cell in row) for row in shown.rows)
        tables[run] = replace(shown, title=f"Answers of {run}, and how they were judged", rows=rows)
    return tables


def _cut(cell: Cell) -> Cell:
    if not isinstance(cell, str) or len(cell) <= TEXT_SHOWN:
        return cell
    return f"{cell[: TEXT_SHOWN - 1]}…"


def question_scores(scores: Scores, run: str) -> dict[str, float | None]:
    """The run's score on every question; None where it has none."""
    row = scores.tags.index(run)
    return {
        question.id: defined(value)
        for questions, values in scores.questions.values()
        for question, value in zip(questions, values[row], strict=True)
    }


def outcome_of(score: float | None, scores: Scores) -> Outcome:
    """How well a question was answered: right is the highest score of a question, wrong the lowest."""
    if score is None:
        return "not-scored"
    lowest, highest = scores.scale
    if score < lowest + TIE:
        return "wrong"
    return "right" if score > highest - TIE else "partly"


def judged_answers(
    evaluation: Evaluation,
    key: Key,
    rows: Sequence[Mapping[str, Any]],
    own: Mapping[str, float | None],
    lookup: JudgmentLookup | None = None,
) -> Table:
    """Every answer of a run with its judgment and the score of its question; `lookup` if the caller has one already."""
    by_id = evaluation.questions.by_id
    lookup = lookup or lookup_of_key(evaluation, key, {row["question"] for row in rows})
    nil_right = dict(zip(evaluation.questions.ids, key.nil_is_right(evaluation.questions).tolist(), strict=True))
    justified = any("justification" in row for row in rows)
    why = "justification" if justified else "contexts" if evaluation.task.is_free_text else "document"
    columns: list[Column | str] = ["question", "type", "text", "answer", why, "judgment", Column("score", ".3f")]
    body: list[list[Cell]] = []
    seen: set[str] = set()
    for row in rows:
        name = row["question"]
        rules = evaluation.task.types[by_id[name].type]
        judgment = verdict(lookup, row, by_id[name].type, rules)
        if rules.nil and row.get("rank") == 0:
            judgment = "right: no answer is known" if nil_right[name] else "wrong: there is an answer"
        if rules.form.has_sentences and name not in seen:
            judgment = "; ".join(filter(None, (support_counts(lookup, name, row["run"]), judgment))) or None
        grounds = row.get("justification") if justified else documents_of(row)
        score = own.get(name) if name not in seen else ""
        text = asked_text(by_id[name]) if name not in seen else ""
        body.append([name, by_id[name].type, text, answer_of(row, rules), grounds, judgment, score])
        seen.add(name)
    return table("Answers, with their judgments and the scores of their questions", columns, body)


def lookup_of_key(evaluation: Evaluation, key: Key, questions: Collection[str]) -> JudgmentLookup:
    """The judgments of a key on these questions; of ratings, their means."""
    has_pairs = evaluation.task.decides
    if key.ratings is not None:
        return judgment_lookup(JudgmentSet(key.name, {OPINIONS.name: _ratings(key)}), questions, key.pair_labels())
    return judgment_lookup(key.judgments, questions, key.pair_labels() if has_pairs else None)


def _ratings(key: Key) -> pl.DataFrame:
    """The mean ratings of each response, over all judges."""
    names = [name for kind in RATED for name in ROW_KINDS[kind].fields]
    rows = key.ratings if key.ratings is not None else pl.DataFrame()
    means = [pl.col(name).mean().round(2) for name in names if name in rows.columns]
    return rows.group_by("question", "run", maintain_order=True).agg(means)


@dataclass(frozen=True)
class JudgmentLookup:
    """The judgments of one set on some questions: rows by kind and subject."""

    rows: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]

    def row(self, kind: str, subject: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The judgment of a subject; None where it is not judged."""
        return self.rows[kind].get(tuple(subject.get(name) for name in _identity(ROW_KINDS[kind])))

    def has_response(self, kind: str, question: str, run: str) -> bool:
        """Whether anything of a run's response is judged."""
        return (kind, question, run) in self._responses

    @cached_property
    def _responses(self) -> frozenset[tuple[str, str, str]]:
        return frozenset(
            (kind, row["question"], row["run"]) for kind, rows in self.rows.items() for row in rows.values()
        )

    @cached_property
    def support(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        """The support of each nugget, by question and run."""
        levels: dict[tuple[str, str], dict[str, str]] = {}
        for record in ROW_KINDS.values():
            for row in self.rows[record.name].values() if record.by_nuggets and not record.linked else ():
                levels.setdefault((row["question"], row["run"]), {}).update(record.levels(row))
        return levels

    def support_of(self, question: str, run: str) -> Mapping[str, str]:
        """The support of each nugget by one answer."""
        return self.support.get((question, run), {})


def judgment_lookup(
    judged: JudgmentSet, questions: Collection[str], pairs: Mapping[str, str] | None = None
) -> JudgmentLookup:
    """The judgments of a set on these questions; `pairs` are labels that are not in the set itself."""
    rows: dict[str, dict[tuple[Any, ...], Mapping[str, Any]]] = {}
    for name, record in ROW_KINDS.items():
        table = judged.kind(name).filter(pl.col("question").is_in(list(questions)))
        identity = _identity(record)
        rows[name] = {tuple(row[field] for field in identity): row for row in table.iter_rows(named=True)}
    if pairs is not None:
        rows[PAIRS.name] = {(question,): label_row(question, label) for question, label in pairs.items()}
    return JudgmentLookup(rows)


def _identity(record: JudgmentKind) -> list[str]:
    """What identifies a subject within a set. A rating names its judge; here the last one speaks for the set."""
    return [name for name in record.identity if name != "assessor"]


def verdict(lookup: JudgmentLookup, row: Mapping[str, Any], type_: str, rules: QuestionRules) -> str | None:
    """What the set says about one row of a run, in words; None where it says nothing."""
    return kind_of_type(type_, rules).found_words(row, lookup)


def support_counts(lookup: JudgmentLookup, question: str, run: str) -> str | None:
    """How many nuggets an answer supports fully, partially and not at all."""
    counts = Counter(lookup.support_of(question, run).values())
    return ", ".join(f"{counts[label]} {label}" for label in ("full", "partial", "none") if counts[label]) or None


def answer_of(row: Mapping[str, Any], rules: QuestionRules) -> str:
    """What a row of a run answers."""
    if "decision" in row:
        return str(row["decision"])
    if row["rank"] == 0:
        return "NIL" if rules.nil else "(empty response)"
    if rules.form.is_extract:
        return f"characters {row['start']}–{row['start'] + row['length']}"
    return row["text"] or ""


def documents_of(row: Mapping[str, Any]) -> str | None:
    """The document of a row, those it cites, or the beginnings of the contexts that the answer was made from."""
    if contexts := row.get("contexts"):
        return " | ".join(_beginning(context) for context in contexts)
    cited = row.get("citations")
    return ", ".join(cited) if cited else row.get("doc")


def _beginning(context: Mapping[str, Any]) -> str:
    """The document of a context, and how its text begins."""
    text = textwrap.shorten(context["text"] or "", CONTEXT_SHOWN, placeholder="...")
    return f"{context['doc']}: {text}" if context.get("doc") else text


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
