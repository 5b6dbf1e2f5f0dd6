"""The first page: what this evaluation is, its steps from the questions to the results, and its export as a file."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, Literal

from sqlalchemy import Connection
from starlette.responses import Response, StreamingResponse

from qassay.formats.exporting import make_export
from qassay.formats.names import file_name
from qassay.store.adjudication.settling import Overview, overview
from qassay.store.assignment.progress import Workload, unassigned_questions, workloads
from qassay.store.development.drafts import count_drafts
from qassay.store.folder.snapshot import snapshot
from qassay.store.judging.history import set_names
from qassay.store.people import accounts
from qassay.store.pool.uploads import count_runs
from qassay.tables import plural
from qassay.web.errors import GoTo
from qassay.web.pages import entries
from qassay.web.pooling import PoolView, pool_view
from qassay.web.questions import questions_of
from qassay.web.routing import EVERYBODY, ORGANISERS, Context, Router, ThePerson, TheSite
from qassay.web.site import Site

router = Router()
# Kept in memory up to this many bytes.
SMALL = 8 << 20
CHUNK = 1 << 16


class Step(Context):
    """One step of the way: what is there, what is to be done (`act`) and where."""

    label: str
    says: str
    act: str
    path: str
    # Of those that are not done, the first is next, and the others come later.
    state: Literal["done", "next", "later"]


class Door(Context):
    """A way on from here."""

    path: str
    label: str
    does: str


class Home(Context):
    """The first page."""

    evaluation: str
    task: str
    name: str
    role: str
    # What an organiser has to do, from the questions to the results.
    steps: list[Step]
    doors: list[Door]
    may_export: bool


@router.page("/", template="home.html", roles=EVERYBODY)
def home(person: ThePerson, site: TheSite) -> Home:
    """The evaluation, and the next steps; for an assessor, the work."""
    if person.role == "assessor":
        raise GoTo("/work")
    steps = []
    if person.role == "organiser":
        with site.store.read() as connection:
            steps = next_steps(site, connection)
    menu_entries = entries(person.role, authors=site.configuration.track.authors)
    doors = [Door.build(entry) for entry in menu_entries if entry.does and not (steps and entry.step)]
    return Home.build(
        person,
        evaluation=site.configuration.name,
        task=site.configuration.task.title,
        steps=steps,
        doors=doors,
        may_export=person.role == "organiser",
    )


@router.download("/export.zip", roles=ORGANISERS)
def export(site: TheSite) -> Response:
    """Questions, runs, judgments, nuggets and answers as they are now; `qassay` reads them as an evaluation."""
    exported = make_export(snapshot(site.store, site.folder))
    packed = tempfile.SpooledTemporaryFile(max_size=SMALL)  # noqa: SIM115  # closed when it has been sent
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in exported.names:
            archive.writestr(name, exported.contents[name])
    packed.seek(0)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(site.configuration.name)}.zip"'}
    return StreamingResponse(_chunks(packed), media_type="application/zip", headers=headers)


def _chunks(packed: IO[bytes]) -> Iterator[bytes]:
    with packed:
        while chunk := packed.read(CHUNK):
            yield chunk


# ---- the steps -------------------------------------------------------------------------------------------------------


def next_steps(site: Site, connection: Connection) -> list[Step]:
    """The steps in their order, of sums that the store keeps."""
    pool, work, settled = pool_view(site, connection), workloads(connection), overview(connection)
    brought = set_names(connection) if not pool.made and not work else []
    steps = [_questions(site, connection), _runs(site, connection)]
    if brought:
        says = f"Came with the evaluation: {', '.join(brought[:5])}{', …' if len(brought) > 5 else ''}."
        steps.append(_step("Judgments", says, "Judge more", "/assignments", done=True))
    else:
        steps += [_pool(pool), _assignment(connection, work, pool)]
        steps += [_judging(work, settled), _adjudication(work, settled)]
    ready = all(step.state == "done" for step in steps)
    says = "Scores, and what they are worth." if ready else "Available when the steps above are finished."
    steps.append(_step("Results", says, "See the results", "/results", done=False))
    next(step for step in steps if step.state != "done").state = "next"
    return steps


def _step(label: str, says: str, act: str, path: str, *, done: bool) -> Step:
    return Step(label=label, says=says, act=act, path=path, state="done" if done else "later")


def _questions(site: Site, connection: Connection) -> Step:
    count, drafts = len(questions_of(site, connection)), count_drafts(connection)
    more = f", {plural(drafts, 'draft')}" if drafts else ""
    says = f"{plural(count, 'question')} in the test set{more}."
    if not count:
        says = f"{plural(drafts, 'draft')} to publish." if drafts else "None yet."
    act = "Publish questions" if drafts else "Write questions"
    return _step("Questions", says, act, "/development", done=count > 0)


def _runs(site: Site, connection: Connection) -> Step:
    total, withdrawn = count_runs(connection)
    count = total - withdrawn
    needed = not all(rules.form.is_decision for rules in site.configuration.task.types.values())
    says = f"{plural(count, 'run')}." if count else "None yet: what each system answered."
    if not count and not needed:
        says = "None yet. Pairs can be judged without any; scores need them."
    return _step("Runs", says, "Add runs", "/runs", done=count > 0 or not needed)


def _pool(pool: PoolView) -> Step:
    says = "Not made yet: every different answer of the runs, to be judged once."
    if pool.made:
        says = f"{plural(pool.items, 'item')} of {plural(pool.questions, 'question')}"
        says += "; runs or questions have changed since." if pool.stale else "."
    act = "Rebuild the pool" if pool.made else "Make the pool"
    return _step("Pool", says, act, "/assignments#pool", done=pool.made is not None and not pool.stale)


def _assignment(connection: Connection, work: Sequence[Workload], pool: PoolView) -> Step:
    label, lacking = "Assignment", unassigned_questions(connection)
    judges = len({workload.account for workload in work if workload.account})
    if work:
        says = f"{plural(judges, 'assessor')} at work" if judges else "Assessors pick up questions themselves"
        says += f"; {plural(lacking, 'question')} not assigned." if lacking else "."
        return _step(label, says, "Assign the rest", "/assignments#assign", done=not lacking)
    if pool.made and not any(account.active and account.role == "assessor" for account in accounts(connection)):
        return _step(label, "There are no assessors yet: invite them first.", "Invite assessors", "/people", done=False)
    return _step(label, "No work is assigned yet.", "Assign", "/assignments#assign", done=False)


def _judging(work: Sequence[Workload], settled: Overview) -> Step:
    says = "Begins when work is assigned."
    if work:
        done, total = sum(workload.done for workload in work), sum(workload.total for workload in work)
        says = f"{done:,} of {plural(total, 'decision')}"
        says += f"; {plural(settled.waiting, 'question')} with assessors." if settled.waiting else "."
    return _step("Judging", says, "See the progress", "/assignments#questions", done=bool(work) and not settled.waiting)


def _adjudication(work: Sequence[Workload], settled: Overview) -> Step:
    says = "An adjudicator decides where assessors disagree."
    if settled.left:
        says = f"{plural(settled.left, 'disagreement')} to decide."
    elif work and settled.waiting < settled.questions:
        says = "Nothing to decide now." if settled.waiting else "All disagreements are decided."
    done = bool(work) and not settled.waiting and not settled.left
    return _step("Adjudication", says, "Adjudicate", "/adjudication", done=done)
