"""One result page per organisation: its own scores beside the median and the best of all runs.

`seen_by` makes the scores that a page is built from: runs of others are numbers without a name in them, and nobody
else is named, so that nothing on the page can name them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from qassay.arrays import Floats
from qassay.display import called
from qassay.errors import UsageError
from qassay.figures import Figure, run_by_unit
from qassay.judging.keys import public_name
from qassay.reports.answers import score
from qassay.reports.page import figure_html, table_html, text, whole_page
from qassay.runs import RunInformation
from qassay.scoring import Scores
from qassay.tables import Cell, Column, Table, counted, plural, table

LONGEST_QUESTION = 100
# Rows of a table on the page: it is all that an organisation gets.
MOST_ROWS = 5_000


@dataclass(frozen=True)
class OrganisationPage:
    """The page of an organisation: a sentence per run, and tables."""

    organisation: str
    subtitle: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()

    def html(self) -> str:
        """The page as one HTML file."""
        title = f"Results of {called(self.organisation)}"
        body = [f"<h1>{text(title)}</h1>", f'<p class="soft">{text(self.subtitle)}</p>']
        lead, *rest = self.sentences
        body += [f'<p class="lead">{text(lead)}</p>', *(f"<p>{text(sentence)}</p>" for sentence in rest)]
        if self.figures:
            body.append("<h2>Each run beside the median and the best</h2>")
        body += [f'<div class="card">{figure_html(drawn, drawn.svg(alone=False))}</div>' for drawn in self.figures]
        body.append("<h2>In numbers</h2>")
        body += [f'<div class="card">{table_html(shown, most=MOST_ROWS)}</div>' for shown in self.tables]
        return whole_page(title, body)


def organisations(scores: Scores) -> list[str]:
    """The organisations of the runs, in the order of their best run."""
    names = (scores.information[row.run].organisation for row in scores.runs)
    return list(dict.fromkeys(name for name in names if name))


def seen_by(scores: Scores, organisation: str) -> Scores:
    """The scores with the names of the organisation's own runs alone; without those of other runs, teams and people."""
    own = {tag for tag, about in scores.information.items() if about.organisation == organisation}
    # A tag contains no white space, so that none of these is the tag of a run.
    shown = {tag: tag if tag in own else f"other run {place}" for place, tag in enumerate(scores.tags, start=1)}

    def of_own(numbers: Mapping[str, int]) -> dict[str, int]:
        return {tag: number for tag, number in numbers.items() if tag in own}

    missing = of_own(scores.missing[1]) if scores.missing else {}
    vote = scores.vote
    return replace(
        scores,
        key=public_name(scores.key),
        runs=tuple(replace(row, run=shown[row.run]) for row in scores.runs),
        information={
            shown[tag]: about if tag in own else RunInformation() for tag, about in scores.information.items()
        },
        missing=(scores.missing[0], missing) if scores.missing and missing else None,
        empty=of_own(scores.empty),
        judged_by=None,
        judges=(),
        vote=vote and replace(vote, sets=(plural(len(vote.sets), "set"),)),
    )


def organisation_page(
    scores: Scores, organisation: str, answers: Mapping[str, Table] | None = None
) -> OrganisationPage:
    """The page of one organisation. Medians and best scores are those of all runs, its own among them.

    `answers` has the answers of runs with their judgments; the page has those of its own runs.
    """
    scores = seen_by(scores, organisation)
    tags = [row.run for row in scores.runs if scores.information[row.run].organisation == organisation]
    places = scores.places()
    every = [row.score for row in scores.runs if row.score is not None]
    middle, best = (float(np.median(every)), max(every)) if every else (math.nan, math.nan)
    sentences = []
    for row in scores.runs:
        if row.run not in tags:
            continue
        if row.score is None:
            sentences.append(f"{called(row.run)} has no score.")
            continue
        sentences.append(
            f"{called(row.run)} scores {score(row.score)}, rank {places[row.run]} of {len(scores.runs)}; "
            f"the median run scores {score(middle)}, the best {score(best)}."
        )
    units = counted(len(scores.units.ids), scores.unit_name)
    subtitle = (
        f"{plural(len(tags), 'run')} of {len(scores.runs)} · {units} · {scores.measure} · judgments: {scores.key}"
    )
    shown = [_overall(scores, tags), *_by_type(scores, tags), _by_unit(scores, tags), *_by_question(scores, tags)]
    shown += [answers[run] for run in tags if run in answers] if answers else []
    return OrganisationPage(organisation, subtitle, tuple(sentences), tuple(shown), tuple(_figures(scores, tags)))


def _figures(scores: Scores, tags: Sequence[str]) -> Iterator[Figure]:
    """Each run on every unit beside the median and the best; nothing where these scores give no figure."""
    for place, run in enumerate(tags, start=1):
        with suppress(UsageError):
            yield replace(run_by_unit(scores.matrix, run), name=f"run-{place}-by-unit")


def _overall(scores: Scores, tags: Sequence[str]) -> Table:
    """Score and components: own, median, best, which is the lowest where less is better."""
    names = list(dict.fromkeys(name for row in scores.runs for name in row.components if name != scores.measure))
    parts = {row.run: {scores.measure: row.score, **row.components} for row in scores.runs}
    rows: list[tuple[Cell, ...]] = []
    for name in (scores.measure, *names):
        values = [value for of_run in parts.values() if (value := of_run.get(name)) is not None]
        middle, best = _middle_and_best(np.array(values), scores.better.get(name, 1))
        rows.append((name, *(parts[run].get(name) for run in tags), middle, best))
    notes = [note for note in scores.notes_for_output() if not note.startswith("*")]
    if neither := [name for name in names if scores.better.get(name, 1) == 0]:
        notes.append(f"No best share: neither more nor less is better for {', '.join(neither)}.")
    return table("Overall and by component", _columns("", tags), rows, notes)


def _by_type(scores: Scores, tags: Sequence[str]) -> list[Table]:
    """Means over the questions of each type and of each type of target, where there are several."""
    places = [scores.tags.index(run) for run in tags]
    kinds: dict[str, list[Floats]] = {}
    for kind, (questions, values) in scores.questions.items():
        kinds.setdefault(kind, []).append(values)
        for target in sorted({question.target_type for question in questions if question.target_type}):
            columns = [place for place, question in enumerate(questions) if question.target_type == target]
            kinds.setdefault(f"{kind}, target type {target}", []).append(values[:, columns])
    rows = [(name, len(values[0].T), *_own_and_others(_means(values[0]), places)) for name, values in kinds.items()]
    if len(rows) < 2:
        return []
    first, *numbers = _columns("type", tags)
    return [table("By type of question", [first, Column("questions"), *numbers], rows)]


def _by_unit(scores: Scores, tags: Sequence[str]) -> Table:
    """Every unit that was scored, a question with its text and a series with its target."""
    places = [scores.tags.index(run) for run in tags]
    about: dict[str, str] = {}
    for questions, _ in scores.questions.values():
        for question in questions:
            about[question.id] = question.asked
            if question.series is not None:
                about.setdefault(question.series, question.target or "")
    rows = [
        (unit, _shortened(about.get(unit, "")), *_own_and_others(scores.units.values[:, place], places))
        for place, unit in enumerate(scores.units.ids)
    ]
    columns = _columns(scores.unit_name[0], tags)
    return table(f"By {scores.unit_name[0]}", [columns[0], Column("", left=True), *columns[1:]], rows)


def _by_question(scores: Scores, tags: Sequence[str]) -> list[Table]:
    """Every question, where units are not questions already."""
    by_id = {
        question.id: (question, values[:, place])
        for questions, values in scores.questions.values()
        for place, question in enumerate(questions)
    }
    if set(scores.units.ids) <= set(by_id):
        return []
    places = [scores.tags.index(run) for run in tags]
    rows = []
    for name in scores.asked:
        if name in by_id:
            question, values = by_id[name]
            rows.append((name, question.type, _shortened(question.asked), *_own_and_others(values, places)))
    columns = _columns("question", tags)
    return [
        table("By question", [columns[0], Column("type", left=True), Column("text", left=True), *columns[1:]], rows)
    ]


def _columns(first: str, tags: Sequence[str]) -> list[Column]:
    numbers = [Column(name, ".3f") for name in (*tags, "median", "best")]
    return [Column(first, left=True), *numbers]


def _own_and_others(values: Floats, places: Sequence[int]) -> list[float | None]:
    known = values[~np.isnan(values)]
    return [
        *(None if math.isnan(values[place]) else float(values[place]) for place in places),
        *_middle_and_best(known),
    ]


def _middle_and_best(known: Floats, better: int = 1) -> tuple[float | None, float | None]:
    """The median and the best, which is the highest (1), the lowest (-1) or none (0)."""
    if not len(known):
        return None, None
    return float(np.median(known)), {1: float(known.max()), 0: None, -1: float(known.min())}[better]


def _means(values: Floats) -> Floats:
    """The mean of each run over the questions it was scored on; NaN where there is none."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=1)
    counts = known.sum(axis=1)
    return np.asarray(np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0))


def _shortened(prose: str) -> str:
    return prose if len(prose) <= LONGEST_QUESTION else f"{prose[: LONGEST_QUESTION - 1]}…"
