"""An evaluation's judgments, nuggets and answers in the forms of NIST."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from qassay.errors import InputError, Problem
from qassay.formats import nist
from qassay.formats.folder import Configuration, Folder
from qassay.formats.judgments import read_answers, read_judgments, read_nuggets
from qassay.formats.names import file_name
from qassay.formats.runs import read_runs
from qassay.judging.keys import Key, no_answers, no_nuggets
from qassay.judging.sets import JudgmentSet
from qassay.questions import TestSet

# The responses of runs, as (document, string), by question and run.
Items = Mapping[tuple[str, str], list[tuple[str | None, str]]]

# Judgments for which NIST has no form, as a note calls them.
_WITHOUT_FORM = {
    "pair": "entailment labels",
    "support": "judgments of nugget support",
    "citation": "judgments of citations",
    "holistic": "holistic scores",
    "rating": "ratings of justifications",
}


@dataclass
class NistFiles:
    """Texts by file name, what NIST's forms leave out, and the strings they cannot hold."""

    texts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, name: str, form: Callable[..., str], *content: object) -> None:
        """Add a file that is not empty."""
        try:
            text = form(*content, file=name)
        except InputError as error:
            self.problems += error.problems
            return
        if text:
            self.texts[name] = text


def nist_files(folder: Folder, configuration: Configuration, questions: TestSet) -> NistFiles:
    """All that NIST's forms can say of an evaluation; an error where a string does not fit on a line."""
    made = NistFiles()
    titles = {question.id: question.text or question.target or "" for question in questions}
    answers = no_answers()
    if folder.answers.is_file():
        answers = read_answers(folder.answers, questions, file=folder.name(folder.answers))
    sets = {
        name: read_judgments(path, name, questions, configuration.task, file=folder.name(path))
        for name, path in folder.judgment_sets().items()
    }
    matched = any(judged.kind("match").height for judged in sets.values())
    items = _items(folder, configuration, questions) if matched else {}
    for name, judged in sets.items():
        _add_judgments(made, file_name(name), judged, items)
        made.add(f"{file_name(name)}-answers.txt", nist.format_answers, known_answers(judged, answers), titles)
    if not sets:
        developed = known_answers(JudgmentSet("", {}), answers)
        made.add("answers.txt", nist.format_answers, developed, titles)
    for name, path in folder.nugget_lists().items():
        table = read_nuggets(path, questions, file=folder.name(path))
        made.add(f"{file_name(name)}-nuggets.txt", nist.format_nuggets, table.to_dicts(), titles)
        if table["weight"].is_not_null().any():
            made.notes.append(f"{folder.name(path)}: the weights of nuggets are left out; NIST's form has none.")
    if made.problems:
        raise InputError(made.problems)
    return made


def known_answers(judged: JudgmentSet, answers: pl.DataFrame) -> list[dict[str, Any]]:
    """The answers that list questions are scored against: those of development, and what the runs added.

    In JSON lines the second part is derived. NIST's form of list judgments does not name the answers, so here they
    stand in the list.
    """
    return Key(judged, no_nuggets(), answers).answer_classes().to_dicts()


def _add_judgments(made: NistFiles, name: str, judged: JudgmentSet, items: Items) -> None:
    factoid = judged.kind("item")
    placed = factoid.filter(pl.col("text").is_null()).height
    if placed:
        made.notes.append(f"{name}: {placed:,} judged extracts are left out; NIST's form holds strings.")
    made.add(f"{name}-factoid.txt", nist.format_factoid, factoid.filter(pl.col("text").is_not_null()).to_dicts())
    made.add(f"{name}-list.txt", nist.format_list, judged.kind("list").to_dicts())
    matches = judged.kind("match")
    made.add(f"{name}-other.txt", nist.format_other, matches.to_dicts(), items)
    if matches.filter(pl.col("item").is_null() & (pl.col("nuggets").list.len() > 0)).height:
        made.notes.append(f"{name}: nuggets matched in a response as a whole are written with its first item.")
    for kind, what in _WITHOUT_FORM.items():
        count = judged.kind(kind).height
        if count:
            made.notes.append(f"{name}: {count:,} {what} are left out; NIST has no form for them.")


def _items(folder: Folder, configuration: Configuration, questions: TestSet) -> Items:
    """The items of the runs' responses to questions with nuggets."""
    paths = folder.runs()
    names = {path: folder.name(path) for path in paths}
    found = read_runs(paths, task=configuration.task, questions=questions, names=names)
    if found.problems:
        raise InputError(found.problems)
    items: dict[tuple[str, str], list[tuple[str | None, str]]] = {}
    if not found.runs.table.height or "text" not in found.runs.table.columns:
        return items
    rows = found.runs.table.filter(pl.col("text").is_not_null()).sort("run", "question", "rank", maintain_order=True)
    for run, question, doc, text in rows.select("run", "question", "doc", "text").iter_rows():
        items.setdefault((question, run), []).append((doc, text))
    return items
