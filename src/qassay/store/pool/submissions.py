"""Runs of participants: an organisation sees and changes its own runs and no others, until the deadline.

A run belongs to the organisation that its description names. A tag that another organisation uses is refused in the
same words whatever the other run is. What a participant does is recorded like what an organiser does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec
from sqlalchemy import Connection, select, update

from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.formats.names import file_name
from qassay.formats.runs import file_suffix
from qassay.formats.tracks import Track
from qassay.runs import RunInformation, first_of_organisations
from qassay.store.acts import Act
from qassay.store.pool.uploads import (
    StoredRun,
    describe_run,
    every_run,
    keep_run,
    lock_runs,
    set_withdrawn,
    waiting_information,
)
from qassay.store.schema import account as accounts
from qassay.store.schema import record
from qassay.store.schema import run as table

# Runs of an organisation, where the track sets no limit, and with its withdrawn ones: what it may store.
MOST = 100
WITHDRAWN = 20


class ClosedError(UsageError):
    """Submissions are closed."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who submits: the organisation, and the rules of the track; the act says which of its members."""

    organisation: str
    track: Track


@dataclass(frozen=True, slots=True)
class Submission:
    """A run of an organisation, and whether it is judged (its priority is high enough)."""

    run: StoredRun
    judged: bool


def submissions(connection: Connection, organisation: str, track: Track) -> list[Submission]:
    """The runs of an organisation: by priority, those without one after them, withdrawn ones at the end."""
    runs = _runs_of(connection, organisation)
    current = {run.tag: run.information for run in runs if not run.withdrawn}
    judged = first_of_organisations(current, track.pooled)

    def place(run: StoredRun) -> tuple[bool, bool, int, str]:
        priority = run.information.priority
        return run.withdrawn, priority is None, priority or 0, run.tag

    return [Submission(run, run.tag in judged) for run in sorted(runs, key=place)]


def check_open(track: Track, moment: datetime, *, is_pooled: bool) -> None:
    """Stop where submissions are closed: at the deadline or, without one, once the runs are being judged."""
    if track.is_over(moment):
        raise ClosedError(track.closed(moment))
    if track.deadline is None and is_pooled:
        raise ClosedError("submissions are closed: the organisers have begun to judge the runs; ask them")


def submit(
    act: Act,
    sender: Sender,
    tag: str,
    data: bytes,
    *,
    called: str,
    information: RunInformation,
    replacing: bool,
) -> None:
    """Keep a checked run of an organisation, or replace its earlier run of the same tag; the same file is not a change.

    What speaks against it is an error of the file, as what is wrong in it is.
    """
    connection = act.connection
    lock_runs(connection)
    information = replace(information, organisation=sender.organisation)
    runs = {run.tag: run for run in _runs_of(connection, sender.organisation)}
    before = runs.get(tag)
    if before is None:
        _refuse_taken(connection, tag, sender.organisation, called)
        _check_limit(runs, sender.track, called, new=True)
        keep_run(act, tag, data, called=called, information=information)
        return
    if before.withdrawn:
        _refuse_withdrawn_by_others(connection, tag, sender.organisation)
        _check_limit(runs, sender.track, called, new=False)
    elif not replacing:
        if _data(connection, tag) == data:
            return  # sent twice: the answer to the first time was lost
        message = f"your run {tag} is here already; choose to replace earlier runs, or give this one a tag of its own"
        raise InputError(Problem("second-tag", message, called))
    _replace(act, before, data, called=called, information=information)


def describe(act: Act, sender: Sender, tag: str, information: RunInformation) -> None:
    """Say what a run of an organisation is; an error where it has no such run."""
    own_run(act.connection, sender.organisation, tag)
    described = replace(information, organisation=sender.organisation)
    describe_run(act, tag, described)


def withdraw(act: Act, sender: Sender, tag: str, *, withdrawn: bool, reason: str) -> None:
    """Withdraw a run of an organisation, or restore it within the limit; an error where it has no such run."""
    connection = act.connection
    lock_runs(connection)
    before = own_run(connection, sender.organisation, tag)
    if before.withdrawn and not withdrawn:
        _refuse_withdrawn_by_others(connection, tag, sender.organisation)
        runs = {run.tag: run for run in _runs_of(connection, sender.organisation)}
        _check_limit(runs, sender.track, None, new=False)
    set_withdrawn(act, tag, withdrawn=withdrawn, reason=reason)


def own_run(connection: Connection, organisation: str, tag: str) -> StoredRun:
    """The run of an organisation with this tag; the same error where there is none and where it is another's."""
    found_run = next((run for run in _runs_of(connection, organisation) if run.tag == tag), None)
    if found_run is None:
        raise unknown("run", tag, ())
    return found_run


def _runs_of(connection: Connection, organisation: str) -> list[StoredRun]:
    return [run for run in every_run(connection) if run.information.organisation == organisation]


def _refuse_taken(connection: Connection, tag: str, organisation: str, called: str) -> None:
    """Stop where the tag is in use elsewhere, or described as another organisation's before its run is here."""
    is_taken = connection.execute(select(table.c.tag).where(table.c.tag == tag)).first() is not None
    described = waiting_information(connection, tag)
    if is_taken or (described is not None and described.organisation != organisation):
        message = f"the tag {tag} cannot be used here; choose another, for example one with your organisation's name"
        raise InputError(Problem("second-tag", message, called))


def _refuse_withdrawn_by_others(connection: Connection, tag: str, organisation: str) -> None:
    """Stop where the organisers withdrew the run: what they decided is not undone by its owners."""
    c = record.c
    rows = select(c.body, accounts.c.organisation).join(accounts, accounts.c.id == c.account, isouter=True)
    for body, by in connection.execute(rows.where(c.action == "withdraw-run").order_by(c.id.desc())):
        if msgspec.json.decode(body).get("run") == tag:
            if by != organisation:
                raise InputError(Problem("configuration", f"the organisers withdrew the run {tag}; ask them"))
            return


def _check_limit(runs: dict[str, StoredRun], track: Track, called: str | None, *, new: bool) -> None:
    current = [tag for tag, run in runs.items() if not run.withdrawn]
    limit = track.limit if track.limit is not None else MOST
    if len(current) >= limit:
        noun = "run" if limit == 1 else "runs"
        message = (
            f"the limit is {limit} {noun} per organisation, and you have {len(current)}: {', '.join(sorted(current))};"
            " withdraw or replace one of them first"
        )
        raise InputError(Problem("configuration", message, called))
    if new and len(runs) >= limit + WITHDRAWN:
        message = f"your organisation has withdrawn {len(runs) - len(current)} runs; use the tag of one of them again"
        raise InputError(Problem("configuration", message, called))


def _replace(act: Act, before: StoredRun, data: bytes, *, called: str, information: RunInformation) -> None:
    """Put another file in the place of a run; the digest of the earlier one is recorded."""
    connection, of_tag = act.connection, table.c.tag == before.tag
    earlier = _data(connection, before.tag)
    values = {"file": file_name(before.tag) + file_suffix(data), "data": data, "at": act.at, "account": act.account}
    connection.execute(update(table).where(of_tag).values(withdrawn=False, **values))
    was = {
        "size": len(earlier),
        "digest": hashlib.sha256(earlier).hexdigest(),
        "at": before.at,
        "withdrawn": before.withdrawn,
    }
    act.note("replace-run", run=before.tag, file=called, size=len(data), before=was)
    describe_run(act, before.tag, information.or_before(before.information))


def _data(connection: Connection, tag: str) -> bytes:
    return bytes(connection.execute(select(table.c.data).where(table.c.tag == tag)).scalar_one())
