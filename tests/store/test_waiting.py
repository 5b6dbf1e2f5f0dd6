"""Two people at the same thing: the second waits for the first, and then sees what it has done."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from types import ModuleType
from typing import Any

import desk as desks
import pytest
from behind import behind
from sqlalchemy import Connection, insert, select, update

from acting import act
from qassay.errors import InputError
from qassay.formats.folder import Folder
from qassay.formats.times import now
from qassay.judging import Wanted
from qassay.questions import Question
from qassay.runs import RunInformation
from qassay.store.assignment import assignments
from qassay.store.assignment.assignments import all_assignments, assign, lock_assignments, reassign, take
from qassay.store.assignment.counting import parts_for
from qassay.store.assignment.progress import hand_over
from qassay.store.development import drafts
from qassay.store.development.drafts import publish
from qassay.store.engine import Store
from qassay.store.folder.importing import import_folder
from qassay.store.judging import classes
from qassay.store.judging.judgments import by_key
from qassay.store.judging.nuggets import write_nugget
from qassay.store.pool import uploads
from qassay.store.pool.items import items_of
from qassay.store.pool.pooling import store_pool
from qassay.store.schema import assignment
from qassay.store.schema import question as questions
from qassay.store.settings import WAITING, get_setting

store, desk = desks.store, desks.desk


def test_work_that_is_taken_meanwhile_is_not_given_to_the_same_person(store: Store, desk: Any) -> None:
    first_person, second, third = (person.id for person in desk.people)
    with store.write() as connection:
        connection.execute(update(assignment).where(assignment.c.set == "second").values(account=None))
        first = desk.assigned(connection, "1.1")
        connection.execute(update(assignment).where(assignment.c.id == first.id).values(account=second))

    def give() -> None:
        with store.write() as connection:
            reassign(act(connection), first.id, third)

    with pytest.raises(InputError, match="judges it already"):
        behind(store, lambda connection: take(act(connection, account=third)), give)

    def hand() -> tuple[int, int]:
        with store.write() as connection:
            return hand_over(act(connection), desk.evaluation.questions, second, [first_person, third])

    with store.write() as connection:
        connection.execute(update(assignment).where(assignment.c.set == "first").values(account=second))
        connection.execute(update(assignment).where(assignment.c.set == "second").values(account=None))
    assert behind(store, lambda connection: [take(act(connection, account=third)) for _ in range(3)], hand) == (3, 0)
    with store.read() as connection:
        assert {each.account for each in all_assignments(connection)} == {first_person, third}


def test_work_that_is_taken_meanwhile_is_not_assigned_twice(store: Store, tmp_path: Path) -> None:
    desk = desks.make_desk(store, tmp_path, assessors=1)
    first, second = (person.id for person in desk.people)
    with store.write() as connection:
        connection.execute(update(assignment).values(account=None))

    def give() -> int:
        with store.write() as connection:
            return assign(act(connection), desk.evaluation.questions, assessors=2, accounts=[first, second])

    assert behind(store, lambda connection: [take(act(connection, account=first)) for _ in range(3)], give) == 3
    with store.read() as connection:
        assert {(each.slot, each.account) for each in all_assignments(connection)} == {(1, first), (2, second)}


def test_an_import_waits_for_a_save_and_a_save_for_an_import(store: Store, desk: Any) -> None:
    """Both lock in one order: neither holds what the other one needs next."""
    folder = desk.evaluation.folder.path
    row = {"question": "1.1", "doc": "D1", "text": "in 1901", "judgment": "W"}
    (folder / "judgments").mkdir()
    (folder / "judgments" / "first.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with store.read() as connection:
        assignment = desk.assigned(connection, "1.1")
        item = next(each for each in items_of(connection, "1.1") if each.body["text"] == "1901")
        (part,) = parts_for(connection, assignment.set, item, None)
    behind(
        store,
        lambda connection: lock_assignments(connection, "1.1"),
        lambda: import_folder(store, Folder(folder)),
        lambda connection: desk.say(connection, assignment, item, part, {"judgment": "R"}),
    )
    with store.read() as connection:
        assert sorted(each["judgment"] for each in desk.rows(connection, "first")) == ["R", "W"]
        desk.check_counts(connection)


def test_a_draft_is_published_while_files_come_in(store: Store, desk: Any) -> None:
    """Publishing renames nuggets after it has locked the questions; so does an import."""
    folder = desk.evaluation.folder.path
    task = desk.evaluation.task
    import_folder(store, Folder(folder))
    with store.write() as connection:
        begun = drafts.new_series(act(connection, task=task), target="a club")
        body = {"vital": True, "text": "x"}
        write_nugget(act(connection), "development", begun.question.id, "1", body)

    def lock(connection: Connection) -> None:
        assignments.keep_others_out(connection)
        drafts.keep_others_out(connection)

    behind(
        store,
        lock,
        lambda: import_folder(store, Folder(folder)),
        lambda connection: publish(act(connection, task=task), [begun.group]),
    )
    with store.read() as connection:
        assert "2.1" in connection.execute(select(questions.c.id)).scalars().all()


def test_a_pool_waits_for_a_save_of_a_question_that_loses_its_items(store: Store, desk: Any) -> None:
    """Setting the last item of a question aside changes how far it is; so does the save."""
    with store.read() as connection:
        where = desks.first_part(desk, connection)

    def pool_nothing() -> int:
        options: dict[str, Any] = {"mark": "", "wanted": Wanted(), "person": None}
        return store_pool(store, [], desk.evaluation.questions, desk.evaluation.task, **options).retired

    wait = partial(behind, store, lambda connection: lock_assignments(connection, "1.1"), pool_nothing)
    assert wait(lambda connection: desks.save(desk, connection, where)) > 0
    with store.read() as connection:
        desk.check_counts(connection)
        assert len(desk.rows(connection, "first")) == 1


def test_a_draft_is_published_while_work_is_handed_over(store: Store, tmp_path: Path) -> None:
    """Publishing moves the questions behind it, in their order; whoever hands work over goes by another."""
    asked = [
        {"id": "2.1", "type": "other", "text": "", "series": "2", "target": "club"},
        {"id": "10.1", "type": "other", "text": "", "series": "10", "target": "town"},
    ]
    runs = {"north": "2.1 north D1 a club\n10.1 north D1 a town\n"}
    evaluation = desks.write_evaluation(tmp_path / "evaluation", questions=asked, runs=runs)
    desk = desks.make_desk(store, tmp_path, assessors=1, made=evaluation, development=False)
    import_folder(store, Folder(evaluation.folder.path))
    with store.write() as connection:
        drafts.new_question(act(connection, task=evaluation.task), Question("", "factoid", "When?", "2"))
        early, late = (desk.assigned(connection, name) for name in ("2.1", "10.1"))

    def publish_all() -> dict[str, str]:
        with store.write() as connection:
            return publish(act(connection, task=evaluation.task), ["2"])

    names = behind(
        store,
        lambda connection: reassign(act(connection), late.id, None),
        publish_all,
        lambda connection: reassign(act(connection), early.id, None),
    )
    assert list(names.values()) == ["2.2"]
    with store.read() as connection:
        desk.check_counts(connection)


def test_a_question_is_removed_while_another_is_opened_again(store: Store, desk: Any) -> None:
    """Both change the sums of the same assessors: one by one, and all at once in no order."""
    with store.write() as connection:
        for place, question in enumerate(desks.QUESTIONS):
            values = {"id": question["id"], "ordinal": place, "body": json.dumps({"target": "club", **question})}
            connection.execute(insert(questions).values(**values, at=now()))
        desk.judge_all(connection, "1.1", "first")
        desk.judge_all(connection, "1.1", "second")
        ours = [desk.assigned(connection, "1.1", name).id for name in ("first", "second")]
        connection.execute(update(assignment).where(assignment.c.id == ours[0]).values(seconds=5))

    def open_again(number: int) -> Callable[[Connection], None]:
        def step(connection: Connection) -> None:
            lock_assignments(connection, "1.1")
            connection.execute(update(assignment).where(assignment.c.id == number).values(closed=None))

        return step

    def remove() -> None:
        with store.write() as connection:
            drafts.remove_question(act(connection), "1.2")

    behind(store, open_again(ours[0]), remove, open_again(ours[1]))
    with store.read() as connection:
        desk.check_counts(connection)
        assert {assignment.question for assignment in all_assignments(connection)} == {"1.1", "1.3"}


def test_a_run_is_uploaded_while_files_come_in(store: Store, desk: Any) -> None:
    """What was said of a run before it came is used up with it; an import adds to that after it has locked the runs."""
    folder = desk.evaluation.folder.path
    for tag in ("east", "coast"):
        (folder / "runs.jsonl").write_text(json.dumps({"run": tag, "organisation": "x"}) + "\n", encoding="utf-8")
        if tag == "east":
            import_folder(store, Folder(folder))

    def keep(connection: Connection) -> None:
        information = RunInformation(None, None, False, None)
        uploads.keep_run(act(connection), "west-2", b"1.1 west-2 NIL\n", called="x.txt", information=information)

    behind(
        store,
        lambda connection: uploads._waiting(connection, "east"),
        lambda: import_folder(store, Folder(folder)),
        keep,
    )
    with store.read() as connection:
        assert list(get_setting(connection, WAITING)) == ["coast"]


def both_at_once(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, ways: list[Callable[[], Any]]) -> list[Any]:
    """Do things at once: each has looked before any goes on, unless one waits for the other to end."""
    barrier, real = Barrier(len(ways)), getattr(module, name)

    def looked(*arguments: Any) -> Any:
        result = real(*arguments)
        with suppress(BrokenBarrierError):
            barrier.wait(0.5)
        return result

    monkeypatch.setattr(module, name, looked)
    with ThreadPoolExecutor(len(ways)) as pool:
        return list(pool.map(lambda way: way(), ways))


def test_a_renaming_that_is_sent_twice_at_once_is_one(store: Store, desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.write() as connection:
        desk.judge_all(connection, "1.2", "first", lambda _, part: {"judgment": "R", "answer": part.row["text"]})
        assignment = desk.assigned(connection, "1.2")

    def rename() -> int:
        with store.write() as connection:
            return classes.rename_class(
                act(connection, who=desk.who(assignment), key="k" * 16), assignment, "Ann", "Anne"
            )

    def put_back() -> int:
        with store.write() as connection:
            return classes.undo_renaming(act(connection, who=desk.who(assignment), key="b" * 16), assignment, "k" * 16)

    ours = ModuleType("ours")
    ours.__dict__.update(vars(classes.judgments), by_key=by_key)
    monkeypatch.setattr(classes, "judgments", ours)
    assert sorted(both_at_once(monkeypatch, ours, "by_key", [rename, rename])) == [0, 2]
    monkeypatch.setattr(ours, "by_key", by_key)
    assert sorted(both_at_once(monkeypatch, ours, "by_key", [put_back, put_back])) == [0, 2]


def test_of_two_who_change_a_question_at_once_the_second_gets_a_conflict(
    store: Store, desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_folder(store, Folder(desk.evaluation.folder.path))

    def change(words: str) -> Callable[[], str | None]:
        def way() -> str | None:
            try:
                with store.write() as connection:
                    change = act(connection, task=desk.evaluation.task)
                    drafts.change_question(change, "1.1", {"text": words}, expected=1)
            except drafts.ChangedError as told:
                return told.current.question.text
            return None

        return way

    answers = both_at_once(monkeypatch, drafts, "find_stored", [change("Who?"), change("Where?")])
    assert answers in ([None, "Who?"], ["Where?", None])


def test_drafts_that_are_begun_and_moved_at_once_have_their_own_places(store: Store, desk: Any) -> None:
    barrier = Barrier(8)

    def begin(number: int) -> None:
        barrier.wait()
        for place in range(3):
            with store.write() as connection:
                draft = drafts.new_series(act(connection, task=desk.evaluation.task), target=f"{number} {place}")
            with store.write() as connection:
                drafts.move_series(connection, draft.group, -2)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(begin, range(8)))
    with store.read() as connection:
        assert sorted(draft.ordinal for draft in drafts.read_drafts(connection)) == list(range(24))
