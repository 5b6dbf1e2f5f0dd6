"""One intake under way: what files hold, laid beside what the store has, kind by kind."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from qassay.errors import Problem
from qassay.formats import files, jsonl
from qassay.formats.importing.rows import canonical, missing
from qassay.formats.names import file_name
from qassay.formats.questions import question_row
from qassay.formats.times import now
from qassay.judging import subject
from qassay.questions import Question
from qassay.store.development.questions import test_set
from qassay.store.fingerprint import WAITING
from qassay.store.folder.incoming import Incoming, Line, RunFile, laid_over
from qassay.store.judging.judgments import append_many
from qassay.store.schema import answer, judgment, nugget, question, run, standing
from qassay.store.settings import get_setting, note_action, put_setting


@dataclass(frozen=True, slots=True)
class Taken:
    """What came in from one file: things that were not there, and things that read differently."""

    file: str
    kind: str
    added: int
    changed: int = 0

    def as_json(self) -> dict[str, object]:
        """The row for machines."""
        return {"file": self.file, "kind": self.kind, "added": self.added, "changed": self.changed}


class Taking:
    """One intake under way, within its transaction."""

    def __init__(self, connection: Connection, incoming: Incoming, *, replace: bool, account: int | None) -> None:
        self.connection = connection
        self.incoming = incoming
        self.replace = replace
        self.by: dict[str, Any] = {"account": account, "at": now()}
        self.taken: list[Taken] = []
        self.problems: list[Problem] = []

    def everything(self) -> None:
        """All files, questions first."""
        self.questions()
        self.answers()
        for tag, run_file in self.incoming.runs.items():
            self.run(tag, run_file)
        self.information()
        for name, (file, lines) in self.incoming.nuggets.items():
            self.nuggets(name, file, lines)
        for name, (file, rows) in self.incoming.judgments.items():
            self.judgments(name, file, rows)

    def note(self, file: str, kind: str, added: int, changed: int = 0) -> None:
        """Remember what came in from a file."""
        if added or changed:
            self.taken.append(Taken(file, kind, added, changed))

    def questions(self) -> None:
        """New questions, and those that read differently from what is there by now: what they were is recorded."""
        if self.incoming.found is None:
            return
        c = question.c
        there = test_set(self.connection).by_id
        rows = {row.id: row for row in self.connection.execute(select(question))}
        added = changed = 0
        for place, one in enumerate(laid_over(there, self.incoming.found.questions, self.incoming.questions_file)):
            values = {"body": _text(question_row(one)), "ordinal": place, "draft": False}
            if one.id not in rows:
                self.connection.execute(insert(question).values(id=one.id, version=1, **values, **self.by))
                added += 1
            elif there.get(one.id) != one:
                self._refuse_other_type(there.get(one.id), one)
                before = msgspec.json.decode(rows[one.id].body)
                note_action(
                    self.connection, "change-question", account=self.by["account"], question=one.id, before=before
                )
                values |= {"version": rows[one.id].version + 1, **self.by}
                self.connection.execute(update(question).where(c.id == one.id).values(**values))
                changed += 1
            elif rows[one.id].ordinal != place:
                moved = {"ordinal": place, "version": rows[one.id].version + 1}
                self.connection.execute(update(question).where(c.id == one.id).values(**moved))
        self.note(self.incoming.questions_file, "questions", added, changed)

    def answers(self) -> None:
        """Known answers that are not there yet."""
        file, lines = self.incoming.answers
        there: dict[Hashable, list[bytes]] = {}
        for body in self.connection.execute(select(answer.c.body).order_by(answer.c.id)).scalars():
            row = msgspec.json.decode(body)
            there.setdefault(_answer(row), []).append(canonical(row))
        new = [lines[place] for place in missing(((_answer(one.row), canonical(one.row)) for one in lines), there)]
        rows = [{"question": str(one.row["question"]), "body": one.text, **self.by} for one in new]
        if rows:
            self.connection.execute(insert(answer), rows)
        self.note(file, "answers", len(rows))

    def run(self, tag: str, file: RunFile) -> None:
        """A run, to the byte."""
        c = run.c
        name = Path(file.called).name
        there = self.connection.execute(select(run).where(c.tag == tag)).one_or_none()
        other = self.connection.execute(select(c.tag).where(c.file == name, c.tag != tag)).first()
        if other is not None:  # another run came in a file of this name
            name = file_name(tag) + "".join(Path(name).suffixes[-2:])
        values = {"file": name, "data": file.data, "withdrawn": False, **self.by}
        if there is None:
            self.connection.execute(insert(run).values(tag=tag, **values))
            self.note(file.called, "run", 1)
            return
        path = Path(file.called)
        same = files.unpack(bytes(there.data), path) == files.unpack(file.data, path)
        if same and not (there.withdrawn and self.replace):
            return
        if not self.replace:
            withdrawn = ", which is withdrawn" if there.withdrawn else ""
            message = f"the store has another run {tag}{withdrawn}; to replace it: qassay import FOLDER FILE --replace"
            self.problems.append(Problem("second-tag", message, file.called))
            return
        note_action(self.connection, "replace-run", account=self.by["account"], run=tag, file=there.file, at=there.at)
        self.connection.execute(update(run).where(c.tag == tag).values(**values))
        self.note(file.called, "run", 0, 1)

    def information(self) -> None:
        """What runs say of themselves: with the run, or kept until it comes."""
        c = run.c
        file, lines = self.incoming.information
        waiting: dict[str, str] = get_setting(self.connection, WAITING) or {}
        known = {row.tag: row.information for row in self.connection.execute(select(c.tag, c.information))}
        told = {tag: text for tag, text in waiting.items() if tag in known and known[tag] is None}
        given = {str(one.row["run"]): one.text for one in lines}
        added = sum(not _same_row(known.get(tag) or waiting.get(tag), text) for tag, text in given.items())
        for tag, text in {**told, **given}.items():
            if tag in known and not _same_row(known[tag], text):
                self.connection.execute(update(run).where(c.tag == tag).values(information=text))
        left = {tag: text for tag, text in {**waiting, **given}.items() if tag not in known}
        if left != waiting:
            put_setting(self.connection, WAITING, left or None)
        self.note(file, "run-information", added)

    def nuggets(self, name: str, file: str, lines: list[Line]) -> None:
        """Nuggets that are not on the list yet; a changed one moves to its end, as in a file."""
        c = nugget.c
        there: dict[Hashable, list[bytes]] = {}
        versions: dict[Hashable, int] = {}
        ordinals: dict[str, int] = {}
        for row in self.connection.execute(select(nugget).where(c.list == name).order_by(c.id)):
            key = (row.question, row.nugget)
            versions[key] = max(row.version, versions.get(key, 0))
            ordinals[row.question] = max(row.ordinal, ordinals.get(row.question, 0))
            _lay(there, key, row.body)
        rows = []
        for place in missing(((_nugget(one.row), canonical(one.row)) for one in lines), there):
            asked, named = key = _nugget(lines[place].row)
            versions[key] = versions.get(key, 0) + 1
            ordinals[asked] = ordinals.get(asked, 0) + 1
            numbers = {"version": versions[key], "ordinal": ordinals[asked], "body": lines[place].text}
            rows.append({"list": name, "question": asked, "nugget": named, **numbers, **self.by})
        if rows:
            self.connection.execute(insert(nugget), rows)
        self.note(file, "nuggets", len(rows))

    def judgments(self, name: str, file: str, rows: list[tuple[str, str]]) -> None:
        """Judgments that are not in the set yet, given as kind and text, in the order of the file."""
        c = judgment.c
        there: dict[Hashable, list[bytes]] = {}
        for row in self.connection.execute(select(c.thing, c.body).where(c.set == name).order_by(c.id)):
            _lay(there, row.thing, row.body)
        if there:
            parsed = ((kind, msgspec.json.decode(text)) for kind, text in rows)
            places = missing(((subject(kind, row), canonical(row)) for kind, row in parsed), there)
            rows = [rows[place] for place in places]
        self.note(file, "judgments", append_many(self.connection, set_name=name, rows=rows, **self.by))

    def _refuse_other_type(self, old: Question | None, new: Question) -> None:
        """What was judged of a question of one type says nothing of one of another."""
        if old is None or old.type == new.type:
            return
        judged = select(standing.c.thing).where(standing.c.question == new.id, standing.c.body.is_not(None)).limit(1)
        if self.connection.execute(judged).first() is not None:
            message = f"question {new.id} is judged as {old.type} and cannot become {new.type}; give it another id"
            self.problems.append(Problem("configuration", message, self.incoming.questions_file, None, new.id))


def _lay(there: dict[Hashable, list[bytes]], key: Hashable, body: str | None) -> None:
    """Note a stored row; one that takes back undoes all before it."""
    if body is None:
        there.pop(key, None)
    else:
        there.setdefault(key, []).append(canonical(msgspec.json.decode(body)))


def _same_row(old: str | None, new: str) -> bool:
    return old is not None and canonical(msgspec.json.decode(old)) == canonical(msgspec.json.decode(new))


def _text(row: jsonl.Row) -> str:
    return jsonl.dump_rows([row]).rstrip("\n")


def _answer(row: jsonl.Row) -> tuple[str, str, str]:
    return (str(row.get("question")), str(row.get("answer")), str(row.get("doc")))


def _nugget(row: jsonl.Row) -> tuple[str, str]:
    return (str(row["question"]), str(row["nugget"]))
