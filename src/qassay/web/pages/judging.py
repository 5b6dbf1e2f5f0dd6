"""The judging screens' common part: an assessor's sheet for a question, its items, decisions and undoing.

Items are shown without their runs, with the assessor's own verdicts and nobody else's.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field
from sqlalchemy import Connection

from qassay.judging import KINDS, Item, Part
from qassay.judging.items import label_of, parts_of
from qassay.store.assignment.assignments import Assignment, next_open
from qassay.store.assignment.counting import count_decisions, parts_for, recount
from qassay.store.assignment.progress import workloads
from qassay.store.development.answers import answers_with_documents
from qassay.store.development.answers import note_answer as keep_answer
from qassay.store.judging.decisions import SavedJudgment, decide, is_locked, undo
from qassay.store.judging.flags import flags, put_flag
from qassay.store.judging.judgments import current_rows
from qassay.store.pool.items import items_of
from qassay.tables import plural
from qassay.tasks import Task
from qassay.web.errors import Refusal
from qassay.web.judging import (
    SCREENS,
    TITLES,
    Choices,
    HeldItem,
    ItemView,
    OnPart,
    acting,
    choices_of,
    held_item,
    item_of,
    item_view,
    own_assignment,
)
from qassay.web.pages.documents import check_document, documents_shown, titles_of
from qassay.web.progress import progress_of
from qassay.web.questions import QuestionView, earlier_in_series, question_named
from qassay.web.routing import ASSESSORS, Context, Done, Input, Number, Router, ThePerson, TheSite
from qassay.web.site import BY_PERSON, Person

router = Router()


class PlaceView(Context):
    """An item's place on a sheet: its number, whether it is judged, and how its string begins (pooled items).

    `verdict` is the label that this assessor gave it, where one label is all that it takes.
    """

    id: int
    complete: bool
    # How many of its decisions are made.
    made: int
    kind: str
    label: str = ""
    # Where a passage is, in small print, where the label is the title of its document.
    place: str | None = None
    verdict: str | None = None


class AssessorView(Context):
    """Who judges."""

    id: int
    name: str


class Stage(Context):
    """One stage of judging a question: a screen, how far it is, and whether it may be begun."""

    screen: str
    title: str
    done: int
    total: int
    open: bool


class KnownView(Context):
    """A known answer, and a document that has it."""

    answer: str
    doc: str | None


class JobView(Context):
    """How many decisions of all that is assigned to an assessor are made, and how long the rest takes at their pace."""

    done: int
    total: int
    minutes_left: int | None


class Sheet(Context):
    """One assessor's work on one question; `done` and `total` are decisions."""

    assignment: int
    screen: str
    stages: list[Stage]
    step: int
    question: QuestionView
    earlier: list[QuestionView]
    labels: list[str]
    # What a verdict on this screen chooses from.
    choices: Choices | None
    items: list[PlaceView]
    total: int
    done: int
    closed: bool
    # An adjudicator has ruled on it: it takes no decisions.
    locked: bool
    next: int | None
    assessor: AssessorView
    has_collection: bool
    known: list[KnownView]
    # Titles of the documents of known answers, by their ids.
    titles: dict[str, str]
    job: JobView
    # Items that this assessor flagged, with their reasons.
    flags: dict[int, str]


class Decision(OnPart):
    """A verdict on a part of an item. `expected` is the version that the assessor has seen."""

    verdict: dict[str, Any]
    seconds: int = Field(default=0, ge=0, le=86_400)


class Undoing(OnPart):
    """Put back the judgment of version `to` (0: nothing)."""

    to: int = Field(ge=0)


class SavedView(Context):
    """The result of a save."""

    item: int
    part: str
    version: int
    at: str
    complete: bool
    done: int
    total: int
    closed: bool


@router.page("/judge/{assignment}", template="judge.html", roles=ASSESSORS, data=True)
def judge(person: ThePerson, site: TheSite, assignment: Number, stage: str | None = None) -> Sheet:
    """The sheet of an assignment: the question, the items of one stage of its judging, and how far they are."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        items = items_of(connection, assigned.question)
        verdicts = _labels_given(connection, site.configuration.task, assigned, items)
        counts = count_decisions(connection, assigned, items)
        answers = answers_with_documents(connection, assigned.question, person.id)
        job = progress_of(workloads(connection, person.id))
        flagged = {flag.item: flag.reason for flag in flags(connection, account=person.id, question=assigned.question)}
        following = next_open(connection, assigned)
        locked = is_locked(connection, assigned.question)
    by_place = {item.id: str(item.body["doc"]) for item in items if item.body.get("start") is not None}
    titles = titles_of(site, [*by_place.values(), *(doc for _, doc in answers)])
    places = [
        PlaceView(
            id=item.id,
            kind=item.kind,
            complete=decisions.complete,
            made=decisions.made,
            label=label_of(item, titles),
            place=label_of(item) if by_place.get(item.id) in titles else None,
            verdict=verdicts.get(item.id),
        )
        for item, decisions in zip(items, counts, strict=True)
    ]
    stages = stages_of(places, assigned.step)
    current = next((candidate for candidate in stages if candidate.screen == stage), None) or current_stage(stages)
    question = question_named(site, assigned.question)
    return Sheet.build(
        assigned,
        assignment=assigned.id,
        screen=current.screen,
        stages=stages,
        question=QuestionView.model_validate(question),
        earlier=[QuestionView.model_validate(before) for before in earlier_in_series(site, question)],
        labels=list(site.configuration.task.labels),
        choices=screen_choices(current.screen, site.configuration.task),
        items=[place for place in places if SCREENS[place.kind] == current.screen],
        closed=assigned.closed is not None,
        locked=locked,
        next=following,
        assessor=AssessorView(id=person.id, name=person.name),
        has_collection=site.folder.collection.is_dir(),
        known=[KnownView(answer=answer, doc=doc) for answer, doc in answers],
        titles={doc: titles[doc] for _, doc in answers if doc in titles},
        job=JobView.build(job),
        flags=flagged,
    )


def _labels_given(connection: Connection, task: Task, assignment: Assignment, items: list[Item]) -> dict[int, str]:
    """The labels that an assessor gave to the items that take a single label."""
    subjects: dict[str, tuple[int, str]] = {}
    for item in items:
        kind = KINDS[item.kind]
        if not kind.by_nuggets and not kind.by_assessor and kind.labels(task):
            parts = parts_of(item)
            if len(parts) == 1:
                subjects[parts[0].subject] = (item.id, next(iter(kind.fields)))
    labels = {}
    for subject, (_, row) in current_rows(connection, assignment.set, list(subjects)).items():
        number, field = subjects[subject]
        if row is not None and row.get(field) is not None:
            labels[number] = str(row[field])
    return labels


class Flagging(Input):
    """An item that an assessor is not sure of, and why; without a reason the flag is removed."""

    key: str = Field(min_length=16, max_length=64, pattern=r"^[0-9A-Za-z-]+$")
    item: Number
    reason: str = Field(default="", max_length=500)


@router.action("POST", "/judge/{assignment}/flags", roles=ASSESSORS)
def flag(person: ThePerson, site: TheSite, assignment: Number, sent: Flagging) -> Done:
    """Flag an item, or remove the flag; it is not a judgment."""
    site.limits.count(BY_PERSON, "flags of", str(person.id))
    with acting(site, person, sent.key) as act:
        assigned = own_assignment(act.connection, person, assignment)
        flagged_item = item_of(act.connection, assigned.question, sent.item)
        put_flag(act, assigned.question, flagged_item.id, sent.reason.strip() or None)
    return Done()


@router.action("GET", "/judge/{assignment}/items/{item}", roles=ASSESSORS)
def show_item(person: ThePerson, site: TheSite, assignment: Number, item: Number) -> ItemView:
    """One item with this assessor's verdicts."""
    with site.store.read() as connection:
        assigned = own_assignment(connection, person, assignment)
        shown_item = item_of(connection, assigned.question, item)
        parts = parts_for(connection, assigned.set, shown_item, person.name)
        view = item_view(connection, assigned.set, shown_item, parts)
    return view.model_copy(update={"titles": titles_of(site, documents_shown(view.body))})


@router.action("POST", "/judge/{assignment}/decisions", roles=ASSESSORS)
def save(person: ThePerson, site: TheSite, assignment: Number, sent: Decision) -> SavedView:
    """Save a verdict. It is on the disk when this answers; sent again under its key, it answers the same."""
    with acting(site, person, sent.key) as act:
        held, part = _sought(act.connection, person, assignment, sent)
        how = {"expected": sent.expected, "seconds": sent.seconds}
        decided = decide(act, held.assignment, held.item, part, sent.verdict, **how, held=held.assignments)
    return _decided(sent.item, sent.part, decided)


@router.action("POST", "/judge/{assignment}/undo", roles=ASSESSORS)
def undo_decision(person: ThePerson, site: TheSite, assignment: Number, sent: Undoing) -> SavedView:
    """Undo a decision; the undoing is kept as well."""
    with acting(site, person, sent.key) as act:
        held, part = _sought(act.connection, person, assignment, sent)
        how = {"expected": sent.expected, "to": sent.to}
        decided = undo(act, held.assignment, held.item, part, **how, held=held.assignments)
    return _decided(sent.item, sent.part, decided)


@router.action("POST", "/judge/{assignment}/finish", roles=ASSESSORS)
def finish_again(person: ThePerson, site: TheSite, assignment: Number) -> SavedView:
    """Close a question that was opened again and needs no further change."""
    with acting(site, person) as act:
        done, total, closed = recount(act, own_assignment(act.connection, person, assignment))
    if not closed:
        raise Refusal(409, f"{total - done:,} of {plural(total, 'decision')} not made yet")
    return SavedView(item=0, part="", version=0, at="", complete=True, done=done, total=total, closed=closed)


class KnownAnswer(Input):
    """An answer that an assessor knows of, and the document that has it."""

    answer: str = Field(min_length=1, max_length=500)
    doc: str | None = Field(default=None, max_length=1000)


class Noted(Context):
    """The known answer as kept."""

    question: str
    answer: str
    # The title of its document.
    title: str | None


@router.action("POST", "/judge/{assignment}/answers", roles=ASSESSORS)
def note_answer(person: ThePerson, site: TheSite, assignment: Number, sent: KnownAnswer) -> Noted:
    """Add a known answer of the question: under this assessor's judgments NIL is wrong from then on.

    Under the other sets it counts when an organiser accepts it.
    """
    site.limits.count(BY_PERSON, "known answers of", str(person.id))
    check_document(site, sent.doc)
    with acting(site, person) as act:
        assigned = own_assignment(act.connection, person, assignment)
        keep_answer(act, assigned.question, sent.answer, sent.doc)
    return Noted(question=assigned.question, answer=sent.answer, title=titles_of(site, [sent.doc]).get(sent.doc or ""))


def screen_choices(screen: str, task: Task) -> Choices | None:
    """The choices of a verdict on a screen; the kinds of items that share a screen have the same labels."""
    kind = next((name for name, own_screen in SCREENS.items() if own_screen == screen), None)
    return None if kind is None else choices_of(kind, task)


def stages_of(places: list[PlaceView], step: int) -> list[Stage]:
    """The stages of judging a question, in order: writing nuggets comes before matching them."""
    completed_of: dict[str, list[bool]] = {}
    for place in places:
        completed_of.setdefault(SCREENS[place.kind], []).append(place.complete)
    stages = [
        Stage(
            screen=screen,
            title=TITLES[screen],
            done=sum(completed_of[screen]),
            total=len(completed_of[screen]),
            open=True,
        )
        for screen in dict.fromkeys(SCREENS.values())
        if screen in completed_of
    ]
    if "matches" in completed_of:
        writing = Stage(screen="nuggets", title=TITLES["nuggets"], done=int(step > 1), total=1, open=True)
        later = [stage.model_copy(update={"open": stage.screen != "matches" or step > 1}) for stage in stages]
        stages = [writing, *later]
    return stages


def current_stage(stages: list[Stage]) -> Stage:
    """The first stage that is not finished; the last where all are."""
    if not stages:
        raise Refusal(404, "this question has nothing to judge; no run returned anything for it")
    return next((stage for stage in stages if stage.done < stage.total), stages[-1])


def _sought(connection: Connection, person: Person, assignment: int, sent: OnPart) -> tuple[HeldItem, Part]:
    """The subject of a decision: a part of an item of an own assignment."""
    held = held_item(connection, person, assignment, sent)
    for part in parts_for(connection, held.assignment.set, held.item, person.name):
        if part.name == sent.part:
            return held, part
    raise Refusal(404, f"this item has no part {sent.part!r}")


def _decided(item: int, part: str, decided: SavedJudgment) -> SavedView:
    saved = decided.saved
    return SavedView(
        item=item,
        part=part,
        version=saved.version,
        at=saved.at,
        complete=decided.complete,
        done=decided.done,
        total=decided.total,
        closed=decided.closed,
    )
