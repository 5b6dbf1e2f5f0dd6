"""Inspect: logs as `.eval`, a zip file whose members are packed with zstandard, and as `.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from qassay.formats.files import ZIP
from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows

if TYPE_CHECKING:
    from qassay.formats.foreign._zip import Archive

NAME = "Inspect"
VERSIONS = ("0.3.285",)
FILES = "`logs/*.eval`, or `logs/*.json` of `inspect eval --log-format json`"
READS = (
    "system: the model; question: the sample's id; repeat: the epoch; one metric per scorer, `scorer/key` where it "
    "gives several values; C, I, P, N are `1`, `0`, `0.5`, `0`"
)

_REMEDY = "Use the log as `inspect eval` wrote it; `inspect log dump FILE` shows whether Inspect can read it."
# The version of the form of logs, as their headers name it.
_FORM_VERSION = 2
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_YES = {"yes": 1.0, "no": 0.0}


class _Score(msgspec.Struct):
    value: Any


class _Sample(msgspec.Struct):
    id: str | int
    epoch: int = 1
    scores: dict[str, _Score] | None = None
    error: Any = None


class _Config(msgspec.Struct):
    epochs: int | None = None


class _Eval(msgspec.Struct):
    model: str
    config: _Config = msgspec.field(default_factory=_Config)
    task: str = ""
    packages: dict[str, str] = {}


class _Results(msgspec.Struct):
    total_samples: int = 0


class _Header(msgspec.Struct):
    eval: _Eval
    version: int = _FORM_VERSION
    status: str = "started"
    results: _Results | None = None
    invalidated: bool = False


class _Log(_Header):
    samples: list[_Sample] | None = None


def looks_like(path: Path, head: bytes) -> bool:
    """Whether this is a log: a zip file named .eval or with Inspect's journal, or JSON with its first keys."""
    if head.startswith(ZIP):
        return path.suffix == ".eval" or b"_journal/start.json" in head[:256]
    return {"status", "eval"} <= set(_logs.top_keys(head)[:6])


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every sample and epoch."""
    header, samples = _archive(path, content) if content.startswith(ZIP) else _json(path, content)
    scores = LogScores("Inspect log", path, remedy=_no_scores(header))
    grades = False
    count = 0
    system = _names.name(header.eval.model)
    for sample in samples:
        question, repeat = _names.name(str(sample.id)), str(sample.epoch)
        if not sample.scores:
            scores.failed(system, question, repeat=repeat)
            continue
        count += 1
        for metric, value in _values(sample.scores):
            grades |= isinstance(value, str) and value in _GRADES
            scores.add(system, question, _number(value), metric=_names.name(metric), repeat=repeat)
    scores.note(*(["C, I, P, N count as 1, 0, 0.5, 0, as in Inspect."] if grades else []))
    _warn(scores, path, header, count)
    return scores.rows(repeated=(header.eval.config.epochs or 1) > 1)


def _json(path: Path, content: bytes) -> tuple[_Header, Iterable[_Sample]]:
    log = _logs.decode(content, _Log, path, _REMEDY)
    return log, log.samples or ()


def _archive(path: Path, content: bytes) -> tuple[_Header, Iterable[_Sample]]:
    """Header and samples of an archive; of a run that was killed only the journal is there."""
    from qassay.formats.foreign._zip import Archive  # Python's reader of zip files takes a while to load

    archive = Archive(content, path, _REMEDY)
    first = next((name for name in ("header.json", "_journal/start.json") if name in archive), None)
    if first is None:
        message = "is a zip file but not a log of Inspect: it has neither header.json nor _journal/start.json."
        raise _logs.refuse(path, f"{message} {_REMEDY}")
    header = _logs.decode(archive.read(first), _Header, path, f"(in {first}) {_REMEDY}")
    return header, _summaries(archive, path)


def _summaries(archive: Archive, path: Path) -> Iterator[_Sample]:
    """The samples with their scores, from the shortest members that have them."""
    journal = [name for name in archive.names if name.startswith("_journal/summaries/")]
    for name in ["summaries.json"] if "summaries.json" in archive else journal:
        yield from _logs.decode(archive.read(name), list[_Sample], path, f"(in {name}) {_REMEDY}")
    if "summaries.json" not in archive and not journal:
        for name in archive.names:
            if name.startswith("samples/"):
                yield _logs.decode(archive.read(name), _Sample, path, f"(in {name}) {_REMEDY}")


def _values(scores: dict[str, _Score]) -> Iterator[tuple[str, Any]]:
    """Metric and value; a scorer that gives several values is several metrics."""
    for scorer, score in scores.items():
        if isinstance(score.value, dict):
            yield from ((f"{scorer}/{key}", value) for key, value in score.value.items())
        elif isinstance(score.value, list):
            yield from ((f"{scorer}/{place}", value) for place, value in enumerate(score.value))
        else:
            yield scorer, score.value


def _number(value: Any) -> Any:
    """The number that Inspect's own `value_to_float` makes of a word; other values as they are."""
    if not isinstance(value, str):
        return value
    return _GRADES.get(value, _YES.get(value.strip().lower(), value))


def _no_scores(header: _Header) -> str:
    if header.status != "success":
        return f"The run was interrupted (status {_names.name(header.status)}); run `inspect eval-retry` on this log."
    return "Run `inspect score` on this log first."


def _warn(scores: LogScores, path: Path, header: _Header, count: int) -> None:
    """Warn of runs that were interrupted or withdrawn, and of versions that were not tried."""
    if header.status != "success":
        status = "the run did not end" if header.status == "started" else f"status {_names.name(header.status)}"
        total = f" of {header.results.total_samples:,}" if header.results and header.results.total_samples else ""
        message = f"the run was interrupted ({status}): {count:,}{total} samples have scores, and only these are read."
        scores.warn(_logs.warning(path, f"{message} `inspect eval-retry` completes it."))
    if header.invalidated:
        scores.warn(_logs.warning(path, "some samples of this log were marked as invalid; see Inspect's viewer."))
    if header.version != _FORM_VERSION:
        message = f"has version {header.version} of Inspect's log format; tried was version {_FORM_VERSION}."
        scores.warn(_logs.warning(path, f"{message} Compare a few scores with what Inspect shows."))
    scores.warn(*_logs.version_warnings(path, NAME, header.eval.packages.get("inspect_ai", ""), VERSIONS))
