"""One run: what it got right and wrong, by type of question and answer by answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.judging.keys import Key
from qassay.judging.sets import JudgmentSet
from qassay.matrix import TIE, defined
from qassay.measures import measure as parse_measure
from qassay.scores import Scores
from qassay.tables import Cell, Column, Table, plural, table
from qassay.web.results.finding import (
    Choice,
    Finding,
    Kind,
    Name,
    Page,
    Part,
    Progress,
    Window,
    contingency_table,
    scored,
)
from qassay.web.results.verdicts import (
    answer_of,
    asked_text,
    documents_of,
    judgment_lookup,
    response_rows,
    support_counts,
    verdict,
)

ANSWERS = 100
Outcome: TypeAlias = Literal["right", "partly", "wrong", "not-scored"]


def run(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    run: Name,
    outcome: Outcome | None = None,
    kind: Kind | None = None,
    page: Page = 1,
    whole: bool = False,
) -> Finding:
    """A run's place, its scores by type of question, and each answer with its judgment."""
    scores = scored(evaluation, choice)
    if run not in scores.tags:
        raise unknown("run", run, scores.tags)
    key = evaluation.key(choice.key)
    own = _question_scores(scores, run)
    outcomes = {name: _outcome(score, scores) for name, score in own.items()}
    wanted = [
        question.id
        for question in evaluation.questions
        if kind in (None, question.type) and question.id in own and outcome in (None, outcomes[question.id])
    ]
    rows = response_rows(evaluation, wanted, run)
    first = 0 if whole else ANSWERS * (page - 1)
    here = rows if whole else rows[first : first + ANSWERS]
    answers = _answers(evaluation, key, here, own)
    parts = [Part("about", _about(scores, run)), Part("types", _types(scores, run))]
    contingency = next(row.contingency for row in scores.runs if row.run == run)
    if contingency:
        parts.append(Part("contingency", contingency_table(f"Decisions of {run}", contingency)))
    window = None if len(here) == len(rows) else Window(first, len(here), len(rows), "answers")
    parts.append(Part("answers", answers, "question", tuple(row["question"] for row in here), 0, window))
    counted = dict.fromkeys(get_args(Outcome), 0) | Counter(outcomes.values())
    document = {"run": run, "key": scores.key, "measure": scores.measure, "outcomes": counted, "questions": own}
    return Finding(tuple(parts), document)


def _question_scores(scores: Scores, run: str) -> dict[str, float | None]:
    """The run's score on every question; None where it has none."""
    row = scores.tags.index(run)
    return {
        question.id: defined(value)
        for asked, values in scores.questions.values()
        for question, value in zip(asked, values[row], strict=True)
    }


def _outcome(score: float | None, scores: Scores) -> Outcome:
    """How well a question was answered: right is the highest score of the measure, or 1 where types are combined."""
    if score is None:
        return "not-scored"
    if score < TIE:
        return "wrong"
    return "right" if score > parse_measure(scores.measure).high - TIE else "partly"


def _about(scores: Scores, run: str) -> Table:
    """What the leaderboard says of the run, one figure a row."""
    board = scores.leaderboard()
    place = next(i for i, row in enumerate(scores.runs) if row.run == run)
    about = scores.information[run]
    rows: list[list[Cell]] = [["organisation", about.organisation], ["description", about.description]]
    rows += [["processing", "manual"]] if about.manual else []
    shown = board.cells()[place]
    named = [column.header for column in board.columns]
    rows += [[name, value] for name, value in zip(named, shown, strict=True) if name != "run"]
    kept = [row for row in rows if row[1] is not None]
    title = f"{run}, key {scores.key}, among {plural(len(scores.runs), 'run')}"
    return table(title, ["", Column("value", left=True)], kept, scores.notes_for_output())


def _types(scores: Scores, run: str) -> Table:
    """Mean of the run and of all runs by type of question, with how many it got right and wrong."""
    own = scores.tags.index(run)
    rows: list[Sequence[Cell]] = []
    for kind, (_, values) in scores.questions.items():
        answered = ~np.isnan(values[own])
        mine, others = values[own][answered], values[:, answered]
        best = np.nanmean(others, axis=1).max() if answered.any() else None
        outcomes = [_outcome(float(value), scores) for value in mine]
        means = (float(mine.mean()), float(np.nanmean(others)), float(best)) if best is not None else (None,) * 3
        counts = (outcomes.count("right"), outcomes.count("partly"), outcomes.count("wrong"))
        rows.append((kind, int(answered.sum()), *counts, *means))
    counts_columns = [Column(name) for name in ("questions", "right", "partly", "wrong")]
    means_columns = [Column(name, ".3f") for name in ("mean", "mean of all runs", "best mean")]
    return table("By type of question", ["type", *counts_columns, *means_columns], rows)


def _answers(
    evaluation: Evaluation, key: Key, rows: Sequence[Mapping[str, Any]], own: Mapping[str, float | None]
) -> Table:
    """Every answer of the run with its judgment and the score of its question."""
    asked = evaluation.questions.by_id
    names = {row["question"] for row in rows}
    has_pairs = evaluation.task.has("decision", "justified")
    lookup = judgment_lookup(key.judgments, names, key.pair_labels() if has_pairs else None)
    if key.ratings is not None:
        lookup = judgment_lookup(JudgmentSet(key.name, {"rating": _ratings(key)}), names, key.pair_labels())
    nil_right = dict(zip(evaluation.questions.ids, key.nil_is_right(evaluation.questions).tolist(), strict=True))
    justified = any("justification" in row for row in rows)
    why = "justification" if justified else "document"
    columns: list[Column | str] = ["question", "type", "asked", "answer", why, "judgment", Column("score", ".3f")]
    body: list[list[Cell]] = []
    seen: set[str] = set()
    for row in rows:
        name = row["question"]
        rules = evaluation.task.types[asked[name].type]
        judgment = verdict(lookup, row, asked[name].type, rules)
        if rules.nil and row.get("rank") == 0:
            judgment = "right: no answer is known" if nil_right[name] else "wrong: there is an answer"
        if rules.response == "answer" and name not in seen:
            judgment = "; ".join(filter(None, (support_counts(lookup, name, row["run"]), judgment))) or None
        given = row.get("justification") if justified else documents_of(row)
        score = own.get(name) if name not in seen else ""
        text = asked_text(asked[name]) if name not in seen else ""
        body.append([name, asked[name].type, text, answer_of(row, rules), given, judgment, score])
        seen.add(name)
    return table("Answers, with their judgments and the scores of their questions", columns, body)


def _ratings(key: Key) -> pl.DataFrame:
    """The ratings of all judges, each response once, with all that was said of it."""
    names = ("understandability", "correctness", "content", "organization")
    rows = key.ratings if key.ratings is not None else pl.DataFrame()
    means = [pl.col(name).mean().round(2) for name in names if name in rows.columns]
    return rows.group_by("question", "run", maintain_order=True).agg(means)
