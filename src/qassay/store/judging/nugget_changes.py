"""Changes of an assessor's nugget list, with what hangs on them: links, responses to judge again, the count.

Everything an act does is in one transaction and under one idempotency key (a suffix tells its rows apart), so that it
counts once however often it is sent, and can be undone as one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, or_, select, update

from qassay.errors import InputError, Problem, UsageError
from qassay.judging import KINDS, LINKED, Item
from qassay.judging.items import parts_of
from qassay.judging.match import relinked
from qassay.store.acts import Act
from qassay.store.assignment.assignments import Assignment, keep_others_out, lock_assignments
from qassay.store.assignment.counting import recount_question
from qassay.store.judging import judgments, nuggets
from qassay.store.judging.decisions import check_open, undo_judgments, undo_nuggets
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
from qassay.store.schema import assignment as assignment_table
from qassay.store.schema import judgment, nugget

LONGEST_NUGGET = 1_000
# In one list: every answer is judged by each of them.
MOST_NUGGETS = 300


@dataclass(frozen=True, slots=True)
class NuggetChange:
    """One act of an assessor on the list of an assignment; `names` and `texts` are the nuggets it speaks of."""

    act: Act
    assignment: Assignment
    names: Collection[str] = ()
    texts: Collection[str] = ()

    @property
    def _place(self) -> tuple[str, str]:
        """The list and the question."""
        return self.assignment.set, self.assignment.question

    def is_new(self) -> bool:
        """Whether the act is still to be done: False where it was sent before; an error where it must not be."""
        # Another change of the same list waits here, on databases that let several writers in.
        lock_assignments(self.act.connection, self.assignment.question)
        c, key = nugget.c, self.act.key
        same_key = or_(c.key == key, c.key.startswith(f"{key}.", autoescape=True))
        earlier = self.act.connection.execute(select(c.list, c.question, c.nugget, c.body).where(same_key)).all()
        if earlier:
            elsewhere = any((row.list, row.question) != self._place for row in earlier)
            if elsewhere or not self._is_written_in(earlier):
                raise KeyReusedError("this idempotency key belongs to another change; make a new one for every change")
            return False
        check_open(self.act, self.assignment)
        return True

    def _is_written_in(self, rows: Sequence[Any]) -> bool:
        """Whether rows that were written under the key are of these nuggets: else answering would lose a change."""
        written = {msgspec.json.decode(row.body).get("text") for row in rows if row.body is not None}
        texts = {" ".join(text.split()) for text in self.texts}
        return {row.nugget for row in rows} >= set(self.names) and written >= texts

    def add(self, text: str, *, vital: bool) -> Nugget:
        """Put a nugget at the end of the list."""
        self._check_room()
        return write_nugget(self.act, *self._place, None, {"vital": vital, "text": clean_nugget(text)})

    def _check_room(self) -> None:
        """Refuse another nugget where the list is full."""
        if len(nuggets_of(self.act.connection, *self._place)) >= MOST_NUGGETS:
            raise UsageError(f"this list has {MOST_NUGGETS} nuggets, which is the limit; merge or remove some first")

    def rewrite(self, name: str, text: str, *, vital: bool, expected: int) -> Nugget:
        """Change the text of a nugget, or mark it vital or okay."""
        listed = nuggets_of(self.act.connection, *self._place)
        current = next((nugget for nugget in listed if nugget.nugget == name), None)
        if current is None:
            raise nuggets.NuggetConflictError(None)
        body = {**(current.body or {}), "vital": vital, "text": clean_nugget(text)}
        return write_nugget(self.act, *self._place, name, body, expected=expected)

    def remove(self, name: str, *, expected: int) -> int:
        """Take a nugget off the list, and its links with it; returns how many links there were."""
        write_nugget(self.act, *self._place, name, None, expected=expected)
        links = self._relink(name, None)
        if links:
            act, (set_name, question) = self.act, self._place
            details = {"set": set_name, "nugget": name, "links": links}
            act.note("remove-nugget", question=question, **details)
        return links

    def split(self, name: str, texts: tuple[str, str], *, expected: int) -> None:
        """Make two nuggets of one; the first keeps the links."""
        self._check_room()
        first, second = map(clean_nugget, texts)
        nuggets.split_nugget(self.act, *self._place, name, (first, second), expected=expected)

    def merge(self, kept_id: str, removed_id: str, text: str, *, expected: tuple[int, int]) -> None:
        """Make one nugget of two; the links of both are its own, once per response."""
        nuggets.merge_nuggets(self.act, *self._place, kept_id, removed_id, clean_nugget(text), expected=expected)
        self._relink(removed_id, kept_id)

    def move(self, name: str, before: str | None, *, expected: int) -> None:
        """Put a nugget before another one, or at the end."""
        nuggets.move_nugget(self.act, *self._place, name, before, expected=expected)

    def judge_again(self, items: Iterable[Item]) -> int:
        """Undo that responses were done; returns how many are open again."""
        opened = 0
        for item in items:
            part = parts_of(item)[0]
            current = judgments.current_rows(self.act.connection, self.assignment.set, [part.subject])
            version, row = current.get(part.subject, (0, None))
            if row is not None:
                step = self.act.step(f"a{opened}")
                judgments.append(step, self.assignment.set, part.kind, part.row, expected=version, undone=True)
                opened += 1
        return opened

    def undo(self, of: str) -> None:
        """Undo an earlier change of this list (by its key `of`), with everything that hung on it."""
        if not undo_nuggets(self.act, *self._place, of=of):
            raise UsageError("there is no such change of this list")
        undo_judgments(self.act, *self._place, of=of)

    def finish(self) -> None:
        """Count and settle again: with the list, what the assessors agree on may have changed.

        An assessor who has changed a list keeps the question.
        """
        c = assignment_table.c
        statement = update(assignment_table).where(c.id == self.assignment.id).values(leased=None)
        self.act.connection.execute(statement)
        recount_question(self.act, self.assignment.question)

    def _relink(self, removed: str, into: str | None) -> int:
        """Replace a nugget in the links that name it, or drop it from them; returns how many links changed."""
        changed = list(relinked(match_rows(self.act.connection, *self._place), removed, into))
        for number, (version, row) in enumerate(changed):
            body = {**row, "assessor": self.act.name, "at": self.act.at}
            judgments.append(self.act.step(f"l{number}"), self.assignment.set, LINKED.name, body, expected=version)
        return len(changed)


def match_rows(connection: Connection, set_name: str, question: str) -> list[tuple[int, Mapping[str, Any]]]:
    """The current nugget matches of a question in a set: version and row."""
    return [*judgments.rows_of_kind(connection, set_name, question, LINKED.name)]


def begin_list(act: Act, assignment: Assignment) -> None:
    """Begin an assessor's list as a copy of the one from question development.

    A set whose judgments came from files went by another list so far; the nuggets of the questions that it has judged
    come along, so that what its judgments name stays what it was.
    """
    if assignment.set not in nugget_lists(act.connection):
        # The lists of several questions begin here: nobody else begins one at this moment.
        keep_others_out(act.connection)
        source, _ = list_for(act.connection, assignment.set, assignment.question)
        c = judgment.c
        bound = [name for name, record in KINDS.items() if record.by_nuggets]
        judged = select(c.question).where(c.set == assignment.set, c.kind.in_(bound)).distinct()
        for question in act.connection.execute(judged).scalars().all() if source != assignment.set else ():
            copy_list(act, source=source, target=assignment.set, question=question)
    lock_assignments(act.connection, assignment.question)
    copy_list(act, source=DEVELOPMENT, target=assignment.set, question=assignment.question)


def begin_matching(act: Act, assignment: Assignment) -> None:
    """Go on to step 2: there has to be something to match."""
    if not nuggets_of(act.connection, assignment.set, assignment.question):
        message = f"question {assignment.question}: write at least one nugget before matching"
        raise InputError(Problem("configuration", message))
    statement = update(assignment_table).where(assignment_table.c.id == assignment.id).values(step=2)
    act.connection.execute(statement)


def clean_nugget(text: str) -> str:
    """A nugget as it is kept: without white space around and breaks within; an error where nothing is left."""
    cleaned = " ".join(text.split())
    if not 1 <= len(cleaned) <= LONGEST_NUGGET:
        raise InputError(Problem("configuration", f"a nugget is a text of 1 to {LONGEST_NUGGET} characters"))
    return cleaned
