"""Changes of an assessor's nugget list, with what hangs on them: links, responses to look at again, the count.

Everything an action does is in one transaction and under one idempotency key (a suffix tells its rows apart), so that
it counts once however often it is sent, and can be taken back as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, or_, select, update

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.times import now
from qassay.store.assignment.assignments import Assignment, hold, keep_others_out
from qassay.store.assignment.counting import Assessor, recount_question
from qassay.store.judging import judgments, nuggets
from qassay.store.judging.judgments import KeyReusedError
from qassay.store.judging.nuggets import (
    DEVELOPMENT,
    Nugget,
    copy_list,
    list_for,
    nugget_lists,
    nuggets_of,
    write_nugget,
)
from qassay.store.judging.taking_back import check_open, take_back_judgments, take_back_nuggets
from qassay.store.pool.items import Item
from qassay.store.pool.parts import parts_of
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import judgment, nugget, standing
from qassay.store.settings import note_action

LONGEST_NUGGET = 1_000


@dataclass(frozen=True, slots=True)
class NuggetChange:
    """One action of an assessor on the list of an assignment; `names` and `texts` are the nuggets it speaks of."""

    one: Assignment
    who: Assessor
    key: str
    names: Collection[str] = ()
    texts: Collection[str] = ()

    @property
    def _list(self) -> dict[str, Any]:
        return {"list_name": self.one.set, "question": self.one.question, "account": self.who.id}

    def is_new(self, connection: Connection) -> bool:
        """Whether the action is still to be done: False where it was sent before; an error where it must not be."""
        # Whoever changes the same list at this moment waits here, on databases that let several writers in.
        hold(connection, self.one.question)
        c = nugget.c
        mine = or_(c.key == self.key, c.key.startswith(f"{self.key}.", autoescape=True))
        earlier = connection.execute(select(c.list, c.question, c.nugget, c.body).where(mine)).all()
        if earlier:
            here = (self.one.set, self.one.question)
            if any((row.list, row.question) != here for row in earlier) or not self._is_said_by(earlier):
                raise KeyReusedError("this idempotency key belongs to another change; make a new one for every change")
            return False
        check_open(connection, self.one, self.who)
        return True

    def _is_said_by(self, rows: Sequence[Any]) -> bool:
        """Whether rows that were written under the key are of these nuggets: else answering would lose a change."""
        written = {msgspec.json.decode(row.body).get("text") for row in rows if row.body is not None}
        said = {" ".join(text.split()) for text in self.texts}
        return {row.nugget for row in rows} >= set(self.names) and written >= said

    def add(self, connection: Connection, text: str, *, vital: bool) -> Nugget:
        """Put a nugget at the end of the list."""
        body = {"vital": vital, "text": clean_nugget(text)}
        return write_nugget(connection, **self._list, nugget=None, body=body, key=self.key)

    def rewrite(self, connection: Connection, name: str, text: str, *, vital: bool, expected: int) -> Nugget:
        """Say a nugget otherwise, or mark it vital or okay."""
        found = next(
            (one for one in nuggets_of(connection, self.one.set, self.one.question) if one.nugget == name), None
        )
        if found is None:
            raise nuggets.NuggetConflictError(None)
        body = {**(found.body or {}), "vital": vital, "text": clean_nugget(text)}
        return write_nugget(connection, **self._list, nugget=name, body=body, expected=expected, key=self.key)

    def remove(self, connection: Connection, name: str, *, expected: int) -> int:
        """Take a nugget off the list, and its links with it; returns how many links there were."""
        write_nugget(connection, **self._list, nugget=name, body=None, expected=expected, key=self.key)
        gone = self._relink(connection, name, None)
        if gone:
            note_action(
                connection,
                "remove-nugget",
                account=self.who.id,
                question=self.one.question,
                set=self.one.set,
                nugget=name,
                links=gone,
            )
        return gone

    def split(self, connection: Connection, name: str, texts: tuple[str, str], *, expected: int) -> None:
        """Make two nuggets of one; the first keeps the links."""
        first, second = map(clean_nugget, texts)
        nuggets.split_nugget(
            connection, **self._list, nugget=name, texts=(first, second), expected=expected, key=self.key
        )

    def merge(self, connection: Connection, kept: str, gone: str, text: str, *, expected: tuple[int, int]) -> None:
        """Make one nugget of two; the links of both are its own, once a response."""
        nuggets.merge_nuggets(
            connection, **self._list, kept=kept, gone=gone, text=clean_nugget(text), expected=expected, key=self.key
        )
        self._relink(connection, gone, kept)

    def move(self, connection: Connection, name: str, before: str | None, *, expected: int) -> None:
        """Put a nugget before another one, or at the end."""
        nuggets.move_nugget(connection, **self._list, nugget=name, before=before, expected=expected, key=self.key)

    def look_again(self, connection: Connection, items: Iterable[Item]) -> int:
        """Take back that responses were looked through; returns how many are open again."""
        at, opened = now(), 0
        for item in items:
            part = parts_of(item)[0]
            version, row = judgments.standing_rows(connection, self.one.set, [part.thing]).get(part.thing, (0, None))
            if row is None:
                continue
            judgments.append(
                connection,
                set_name=self.one.set,
                kind="match",
                row=part.row,
                at=at,
                expected=version,
                key=f"{self.key}.a{opened}",
                account=self.who.id,
                taken_back=True,
            )
            opened += 1
        return opened

    def take_back(self, connection: Connection, of: str) -> None:
        """Take back an earlier change of this list, with everything that hung on it."""
        named: dict[str, Any] = {"question": self.one.question, "of": of, "key": self.key, "account": self.who.id}
        rows = take_back_nuggets(connection, list_name=self.one.set, **named)
        if not rows:
            raise UsageError("there is no such change of this list")
        take_back_judgments(connection, set_name=self.one.set, **named)

    def finish(self, connection: Connection) -> None:
        """Count anew, and settle anew what was settled: with the list, what the assessors agree on may have changed.

        Whoever has changed a list keeps the question.
        """
        c = assignment_table.c
        connection.execute(update(assignment_table).where(c.id == self.one.id).values(leased=None))
        recount_question(connection, self.one.question)

    def _relink(self, connection: Connection, gone: str, into: str | None) -> int:
        """Replace a nugget in the links that name it; a nugget counts once a response."""
        rows = match_rows(connection, self.one.set, self.one.question)
        having = {body.get("run") for _, body in rows if into in body["nuggets"]}
        count, at = 0, now()
        for version, body in rows:
            if gone not in body["nuggets"]:
                continue
            left = [one for one in body["nuggets"] if one != gone]
            if into is not None and body.get("run") not in having:
                left = [into if one == gone else one for one in body["nuggets"]]
                having.add(body.get("run"))
            judgments.append(
                connection,
                set_name=self.one.set,
                kind="match",
                row={**body, "nuggets": left, "assessor": self.who.name, "at": at},
                at=at,
                expected=version,
                key=f"{self.key}.l{count}",
                account=self.who.id,
            )
            count += 1
        return count


def match_rows(connection: Connection, set_name: str, question: str) -> list[tuple[int, Mapping[str, Any]]]:
    """The nugget matches of a question that stand in a set: version and row."""
    c = standing.c
    here = (c.set == set_name, c.question == question, c.kind == "match", c.body.is_not(None))
    found = connection.execute(select(c.version, c.body).where(*here).order_by(c.judgment))
    return [(row.version, msgspec.json.decode(row.body)) for row in found]


def begin_list(connection: Connection, one: Assignment, account: int) -> None:
    """Begin an assessor's list as a copy of the one from question development.

    A set whose judgments came from files went by another list so far; the nuggets of the questions that it has judged
    come along, so that what its judgments name stays what it was.
    """
    if one.set not in nugget_lists(connection):
        # The lists of several questions begin here: nobody else begins one at this moment.
        keep_others_out(connection)
        source, _ = list_for(connection, one.set, one.question)
        c = judgment.c
        judged = select(c.question).where(c.set == one.set, c.kind.in_(("match", "support"))).distinct()
        for question in connection.execute(judged).scalars().all() if source != one.set else ():
            copy_list(connection, source=source, target=one.set, question=question, account=account)
    hold(connection, one.question)
    copy_list(connection, source=DEVELOPMENT, target=one.set, question=one.question, account=account)


def begin_matching(connection: Connection, one: Assignment) -> None:
    """Go on to step 2: there has to be something to match."""
    if not nuggets_of(connection, one.set, one.question):
        message = f"question {one.question}: write at least one nugget before matching"
        raise InputError(Problem("configuration", message))
    connection.execute(update(assignment_table).where(assignment_table.c.id == one.id).values(step=2))


def clean_nugget(text: str) -> str:
    """A nugget as it is kept: without white space around and breaks within; an error where nothing is left."""
    cleaned = " ".join(text.split())
    if not 1 <= len(cleaned) <= LONGEST_NUGGET:
        raise InputError(Problem("configuration", f"a nugget is a text of 1 to {LONGEST_NUGGET} characters"))
    return cleaned
