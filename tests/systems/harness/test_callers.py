"""Commands: JSON lines, one question at a time, whatever they do."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qassay import tasks
from qassay.errors import UsageError
from qassay.questions import Question, TestSet
from qassay.systems import Asked
from qassay.systems.harness.callers import CommandCaller
from qassay.systems.harness.driving import DriveOptions, drive
from qassay.systems.harness.opening import default_tag, open_system
from qassay.systems.harness.wire import CallError, DriveError

SERIES = tasks.task("series2004")
Program = Callable[[str], str]
OpenLog = Callable[..., Any]
QUICK = DriveOptions(timeout=10, retries=0, backoff=0.01)


def run(command: str, questions: TestSet, open_log: OpenLog, options: DriveOptions = QUICK, **more: Any) -> Any:
    with open_log(questions, system=command, **more) as log:
        return drive(open_system(command, task=SERIES), questions, task=SERIES, log=log, options=options)


def test_a_command_answers(two_series: TestSet, open_log: OpenLog, program: Program) -> None:
    answers = run(program("say(answer(row))"), two_series, open_log)
    assert [answers[q].items[0].text for q in ("1.1", "2.1", "9")] == ["1.1", "2.1", "9"]


def test_a_system_is_sent_the_question_and_the_history(
    two_series: TestSet, open_log: OpenLog, program: Program
) -> None:
    answers = run(program("say({'items': [{'doc': 'D1', 'text': json.dumps(row)}]})"), two_series, open_log)
    text = answers["1.2"].items[0].text
    assert (
        '"question": {"id": "1.2", "type": "list", "text": "second of 1?", "series": "1", "target": "target 1"}' in text
    )
    assert '"history": [{"question": {"id": "1.1"' in text
    assert "secret" not in answers["1.3"].items[0].text


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('no model')", "ended with status 1 before it answered; it last said: no model"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        ("time.sleep(30)", "no answer within 0.5 s"),
        ("print('hello', flush=True)", "its answer is not one: .*it begins 'hello"),
        ("say({'itmes': []})", "unknown field `itmes`"),
        ("say([1])", "Expected `object`"),
        ("say({'items': [{'doc': 'D1', 'text': 'x'}], 'question': '7'})", "it answered question 7, but was asked"),
        ("say({'items': [{'doc': 'D1', 'text': 'x'}], 'confidence': 'high'})", "Expected `float"),
        ('print(\'{"nil": true, "confidence": 1e999}\', flush=True)', "its answer is not one|finite"),
        ("say({})", "has no answer; a factoid takes one"),
        ("sys.stdout.buffer.write(b'{\"nil\": \\xff}\\n'); sys.stdout.flush()", "its answer is not one"),
    ],
)
def test_commands_that_fail(two_series: TestSet, open_log: OpenLog, program: Program, body: str, message: str) -> None:
    timeout = 0.5 if "sleep" in body else 10
    with pytest.raises(DriveError, match=message):
        run(program(body), two_series, open_log, DriveOptions(timeout=timeout, retries=0))


@pytest.mark.parametrize(
    "body",
    [
        "say(answer(row)); say(answer(row))",
        "print(json.dumps(answer(row)) + '\\n' + json.dumps(answer(row)), flush=True)",
        "say(answer(row)); print('loaded 3 passages', flush=True)",
        # The second line comes late: after the next question was asked, or only at the end.
        "say(answer(row)); time.sleep(0.02); say(answer(row)) if q == '1.1' else None",
        "say(answer(row)); q == '9' and (time.sleep(0.1), say(answer(row)))",
    ],
)
@pytest.mark.parametrize("on_failure", ["stop", "nil"])
def test_an_answer_too_many_is_found_before_anything_is_written(
    two_series: TestSet, open_log: OpenLog, program: Program, body: str, on_failure: Any
) -> None:
    command = program(body)
    with pytest.raises(DriveError, match="wrote a line that answers no question"):
        run(command, two_series, open_log, DriveOptions(timeout=10, retries=0, on_failure=on_failure))
    with open_log(two_series, system=command) as log:
        assert log.answers == {}  # none of its answers can be trusted


def test_a_late_answer_is_not_taken_for_the_next_one(two_series: TestSet, open_log: OpenLog, program: Program) -> None:
    """The first process is late for 1.1; what it says then goes nowhere, and a new process answers."""
    flag = "os.path.join(os.path.dirname(__file__), 'late')"
    body = (
        f"if not os.path.exists({flag}):\n    open({flag}, 'w').close(); time.sleep(1.2)\n"
        "    say(answer(row, 'late'))\nelse: say(answer(row))"
    )
    answers = run(program(body), two_series, open_log, DriveOptions(timeout=0.6, retries=5, backoff=0.01))
    assert answers["1.1"].items[0].text == "1.1"
    assert answers["2.1"].items[0].text == "2.1"


def test_a_hanging_command_is_ended_with_its_children(tmp_path: Path, program: Program) -> None:
    place = tmp_path / "child"
    body = (
        "import subprocess\n"
        f"open({str(place)!r}, 'w').write(str(subprocess.Popen(['sleep', '60']).pid))\n"
        "time.sleep(60)"
    )
    caller = CommandCaller(shlex.split(program(body)))
    with pytest.raises(CallError, match="no answer within"):
        caller.ask(Asked(Question("1", "factoid", "?")), 2)
    child = int(place.read_text())
    for _ in range(100):
        if not _alive(child):
            break
        time.sleep(0.02)
    assert not _alive(child)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_command_that_does_not_read_cannot_block_the_harness() -> None:
    caller = CommandCaller(["sleep", "60"])
    with pytest.raises(CallError, match="no answer within"):
        caller.ask(Asked(Question("1", "factoid", "x" * 1_000_000)), 0.3)


def test_a_command_that_writes_on_and_on() -> None:
    caller = CommandCaller(["yes", "x"])
    with pytest.raises(CallError, match=r"not one|answers no question"):
        caller.ask(Asked(Question("1", "factoid", "?")), 5)
    caller.abort()
    with pytest.raises(CallError, match="it was ended"):
        caller.ask(Asked(Question("1", "factoid", "?")), 5)


@pytest.mark.parametrize("isolate", [False, True])
def test_a_process_for_every_series(two_series: TestSet, open_log: OpenLog, program: Program, isolate: bool) -> None:
    body = "say({'items': [{'doc': 'D1', 'text': str(os.getpid())}]})"
    answers = run(program(body), two_series, open_log, DriveOptions(isolate=isolate, retries=0))
    processes = [answers[q].items[0].text for q in ("1.1", "1.3", "2.1", "9")]
    assert processes[0] == processes[1]
    assert len(set(processes)) == (3 if isolate else 1)


def test_a_python_callable_runs_in_a_process_of_its_own(
    two_series: TestSet, open_log: OpenLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_here.py").write_text(
        "from qassay.systems import Answer, Item\n"
        "print('loading')\n"
        "def answer(asked):\n"
        "    print('debugging')\n"
        "    return Answer((Item(f'{asked.question.id} {len(asked.history)}', 'D1'),))\n"
        "def plain(asked):\n"
        "    return {'items': [{'doc': 'D1', 'text': 'x'}]}\n"
        "def make(collection, *, word='w', times: int = 1):\n"
        "    return lambda asked: {'items': [{'doc': 'D1', 'text': f'{collection} ' + word * times}]}\n"
        "def bad(asked):\n"
        "    return 7\n"
        "thing = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run("mine_here:answer", two_series, open_log)["1.3"].items[0].text == "1.3 2"
    assert run("mine_here:plain", two_series, open_log, restart=True)["9"].items[0].text == "x"
    done = run("mine_here:make(word=ab, times=2)", two_series, open_log, restart=True)
    assert done["9"].items[0].text == "None abab"
    for spelling, message in {
        "mine_here:bad": "returned int; a system returns an Answer or a dictionary",
        "mine_here:absent": "has no attribute 'absent'",
        "mine_here:thing": "cannot be called",
        "mine_here:make(wrod=x)": "did you mean 'word'",
        "not_here_at_all:answer": "No module named",
    }.items():
        with pytest.raises(DriveError, match=message):
            run(spelling, two_series, open_log, restart=True)


def test_a_name_that_is_not_a_system() -> None:
    for text, message in {
        "factiod": "did you mean 'factoid'",
        "no-such-program --x": "there is no program 'no-such-program'",
        "'unclosed": "cannot read the command",
        "": "no system is named",
        "http://": "an address has a host",
        "http://me:secret@host/x": "a host and no password",
    }.items():
        with pytest.raises(UsageError, match=message):
            open_system(text, task=SERIES)
    for text in ("cat -", "http://localhost:1/x"):
        with pytest.raises(UsageError, match="--set does not apply"):
            open_system(text, task=SERIES, settings={"a": "b"})


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(UsageError) as failed:
        open_system("http://me:secret@host/x", task=SERIES)
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    ("spelling", "tag"),
    [
        ("factoid", "factoid"),
        ("series(other=sentence-baseline)", "series-other-sentence-baseline"),
        ("python my_system.py --k 3", "python-my_system.py-k-3"),
        ("http://localhost:8000/v1/chat/completions model=m", "http-localhost-8000-v1-chat-completions-model-m"),
        ("///", "run"),
    ],
)
def test_default_tags(spelling: str, tag: str) -> None:
    assert default_tag(spelling) == tag
