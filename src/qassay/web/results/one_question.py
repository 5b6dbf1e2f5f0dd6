"""One question: all answers, and all judgments of all sets side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from qassay.errors import QassayError, unknown
from qassay.evaluation import Evaluation
from qassay.matrix import defined
from qassay.questions import Question
from qassay.tables import Cell, Column, Table, table
from qassay.web.results.finding import Choice, Finding, Name, Page, Part, Progress, cut, scored
from qassay.web.results.verdicts import JudgmentLookup, answer_of, documents_of, judgment_lookup, response_rows, verdict

ANSWERS = 100


def question(
    evaluation: Evaluation,
    choice: Choice,
    progress: Progress,
    *,
    question: Name,
    page: Page = 1,
    whole: bool = False,
) -> Finding:
    """A question with all answers, what every set says of each, known answers, nuggets, and the runs' scores."""
    known = evaluation.questions.by_id
    if question not in known:
        raise unknown("question", question, evaluation.questions.ids)
    asked = known[question]
    response = evaluation.task.types[asked.type].response
    rows = response_rows(evaluation, [question])
    lookups = {name: judgment_lookup(evaluation.judgment_set(name), {question}) for name in evaluation.sets}
    parts = [Part("about", _facts(asked)), *_known(evaluation, question), *_nuggets(evaluation, question)]
    answers = [Part("answers", _judged(evaluation, asked, rows, lookups))]
    if response == "answer":
        answers.append(Part("support", _support(rows, lookups)))
    if response in ("decision", "justified"):
        labels = [(name, lookup.pairs.get(question)) for name, lookup in lookups.items()]
        parts.append(Part("labels", table("Labels of the pair", ["set", "label"], labels)))
    answers += _scores(evaluation, choice, asked)
    parts += answers if whole else [cut(part, ANSWERS * (page - 1), ANSWERS) for part in answers]
    return Finding(tuple(parts), {"question": question, "type": asked.type, "sets": list(evaluation.sets)})


def _facts(question: Question) -> Table:
    names = ("type", "series", "target", "target_type", "text", "hypothesis", "definition")
    rows = [(name.replace("_", " "), value) for name in names if (value := getattr(question, name))]
    return table(f"Question {question.id}", ["", Column("value", left=True)], rows)


def _known(evaluation: Evaluation, question: str) -> list[Part]:
    """Answers known from question development."""
    rows = evaluation.answers.filter(pl.col("question") == question)
    if not rows.height:
        return []
    body = [(row["answer"], row["doc"], bool(row["withdrawn"])) for row in rows.to_dicts()]
    columns = ["answer", "document", "withdrawn"]
    return [Part("known", table("Answers known from question development", columns, body))]


def _nuggets(evaluation: Evaluation, question: str) -> list[Part]:
    """The nuggets of every list: vital, okay, or not on it."""
    lists = evaluation.folder.nugget_lists()
    marks: dict[tuple[str, str], dict[str, str]] = {}
    for name in lists:
        for row in evaluation.nugget_list(name).filter(pl.col("question") == question).to_dicts():
            marks.setdefault((row["nugget"], row["text"] or ""), {})[name] = "vital" if row["vital"] else "okay"
    if not marks:
        return []
    body = [(number, text, *(given.get(name) for name in lists)) for (number, text), given in marks.items()]
    return [Part("nuggets", table("Nuggets", ["nugget", "text", *lists], body))]


def _judged(
    evaluation: Evaluation, asked: Question, rows: Sequence[Mapping[str, Any]], lookups: Mapping[str, JudgmentLookup]
) -> Table:
    """Every answer, once where it was pooled, with the runs that gave it and the judgment of every set."""
    rules = evaluation.task.types[asked.type]
    pooled = rules.response in ("ranked", "one", "extract")
    justified = rules.response == "justified"
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        answer = (answer_of(row, rules), documents_of(row))
        groups.setdefault(answer if pooled else (row["run"], row.get("rank")), []).append(row)
    body: list[list[Cell]] = []
    for same in groups.values():
        row = same[0]
        runs = ", ".join(dict.fromkeys(response["run"] for response in same))
        why = row.get("justification") if justified else documents_of(row)
        judgments = [verdict(lookup, row, asked.type, rules) for lookup in lookups.values()]
        body.append([answer_of(row, rules), why, *judgments, runs])
    if pooled:
        body.sort(key=lambda cells: (str(cells[0]).casefold(), str(cells[1])))
    columns = ["answer", "justification" if justified else "document", *lookups, "runs" if pooled else "run"]
    what = "each once" if pooled else "run by run"
    return table(f"All answers, {what}, with what every set says of them", columns, body)


def _support(rows: Sequence[Mapping[str, Any]], lookups: Mapping[str, JudgmentLookup]) -> Table:
    """The support of every nugget by every answer."""
    body: list[list[Cell]] = []
    for run in dict.fromkeys((row["question"], row["run"]) for row in rows):
        given = [lookup.support_of(*run) for lookup in lookups.values()]
        nuggets = dict.fromkeys(nugget for support in given for nugget in support)
        body += [[run[1], nugget, *(support.get(nugget) for support in given)] for nugget in nuggets]
    return table("Support of the nuggets", ["run", "nugget", *lookups], body)


def _scores(evaluation: Evaluation, choice: Choice, asked: Question) -> list[Part]:
    """The score of every run on the question; nothing where the evaluation cannot be scored yet."""
    try:
        scores = scored(evaluation, choice)
    except QassayError:
        return []
    questions, values = scores.questions.get(asked.type, ((), None))
    place = next((i for i, scored_question in enumerate(questions) if scored_question.id == asked.id), None)
    if values is None or place is None:
        return []
    cells = {tag: float(value) for tag, value in zip(scores.tags, values[:, place], strict=True)}
    rows = [(row.run, defined(cells[row.run])) for row in scores.runs]
    rows.sort(key=lambda row: (row[1] is None, -(row[1] or 0.0)))
    title = f"Scores of the runs on this question, key {scores.key}"
    made = table(title, ["run", Column("score", ".3f")], rows)
    return [Part("scores", made, "run", tuple(run for run, _ in rows))]
