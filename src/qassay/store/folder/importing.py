"""Import into the store, all or nothing: the files of a folder, or the rows of a planned import.

Nothing is ever removed: questions and runs that only the store has stay. Rows of judgments, nuggets and answers that
the store has are not repeated, so importing the same file twice adds nothing; a row that was undone in the meantime is
not there any more, and is imported again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from sqlalchemy import insert, select, update

from qassay.errors import InputError, Problem, Problems, Remedy
from qassay.formats import files, jsonl
from qassay.formats import judgments as reading
from qassay.formats.folder import Configuration, Folder, read_configuration, with_two_way
from qassay.formats.importing import ImportPlan
from qassay.formats.importing.plan import Incoming, IncomingRows, Options, line_of
from qassay.formats.importing.questions import check_types
from qassay.formats.importing.rows import canonical, judgment_kinds, missing, row_identity
from qassay.formats.judgments import RowKind
from qassay.formats.links import CONFIGURATION
from qassay.formats.names import LONGEST_NAME, file_name, name_fault
from qassay.formats.parts import Part
from qassay.formats.questions import question_row, read_questions, reference_rows
from qassay.formats.runs import read_runs
from qassay.judging import ADJUDICATED, JUDGMENT_COLUMNS, subject
from qassay.nuggets import list_of_key
from qassay.questions import Question, TestSet, gather
from qassay.store.acts import Act
from qassay.store.assignment.assignments import keep_others_out, refresh_totals
from qassay.store.development import test_set
from qassay.store.engine import Store
from qassay.store.folder.snapshot import nugget_lines
from qassay.store.judging.judgments import append_many
from qassay.store.schema import answer, current_judgment, judgment, nugget, question, run
from qassay.store.settings import EMPTY_FILES, EVALUATION, WAITING, get_setting, put_setting


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of one file: the number of things that are new, and of things that changed."""

    file: str
    kind: str
    added: int
    changed: int = 0

    def as_json(self) -> dict[str, object]:
        """The row for machines."""
        return {"file": self.file, "kind": self.kind, "added": self.added, "changed": self.changed}


def import_folder(store: Store, folder: Folder, *, replace: bool = False) -> list[Imported]:
    """Import the files of a folder and say what was added; files that add nothing are left out.

    With `replace`, a run that differs from the one with its tag takes its place; else that is an error.
    """
    configuration = read_configuration(folder)
    with store.read() as connection:
        stored_questions, nuggets = test_set(connection).by_id, nugget_lines(connection)
    return _import(store, read_folder(folder, configuration, stored_questions, nuggets), replace=replace)


def import_plan(store: Store, plan: ImportPlan) -> list[Imported]:
    """Carry out an import that was planned on the contents of the store (`snapshot`).

    The plan has asked for leave to replace where that was needed. Configuration and patterns are files of the folder.
    """
    if problems := list(_name_faults(plan.incoming)):
        raise InputError(problems)
    imported = _import(store, plan, replace=True)
    plan.write_own_files()
    return imported


def _import(store: Store, plan: ImportPlan, *, replace: bool) -> list[Imported]:
    """Compare with the store's own rows and insert, in one transaction that keeps other writers out."""
    with store.write() as connection:
        keep_others_out(connection)
        if connection.dialect.name == "postgresql":  # where writers do not wait for each other
            connection.exec_driver_sql("LOCK TABLE question, judgment, nugget, answer, run IN SHARE ROW EXCLUSIVE MODE")
        if get_setting(connection, EVALUATION) is None:  # the database belongs to the evaluation that is first
            put_setting(connection, EVALUATION, plan.configuration.name)
        act = Act(connection, plan.configuration.task)
        importing = _Import(act, plan.incoming, replace=replace)
        importing.everything()
        if importing.problems:
            raise InputError(importing.problems)
        if plan.carried is not None and plan.carried.two_way:
            _mark_two_way(plan.folder)
        imported = list(importing.imported.values())
        if imported:
            # Somebody may be assigned to judge what is new.
            refresh_totals(act)
            act.note("take-in", files=[part.as_json() for part in imported])
    return imported


def _mark_two_way(folder: Folder) -> None:
    """Labels leave their file of pairs: that their NO means "not entailed" goes to `qassay.toml`."""
    old = files.read_text(folder.configuration)
    marked = with_two_way(old, "reference")
    if marked is None:
        message = 'add "reference" to two_way: the labels of the pairs are two-way (NO ENTAILMENT)'
        raise InputError(Problem("configuration", message, CONFIGURATION))
    if marked != old:
        files.write_text(folder.configuration, marked)


# ---- reading a folder -----------------------------------------------------------------------------------------------


def read_folder(
    folder: Folder,
    configuration: Configuration,
    stored_questions: Mapping[str, Question],
    nuggets: Mapping[str, Sequence[str]],
) -> ImportPlan:
    """Read and check every file of a folder, by the code that reads any evaluation; an error lists all problems.

    `stored_questions` and `nuggets`, the rows of the nugget lists, are those of the store: files may refer to them.
    """
    plan = ImportPlan(folder, configuration, Options(), TestSet(tuple(stored_questions.values())))
    if folder.question_files():
        plan.attempt(_read_questions, stored_questions)
    # Without the questions, files that refer to them cannot be checked.
    if not plan.problems:
        _read_others(plan, plan.questions or TestSet(()), nuggets)
        plan.problems += _name_faults(plan.incoming)
    if plan.problems:
        raise InputError(plan.problems)
    return plan


def _read_questions(plan: ImportPlan, stored_questions: Mapping[str, Question]) -> None:
    """The questions of the file, laid over those of the store for the files that refer to them."""
    part = plan.folder.questions()
    plan.carried = read = read_questions(part)
    check_types(read.questions, plan.configuration.task, part.name)
    plan.incoming = Incoming(dict(read.questions.by_id), part.name, whole=True)
    plan.questions = _laid_over(stored_questions, plan.incoming)


def _laid_over(stored_questions: Mapping[str, Question], incoming: Incoming) -> TestSet:
    """The incoming questions laid over those of the store.

    A file with all questions of the store gives the order too; questions that only the store has stay.
    """
    new = incoming.questions
    in_order = incoming.whole and new.keys() >= stored_questions.keys()
    return gather((new if in_order else {**stored_questions, **new}).values(), file=incoming.questions_file)


def _read_others(plan: ImportPlan, questions: TestSet, nuggets: Mapping[str, Sequence[str]]) -> None:
    """All other files; nuggets come before the judgments that name them, the labels of pairs last."""
    folder = plan.folder
    plan.attempt(_read_rows, "run-information", "", folder.run_information, reading.read_run_information)
    read_answers = partial(reading.read_answers, questions=questions)
    plan.attempt(_read_rows, "answers", "", folder.answers, read_answers)
    plan.attempt(_read_runs, questions)
    read_nuggets = partial(reading.read_nuggets, questions=questions)
    for name, part in folder.nugget_lists().items():
        plan.attempt(_read_rows, "nuggets", name, part, read_nuggets)
    lists = {name: set(_identities("nuggets", texts)) for name, texts in nuggets.items()}
    for batch in plan.incoming.of_kind("nuggets"):
        lists.setdefault(batch.name, set()).update(_identities("nuggets", batch.texts))
    # Rulings come after what they rule on: a judgment that is newer than its ruling asks for another one.
    sets = dict(sorted(folder.judgment_sets().items(), key=lambda item: item[0] == ADJUDICATED))
    for name, part in sets.items():
        plan.attempt(_read_judgments, name, part, questions, lists)
    if plan.carried is not None and plan.carried.reference and "reference" not in sets:
        plan.attempt(_read_judgments, "reference", None, questions, lists)


def _read_rows(plan: ImportPlan, kind: RowKind, name: str, part: Part | None, check: Callable[[Part], object]) -> None:
    """A file of rows, to the byte; `check` reads it as for scoring."""
    if part is not None:
        check(part)
        plan.incoming.batches.append(IncomingRows(kind, name, part.name, _lines(part)))


def _read_runs(plan: ImportPlan, questions: TestSet) -> None:
    """Runs; one that leaves questions out is kept, as it is in a folder: scoring has an option for it."""
    parts = {part.name: part for part in plan.folder.runs()}
    if not parts:
        return
    read = read_runs(list(parts.values()), task=plan.configuration.task, questions=questions)
    if read.problems:
        raise InputError(read.problems)
    plan.incoming.runs = {tag: parts[name] for tag, name in read.files.items()}


def _read_judgments(
    plan: ImportPlan, name: str, part: Part | None, questions: TestSet, lists: Mapping[str, set[tuple[str, str]]]
) -> None:
    """One judgment set; without a part, that of the labels in the file of questions."""
    if part is not None:
        file = part.name
        table, texts = jsonl.parse_table(part.read(), JUDGMENT_COLUMNS, file=file), _lines(part)
    else:
        file, rows = plan.incoming.questions_file, reference_rows(plan.carried) if plan.carried else []
        table = jsonl.rows_table([(0, row) for row in rows], JUDGMENT_COLUMNS, file=file)
        texts = [line_of(row) for row in rows]
    list_name = list_of_key(name, lists)
    pairs = list(lists[list_name]) if list_name is not None else []
    nuggets = pl.DataFrame(pairs, schema={"question": pl.String, "nugget": pl.String}, orient="row")
    # The evaluation's own judgments move to its store: they come in from nowhere.
    kinds = judgment_kinds(name, table, questions, plan.configuration.task, nuggets, file=file, incoming=False)
    plan.incoming.batches.append(IncomingRows("judgments", name, file, texts, kinds))


def _lines(part: Part) -> list[str]:
    """The lines of a file that are not blank."""
    return [stripped for line in part.text().split("\n") if (stripped := line.strip(" \t\r"))]


def _name_faults(incoming: Incoming) -> Iterator[Problem]:
    """Names of sets that are not allowed, and ids that not every database can store."""
    ids = [("question", number, incoming.questions_file) for number in incoming.questions]
    for batch in incoming.batches:
        if batch.name and (fault := name_fault(batch.name)):
            yield Problem("configuration", f"the name {batch.name!r} {fault}", batch.file)
        if batch.kind == "nuggets":
            ids += [("nugget", name, batch.file) for _, name in _identities("nuggets", batch.texts)]
    for kind, number, file in dict.fromkeys(ids):
        if len(number) > LONGEST_NAME or "\0" in number:
            message = f"the {kind} id {number[:40]!r} is longer than {LONGEST_NAME} characters, or contains a NUL"
            yield Problem("syntax", message, file)


# ---- comparing and inserting ----------------------------------------------------------------------------------------


class _Import:
    """One import, within its transaction: incoming rows compared with those of the store, kind by kind."""

    def __init__(self, act: Act, incoming: Incoming, *, replace: bool) -> None:
        self.act, self.connection = act, act.connection
        self.incoming = incoming
        self.replace = replace
        self.at = act.at
        self.imported: dict[tuple[str, str], Imported] = {}
        self.problems = Problems()

    def everything(self) -> None:
        """All kinds, questions first."""
        if self.incoming.questions:
            self.questions()
        for batch in self.incoming.of_kind("answers"):
            self.answers(batch)
        for tag, part in self.incoming.runs.items():
            self.run(tag, part)
        self.information()
        for batch in self.incoming.of_kind("nuggets"):
            self.nuggets(batch)
        for batch in self.incoming.of_kind("judgments"):
            self.judgments(batch)
        self.empty_files()

    def note(self, file: str, kind: str, added: int, changed: int = 0) -> None:
        """Remember what a file brought; several sources may bring rows to one file."""
        if added or changed:
            before = self.imported.get((file, kind), Imported(file, kind, 0))
            self.imported[file, kind] = Imported(file, kind, before.added + added, before.changed + changed)

    def questions(self) -> None:
        """New questions, and those that differ from the store's current ones, whose earlier form is recorded."""
        c = question.c
        known = test_set(self.connection).by_id
        rows = {row.id: row for row in self.connection.execute(select(question))}
        added = changed = 0
        for place, asked in enumerate(_laid_over(known, self.incoming)):
            row = rows.get(asked.id)
            values: dict[str, Any] = {"ordinal": place}
            if row is None or known.get(asked.id) != asked:
                values |= {"body": line_of(question_row(asked)), "draft": False, "account": None, "at": self.at}
            if row is None:
                self.connection.execute(insert(question).values(id=asked.id, version=1, **values))
                added += 1
                continue
            if "body" in values:
                self._refuse_other_type(known.get(asked.id), asked)
                before = msgspec.json.decode(row.body)
                self.act.note("change-question", question=asked.id, before=before)
                changed += 1
            elif row.ordinal == place:
                continue
            self.connection.execute(update(question).where(c.id == asked.id).values(version=row.version + 1, **values))
        self.note(self.incoming.questions_file, "questions", added, changed)

    def answers(self, batch: IncomingRows) -> None:
        """Known answers that the store lacks."""
        bodies = self.connection.execute(select(answer.c.body).order_by(answer.c.id)).scalars().all()
        keys, stored = (_identities("answers", texts) for texts in (batch.texts, bodies))
        new = [
            {"question": keys[place][0], "body": batch.texts[place], "at": self.at}
            for place in _missing(batch, keys, zip(stored, bodies, strict=True))
        ]
        if new:
            self.connection.execute(insert(answer), new)
        self.note(batch.file, "answers", len(new))

    def run(self, tag: str, part: Part) -> None:
        """A run, to the byte."""
        c = run.c
        path, data = Path(part.name), part.stored()
        name = path.name
        stored = self.connection.execute(select(run).where(c.tag == tag)).one_or_none()
        if self.connection.execute(select(c.tag).where(c.file == name, c.tag != tag)).first() is not None:
            name = file_name(tag) + "".join(path.suffixes[-2:])  # another run came in a file of this name
        values = {"file": name, "data": data, "withdrawn": False, "account": None, "at": self.at}
        if stored is None:
            self.connection.execute(insert(run).values(tag=tag, **values))
            self.note(part.name, "run", 1)
            return
        same = files.unpack(bytes(stored.data), path) == files.unpack(data, path)
        if same and not (stored.withdrawn and self.replace):
            return
        if not self.replace:
            withdrawn = ", which is withdrawn" if stored.withdrawn else ""
            ways = (Remedy("qassay", "import FOLDER FILE --replace", "To replace it"),)
            self.problems.append(
                Problem("second-tag", f"the store has another run {tag}{withdrawn}", part.name, way_out=ways)
            )
            return
        self.act.note("replace-run", run=tag, file=stored.file, at=stored.at)
        self.connection.execute(update(run).where(c.tag == tag).values(**values))
        self.note(part.name, "run", 0, 1)

    def information(self) -> None:
        """Descriptions of runs: stored with the run, or kept until it comes. The last row of a run counts."""
        c = run.c
        waiting: dict[str, str] = get_setting(self.connection, WAITING) or {}
        stored_texts = {row.tag: row.information for row in self.connection.execute(select(c.tag, c.information))}
        batches = self.incoming.of_kind("run-information")
        descriptions = {str(msgspec.json.decode(text)["run"]): text for batch in batches for text in batch.texts}
        stored = {tag: text for tag, text in stored_texts.items() if text is not None}
        before = {tag: _canonical(text) for tag, text in {**waiting, **stored}.items()}
        added = sum(before.get(tag) != _canonical(text) for tag, text in descriptions.items())
        arrived = {tag: text for tag, text in waiting.items() if tag in stored_texts and tag not in stored}
        for tag, text in {**arrived, **descriptions}.items():
            if tag in stored_texts and (tag not in stored or before[tag] != _canonical(text)):
                self.connection.execute(update(run).where(c.tag == tag).values(information=text))
        left = {tag: text for tag, text in {**waiting, **descriptions}.items() if tag not in stored_texts}
        if left != waiting:
            put_setting(self.connection, WAITING, left or None)
        if batches:
            self.note(batches[0].file, "run-information", added)

    def nuggets(self, batch: IncomingRows) -> None:
        """Nuggets that the list lacks; a changed one moves to its end, as in a file."""
        c = nugget.c
        versions: dict[Hashable, int] = {}
        ordinals: dict[str, int] = {}
        stored = []
        for row in self.connection.execute(select(nugget).where(c.list == batch.name).order_by(c.id)):
            key: tuple[str, ...] = (row.question, row.nugget)
            versions[key] = max(row.version, versions.get(key, 0))
            ordinals[row.question] = max(row.ordinal, ordinals.get(row.question, 0))
            stored.append((key, row.body))
        new = []
        keys = _identities("nuggets", batch.texts)
        for place in _missing(batch, keys, stored):
            key = keys[place]
            number, name = key
            versions[key] = versions.get(key, 0) + 1
            ordinals[number] = ordinals.get(number, 0) + 1
            values = {"version": versions[key], "ordinal": ordinals[number], "body": batch.texts[place]}
            new.append({"list": batch.name, "question": number, "nugget": name, **values, "at": self.at})
        if new:
            self.connection.execute(insert(nugget), new)
        self.note(batch.file, "nuggets", len(new))

    def judgments(self, batch: IncomingRows) -> None:
        """Judgments that the set lacks, in the order of the file."""
        c = judgment.c
        stored = self.connection.execute(select(c.subject, c.body).where(c.set == batch.name).order_by(c.id))
        rows = list(zip(batch.kinds, batch.texts, strict=True))
        keys = (subject(kind, msgspec.json.decode(text)) for kind, text in rows)
        rows = [rows[place] for place in _missing(batch, keys, stored)]
        self.note(batch.file, "judgments", append_many(self.connection, set_name=batch.name, rows=rows, at=self.at))

    def empty_files(self) -> None:
        """Remember sets and lists without rows: scoring takes an empty set for a set, not for no set."""
        known: dict[str, list[str]] = get_setting(self.connection, EMPTY_FILES) or {}
        names = {kind: set(names) for kind, names in known.items()}
        for batch in self.incoming.batches:
            if batch.name and not batch.texts:
                names.setdefault(batch.kind, set()).add(batch.name)
        if (empty := {kind: sorted(names[kind]) for kind in sorted(names)}) != known:
            put_setting(self.connection, EMPTY_FILES, empty)

    def _refuse_other_type(self, old: Question | None, new: Question) -> None:
        """Judgments of a question of one type say nothing of a question of another."""
        if old is None or old.type == new.type:
            return
        judged = (
            select(current_judgment.c.subject)
            .where(current_judgment.c.question == new.id, current_judgment.c.body.is_not(None))
            .limit(1)
        )
        if self.connection.execute(judged).first() is not None:
            message = f"question {new.id} is judged as {old.type} and cannot become {new.type}; give it another id"
            self.problems.append(Problem("configuration", message, self.incoming.questions_file, None, new.id))


def _missing(
    batch: IncomingRows, keys: Iterable[Hashable], stored: Iterable[tuple[Hashable, str | None]]
) -> Sequence[int]:
    """The places of the rows that are not stored yet; a stored row without a body undoes all before it."""
    stored_rows: dict[Hashable, list[bytes]] = {}
    for key, body in stored:
        if body is None:
            stored_rows.pop(key, None)
        else:
            stored_rows.setdefault(key, []).append(_canonical(body))
    return (
        missing(zip(keys, map(_canonical, batch.texts), strict=True), stored_rows)
        if stored_rows
        else range(len(batch.texts))
    )


def _canonical(text: str) -> bytes:
    return canonical(msgspec.json.decode(text))


def _identities(kind: RowKind, texts: Iterable[str]) -> list[tuple[str, ...]]:
    """What each row is about: rows with equal values replace each other."""
    identity = row_identity(kind)
    return [identity(msgspec.json.decode(text)) for text in texts]
