"""The harness against systems that look ahead, crash, hang, answer late, twice or in the wrong form."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from on_disk import read
from qassay import tasks
from qassay.errors import InputError, UsageError
from qassay.questions import Question, TestSet
from qassay.systems import Answer, Asked, Item, nothing
from qassay.systems.harness.driving import DriveOptions, drive, units
from qassay.systems.harness.opening import UnderTest, local, open_system
from qassay.systems.harness.wire import CallError, DriveError

SERIES = tasks.task("series2004")
OpenLog = Callable[..., Any]
Program = Callable[[str], str]
QUICK = DriveOptions(timeout=10, retries=0, backoff=0.01)


def right(asked: Asked) -> Answer:
    """Answer with what was asked and how much is known of the series."""
    if asked.question.type != "factoid":
        return Answer(tuple(Item(f"{asked.question.id} after {len(asked.history)}", "D1") for _ in range(1)))
    return Answer((Item(f"{asked.question.id} after {len(asked.history)}", "D1"),))


def test_a_series_is_asked_in_order_with_its_own_history(two_series: TestSet, open_log: OpenLog) -> None:
    asked: list[Asked] = []

    def watch(question: Asked) -> Answer:
        asked.append(question)
        return right(question)

    with open_log(two_series) as log:
        answers = drive(local(watch), two_series, task=SERIES, log=log, options=QUICK)
    assert list(answers) == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "9"]
    for question in asked:
        before = [q.id for q, _ in question.history]
        assert before == [
            q.id
            for q in two_series
            if q.series and q.series == question.question.series and q.id < question.question.id
        ]
        assert all(given == answers[q.id] for q, given in question.history)


def test_a_system_cannot_look_ahead(two_series: TestSet, open_log: OpenLog) -> None:
    """Nothing that can be reached from what a system is handed leads to another series or a later question."""
    seen: dict[str, set[str]] = {}

    def peek(question: Asked) -> Answer:
        strings: set[str] = set()
        stack: list[Any] = [question]
        while stack:
            value = stack.pop()
            if isinstance(value, Question):
                strings.add(value.id)
                assert value.definition is None
                assert not value.extra
            if hasattr(value, "__slots__"):
                stack += [getattr(value, name) for name in value.__slots__]
            elif isinstance(value, tuple | list | set | frozenset):
                stack += list(value)
        seen[question.question.id] = strings
        return right(question)

    with open_log(two_series) as log:
        drive(local(peek), two_series, task=SERIES, log=log, options=QUICK)
    assert seen["2.1"] == {"2.1"}
    assert seen["2.3"] == {"2.1", "2.2", "2.3"}
    assert seen["9"] == {"9"}


def test_a_command_sees_one_line_and_waits_for_the_next(
    two_series: TestSet, open_log: OpenLog, program: Program
) -> None:
    """A program that tries to read on before it answers gets nothing: the next question is not there yet."""
    command = program(
        "import select\n"
        "more = bool(select.select([sys.stdin], [], [], 0.05)[0])\n"
        "say({'items': [{'doc': 'D1', 'text': f'{more} {len(row[\"history\"])}'}]})"
    )
    with open_log(two_series) as log:
        system = open_system(command, task=SERIES)
        answers = drive(system, two_series, task=SERIES, log=log, options=QUICK)
    assert {answer.items[0].text.split()[0] for answer in answers.values()} == {"False"}
    assert answers["1.3"].items[0].text == "False 2"


def test_series_run_side_by_side_and_give_the_same(two_series: TestSet, open_log: OpenLog) -> None:
    meeting = threading.Barrier(2, timeout=5)

    def meet(question: Asked) -> Answer:
        if question.question.id in ("1.1", "2.1"):
            meeting.wait()  # breaks unless both series are under way at once
        return right(question)

    with open_log(two_series) as log:
        together = drive(local(meet), two_series, task=SERIES, log=log, options=DriveOptions(workers=2, retries=0))
    with open_log(two_series, restart=True) as log:
        alone = drive(local(right), two_series, task=SERIES, log=log, options=QUICK)
    assert together == alone


def test_a_system_that_raises(two_series: TestSet, open_log: OpenLog) -> None:
    def broken(question: Asked) -> Answer:
        raise KeyError("lost")

    with (
        open_log(two_series) as log,
        pytest.raises(DriveError, match=r"question 1\.1: it raised KeyError: 'lost'") as failed,
    ):
        drive(local(broken), two_series, task=SERIES, log=log, options=QUICK)
    assert failed.value.problems[0].question == "1.1"


def test_a_system_that_fails_now_and_then_is_asked_again(two_series: TestSet, open_log: OpenLog) -> None:
    calls: dict[str, int] = {}

    def shaky(question: Asked) -> Answer:
        calls[question.question.id] = calls.get(question.question.id, 0) + 1
        if calls[question.question.id] < 3:
            raise RuntimeError("not now")
        return right(question)

    with open_log(two_series) as log:
        answers = drive(local(shaky), two_series, task=SERIES, log=log, options=DriveOptions(retries=2, backoff=0.001))
        entries = read(log.path)
    assert set(calls.values()) == {3}
    assert len(answers) == 7
    assert [(row["attempt"], row.get("error")) for row in entries if row.get("question") == "1.1"] == [
        (1, "crash"),
        (2, "crash"),
        (3, None),
    ]


def test_a_system_that_hangs(two_series: TestSet, open_log: OpenLog) -> None:
    def hang(question: Asked) -> Answer:
        time.sleep(30)
        return right(question)

    with open_log(two_series) as log, pytest.raises(DriveError, match=r"no answer within 0\.05 s"):
        drive(local(hang), two_series, task=SERIES, log=log, options=DriveOptions(timeout=0.05, retries=0))


def test_nil_in_place_of_what_fails(two_series: TestSet, open_log: OpenLog) -> None:
    def half(question: Asked) -> Answer:
        if question.question.id in ("1.1", "2.2"):
            raise RuntimeError("no")
        return right(question)

    with open_log(two_series) as log:
        answers = drive(
            local(half), two_series, task=SERIES, log=log, options=DriveOptions(retries=0, on_failure="nil")
        )
        assert log.failed == {"1.1", "2.2"}
    assert answers["1.1"] == Answer(nil=True)
    assert answers["2.2"] == Answer()
    assert answers["1.2"].items[0].text == "1.2 after 1"


def test_a_call_ended_for_another_failure_is_not_nil(two_series: TestSet, open_log: OpenLog) -> None:
    """One worker meets the end of the run while the other waits for an answer: that question stays open."""
    asked, ended = threading.Event(), threading.Event()

    class Half:
        def ask(self, question: Asked, timeout: float) -> Answer:
            if question.question.id == "1.1":
                asked.set()
                ended.wait(5)
                raise CallError("crash", "it was ended")
            asked.wait(5)
            raise CallError("twice", "it answers twice", again=False, fatal=True)

        def close(self) -> None:
            pass

        def abort(self) -> None:
            ended.set()

    options = DriveOptions(workers=2, retries=0, on_failure="nil")
    with open_log(two_series) as log, pytest.raises(DriveError, match="it answers twice"):
        drive(UnderTest("s", Half), two_series, task=SERIES, log=log, options=options)
    with open_log(two_series) as log:
        assert log.answers == {}


def test_there_is_no_nil_where_the_task_has_none(open_log: OpenLog) -> None:
    questions = TestSet((Question("1", "pair", "T", hypothesis="H"),))
    task = tasks.task("entailment3")
    with open_log(questions) as log, pytest.raises(UsageError, match="has no empty response"):
        drive(local(right), questions, task=task, log=log, options=DriveOptions(on_failure="nil"))


@pytest.mark.parametrize(
    ("answer", "rule", "message"),
    [
        (Answer(), "one-answer", "question 1.1 has no answer; a factoid takes one, or NIL"),
        (Answer((Item("a", "D1"), Item("b", "D1"))), "one-answer", "has 2 answers"),
        (Answer((Item("a", "D1"),), nil=True), "nil-with-items", "NIL and items"),
        (Answer((Item("a"),)), "syntax", 'item without "doc"'),
        (Answer((Item("", "D1"),)), "syntax", "empty string"),
        ("a string", "configuration", "it returned str, not an Answer"),
        (None, "configuration", "it returned NoneType"),
    ],
)
def test_answers_in_the_wrong_form(
    two_series: TestSet, open_log: OpenLog, answer: Any, rule: str, message: str
) -> None:
    with open_log(two_series) as log, pytest.raises(DriveError, match=message) as failed:
        drive(local(lambda asked: answer), two_series, task=SERIES, log=log, options=QUICK)
    assert failed.value.problems[0].rule == rule


def test_documents_that_are_not_there(two_series: TestSet, open_log: OpenLog, collect: Callable[..., Any]) -> None:
    with open_log(two_series) as log, pytest.raises(DriveError, match="document D9 is not in the collection") as failed:
        drive(
            local(lambda asked: Answer((Item("x", "D9"),))),
            two_series,
            task=SERIES,
            log=log,
            collection=collect("one"),
            options=QUICK,
        )
    assert failed.value.problems[0].rule == "unknown-doc"


def test_extracts_that_end_too_late(open_log: OpenLog, collect: Callable[..., Any]) -> None:
    questions, task = TestSet((Question("1", "factoid", "?"),)), tasks.task("passages")
    for item, rule in ((Item("", "D1", 3, 4), "extract-past-end"), (Item("", "D1", 0, 251), "extract-too-long")):
        with open_log(questions, restart=True) as log, pytest.raises(DriveError) as failed:
            drive(
                local(lambda asked, item=item: Answer((item,))),
                questions,
                task=task,
                log=log,
                collection=collect("abcdef"),
                options=QUICK,
            )
        assert failed.value.problems[0].rule == rule


@pytest.mark.parametrize("broken_at", ["1.1", "1.3", "2.2", "9"])
@pytest.mark.parametrize("remembers", [False, True])
def test_an_interrupted_run_is_continued(
    two_series: TestSet, open_log: OpenLog, broken_at: str, remembers: bool
) -> None:
    """The same answers as unbroken, for a system that counts what it was asked in the series too."""

    class Remembering:
        def __init__(self, breaks: bool) -> None:
            self.breaks, self.count, self.asked = breaks, 0, 0

        def __call__(self, question: Asked) -> Answer:
            self.asked += 1
            self.count = self.count + 1 if question.history else 1
            if self.breaks and question.question.id == broken_at:
                raise RuntimeError("broken")
            known = self.count if remembers else len(question.history)
            return Answer((Item(f"{question.question.id} {known}", "D1"),))

    def under_test(system: Remembering) -> UnderTest:
        return UnderTest("s", local(system).connect, remembers=remembers)

    with open_log(two_series) as log:
        whole = drive(under_test(Remembering(False)), two_series, task=SERIES, log=log, options=QUICK)
    with open_log(two_series, restart=True) as log, pytest.raises(DriveError):
        drive(under_test(Remembering(True)), two_series, task=SERIES, log=log, options=QUICK)
    again = Remembering(False)
    with open_log(two_series) as log:
        logged = len(log.answers)
        assert drive(under_test(again), two_series, task=SERIES, log=log, options=QUICK) == whole
    in_series = int(broken_at.split(".")[1]) - 1 if "." in broken_at else 0
    assert again.asked == 7 - logged + (in_series if remembers else 0)
    with open_log(two_series) as log:  # nothing is left to ask
        assert drive(under_test(Remembering(True)), two_series, task=SERIES, log=log, options=QUICK) == whole


def test_a_line_that_was_cut_short_is_dropped(two_series: TestSet, open_log: OpenLog) -> None:
    with open_log(two_series) as log:
        whole = drive(local(right), two_series, task=SERIES, log=log, options=QUICK)
        path = log.path
    text = path.read_bytes()
    for end in (len(text) - 5, len(text) - 200, 30):
        path.write_bytes(text[:end])
        with open_log(two_series) as log:
            assert drive(local(right), two_series, task=SERIES, log=log, options=QUICK) == whole


def test_the_log_of_another_run_is_not_continued(two_series: TestSet, open_log: OpenLog) -> None:
    with open_log(two_series) as log:
        drive(local(right), two_series, task=SERIES, log=log, options=QUICK)
    with (
        pytest.raises(UsageError, match="run with system 's'; choose another --tag, or --restart"),
        open_log(two_series, system="t"),
    ):
        pass
    fewer = TestSet(two_series.questions[:6])
    with pytest.raises(UsageError, match="with other questions"), open_log(fewer):
        pass
    with open_log(fewer, system="t", restart=True) as log:
        assert log.answers == {}


def test_a_log_has_one_writer(two_series: TestSet, open_log: OpenLog) -> None:
    with open_log(two_series), pytest.raises(UsageError, match="in another process"), open_log(two_series):
        pass


@pytest.mark.parametrize(
    "line",
    ["oops", "[]", '{"answer": {}, "question": ["1.1"]}', '{"void": 1}', '{"void": [{}]}', '{"a":' * 5_000, '"\udc80"'],
)
def test_a_spoilt_log_is_reported(two_series: TestSet, open_log: OpenLog, line: str) -> None:
    with open_log(two_series) as log:
        path = log.path
    with path.open("a", errors="surrogateescape") as out:
        out.write(f"{line}\n")
    with pytest.raises(InputError, match=r"tag\.jsonl:2: this line is not an entry"), open_log(two_series):
        pass


def test_progress_is_reported(two_series: TestSet, open_log: OpenLog) -> None:
    counts: list[tuple[int, int]] = []
    with open_log(two_series) as log:
        drive(
            local(right), two_series, task=SERIES, log=log, options=QUICK, progress=lambda *count: counts.append(count)
        )
    assert counts[-1] == (7, 7)


def test_units_keep_series_and_questions_apart() -> None:
    questions = TestSet(
        (Question("1", "factoid", "?"), Question("2", "factoid", "?", "1"), Question("3", "factoid", "?", "1"))
    )
    assert [[q.id for q in unit] for unit in units(questions)] == [["1"], ["2", "3"]]


def test_nothing_is_the_response_that_says_nothing() -> None:
    assert nothing(Question("1", "factoid")) == Answer(nil=True)
    assert nothing(Question("1", "other")) == Answer()
