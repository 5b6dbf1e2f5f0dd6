"""Documents: one as assessors read it, with what they look for marked, and search in all for question development."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import Query

from qassay.collections import Collection, Document, Hit, open_collection
from qassay.questions import Question
from qassay.store.development import drafts as store
from qassay.tables import plural
from qassay.web.background import BackgroundJob, job_named, start
from qassay.web.errors import Refusal
from qassay.web.questions import NUGGET_TYPES, AuthorQuestions, NumberedQuestion, check_author, own_questions
from qassay.web.routing import ASSESSORS, Context, Router, ThePerson, TheSite
from qassay.web.site import Site

# Characters sent at most; a longer document is cut around what is marked.
LONGEST = 200_000
MOST_MARKS = 500
_opening = threading.Lock()
router = Router()
INDEX, OPENING = "index", "opening"
# How long a page waits for the index before it says that it is being made: a small collection is ready by then.
PATIENCE = 1.0
LONGEST_PASSAGE = 5_000
MOST_DRAFTS = 500
Query_ = Annotated[str, Query(max_length=1_000)]
Id = Annotated[str | None, Query(max_length=200)]
State = Literal["ready", "making", "failed", "none"]


class DocumentView(Context):
    """A document, or the stretch of it around the first mark; marks count in `text`."""

    id: str
    title: str | None
    text: str
    marks: list[tuple[int, int]]
    # Where `text` begins in the whole, and how long the whole is.
    begins: int
    length: int
    # How the string was found: exactly, or only with other blanks, punctuation or letters' case.
    found: str | None


def collection_of(site: Site) -> Collection:
    """The evaluation's collection, opened once."""
    with _opening:
        collection: Collection | None = site.memory.get("collection")
        if collection is None:
            if not site.folder.collection.is_dir():
                raise Refusal(404, "this evaluation has no collection of documents")
            collection = site.memory["collection"] = open_collection(site.folder.collection)
    return collection


def titles_of(site: Site, docs: Iterable[str | None]) -> dict[str, str]:
    """The titles of documents, by their ids, where the collection has them.

    A collection that is still being read when a page has waited a little gives none: the page shows ids.
    """
    wanted = [doc for doc in docs if doc]
    if not wanted or not site.folder.collection.is_dir():
        return {}
    if "collection" not in site.memory:
        job = job_named(site, OPENING) or start(site, OPENING, "The documents are being read.", lambda _: _open(site))
        job.ended.wait(PATIENCE)
        if job.state != "done":
            return {}
    return collection_of(site).titles(wanted)


def _open(site: Site) -> str:
    collection_of(site)
    return ""


def documents_shown(body: Mapping[str, Any]) -> Iterator[str]:
    """The documents that a screen names, of what an item shows: of a passage, of contexts and of citations."""
    if body.get("start") is not None:
        yield body["doc"]
    yield from (context["doc"] for context in body.get("contexts") or () if context.get("doc"))
    yield from (doc for element in body.get("elements") or () for doc in element.get("citations") or ())


def check_document(site: Site, doc: str | None) -> None:
    """Refuse a document that is not in the collection, where there is one."""
    if doc is not None and site.folder.collection.is_dir() and doc not in collection_of(site):
        message = f"there is no document {doc[:100]!r}; give the id of a document, or leave it empty"
        raise Refusal(422, message, problems=({"field": "doc", "message": message},))


def view_of(
    document: Document,
    *,
    find: str | None = None,
    start: int | None = None,
    length: int | None = None,
    longest: int = LONGEST,
) -> DocumentView:
    """A document as it is shown: at most `longest` characters, around the first mark."""
    if start is not None and length is not None:
        return _cut(document, document.text, [(start, min(start + length, len(document.text)))], "place", longest)
    text = document.plain().text
    marks, how = occurrences(text, find) if find else ([], None)
    return _cut(document, text, marks, how, longest)


def occurrences(text: str, string: str) -> tuple[list[tuple[int, int]], str | None]:
    """The places of a string: exact, else with other blanks and case, else its longest words.

    >>> occurrences("He lived in New  York.", "new york")
    ([(12, 21)], 'similar')
    """
    if not string.strip():
        return [], None
    exact = [match.span() for match in re.finditer(re.escape(string), text)]
    if exact:
        return exact[:MOST_MARKS], "exact"
    words = re.findall(r"\w+", string)[:40]
    if not words:
        return [], None
    loose = re.compile(r"\W{1,5}".join(map(re.escape, words)), re.IGNORECASE)
    similar = [match.span() for match in loose.finditer(text)]
    if similar:
        return similar[:MOST_MARKS], "similar"
    telling = sorted({word for word in words if len(word) > 3}, key=len, reverse=True)[:8]
    if not telling:
        return [], None
    single = re.compile(rf"\b(?:{'|'.join(map(re.escape, telling))})\b", re.IGNORECASE)
    return [match.span() for match in single.finditer(text)][:MOST_MARKS], "words"


def _cut(document: Document, text: str, marks: list[tuple[int, int]], how: str | None, longest: int) -> DocumentView:
    begins = 0
    if len(text) > longest and marks:
        begins = max(0, min(marks[0][0] - longest // 2, len(text) - longest))
    part = text[begins : begins + longest]
    marks_shown = [
        (max(first - begins, 0), min(end - begins, len(part)))
        for first, end in marks
        if end > begins and first < begins + len(part)
    ]
    how_found = how if marks_shown else None
    return DocumentView.build(document, text=part, marks=marks_shown, begins=begins, length=len(text), found=how_found)


@router.page("/document", template="document.html", roles=ASSESSORS)
def document(
    site: TheSite,
    id: Annotated[str, Query(max_length=1000)],  # noqa: A002  # the name in the address
    find: Annotated[str | None, Query(max_length=5_000)] = None,
    start: Annotated[int | None, Query(ge=0)] = None,
    length: Annotated[int | None, Query(ge=0)] = None,
) -> DocumentView:
    """A document of the collection, with a string or a stretch marked."""
    try:
        stored = collection_of(site).document(id)
    except KeyError:
        raise Refusal(404, f"document {id} is not in the collection") from None
    return view_of(stored, find=find, start=start, length=length)


class HitView(Context):
    """A passage that was found; marks count in `text`."""

    doc: str
    title: str | None
    text: str
    marks: list[tuple[int, int]]


class DraftChoice(NumberedQuestion):
    """A draft that an answer can be noted for."""

    target: str | None


class SearchPage(Context):
    """A search and its hits."""

    q: str
    question: DraftChoice | None
    state: State
    says: str
    documents: int | None
    hits: list[HitView]
    limit: int


class IndexState(Context):
    """How far the index is."""

    state: State
    says: str


class SourcePage(Context):
    """A document from which a passage is taken as an answer."""

    document: DocumentView
    q: str
    question: DraftChoice | None
    drafts: list[DraftChoice]
    series: list[DraftChoice]
    in_series: bool
    types: list[str]
    # Types of question of which a passage becomes a nugget, not an answer.
    by_nuggets: tuple[str, ...] = NUGGET_TYPES


@router.page("/development/search", template="search.html", roles=ASSESSORS, data=True)
def search(
    person: ThePerson, site: TheSite, q: Query_ = "", question: Id = None, limit: Literal[20, 50, 100] = 20
) -> SearchPage:
    """Passages of the documents that match, with the words that do marked."""
    check_author(site, person)
    state = index_state(site, patience=PATIENCE)
    hits: list[HitView] = []
    documents = None
    if state.state == "ready":
        collection = collection_of(site)
        documents = len(collection)
        hits = [hit_view(hit) for hit in collection.search(q, limit=limit, passages=True)]
    with site.store.read() as connection:
        choice = _choice(own_questions(site, person, connection), question) if question else None
    return SearchPage.build(state, q=q, question=choice, documents=documents, hits=hits, limit=limit)


@router.action("GET", "/development/search/state", roles=ASSESSORS)
def search_state(person: ThePerson, site: TheSite) -> IndexState:
    """Whether the documents can be searched yet."""
    check_author(site, person)
    return index_state(site, patience=0.0)


@router.page("/development/document", template="search_document.html", roles=ASSESSORS, data=True)
def source(
    person: ThePerson,
    site: TheSite,
    id: Annotated[str, Query(max_length=1000)],  # noqa: A002  # the name in the address
    find: Annotated[str | None, Query(max_length=LONGEST_PASSAGE)] = None,
    q: Query_ = "",
    question: Id = None,
) -> SourcePage:
    """A document, in which a passage is selected as the answer of a draft."""
    task = site.configuration.task
    with site.store.read() as connection:
        questions = own_questions(site, person, connection)
    choice = _choice(questions, question)
    drafts = [draft.question for draft in questions.drafts]
    # A series is shown like a draft, by its last one.
    series = {draft.series: draft for draft in drafts if draft.series}
    return SourcePage(
        document=document(site, id, find),
        q=q,
        question=choice,
        drafts=[_draft(questions, draft) for draft in drafts[:MOST_DRAFTS]],
        series=[
            DraftChoice.build(draft, id=name, number=questions.names.get(name, name)) for name, draft in series.items()
        ],
        in_series=task.unit == "series",
        types=store.writable_types(task),
    )


def index_state(site: Site, *, patience: float) -> IndexState:
    """Whether the index is there; where it is not, it is being made from now on."""
    if not site.folder.collection.is_dir():
        return IndexState(state="none", says="This evaluation has no documents. They go into its folder collection/.")
    job = job_named(site, INDEX)
    if job is None or job.state == "failed":
        job = start(site, INDEX, "The documents are being read.", lambda job: _make_index(site, job))
    job.ended.wait(patience)
    state: State = "ready" if job.state == "done" else "making" if job.state == "running" else "failed"
    return IndexState(state=state, says=job.says)


def hit_view(hit: Hit) -> HitView:
    """A hit as a reader sees it, its marks brought from the stored text to the plain one."""
    if hit.markup == "none":
        marks = [(first, first + length) for first, length in hit.highlights]
        return HitView.build(hit, marks=_apart(marks))
    plain = hit.plain()
    matched = {first for first, _ in hit.highlights}
    words = [match.span() for match in re.finditer(r"\w+", plain.text)]
    marks = [span for span in words if plain.origin(*span)[0] in matched]
    return HitView.build(hit, text=plain.text, marks=marks)


def _make_index(site: Site, job: BackgroundJob) -> str:
    collection = collection_of(site)
    job.says = f"The index of {plural(len(collection), 'document')} is being made. This happens once."
    collection.index(passages=True)
    return ""


def _apart(marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Marks in order, none within another."""
    apart: list[tuple[int, int]] = []
    for first, end in sorted(marks):
        if not apart or first >= apart[-1][1]:
            apart.append((first, end))
    return apart


def _choice(questions: AuthorQuestions, number: str | None) -> DraftChoice | None:
    drafts = {draft.question.id: draft.question for draft in questions.drafts}
    found_question = questions.published.by_id.get(number or "") or drafts.get(number or "")
    if number and found_question is None:
        raise Refusal(404, f"there is no question {number}")
    return _draft(questions, found_question) if found_question is not None else None


def _draft(questions: AuthorQuestions, question: Question) -> DraftChoice:
    return DraftChoice.build(question, number=questions.names.get(question.id, question.id))
