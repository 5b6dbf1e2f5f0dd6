"""Values of a log as numbers, collected into `ScoreRows`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from qassay.errors import InputError, Problem, Problems, few
from qassay.formats.cells import is_absent, is_too_large, too_large
from qassay.formats.foreign._logs import refuse
from qassay.formats.foreign._names import name
from qassay.formats.score_rows import ScoreRows

_WORDS = {"true": 1.0, "false": 0.0}


def number(value: object) -> float | None:
    """A score as a number: true is 1, false 0; None where there is none. A ValueError where it says something else.

    >>> number(True), number("0.5"), number(None), number(float("nan"))
    (1.0, 0.5, None, None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().lower()
        if is_absent(text):
            return None
        value = _WORDS[text] if text in _WORDS else float(text.replace("_", "x"))
    if not isinstance(value, int | float):
        raise ValueError
    if math.isnan(value):
        return None
    if is_too_large(value):
        raise ValueError
    return float(value)


class _Entry(NamedTuple):
    """One score as the log has it; line 0 where it has no lines."""

    system: str
    question: str
    metric: str
    repeat: str
    value: object
    line: int


class LogScores:
    """Scores of one log on their way into `ScoreRows`: values become numbers, failed samples become missing scores."""

    def __init__(self, form: str, path: Path, *, remedy: str) -> None:
        self._rows = ScoreRows(form=form, file=str(path))
        self._path = path
        self._remedy = remedy
        self._raw: list[_Entry] = []
        self._failed: list[tuple[str, str, str, int]] = []

    def add(
        self, system: str, question: str, value: object, *, metric: str = "", repeat: str = "", line: int = 0
    ) -> None:
        """One score as the log has it."""
        self._raw.append(_Entry(system, question, metric, repeat, value, line))

    def failed(self, system: str, question: str, *, repeat: str = "", line: int = 0) -> None:
        """A sample without scores: each metric of its system is missing there."""
        self._failed.append((system, question, repeat, line))

    def directed(self, metric: str, *, higher_is_better: bool) -> None:
        """The direction of a metric, as the log says it."""
        self._rows.higher_is_better[metric] = higher_is_better

    def note(self, *sentences: str) -> None:
        """Sentences that every output repeats."""
        self._rows.notes.extend(sentences)

    def warn(self, *warnings: Problem) -> None:
        """Warnings for people to act on."""
        self._rows.warnings.extend(warnings)

    def rows(self, *, default: str | None = None, repeated: bool = False) -> ScoreRows:
        """Everything that was added; an error where a metric has numbers and text, or where no score is left.

        `default` is the metric that the tool itself puts first. The names of repeats are kept where there are several,
        or where the log says that several were meant.
        """
        entries = self._numeric()
        metrics: dict[str, dict[str, None]] = {}
        for entry in entries:
            metrics.setdefault(entry.system, {})[entry.metric] = None
        for system, question, repeat, line in self._failed:
            entries += [_Entry(system, question, metric, repeat, None, line) for metric in metrics.get(system, {})]
        if not any(number(entry.value) is not None for entry in entries):
            raise refuse(self._path, f"contains no scores. {self._remedy}")
        several = repeated or len({entry.repeat for entry in entries}) > 1
        for system, question, metric, repeat, value, _ in entries:
            self._rows.add(system, question, number(value), metric=metric, repeat=repeat if several else "")
        if any(entry.line for entry in entries):
            self._rows.lines = [entry.line for entry in entries]
        if any(isinstance(entry.value, bool) or _is_word(entry.value) for entry in entries):
            self.note("True counts as 1, false as 0.")
        if default in self._rows.metrics:
            self._rows.default_metric = default
        return self._rows

    def _numeric(self) -> list[_Entry]:
        """The scores of metrics that have numbers; metrics that have only text are named as left out."""
        remedy = self._remedy
        texts: dict[str, list[_Entry]] = {}
        numeric: set[str] = set()
        for entry in self._raw:
            if not _is_number(entry.value):
                texts.setdefault(entry.metric, []).append(entry)
            elif number(entry.value) is not None:
                numeric.add(entry.metric)
        problems = Problems(
            Problem(
                "syntax",
                f"question {entry.question!r}, metric {metric}: {_complaint(entry.value)}. {remedy}",
                str(self._path),
                entry.line or None,
                entry.question,
            )
            for metric, entries in texts.items()
            if metric in numeric
            for entry in entries
        )
        if problems:
            raise InputError(problems)
        if texts:
            self.note(f"Left out because {'they have' if len(texts) > 1 else 'it has'} no numbers: {few(texts)}.")
        return [entry for entry in self._raw if entry.metric not in texts]


def _is_number(value: object) -> bool:
    try:
        number(value)
    except (ValueError, OverflowError):
        return False
    return True


def _is_word(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _WORDS


def _shown(value: object) -> str:
    return name(value if isinstance(value, str) else repr(value))


def _complaint(value: object) -> str:
    """What is wrong with a value that is not a score."""
    if isinstance(value, int | float):
        return too_large(_shown(value))
    return f"{_shown(value)!r} is not a number"
