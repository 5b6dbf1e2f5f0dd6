"""The log of a run: one JSON line a call, only ever added to.

    {"run": "TAG", "system": "...", "task": "...", "questions": "digest", "started": "..."}        the first line
    {"question": "1.1", "attempt": 1, "at": "...", "seconds": 0.2, "answer": {...}}
    {"question": "1.2", "attempt": 1, "at": "...", "seconds": 5.0, "error": "timeout", "message": "..."}
    {"question": "1.2", "failed": true, "answer": {"nil": true}}       given up, with --on-failure nil
    {"void": ["1.1"], "reason": "..."}                                  these answers do not count any more
    {"finished": "..."}

It is what an interrupted run is continued from. A line that a kill has cut short is dropped. One process at a time may
hold it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Self

from qassay.errors import InputError, Problem, UsageError
from qassay.formats.links import refuse_way_out
from qassay.formats.questions import question_row
from qassay.formats.times import now
from qassay.questions import TestSet
from qassay.systems import Answer, handed
from qassay.systems.harness.wire import CallError, answer_row, from_row

# What the first line says and a continued run must say too.
_SAME = ("run", "system", "task", "questions")


class Log:
    """An opened log; `answers` has the answers that count, `failed` the questions that were given up."""

    def __init__(self, path: Path, header: Mapping[str, Any], questions: TestSet, *, restart: bool = False) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {}
        self.failed: set[str] = set()
        self._guard = threading.Lock()
        refuse_way_out(path).parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = path.open("a+b")
        try:
            _lock(self._file, path)
            if restart:
                self._file.truncate(0)
            self._continue(header, questions)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def answered(self, question: str, answer: Answer, *, attempt: int, seconds: float) -> None:
        """Note an answer."""
        self.answers[question] = answer
        self._add(_call(question, attempt, seconds) | {"answer": answer_row(answer)})

    def erred(self, question: str, error: CallError, *, attempt: int, seconds: float) -> None:
        """Note a call that failed."""
        failure = {"error": error.kind, "message": error.message}
        raw = {"raw": error.raw[:10_000]} if error.raw else {}
        self._add(_call(question, attempt, seconds) | failure | raw)

    def gave_up(self, question: str, answer: Answer) -> None:
        """Note the response that stands for a system that gave none."""
        self.answers[question] = answer
        self.failed.add(question)
        self._add({"question": question, "at": now(), "failed": True, "answer": answer_row(answer)})

    def void(self, questions: Iterable[str], reason: str) -> None:
        """Take answers back."""
        taken = [question for question in questions if self.answers.pop(question, None) is not None]
        self.failed -= set(taken)
        if taken:
            self._add({"void": taken, "at": now(), "reason": reason})

    def finish(self) -> None:
        """Note that the run has been written."""
        self._add({"finished": now()})

    def _add(self, row: Mapping[str, Any]) -> None:
        with self._guard:
            self._file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            self._file.flush()

    def _continue(self, header: Mapping[str, Any], questions: TestSet) -> None:
        """Read the existing log, or write the first line."""
        self._file.seek(0)
        data = self._file.read()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            self._file.truncate(len(whole))
        rows = [_row(line, number, self.path) for number, line in enumerate(whole.split(b"\n")[:-1], 1)]
        if not rows:
            self._add({**header, "started": now()})
            return
        other = next((key for key in _SAME if rows[0].get(key) != header.get(key)), None)
        if other is not None:
            difference = "other questions" if other == "questions" else f"{other} {rows[0].get(other)!r}"
            message = (
                f"{self.path} is the log of a run with {difference}; choose another --tag, or --restart to start over"
            )
            raise UsageError(message)
        for number, row in enumerate(rows[1:], 2):
            self._recall(row, questions, number)

    def _recall(self, row: Mapping[str, Any], questions: TestSet, number: int) -> None:
        for question in row.get("void", ()):
            self.answers.pop(question, None)
            self.failed.discard(question)
        if "answer" in row:
            question = questions.by_id.get(row.get("question", ""))
            if question is None:
                raise InputError(Problem("unknown-question", "is not in the test set", str(self.path), number))
            try:
                self.answers[question.id] = from_row(row["answer"], question)
            except CallError as error:
                message = f"{error.message}; fix the line, or start over with --restart"
                raise InputError(Problem("syntax", message, str(self.path), number, question.id)) from None
            if row.get("failed"):
                self.failed.add(question.id)


def header(tag: str, system: str, task: str, questions: TestSet) -> dict[str, Any]:
    """The first line of a log, but for the time."""
    rows = [question_row(handed(question)) for question in questions]
    digest = hashlib.sha256(json.dumps(rows, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
    return {"run": tag, "system": system, "task": task, "questions": digest}


def _call(question: str, attempt: int, seconds: float) -> dict[str, Any]:
    return {"question": question, "attempt": attempt, "at": now(), "seconds": round(seconds, 3)}


def _row(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict) or not _names_questions(row):
        message = "this line is not an entry of a log; fix it, or start over with --restart"
        raise InputError(Problem("syntax", message, str(path), number))
    return row


def _names_questions(row: Mapping[str, Any]) -> bool:
    """Whether what names questions is text."""
    void = row.get("void", [])
    return isinstance(void, list) and all(isinstance(name, str) for name in (row.get("question", ""), *void))


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep others out for as long as the file is open; a killed process lets go by itself."""
    with contextlib.suppress(ImportError):  # no fcntl on Windows: there two runs at a time are the user's affair
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{path} is in use: this run is under way in another process") from None
