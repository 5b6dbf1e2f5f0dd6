"""A desk to judge at: a store in either database, an evaluation pooled and assigned, and assessors who say things."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pooling import store_items
from sqlalchemy import Connection, event, insert, select, text
from sums import check_sums

import qassay
from acting import act
from qassay.evaluation import Evaluation
from qassay.formats.times import now
from qassay.judging import ADJUDICATED, Item, Part
from qassay.judging.items import pool_items
from qassay.store.acts import Act, Assessor
from qassay.store.adjudication.rulings import Disagreement, disagreements, rule
from qassay.store.adjudication.settling import progress
from qassay.store.assignment.assignments import Assignment, all_assignments, assign, refresh_totals
from qassay.store.assignment.counting import completed, parts_for
from qassay.store.engine import Store, connect
from qassay.store.judging import judgments
from qassay.store.judging.decisions import SavedJudgment, decide, undo
from qassay.store.judging.nuggets import write_nugget
from qassay.store.pool.items import items_of, order_seed
from qassay.store.schema import account, current_judgment, metadata
from qassay.store.versions import migrate

QUESTIONS = [
    {"id": "1.1", "type": "factoid", "text": "When was it founded?", "series": "1", "target": "club"},
    {"id": "1.2", "type": "list", "text": "Who are its members?", "series": "1"},
    {"id": "1.3", "type": "other", "text": "", "series": "1"},
]
RUNS = {
    "north": "1.1 north D1 1901\n1.2 north D1 Ann\n1.2 north D2 Bob\n1.3 north D1 a club\n1.3 north D2 it plays\n",
    "south": "1.1 south D1 in 1901\n1.2 south D1 Ann\n1.3 south D2 plays chess\n",
    "west": "1.1 west D1 1901\n1.2 west NIL\n1.3 west NIL\n",
}
# What an assessor who is asked nothing particular says, by the kind of judgment.
USUAL: Mapping[str, Mapping[str, Any]] = {
    "item": {"judgment": "R"},
    "list": {"judgment": "R"},
    "pair": {"judgment": "YES"},
    "match": {"nuggets": []},
    "support": {"support": "full"},
    "citation": {"support": "full"},
    "holistic": {"content": 7, "organization": 5},
    "rating": {"understandability": 4, "correctness": 4},
}
Says = Callable[[Item, Part], Mapping[str, Any]]
KEYS = count()
DATABASES: list[str] = []


def key() -> str:
    """An idempotency key that nobody has used."""
    return f"key-{next(KEYS)}"


def usual(_: Item, part: Part) -> Mapping[str, Any]:
    """The verdict of somebody who finds everything in order."""
    return USUAL[part.kind]


def write_evaluation(
    folder: Path, *, task: str = "series2004", questions: Any = QUESTIONS, runs: Mapping[str, str] = RUNS
) -> Evaluation:
    """A small evaluation in files, opened."""
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text(f'task = "{task}"\n', encoding="utf-8")
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    (folder / "questions.jsonl").write_text(lines, encoding="utf-8")
    for tag, content in runs.items():
        (folder / "runs" / f"{tag}.txt").write_text(content, encoding="utf-8")
    return qassay.open(folder)


def make_store(request: pytest.FixtureRequest, folder: Path, database: str) -> Store:
    """An empty store. On PostgreSQL the tests of one process share a database: making one takes its time."""
    if database == "postgresql":
        server = request.getfixturevalue("postgres_server")
        if not DATABASES:
            DATABASES.append(server.new_database())
        opened_store = Store(connect(DATABASES[0]))
        migrate(opened_store.engine)
        with opened_store.engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY CASCADE"))
        return opened_store
    opened_store = Store(connect(f"sqlite:///{folder / 'qassay.db'}"))
    # Nobody pulls the plug on a test.
    event.listen(opened_store.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous = OFF"))
    migrate(opened_store.engine)
    return opened_store


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store in each database."""
    opened_store = make_store(request, tmp_path, request.param)
    yield opened_store
    opened_store.close()


def add_people(connection: Connection, number: int) -> list[Assessor]:
    """Assessors with accounts."""
    names = [f"assessor {place + 1}" for place in range(number)]
    rows = [{"name": name, "role": "assessor", "created": now()} for name in names]
    connection.execute(insert(account), rows)
    accounts = connection.execute(select(account.c.id, account.c.name).order_by(account.c.id))
    return [Assessor(*row) for row in accounts]


@dataclass
class Desk:
    """A pooled and assigned evaluation; the last of its people adjudicates."""

    store: Store
    evaluation: Evaluation
    people: list[Assessor]

    @property
    def judge(self) -> Assessor:
        """The adjudicator."""
        return self.people[-1]

    def pool(self, connection: Connection, **options: Any) -> None:
        """Make the items of the runs, and count again."""
        e = self.evaluation
        seed = order_seed(connection)
        store_items(connection, pool_items(e.runs, e.questions, e.task, seed=seed, **options))
        refresh_totals(act(connection, task=e.task))

    def assigned(self, connection: Connection, question: str, set_name: str = "first") -> Assignment:
        """The assignment of a question in a set."""
        return next(o for o in all_assignments(connection) if (o.question, o.set) == (question, set_name))

    def who(self, assignment: Assignment) -> Assessor:
        """Whose an assignment is."""
        return next(person for person in self.people if person.id == assignment.account)

    def act(self, connection: Connection, assignment: Assignment) -> Act:
        """An act of the person whose an assignment is, under a new key."""
        return act(connection, task=self.evaluation.task, who=self.who(assignment), key=key())

    def say(
        self, connection: Connection, assignment: Assignment, item: Item, part: Part, verdict: Mapping[str, Any]
    ) -> SavedJudgment:
        """Save a verdict over the current one."""
        return decide(
            self.act(connection, assignment),
            assignment,
            item,
            part,
            verdict,
            expected=judgments.version_of(connection, assignment.set, part.subject),
        )

    def take_back(
        self, connection: Connection, assignment: Assignment, item: Item, part: Part, to: int = 0
    ) -> SavedJudgment:
        """Undo to a version."""
        expected = judgments.version_of(connection, assignment.set, part.subject)
        return undo(self.act(connection, assignment), assignment, item, part, expected=expected, to=to)

    def judge_all(self, connection: Connection, question: str, set_name: str, says: Says = usual) -> SavedJudgment:
        """Judge every part of a question that needs it; the last answer."""
        assignment = self.assigned(connection, question, set_name)
        done: SavedJudgment | None = None
        for item in items_of(connection, question):
            for part in parts_for(connection, assignment.set, item, self.who(assignment).name):
                if part.required or says(item, part) is not usual(item, part):
                    done = self.say(connection, assignment, item, part, says(item, part))
        assert done is not None
        return done

    def rule(
        self, connection: Connection, disagreement: Disagreement, verdict: Mapping[str, Any]
    ) -> judgments.Judgment:
        """Rule on a disagreement."""
        assert disagreement.item is not None
        return rule(
            act(connection, task=self.evaluation.task, who=self.judge, key=key()),
            disagreement.item,
            disagreement.part,
            verdict,
            expected=disagreement.version,
        )

    def disagreements(self, connection: Connection, question: str, **options: Any) -> list[Disagreement]:
        """The disagreements of a question."""
        return disagreements(act(connection, task=self.evaluation.task), question, **options)

    def settled(self, connection: Connection, question: str) -> tuple[int, int, int] | None:
        """What is kept of a question: unanimous, disagreements, left."""
        counts = next(row.settled for row in progress(connection) if row.question == question)
        return None if counts is None else (counts.unanimous, counts.disagreements, counts.left)

    def rows(self, connection: Connection, set_name: str = ADJUDICATED, question: str | None = None) -> list[Any]:
        """The current rows of a set."""
        c = current_judgment.c
        query = select(c.body).where(c.set == set_name, c.body.is_not(None)).order_by(c.judgment)
        if question is not None:
            query = query.where(c.question == question)
        return [json.loads(body) for body in connection.execute(query).scalars()]

    def check_counts(self, connection: Connection) -> None:
        """The counts of assignments are what counting gives."""
        for assignment in all_assignments(connection):
            items = items_of(connection, assignment.question)
            needed = [parts_needed(connection, assignment, item_) for item_ in items]
            assert assignment.total == sum(len(parts) or 1 for parts in needed)
            judged = set(connection.execute(_judged_by(assignment)).scalars())
            if all(item_.kind != "rating" for item_ in items):  # whose subjects name their assessors
                assert assignment.done == sum(subject in judged for parts in needed for subject in parts)
                assert completed(connection, assignment, items) == [bool(parts) and parts <= judged for parts in needed]
            assert assignment.closed is None or assignment.done == assignment.total
        check_sums(connection)


def parts_needed(connection: Connection, assignment: Assignment, pooled: Item) -> set[str]:
    """The subjects that an item takes decisions on; an answer that waits for its nuggets has none."""
    parts = parts_for(connection, assignment.set, pooled, None)
    return {part.subject for part in parts if part.required}


def _judged_by(assignment: Assignment) -> Any:
    c = current_judgment.c
    return select(c.subject).where(c.set == assignment.set, c.question == assignment.question, c.body.is_not(None))


def harsh(_: Item, part: Part) -> Mapping[str, Any]:
    """Somebody who disagrees on everything with the one who finds everything in order."""
    return {"item": {"judgment": "W"}, "list": {"judgment": "X"}, "match": {"nuggets": ["1"]}}[part.kind]


def make_desk(
    store: Store, folder: Path, *, assessors: int = 2, development: bool = True, made: Evaluation | None = None
) -> Desk:
    """A small evaluation, pooled and given to some assessors per question."""
    desk = Desk(store, made or write_evaluation(folder / "evaluation"), [])
    with store.write() as connection:
        desk.people = add_people(connection, assessors + 1)
        desk.pool(connection)
        accounts = [person.id for person in desk.people[:-1]]
        assign(act(connection), desk.evaluation.questions, assessors=assessors, accounts=accounts)
        for number, fact in (("1", "chess"), ("2", "plays")) if development else ():
            body = {"vital": number == "1", "text": fact}
            write_nugget(act(connection), "development", "1.3", number, body)
    return desk


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Desk:
    """A desk with two assessors and an adjudicator."""
    return make_desk(store, tmp_path)


def first_part(
    desk: Desk, connection: Connection, question: str = "1.1", set_name: str = "first"
) -> tuple[Assignment, Item, Part]:
    """The first part of the first item of a question, as a set judges it."""
    assignment = desk.assigned(connection, question, set_name)
    item = items_of(connection, question)[0]
    return assignment, item, parts_for(connection, assignment.set, item, None)[0]


def save(
    desk: Desk, connection: Connection, where: tuple[Assignment, Item, Part], label: str = "R", **options: Any
) -> SavedJudgment:
    """Decide on a part for the first time, or as the options say."""
    assignment, item, part = where
    how = {"task": desk.evaluation.task, "who": desk.who(assignment), "key": "k"} | options
    change_act = act(connection, task=how.pop("task"), who=how.pop("who"), key=how.pop("key"))
    return decide(change_act, assignment, item, part, {"judgment": label}, **{"expected": 0, **how})
