"""The content of a judging sheet: questions, items without their runs, documents; and the key that names the runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from qassay.collections import open_collection
from qassay.errors import InputError, Problem, unknown
from qassay.evaluation import Evaluation
from qassay.formats import jsonl
from qassay.formats.sheets import SheetKey, SheetPart
from qassay.judging import KINDS, SETTLED_SETS, Item, Part, digest
from qassay.judging import Wanted as Judgments
from qassay.judging.items import label_of, parts_of, pool_items, unique_numbers
from qassay.judging.sets import list_shown
from qassay.questions import Question
from qassay.web.judging import SCREENS, TITLES, choices_of
from qassay.web.pages.documents import documents_shown, view_of
from qassay.web.pooling import runs_to_pool
from qassay.web.questions import QuestionView

Progress = Callable[[int, int], None]
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Wanted:
    """The request for a sheet: whose it is, which questions or series (none named: all), which kinds of judgments.

    A sample is shown `in_order` of its questions; `nuggets` (question, nugget) and `runs` are those it is about, where
    they are not all.
    """

    assessor: str
    questions: Sequence[str] = ()
    holistic: bool = False
    citations: bool = False
    documents: bool = True
    in_order: bool = False
    nuggets: Collection[tuple[str, str]] | None = None
    runs: Collection[str] | None = None


@dataclass(frozen=True)
class Content:
    """The content of the file, the meaning of its numbers, and the questions that wait for their nuggets."""

    data: dict[str, Any]
    questions: list[dict[str, Any]]
    texts: list[dict[str, Any]]
    key: SheetKey
    waiting: list[str]

    @property
    def screens(self) -> list[str]:
        """The screens that the sheet needs."""
        used = {item["kind"] for question in self.questions for item in question["items"]}
        return list(dict.fromkeys(SCREENS[kind] for kind in SCREENS if kind in used))

    @property
    def items(self) -> int:
        """How many items there are to judge."""
        return sum(len(question["items"]) for question in self.questions)


@dataclass
class _Making:
    """A sheet under way."""

    evaluation: Evaluation
    wanted: Wanted
    documents: Documents
    nuggets: dict[str, list[dict[str, Any]]]
    # The whole lists, where a sheet shows only some of the nuggets.
    listed: dict[str, list[dict[str, Any]]]
    # The known answers of each question, with their documents.
    answers: dict[str, list[tuple[str, str | None]]]
    references: dict[str, str]
    parts: dict[str, dict[str, SheetPart]] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)


def make_content(evaluation: Evaluation, wanted: Wanted, *, seed: str, progress: Progress | None = None) -> Content:
    """The content of a sheet; `seed` draws numbers and orders, as in the application."""
    questions_chosen = _questions_named(evaluation, wanted.questions)
    if wanted.in_order:
        place = {name: number for number, name in enumerate(wanted.questions)}
        questions_chosen.sort(key=lambda question: place[question.id])
    pooled: dict[str, list[Item]] = {}
    for item in _pool(evaluation, wanted, seed):
        pooled.setdefault(item.question, []).append(item)
    listed = _nuggets(evaluation, wanted.assessor)
    making = _Making(
        evaluation,
        wanted,
        Documents(evaluation.folder.collection if wanted.documents else None),
        _nuggets_among(listed, wanted.nuggets),
        listed,
        _answers(evaluation, wanted.assessor),
        _references(evaluation),
    )
    pooled_questions = [question for question in questions_chosen if question.id in pooled]
    questions = []
    for done, question in enumerate(pooled_questions, 1):
        if (content := _question(making, question, pooled[question.id])) is not None:
            questions.append(content)
        if progress is not None:
            progress(done, len(pooled_questions))
    if not questions:
        raise InputError(Problem("configuration", _nothing(making), evaluation.folder.name()))
    return _content(making, questions, seed)


def _pool(evaluation: Evaluation, wanted: Wanted, seed: str) -> Iterable[Item]:
    """The items under numbers of their own."""
    runs = runs_to_pool(evaluation)
    if wanted.runs is not None:
        runs = replace(runs, table=runs.table.filter(pl.col("run").cast(pl.String).is_in(list(wanted.runs))))
    return unique_numbers(
        pool_items(
            runs,
            evaluation.questions,
            evaluation.task,
            seed=seed,
            justified=evaluation.configuration.justified,
            wanted=Judgments(wanted.holistic, wanted.citations),
        )
    )


def _question(making: _Making, question: Question, pooled: list[Item]) -> dict[str, Any] | None:
    """One question with its items; None where all of it waits for nuggets."""
    nuggets = making.nuggets.get(question.id, [])
    documents: dict[str, list[Any]] = {}
    items = []
    waits = False
    for item in sorted(pooled, key=lambda item: (item.kind, item.ordinal, item.id)):
        parts = _parts(making, item, nuggets)
        waits |= KINDS[item.kind].by_nuggets and not nuggets
        if not any(part.required for part in parts) or (KINDS[item.kind].linked and not nuggets):
            continue
        making.parts[str(item.id)] = {
            part.name: SheetPart(part.kind, {name: value for name, value in part.row.items() if value is not None})
            for part in parts
        }
        making.documents.note(item, documents)
        items.append((item, parts))
    if waits:
        making.waiting.append(question.id)
    if not items:
        return None
    fields = ("nugget", "text", "vital") if any(KINDS[item.kind].linked for item, _ in items) else ("nugget", "text")
    known = making.answers.get(question.id, [])
    shown_docs = [doc for item, _ in items for doc in documents_shown(item.body)]
    titles = making.documents.titles([*shown_docs, *(doc for _, doc in known if doc)])
    return {
        "question": _view(making.evaluation.questions.shown[question.id]),
        "earlier": [_view(earlier) for earlier in _earlier(making.evaluation, question)],
        "items": [_item(item, parts, titles) for item, parts in items],
        # Whether a nugget is vital has no part in whether an answer has it.
        "nuggets": [{name: nugget[name] for name in fields} for nugget in nuggets],
        "reference": making.references.get(question.id),
        "answers": list(dict.fromkeys(answer for answer, _ in known)),
        "known": [{"answer": answer, "doc": doc} for answer, doc in known],
        "documents": documents,
        "titles": titles,
    }


def _parts(making: _Making, item: Item, nuggets: Sequence[dict[str, Any]]) -> list[Part]:
    names = [nugget["nugget"] for nugget in nuggets]
    parts = parts_of(item, nuggets=names, assessor=making.wanted.assessor)
    return [part for part in parts if part.required or KINDS[part.kind].linked]


def _item(item: Item, parts: Sequence[Part], titles: Mapping[str, str]) -> dict[str, Any]:
    """An item as it is shown: without its run."""
    by_place = item.body.get("start") is not None and item.body["doc"] in titles
    body = {name: value for name, value in item.body.items() if name != "group"}
    described = [{"part": part.name, "kind": part.kind, "required": part.required} for part in parts]
    return {
        "id": item.id,
        "kind": item.kind,
        "label": label_of(item, titles),
        "place": label_of(item) if by_place else None,
        "body": body,
        "parts": described,
    }


def _content(making: _Making, questions: list[dict[str, Any]], seed: str) -> Content:
    evaluation, assessor = making.evaluation, making.wanted.assessor
    fields = ("id", "type", "text", "target")
    # A pair is listed by its hypothesis.
    listed = [
        {name: question["question"][name] for name in fields}
        | ({"text": question["question"]["hypothesis"]} if question["question"]["hypothesis"] else {})
        for question in questions
    ]
    # Nobody who has another sheet can compute the name, and send rows back as those of this one.
    name = f"{assessor}-{digest(seed, evaluation.name, assessor, questions)[:_DIGITS]}"
    data = {
        "sheet": name,
        "evaluation": evaluation.name,
        "assessor": assessor,
        "file": f"{name}.jsonl",
        "labels": list(evaluation.task.labels),
        "has_collection": evaluation.folder.collection.is_dir(),
        "screens": SCREENS,
        "choices": {
            screen: choices_of(kind, evaluation.task).model_dump()
            for kind, screen in SCREENS.items()
            if kind in {item["kind"] for question in questions for item in question["items"]}
        },
        # Nuggets are written before a sheet is made.
        "titles": TITLES | {"matches": "Match nuggets"},
        "questions": [{**question, "text": question["text"][:300]} for question in listed],
    }
    used = [row for question in questions for row in making.listed.get(question["question"]["id"], [])]
    key = SheetKey(
        sheet=name,
        evaluation=evaluation.name,
        assessor=assessor,
        nuggets=used,
        items=making.parts,
    )
    return Content(data, questions, making.documents.texts, key, making.waiting)


def _questions_named(evaluation: Evaluation, names: Sequence[str]) -> list[Question]:
    """The questions that are named, by their ids or those of their series; all where none is."""
    questions = evaluation.questions
    names_known = {*questions.ids, *(series.id for series in questions.series)}
    for name in names:
        if name not in names_known:
            raise unknown("question or series", name, sorted(names_known))
    return [question for question in questions if not names or question.id in names or question.series in names]


def _nuggets(evaluation: Evaluation, assessor: str) -> dict[str, list[dict[str, Any]]]:
    """The nuggets of every question, by the list that the application would show."""
    lists = sorted(evaluation.folder.nugget_lists())
    list_name = list_shown(assessor, lists)
    nuggets: dict[str, list[dict[str, Any]]] = {}
    if list_name in lists:
        for row in evaluation.nugget_list(list_name).drop("line", strict=False).iter_rows(named=True):
            fields = {name: value for name, value in row.items() if value is not None}
            nuggets.setdefault(row["question"], []).append({"text": "", **fields})
    return nuggets


def _nuggets_among(
    listed: dict[str, list[dict[str, Any]]], pairs: Collection[tuple[str, str]] | None
) -> dict[str, list[dict[str, Any]]]:
    """The nuggets that a sheet is about: all, or those that are named."""
    if pairs is None:
        return listed
    return {question: [row for row in rows if (question, row["nugget"]) in pairs] for question, rows in listed.items()}


def _answers(evaluation: Evaluation, assessor: str) -> dict[str, list[tuple[str, str | None]]]:
    """The answers known from question development; those that another assessor noted would reveal judgments."""
    part = evaluation.folder.answers
    rows = [] if part is None else jsonl.parse_rows(part.text(), file=part.name)
    is_current: dict[tuple[str, str, Any], bool] = {}
    for _, row in rows:
        if row.get("assessor") in (None, assessor):
            is_current[str(row["question"]), str(row["answer"]), row.get("doc")] = not row.get("withdrawn")
    current_answers: dict[str, list[tuple[str, str | None]]] = {}
    for (question, answer, doc), current in is_current.items():
        if current:
            current_answers.setdefault(question, []).append((answer, doc))
    return current_answers


def _references(evaluation: Evaluation) -> dict[str, str]:
    """The reference answers of pairs, where justifications are rated."""
    key = next((name for name in SETTLED_SETS if name in evaluation.sets), None)
    if key is None or not evaluation.task.is_rated:
        return {}
    return evaluation.judgment_set(key).pair_labels()


def _earlier(evaluation: Evaluation, question: Question) -> list[Question]:
    """The questions of the series before this one."""
    series = next((candidate for candidate in evaluation.questions.series if candidate.id == question.series), None)
    before = series.questions if series is not None else ()
    return list(before[: before.index(question)]) if series is not None else []


def _view(question: Question) -> dict[str, Any]:
    return QuestionView.model_validate(question).model_dump()


def _nothing(making: _Making) -> str:
    if making.waiting:
        return "there is nothing to judge yet: its questions take nuggets, and none are written; import a nugget list"
    return "there is nothing to judge: no run returned anything for these questions"


# ---- documents ------------------------------------------------------------------------------------------------------

# Characters of a document that a sheet contains; of a longer one, those around the string.
LONGEST = 20_000
# The page asks for no more of a string, in UTF-16 units (document.js).
_FIND = 2_000


class Documents:
    """The texts that a sheet contains, numbered from 1 in the order in which they are first shown."""

    def __init__(self, collection: Path | None) -> None:
        self.texts: list[dict[str, Any]] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._collection = open_collection(collection) if collection is not None and collection.is_dir() else None

    def titles(self, docs: Iterable[str]) -> dict[str, str]:
        """The titles of some documents, by their ids; none where the sheet contains no documents."""
        return self._collection.titles(docs) if self._collection is not None else {}

    def note(self, item: Item, shown: dict[str, list[Any]]) -> None:
        """Add the parts of documents that an item shows to `shown`, by the request of the page."""
        for place in KINDS[item.kind].places(item):
            doc, find, start, length = place.doc, _find_text(place.text), place.start, place.length
            request = json.dumps(
                [doc, find, None if start is None else str(start), None if length is None else str(length)],
                ensure_ascii=False,
                separators=(",", ":"),
            )
            if self._collection is None or request in shown or doc not in self._collection:
                continue
            document = self._collection.document(doc)
            view = view_of(document, find=find, start=start, length=length, longest=LONGEST)
            number = self._number(view.id, view.title, view.text)
            shown[request] = [number, view.marks, view.begins, view.length, view.found]

    def _number(self, doc: str, title: str | None, text: str) -> int:
        if (doc, text) not in self._numbers:
            self.texts.append({"id": doc, "title": title, "text": text})
            self._numbers[doc, text] = len(self.texts)
        return self._numbers[doc, text]


def _find_text(text: str | None) -> str | None:
    """The part of a string that the page looks for: JavaScript counts in UTF-16, half a character is replaced."""
    cut = (text or "").encode("utf-16-le")[: 2 * _FIND]
    return cut.decode("utf-16-le", "replace") or None
