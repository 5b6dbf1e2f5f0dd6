"""Published results: as they were when an organiser published them, whatever is judged later."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from qassay.errors import UsageError
from qassay.evaluation import Evaluation
from qassay.judging import digest
from qassay.judging.keys import public_name
from qassay.options import UNCHOSEN
from qassay.store.acts import Act
from qassay.store.assignment.progress import is_open
from qassay.store.engine import Store
from qassay.store.settings import get_setting, put_setting, remove_settings, setting_to_change
from qassay.studies.judged_answers import answers_by_run
from qassay.tables import Column, Table
from qassay.web.results.finding import Finding, Picture, Progress, StudyRequest, pictures

SETTING = "published"
# Whether organisers see the results of finished questions while others are being judged.
SHOWN_EARLY = "results-shown-early"
MOST = 50


@dataclass(frozen=True, slots=True)
class Publication:
    """One published result, without its numbers."""

    id: str
    title: str
    key: str
    measure: str
    component: str | None
    unjudged: str
    missing: str
    provisional: str | None
    at: str
    by: str


def publications(connection: Connection) -> list[Publication]:
    """The published results, the latest first."""
    return [Publication(**saved) for saved in get_setting(connection, SETTING) or ()]


def _to_change(connection: Connection) -> list[Publication]:
    """The published results, of which this transaction changes the list."""
    return [Publication(**saved) for saved in setting_to_change(connection, SETTING) or ()]


def visible_to(store: Store, role: str) -> list[Publication] | None:
    """The results that this role may see; None where it may see none yet: assessors stay blind while work is open."""
    with store.read() as connection:
        if role in ("assessor", "adjudicator") and is_open(connection):
            return None
        return publications(connection)


class OrganisationsRequest(StudyRequest):
    """The result page of every organisation, as `report --by organisation` has it; without tables of its own."""

    def compute(self, evaluation: Evaluation, progress: Progress) -> Finding:
        """The pages, of which each has the names of its own runs alone."""
        from qassay.reports.organisations import organisation_page, organisations

        scores = evaluation.score(**dict(self.options))
        answers = answers_by_run(evaluation, scores, [row.run for row in scores.runs])
        pages = []
        for name in organisations(scores):
            page = organisation_page(scores, name, answers)
            # A picture is all that a page keeps of a figure.
            drawn = pictures(*(lambda figure=figure: figure for figure in page.figures))
            pages.append({**asdict(replace(page, figures=())), "pictures": [asdict(picture) for picture in drawn]})
        return Finding((), {"pages": pages})


@dataclass(frozen=True, slots=True)
class OrganisationResult:
    """The part of a published result that an organisation sees: its own scores, the median and the best."""

    id: str
    title: str
    at: str
    provisional: str | None
    organisation: str
    subtitle: str = ""
    sentences: tuple[str, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()


def organisation_results(connection: Connection, organisation: str) -> list[OrganisationResult]:
    """The published results that have a page of this organisation, the latest first, without their numbers."""
    return [
        OrganisationResult(publication.id, publication.title, publication.at, publication.provisional, organisation)
        for publication in publications(connection)
        if get_setting(connection, _place(publication.id, organisation)) is not None
    ]


def organisation_result(connection: Connection, number: str, organisation: str) -> OrganisationResult | None:
    """The page of an organisation in a published result; None where there is none."""
    publication = next((result for result in publications(connection) if result.id == number), None)
    stored = get_setting(connection, _place(number, organisation)) if publication else None
    if publication is None or stored is None:
        return None
    return OrganisationResult(
        publication.id,
        publication.title,
        publication.at,
        publication.provisional,
        organisation,
        stored["subtitle"],
        tuple(stored["sentences"]),
        {f"table-{place}": _table(saved) for place, saved in enumerate(stored["tables"], start=1)},
        tuple(_picture(saved) for saved in stored.get("pictures", ())),
    )


def _place(number: str, organisation: str) -> str:
    """The setting with the page of an organisation; its name may be as long as it likes."""
    return f"{SETTING}:{number}:{digest('organisation', organisation)}"


def _forget(connection: Connection, number: str) -> None:
    """Remove the numbers of a published result, those of the organisations too."""
    put_setting(connection, f"{SETTING}:{number}", None)
    remove_settings(connection, f"{SETTING}:{number}:")


def publish(
    act: Act,
    finding: Finding,
    scoring: Mapping[str, Any],
    *,
    title: str,
    provisional: str | None,
    pages: Iterable[Mapping[str, Any]] = (),
) -> Publication:
    """Publish a leaderboard: its tables are kept as they are now. Scored in the same way and published again, it
    takes its place.

    `pages` are those of the organisations, each of which sees its own.
    """
    key, measure = str(finding.document["key"]), str(finding.document["measure"])
    new = Publication(
        id=secrets.token_hex(6),
        title=title.strip() or f"{measure}, judgments: {public_name(key)}",  # organisations read it too
        provisional=provisional,
        at=act.at,
        by=act.name,
        **{**UNCHOSEN, **scoring, "key": key, "measure": measure},
    )
    connection = act.connection
    earlier = _to_change(connection)
    others = [publication for publication in earlier if _choice_of(publication) != _choice_of(new)]
    if len(others) >= MOST:
        raise UsageError(f"{MOST} results are published; withdraw one first")
    for publication in earlier:
        if publication not in others:
            _forget(connection, publication.id)
    put_setting(connection, f"{SETTING}:{new.id}", _stored(finding))
    for page in pages:
        put_setting(connection, _place(new.id, page["organisation"]), page)
    put_setting(connection, SETTING, [asdict(publication) for publication in (new, *others)])
    details = {name: value for name, value in asdict(new).items() if name not in ("id", "at", "by")}
    act.note("publish", publication=new.id, **details)
    return new


def withdraw(act: Act, number: str) -> bool:
    """Take a published result away from readers; whether there was one."""
    connection = act.connection
    earlier = _to_change(connection)
    others = [publication for publication in earlier if publication.id != number]
    if len(others) == len(earlier):
        return False
    _forget(connection, number)
    put_setting(connection, SETTING, [asdict(publication) for publication in others] or None)
    act.note("unpublish", publication=number)
    return True


@dataclass(frozen=True, slots=True)
class Published:
    """A published result as it was when it was published."""

    publication: Publication
    tables: dict[str, Table]
    document: dict[str, Any]
    answer: str = ""
    pictures: tuple[Picture, ...] = ()


def published(connection: Connection, number: str) -> Published | None:
    """A published result; None where there is none."""
    publication = next((result for result in publications(connection) if result.id == number), None)
    stored = get_setting(connection, f"{SETTING}:{number}") if publication else None
    if publication is None or stored is None:
        return None
    return Published(
        publication,
        {name: _table(saved) for name, saved in stored["tables"].items()},
        stored["document"],
        stored.get("answer", ""),
        tuple(_picture(saved) for saved in stored.get("pictures", ())),
    )


def show_early(act: Act, *, early: bool) -> None:
    """Show organisers the results of finished questions while others are being judged, or no longer; recorded."""
    put_setting(act.connection, SHOWN_EARLY, early or None)
    act.note("show-results-early", shown=early)


def _choice_of(publication: Publication) -> tuple[str | None, ...]:
    return (publication.key, publication.measure, publication.component)


def _stored(finding: Finding) -> dict[str, Any]:
    # Scores of single questions stay with the organisers: the document of a large evaluation would not fit a setting.
    document = {name: value for name, value in finding.document.items() if name not in ("matrix", "questions", "units")}
    return {
        "tables": {part.name: asdict(part.table) for part in finding.parts},
        "document": document,
        "answer": finding.answer,
        "pictures": [asdict(picture) for picture in finding.pictures],
    }


def _picture(saved: Mapping[str, Any]) -> Picture:
    numbers = saved.get("table")
    return Picture(**{**saved, "table": None if numbers is None else _table(numbers)})


def _table(saved: Mapping[str, Any]) -> Table:
    columns = tuple(Column(**column) for column in saved["columns"])
    return Table(saved["title"], columns, tuple(map(tuple, saved["rows"])), tuple(saved["notes"]))
