"""Answer by answer: one run on all questions, one question by all runs, and what judgment sets say of responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from qassay.arrays import TIE, defined
from qassay.display import called, listed, one_line
from qassay.errors import QassayError, UsageError, unknown
from qassay.evaluation import Evaluation
from qassay.matrix import ScoreMatrix
from qassay.questions import Question
from qassay.scoring import Scores
from qassay.studies.judged_answers import (
    JudgmentLookup,
    answer_of,
    documents_of,
    judged_answers,
    judgment_lookup,
    question_scores,
    response_rows,
    verdict,
)
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
    cut,
    pictures,
    scored,
)

if TYPE_CHECKING:
    from qassay.figures import Figure

ANSWERS = 100
# The characters of a context that a table shows.
CONTEXT_SHOWN = 200
# The characters of a question that the sentence above its page repeats.
MOST_ASKED = 300
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
    from qassay import figures

    scores = scored(evaluation, choice)
    if run not in scores.tags:
        raise unknown("run", run, scores.tags)
    key = evaluation.key(choice.key)
    own_scores = question_scores(scores, run)
    outcomes = {name: _outcome(score, scores) for name, score in own_scores.items()}
    questions = [
        question.id
        for question in evaluation.questions
        if kind in (None, question.type) and question.id in own_scores and outcome in (None, outcomes[question.id])
    ]
    rows = response_rows(evaluation, questions, run)
    first = 0 if whole else ANSWERS * (page - 1)
    shown = rows if whole else rows[first : first + ANSWERS]
    answers = judged_answers(evaluation, key, shown, own_scores)
    parts = [Part("about", _about(scores, run)), Part("types", _types(scores, run))]
    contingency = next(row.contingency for row in scores.runs if row.run == run)
    if contingency:
        parts.append(Part("contingency", contingency_table(f"Decisions of {run}", contingency)))
    window = None if len(shown) == len(rows) else Window(first, len(shown), len(rows), "answers")
    parts.append(Part("answers", answers, "question", tuple(row["question"] for row in shown), 0, window))
    counted = dict.fromkeys(get_args(Outcome), 0) | Counter(outcomes.values())
    document = {"run": run, "key": scores.key, "measure": scores.measure, "outcomes": counted, "questions": own_scores}
    # The figure is about the whole run: it is not drawn again beside a part of its answers.
    drawn = (
        pictures(lambda: figures.run_by_unit(scores.matrix, run)) if (page, outcome, kind) == (1, None, None) else ()
    )
    return Finding(tuple(parts), document, _place_in_words(scores, run), pictures=drawn)


def _place_in_words(scores: Scores, run: str) -> str:
    """The place of the run among all."""
    score = next(row.score for row in scores.runs if row.run == run)
    every = [row.score for row in scores.runs if row.score is not None]
    if score is None:
        return f"{called(run)} has no score."
    if len(every) == 1:
        return f"{called(run)} scores {score:.3f}; it is the only run."
    place = scores.places()[run]
    rank = f"rank {place}" if isinstance(place, int) else f"sharing rank {str(place).rstrip('=')}"
    return (
        f"{called(run)} scores {score:.3f}, {rank} of {len(scores.runs)}; "
        f"the median run scores {np.median(every):.3f}, the best {max(every):.3f}."
    )


def _outcome(score: float | None, scores: Scores) -> Outcome:
    """How well a question was answered: right is the highest score of a question, wrong the lowest."""
    if score is None:
        return "not-scored"
    lowest, highest = scores.scale
    if score < lowest + TIE:
        return "wrong"
    return "right" if score > highest - TIE else "partly"


def _about(scores: Scores, run: str) -> Table:
    """The run on the leaderboard, one figure per row."""
    board = scores.leaderboard()
    place = next(i for i, row in enumerate(scores.runs) if row.run == run)
    about = scores.information[run]
    rows: list[list[Cell]] = [["organisation", about.organisation], ["description", about.description]]
    rows += [["processing", "manual"]] if about.manual else []
    cells = board.cells()[place]
    headers = [column.header for column in board.columns]
    rows += [[name, value] for name, value in zip(headers, cells, strict=True) if name != "run"]
    rows_shown = [row for row in rows if row[1] is not None]
    title = f"{run}, judgments: {scores.key}, among {plural(len(scores.runs), 'run')}"
    return table(title, ["", Column("value", left=True)], rows_shown, scores.notes_for_output())


def _types(scores: Scores, run: str) -> Table:
    """Mean of the run and of all runs by type of question, with how many it got right and wrong."""
    row_of_run = scores.tags.index(run)
    rows: list[Sequence[Cell]] = []
    for kind, (_, values) in scores.questions.items():
        answered = ~np.isnan(values[row_of_run])
        own_scores, all_scores = values[row_of_run][answered], values[:, answered]
        best = np.nanmean(all_scores, axis=1).max() if answered.any() else None
        outcomes = [_outcome(float(value), scores) for value in own_scores]
        means = (
            (float(own_scores.mean()), float(np.nanmean(all_scores)), float(best)) if best is not None else (None,) * 3
        )
        counts = (outcomes.count("right"), outcomes.count("partly"), outcomes.count("wrong"))
        rows.append((kind, int(answered.sum()), *counts, *means))
    counts_columns = [Column(name) for name in ("questions", "right", "partly", "wrong")]
    means_columns = [Column(name, ".3f") for name in ("mean", "mean of all runs", "best mean")]
    return table("By type of question", ["type", *counts_columns, *means_columns], rows)


# ---- one question ----------------------------------------------------------------------------------------------------


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
    by_id = evaluation.questions.by_id
    if question not in by_id:
        raise unknown("question", question, evaluation.questions.ids)
    asked_question = by_id[question]
    response = evaluation.task.types[asked_question.type].response
    rows = response_rows(evaluation, [question])
    lookups = {name: judgment_lookup(evaluation.judgment_set(name), {question}) for name in evaluation.sets}
    parts = [Part("about", _facts(asked_question)), *_known(evaluation, question), *_nuggets(evaluation, question)]
    answers = [Part("answers", _judged(evaluation, asked_question, rows, lookups))]
    if response == "answer":
        answers.append(Part("support", _support(rows, lookups)))
    if response in ("decision", "justified"):
        labels = [(name, evaluation.judgment_set(name).pair_labels().get(question)) for name in lookups]
        parts.append(Part("labels", table("Labels of the pair", ["set", "label"], labels)))
    of_runs = _scores_of_runs(evaluation, choice, asked_question)
    answers += [] if of_runs is None else [_scores(*of_runs)]
    parts += answers if whole else [cut(part, ANSWERS * (page - 1), ANSWERS) for part in answers]
    document = {"question": question, "type": asked_question.type, "sets": list(evaluation.sets)}
    if of_runs is None or page > 1 or whole:
        return Finding(tuple(parts), document)
    drawn = pictures(lambda: _drawn_scores(asked_question, of_runs[1]))
    return Finding(tuple(parts), document, f"{_runs_in_words(*of_runs)} {_asks(asked_question)}", pictures=drawn)


def _asks(question: Question) -> str:
    """What a question asks, as a sentence that follows the answer of its page."""
    words = one_line(question.asked)
    words = words if len(words) <= MOST_ASKED else f"{words[:MOST_ASKED]}…"
    about = f" about {called(question.target)}" if question.target and question.target not in words else ""
    return f"It asks{about}: {words}"


def _facts(question: Question) -> Table:
    names = ("type", "series", "target", "target_type", "text", "hypothesis", "definition")
    rows = [(name.replace("_", " "), value) for name in names if (value := getattr(question, name))]
    rows += [("gold answer", answer) for answer in question.gold]
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
    body = [
        (number, text, *(mark_of_list.get(name) for name in lists)) for (number, text), mark_of_list in marks.items()
    ]
    return [Part("nuggets", table("Nuggets", ["nugget", "text", *lists], body))]


def _judged(
    evaluation: Evaluation,
    asked_question: Question,
    rows: Sequence[Mapping[str, Any]],
    lookups: Mapping[str, JudgmentLookup],
) -> Table:
    """Every answer, once where it was pooled, with the runs that gave it and the judgment of every set."""
    rules = evaluation.task.types[asked_question.type]
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
        judgments = [verdict(lookup, row, asked_question.type, rules) for lookup in lookups.values()]
        body.append([answer_of(row, rules), why, *judgments, runs])
    if pooled:
        body.sort(key=lambda cells: (str(cells[0]).casefold(), str(cells[1])))
    why_header = "justification" if justified else "contexts" if rules.response == "text" else "document"
    columns = ["answer", why_header, *lookups, "runs" if pooled else "run"]
    how = "each once" if pooled else "run by run"
    return table(f"All answers, {how}, with what every set says of them", columns, body)


def _support(rows: Sequence[Mapping[str, Any]], lookups: Mapping[str, JudgmentLookup]) -> Table:
    """The support of every nugget by every answer."""
    body: list[list[Cell]] = []
    for run in dict.fromkeys((row["question"], row["run"]) for row in rows):
        supports = [lookup.support_of(*run) for lookup in lookups.values()]
        nuggets = dict.fromkeys(nugget for support in supports for nugget in support)
        body += [[run[1], nugget, *(support.get(nugget) for support in supports)] for nugget in nuggets]
    return table("Support of the nuggets", ["run", "nugget", *lookups], body)


def _scores_of_runs(
    evaluation: Evaluation, choice: Choice, asked_question: Question
) -> tuple[Scores, dict[str, float | None]] | None:
    """The score of every run on the question, highest first; None where the evaluation cannot be scored yet."""
    try:
        scores = scored(evaluation, choice)
    except QassayError:
        return None
    questions, values = scores.questions.get(asked_question.type, ((), None))
    place = next((i for i, scored_question in enumerate(questions) if scored_question.id == asked_question.id), None)
    if values is None or place is None:
        return None
    cells = {tag: defined(value) for tag, value in zip(scores.tags, values[:, place], strict=True)}
    order = sorted((row.run for row in scores.runs), key=lambda run: (cells[run] is None, -(cells[run] or 0.0)))
    return scores, {run: cells[run] for run in order}


def _scores(scores: Scores, of_runs: Mapping[str, float | None]) -> Part:
    title = f"Scores of the runs on this question, judgments: {scores.key}"
    score_table = table(title, ["run", Column("score", ".3f")], list(of_runs.items()))
    return Part("scores", score_table, "run", tuple(of_runs))


def _drawn_scores(asked_question: Question, of_runs: Mapping[str, float | None]) -> Figure:
    """The scores of the runs that have one."""
    from qassay import figures

    scores = {run: score for run, score in of_runs.items() if score is not None}
    if not scores:
        raise UsageError("no run has a score on this question")
    values = np.array([[score] for score in scores.values()])
    unit_name = ("question", "questions")
    return figures.unit_by_run(
        ScoreMatrix(tuple(scores), (asked_question.id,), values, measure="score", unit_name=unit_name),
        asked_question.id,
    )


def _runs_in_words(scores: Scores, of_runs: Mapping[str, float | None]) -> str:
    """How many runs got the question right, partly right and wrong."""
    counts = Counter(_outcome(score, scores) for score in of_runs.values())
    words: dict[Outcome, str] = {
        "right": "right",
        "partly": "partly right",
        "wrong": "wrong",
        "not-scored": "not scored",
    }
    given = [name for name in words if counts[name]]
    if len(given) == 1 and len(of_runs) > 1:
        every = "Both runs" if len(of_runs) == 2 else f"All {len(of_runs):,} runs"
        return f"{every} are {words[given[0]]} on this question."
    if len(of_runs) == 1:
        return f"The only run is {words[given[0]]} on this question."
    parts = [f"{counts[name]:,} {'is' if counts[name] == 1 else 'are'} {words[name]}" for name in given]
    return f"Of {len(of_runs):,} runs, {listed(parts)} on this question."
