"""Answer by answer: one run on all questions, one question by all runs, and what judgment sets say of responses."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from qassay.errors import QassayError, unknown
from qassay.evaluation import Evaluation
from qassay.judging import KINDS, ROW_KINDS, kind_of_type
from qassay.judging import Kind as JudgmentKind
from qassay.judging.keys import Key
from qassay.judging.match import matched_nuggets
from qassay.judging.sets import JudgmentSet
from qassay.matrix import TIE, defined
from qassay.questions import Question
from qassay.scoring import Scores
from qassay.tables import Cell, Column, Table, plural, table
from qassay.tasks import QuestionRules
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
    scored,
)

ANSWERS = 100
# The characters of a context that a table shows.
CONTEXT_SHOWN = 200
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
    shown = board.cells()[place]
    named = [column.header for column in board.columns]
    rows += [[name, value] for name, value in zip(named, shown, strict=True) if name != "run"]
    kept = [row for row in rows if row[1] is not None]
    title = f"{run}, judgments: {scores.key}, among {plural(len(scores.runs), 'run')}"
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
    why = "justification" if justified else "contexts" if evaluation.task.has("text") else "document"
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
    why_header = "justification" if justified else "contexts" if rules.response == "text" else "document"
    columns = ["answer", why_header, *lookups, "runs" if pooled else "run"]
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
    title = f"Scores of the runs on this question, judgments: {scores.key}"
    made = table(title, ["run", Column("score", ".3f")], rows)
    return [Part("scores", made, "run", tuple(run for run, _ in rows))]


# ---- what a judgment set says of a response --------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgmentLookup:
    """The judgments of one set on some questions: rows by kind and subject, and the labels of pairs."""

    rows: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]
    pairs: Mapping[str, str]

    def row(self, record: JudgmentKind, subject: Mapping[str, Any]) -> Mapping[str, Any] | None:
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
    """The judgment of the set on one row of a run, in words; None where it says nothing."""
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
    """The answer in a row of a run."""
    if "decision" in row:
        return str(row["decision"])
    if row["rank"] == 0:
        return "NIL" if rules.nil else "(empty response)"
    if rules.response == "extract":
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
    """The text of a question of any type."""
    return question.hypothesis or question.text or question.target or ""
