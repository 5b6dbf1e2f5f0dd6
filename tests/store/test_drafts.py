"""Questions under development: numbers, order, publication, and what may no longer change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import qassay
from acting import act
from qassay.errors import InputError, UsageError
from qassay.questions import Question, TestSet
from qassay.store.development import drafts
from qassay.store.development import test_set as published_set
from qassay.store.development.answers import add_answer, forget_answer, known_answers, withdraw_answer
from qassay.store.development.drafts import numbered, publish
from qassay.store.engine import Store
from qassay.store.folder.snapshot import snapshot
from qassay.store.judging.nuggets import nuggets_of, write_nugget
from qassay.store.schema import assignment, item, record, run
from qassay.tasks import Task, task

SERIES = task("series2004")
Serve = Callable[[Path], Store]


def ask(connection: Any, series: str, text: str, kind: str = "factoid", rules: Task = SERIES) -> str:
    draft = drafts.new_question(act(connection, task=rules), Question("", kind, text, series))
    return draft.question.id


def begin(connection: Any, target: str) -> str:
    draft = drafts.new_series(act(connection), target=target)
    assert draft.question.type == "other"
    return str(draft.question.series)


def texts(connection: Any) -> list[list[str]]:
    return [
        [draft.question.text or draft.question.type for draft in group]
        for group in drafts.grouped(drafts.read_drafts(connection))
    ]


def test_the_other_question_comes_by_itself_and_stays_last(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        series = begin(connection, "club")
        first, second = ask(connection, series, "A?"), ask(connection, series, "B?", "list")
        assert texts(connection) == [["A?", "B?", "other"]]
        drafts.move_question(connection, second, -1)
        assert texts(connection) == [["B?", "A?", "other"]]
        drafts.move_question(connection, first, 5)
        assert texts(connection) == [["B?", "A?", "other"]]
        with pytest.raises(UsageError, match="unknown question type of task series2004 'other'"):
            ask(connection, series, "", "other")
        closing = drafts.read_drafts(connection)[-1]
        with pytest.raises(UsageError, match="remove the series"):
            drafts.remove_question(act(connection), closing.question.id)
        with pytest.raises(UsageError, match="stays what it is"):
            drafts.change_question(act(connection), closing.question.id, {"type": "list"}, expected=1)


def test_series_move_and_vanish_as_a_whole(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        first, other = begin(connection, "one"), begin(connection, "other")
        ask(connection, first, "A?")
        number = ask(connection, other, "B?")
        add_answer(act(connection), number, "b", None)
        drafts.move_series(connection, other, -1)
        assert texts(connection) == [["B?", "other"], ["A?", "other"]]
        drafts.remove_series(act(connection), other)
        assert texts(connection) == [["A?", "other"]]
        assert known_answers(connection, [number]) == {}
        with pytest.raises(UsageError, match="in the test set"):
            drafts.remove_series(act(connection), "1")


def test_drafts_are_in_no_score_and_no_export(served: Serve, small: Path, scores: Callable[[Path], Any]) -> None:
    store = served(small)
    before = scores(small)
    with store.write() as connection:
        series = begin(connection, "draft")
        number = ask(connection, series, "A?")
        add_answer(act(connection), number, "a", "D1")
        body = {"vital": True, "text": "a fact"}
        closing = drafts.read_drafts(connection)[-1].question.id
        write_nugget(act(connection), "first", closing, None, body)
    assert scores(small) == before
    parts = snapshot(store, qassay.open(small).folder).parts("*.jsonl*")
    assert len(parts) > 3
    assert "draft-" not in "".join(part.text() for part in parts)


def test_published_drafts_get_the_next_numbers_and_take_their_answers_along(served: Serve, small: Path) -> None:
    store = served(small)
    with store.write() as connection:
        series = begin(connection, "bridge")
        number = ask(connection, series, "Who built it?")
        add_answer(act(connection), number, "Ann  Lee", "D1")
        closing = drafts.read_drafts(connection)[-1].question.id
        write_nugget(act(connection), "development", closing, None, {"vital": True, "text": "long"})
        names = publish(act(connection), [series])
        assert names == {number: "2.1", closing: "2.2"}
        assert published_set(connection).ids == ("1.1", "1.2", "1.3", "2.1", "2.2")
        assert [answer.answer for answer in known_answers(connection, ["2.1"])["2.1"]] == ["Ann Lee"]
        assert [nugget.text for nugget in nuggets_of(connection, "development", "2.2")] == ["long"]
        assert drafts.read_drafts(connection) == []
    evaluation = qassay.open(small)
    assert evaluation.questions.by_id["2.2"].target == "bridge"
    assert evaluation.answers.filter(question="2.1")["answer"].to_list() == ["Ann Lee"]


def test_a_draft_joins_a_series_of_the_test_set_before_its_other_question(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        ask(connection, "1", "Where does it meet?")
        assert publish(act(connection), ["1"]) != {}
        published = published_set(connection)
        assert published.ids == ("1.1", "1.2", "1.4", "1.3")
        assert published.by_id["1.4"].target == "club"


def test_nothing_is_published_where_something_is_missing(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        series, whole = begin(connection, "bridge"), begin(connection, "tower")
        empty = ask(connection, series, " ")
        with pytest.raises(InputError, match=r"question 2\.1 has no text"):
            publish(act(connection), [series, whole])
        assert {draft.question.id for draft in drafts.read_drafts(connection)} >= {empty}
        assert len(published_set(connection)) == 3
        with pytest.raises(UsageError, match="not there any more"):
            publish(act(connection), ["draft-nobody"])


def test_numbers_skip_what_is_taken() -> None:
    published = TestSet(
        (Question("7", "factoid"), Question("3.2", "factoid", series="3"), Question("3.3", "other", series="3"))
    )
    groups = [
        [Question("draft-a", "factoid", series="3"), Question("draft-b", "factoid", series="3")],
        [Question("draft-c", "factoid", series="draft-s")],
        [Question("draft-d", "factoid")],
    ]
    places = {name: (place.id, place.series) for name, place in numbered(published, groups).items()}
    assert places == {
        "draft-a": ("3.4", "3"),  # 3.3 is taken
        "draft-b": ("3.5", "3"),
        "draft-c": ("8.1", "8"),
        "draft-d": ("9", None),
    }


def test_a_change_of_a_published_question_is_recorded_and_its_type_stays(served: Serve, small: Path) -> None:
    store = served(small)
    with store.write() as connection:
        changed = drafts.change_question(act(connection), "1.1", {"text": "Founded when?"}, expected=1)
        assert changed.version == 2
        row = connection.execute(record.select().where(record.c.action == "change-question")).one()
        assert json.loads(row.body)["before"]["text"] == "When was the club founded?"
        with pytest.raises(UsageError, match=r"question 1\.1 has judgments: its type stays"):
            drafts.change_question(act(connection), "1.1", {"type": "list"}, expected=2)
        with pytest.raises(UsageError, match="has judgments"):
            drafts.remove_question(act(connection), "1.1")
        with pytest.raises(drafts.ChangedError) as caught:
            drafts.change_question(act(connection), "1.1", {"text": "x"}, expected=1)
        assert caught.value.current.question.text == "Founded when?"


def test_a_published_question_goes_only_while_no_run_answers_it(
    served: Serve, small: Path, write: Callable[..., Path]
) -> None:
    for name in ("judgments/first.jsonl", "nuggets/first.jsonl"):
        (small / name).unlink()
    with served(small).write() as connection:
        with pytest.raises(UsageError, match=r"2 runs answer question 1\.1"):
            drafts.remove_question(act(connection), "1.1")
        connection.execute(run.update().values(withdrawn=True))
        for number, name in enumerate(("1.1", "1.2")):
            connection.execute(item.insert().values(id=number, question=name, kind="item", ordinal=0, body="{}"))
            connection.execute(assignment.insert().values(question=name, slot=1, set="first", total=1))
        drafts.remove_question(act(connection), "1.1")
        # Nobody is to judge what is not asked any more.
        for table in (item, assignment):
            assert connection.execute(table.select().with_only_columns(table.c.question)).scalars().all() == ["1.2"]
        assert published_set(connection).ids == ("1.2", "1.3")
        row = connection.execute(record.select().where(record.c.action == "remove-question")).one()
        assert json.loads(row.body)["answers"] == [{"answer": "1901", "doc": "D1"}]


def test_a_known_answer_is_withdrawn_with_a_reason_and_stays(served: Serve, small: Path) -> None:
    store = served(small)
    with store.write() as connection:
        with pytest.raises(UsageError, match="say why"):
            withdraw_answer(act(connection), "1.1", "1901", "D1", reason=" ")
        with pytest.raises(UsageError, match="already"):
            add_answer(act(connection), "1.1", "1901", "D1")
        withdraw_answer(act(connection), "1.1", "1901", "D1", reason="it was 1902")
        assert [(answer.withdrawn, answer.reason) for answer in known_answers(connection, ["1.1"])["1.1"]] == [
            (True, "it was 1902")
        ]
    assert qassay.open(small).answers["withdrawn"].to_list() == [True]
    with store.write() as connection:
        add_answer(act(connection), "1.1", "1901", "D1")
        assert [answer.withdrawn for answer in known_answers(connection, ["1.1"])["1.1"]] == [False]
    assert qassay.open(small).answers["withdrawn"].to_list() == [False]


def test_an_answer_of_a_draft_is_really_taken_away(served: Serve, small: Path) -> None:
    with served(small).write() as connection:
        number = ask(connection, begin(connection, "bridge"), "Who?")
        add_answer(act(connection), number, "Ann", None)
        add_answer(act(connection), number, "Ann", "D1")
        forget_answer(connection, number, "Ann", None)
        assert [(answer.answer, answer.doc) for answer in known_answers(connection, [number])[number]] == [
            ("Ann", "D1")
        ]


def test_a_task_without_series_numbers_its_questions(served: Serve, small: Path) -> None:
    plain = task("main2003")
    with served(small).write() as connection:
        asked = Question("", "definition", "Who was she?")
        draft_row = drafts.new_question(act(connection, task=plain), asked)
        other = drafts.new_question(act(connection, task=plain), Question("", "factoid", "When?"))
        drafts.move_question(connection, other.question.id, -1)
        assert texts(connection) == [["When?"], ["Who was she?"]]
        places = numbered(TestSet(()), [[draft.question] for draft in drafts.read_drafts(connection)])
        assert {name: place.id for name, place in places.items()} == {
            other.question.id: "1",
            draft_row.question.id: "2",
        }
        with pytest.raises(UsageError, match="asks in series"):
            drafts.new_question(act(connection), Question("", "factoid", "When?"))
