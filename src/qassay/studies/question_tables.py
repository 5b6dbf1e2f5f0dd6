"""The tables of one question: what is known of it, every answer with what every set says of it, and its support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from qassay.judging import OPINIONS
from qassay.pages import Exhibit, Links
from qassay.questions import Question
from qassay.studies.judged_answers import JudgmentLookup, answer_of, documents_of, judgment_lookup, verdict
from qassay.tables import MANUAL_RUN, Cell, Column, Table, starred, table

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.studies.one_question import JudgedResponse

ANSWERS_SHOWN = 100


def known_answers(evaluation: Evaluation, question: str) -> Iterator[Exhibit]:
    """Answers known from question development."""
    rows = evaluation.answers.filter(pl.col("question") == question)
    if rows.height:
        body = [(row["answer"], row["doc"], bool(row["withdrawn"])) for row in rows.to_dicts()]
        columns = ["answer", "document", "withdrawn"]
        yield Exhibit("known", table("Answers known from question development", columns, body))


def nugget_lists(evaluation: Evaluation, question: str) -> Iterator[Exhibit]:
    """The nuggets of every list: vital, okay, or not on it."""
    lists = evaluation.folder.nugget_lists()
    marks: dict[tuple[str, str], dict[str, str]] = {}
    for name in lists:
        for row in evaluation.nugget_list(name).filter(pl.col("question") == question).to_dicts():
            marks.setdefault((row["nugget"], row["text"] or ""), {})[name] = "vital" if row["vital"] else "okay"
    if marks:
        body = [(number, text, *map(marks_of.get, lists)) for (number, text), marks_of in marks.items()]
        yield Exhibit("nuggets", table("Nuggets", ["nugget", "text", *lists], body))


def all_answers(
    evaluation: Evaluation,
    asked: Question,
    responses: Sequence[JudgedResponse],
    rows: Sequence[Mapping[str, Any]],
    sets: Sequence[str],
) -> Iterator[Exhibit]:
    """Every answer, once where it was pooled, with the runs that gave it and the judgment of every set."""
    rules, manual = evaluation.task.types[asked.type], evaluation.manual_runs
    runs = [response.run for response in responses]
    if rules.form.decides:
        links = Links("run", tuple(runs))
        yield Exhibit("answers", _justifications(asked.id, responses, manual), links=links, at_once=ANSWERS_SHOWN)
        return
    lookups = {name: judgment_lookup(evaluation.judgment_set(name), {asked.id}) for name in sets}
    pooled = rules.form.is_pooled
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (runs.index(row["run"]), row.get("rank") or 0)):
        same_as = (answer_of(row, rules), documents_of(row)) if pooled else (row["run"], row.get("rank"))
        groups.setdefault(same_as, []).append(row)
    body: list[list[Cell]] = []
    for row, *same in groups.values():
        verdicts = [verdict(lookup, row, asked.type, rules) for lookup in lookups.values()]
        runs_of = dict.fromkeys(starred(response["run"], manual) for response in (row, *same))
        answer, why = answer_of(row, rules), documents_of(row)
        body.append([answer, why, *verdicts, ", ".join(runs_of)] if pooled else [*runs_of, *verdicts, why, answer])
    why = "contexts" if rules.form.is_free_text else "document"
    notes, title = star(manual, runs), "All answers, {}, with what every set says of them"
    if pooled:
        body.sort(key=lambda cells: (str(cells[0]).casefold(), str(cells[1])))
        once = table(title.format("each once"), ["answer", why, *sets, "runs"], body, notes)
        yield Exhibit("answers", once, at_once=ANSWERS_SHOWN)
    else:
        run_by_run = table(title.format("run by run"), ["run", *sets, why, "answer"], body, notes)
        links = Links("run", tuple(str(run) for run, _ in groups))
        yield Exhibit("answers", run_by_run, links=links, at_once=ANSWERS_SHOWN)
    if rules.form.has_sentences:
        yield Exhibit("support", _support(asked.id, runs, lookups), at_once=ANSWERS_SHOWN)


def _support(question: str, runs: Sequence[str], lookups: Mapping[str, JudgmentLookup]) -> Table:
    """The support of every nugget by every answer."""
    body: list[list[Cell]] = []
    for run in runs:
        supports = [lookup.support_of(question, run) for lookup in lookups.values()]
        nuggets = dict.fromkeys(nugget for support in supports for nugget in support)
        body += [[run, nugget, *(support.get(nugget) for support in supports)] for nugget in nuggets]
    return table("Support of the nuggets", ["run", "nugget", *lookups], body)


def _justifications(pair: str, responses: Sequence[JudgedResponse], manual: frozenset[str]) -> Table:
    """One row per response to a pair, with the judges' scores of its justification."""
    judges = list(dict.fromkeys(rating.judge for response in responses for rating in response.ratings))
    columns = [Column(name, left=True) for name in ("run", "decision", *judges)]
    columns += [Column(f"mean {scale}", ".2f") for scale in OPINIONS.fields] if judges else []
    rows: list[tuple[Cell, ...]] = []
    for response in responses:
        rating_of = {rating.judge: str(rating) for rating in response.ratings}
        means = response.mean.values() if judges else ()
        run, ratings = starred(response.run, manual), map(rating_of.get, judges)
        rows.append((run, response.decision, *ratings, *means, response.justification))
    scales = f"Judges: {OPINIONS.scales}." if judges else "No judge rated the justifications of this pair."
    title = f"All responses to pair {pair}, with the scores of all judges"
    notes = [scales, *star(manual, [response.run for response in responses])]
    return table(title, [*columns, Column("justification", left=True)], rows, notes)


def star(manual: frozenset[str], runs: Sequence[str]) -> list[str]:
    """The note below a table with manual runs."""
    return [MANUAL_RUN] if manual.intersection(runs) else []
