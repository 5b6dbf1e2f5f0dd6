"""Runs from files: recognise the form, parse, check every rule, and put all runs into one table.

Files of the line forms are parsed many at a time, a few megabytes a batch: large enough to be worth a vectorised
pass, small enough that two can be under way at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.errors import InputError, KeptProblems, Problem, Problems, unknown
from qassay.formats import files
from qassay.formats.files import packed_suffix
from qassay.formats.names import name_fault, set_name
from qassay.formats.parts import Part
from qassay.formats.runs import forms
from qassay.formats.runs.json_lines import RunFile
from qassay.questions import TestSet
from qassay.runs import Batch, RunInformation, Runs, check, check_documents, missing, ranks, row_counts
from qassay.tasks import Task

BATCH_BYTES = 8 << 20


@dataclass(frozen=True, eq=False)
class RunFiles:
    """The content of files of runs: the faultless runs, and the errors of the others.

    Missing questions are separate from the other problems, because scoring can accept them. `refused` are
    the rows of faulty runs, for checks against the documents: `run` is the name of the file, `question` as written.
    """

    runs: Runs
    files: Mapping[str, str]
    problems: KeptProblems = field(default_factory=KeptProblems)
    missing: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    refused: pl.DataFrame = field(default_factory=pl.DataFrame)

    def faults(self, lengths: Mapping[str, int] | None, *, missing: bool = True) -> Problems:
        """All that is wrong, with the missing questions or without; `lengths` are those of the documents, if any."""
        problems = Problems(self.problems)
        problems += self.missing if missing else ()
        refused = {name: name for name in self.refused["run"].unique()} if self.refused.height else {}
        for table, names in ((self.runs.table, self.files), (self.refused, refused)):
            if lengths and "doc" in table.columns:
                problems += check_documents(table, names, lengths)
        return problems


def read_runs(
    parts: Sequence[Part],
    *,
    task: Task,
    questions: TestSet,
    form: str | None = None,
    encoding: str = "utf-8",
    information: Mapping[str, RunInformation] | None = None,
) -> RunFiles:
    """Read and check files of runs, one file per run."""
    if form is not None and form not in task.forms:
        raise unknown(f"run form of task {task.name}", form, task.forms)
    called = [part.name for part in parts]
    problems = Problems()
    tables: list[pl.DataFrame] = []
    refused: list[pl.DataFrame] = []
    warnings = Problems()
    unread: set[tuple[str, str | None]] = set()
    tags: dict[int, str] = {}
    counts = np.zeros((len(parts), len(questions)), dtype=np.int64)
    # Two batches at a time: splitting strings is work for one core, and Polars lets go of the interpreter meanwhile.
    with ThreadPoolExecutor(max_workers=2) as pool:
        batches = _batches(parts, task, form, encoding, problems)
        for settled in _in_order(pool, lambda batch: _settle(batch, questions, task), batches):
            problems += settled.problems
            warnings += settled.warnings
            unread |= settled.unread
            tags |= settled.tags
            counts[settled.index] = settled.counts
            tables.append(settled.table)
            refused.append(settled.refused)
    read = _gathered(tables, tags, counts, called, questions, problems, warnings, unread, information or {})
    return replace(read, refused=pl.concat(refused, how="diagonal")) if refused else read


def file_suffix(data: bytes) -> str:
    """The ending of a run's file name, from its content: the form, and the compression."""
    # The first piece is enough: a packed run may be large.
    content = next(files.unpacked([data]), b"").removeprefix(files.BOM).lstrip()
    return (".jsonl" if content.startswith(b"{") else ".txt") + packed_suffix(data)


def _batches(
    parts: Sequence[Part], task: Task, form: str | None, encoding: str, problems: Problems
) -> Iterator[list[RunFile]]:
    """Files of the same form, some megabytes at a time; what cannot be read becomes a problem."""

    def sources() -> Iterator[RunFile]:
        for index, part in enumerate(parts):
            name = part.name
            try:
                data = part.read()
                if encoding.lower() not in ("utf-8", "utf8"):
                    data = files.decode(data, file=name, encoding=encoding).encode()
                if files.utf_16(data):
                    raise InputError(files.undecodable(data, file=name))
                if b"\0" in data:
                    raise InputError(Problem("encoding", "contains NUL bytes; a run is a text file", name))
            except InputError as error:
                problems.extend(error.problems.in_file(name))
                continue
            except OSError as error:
                problems.append(Problem("syntax", f"cannot be read: {files.refused_by_system(error)}", name))
                continue
            data = data.removeprefix(files.BOM)
            if not data.strip():
                problems.append(Problem("syntax", "is empty; a run answers every question", name))
                continue
            yield RunFile(index, name, set_name(name), form or forms.recognise(data, task), data)

    for _, group in groupby(sources(), key=lambda source: source.form):
        batch: list[RunFile] = []
        for source in group:
            batch.append(source)
            if sum(len(member.data) for member in batch) >= BATCH_BYTES:
                yield batch
                batch = []
        if batch:
            yield batch


@dataclass(frozen=True, eq=False)
class _Settled:
    """A checked batch: the numbers of its files, the tags and rows of its faultless runs, and all problems."""

    index: NDArray[np.int64]
    tags: dict[int, str]
    table: pl.DataFrame
    counts: NDArray[np.int64]
    problems: Problems
    warnings: Problems
    unread: Set[tuple[str, str | None]]
    refused: pl.DataFrame


def _settle(batch: list[RunFile], questions: TestSet, task: Task) -> _Settled:
    """Parse and check a batch, and bring its rows into the schema of the table; faulty runs are left out."""
    parsed = forms.parse(batch[0].form, batch, task)
    rows = parsed.rows.with_columns(question=pl.col("asked").cast(questions.enum, strict=False))
    names = tuple(source.name for source in batch)
    problems = Problems(parsed.problems)
    problems += _check_tags(rows, names)
    problems += check(Batch(rows, names, objects=parsed.objects), questions, task)
    warnings = Problems(parsed.warnings)
    warnings += _all_empty(rows, names)
    faulty = {problem.file for problem in problems}
    bad = [place for place, name in enumerate(names) if name in faulty]
    index = np.array([source.index for source in batch])
    counts = row_counts(rows.filter(pl.col("question").is_not_null()), len(batch), len(questions))
    refused = rows.clear() if not bad else rows.filter(pl.col("run").is_in(bad))
    refused = refused.with_columns(run=pl.Series(names, dtype=pl.String).gather(refused["run"]), question="asked")
    if bad:
        rows = rows.filter(~pl.col("run").is_in(bad))
    tags = {int(index[run]): tag for run, tag in _first_rows(rows).select("run", "tag").iter_rows()}
    numbered = rows.with_columns(run=pl.Series(index, dtype=pl.UInt32).gather(rows["run"]))
    table = _ranked(numbered, several=bool((counts > 1).any()))
    return _Settled(index, tags, table, counts, problems, warnings, parsed.unread, refused)


def _all_empty(rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Problem]:
    """A warning for every run that answers nothing."""
    if "doc" not in rows.columns:
        return
    empty = pl.col("doc").is_null()
    if "text" in rows.columns:
        empty = pl.col("text").is_null() | (pl.col("text").str.strip_chars() == "")
    for run in rows.group_by("run").agg(empty.all().alias("empty")).filter("empty").sort("run")["run"]:
        yield empty_run(names[run])


def empty_run(file: str) -> Problem:
    """The warning about a run that answers nothing."""
    return Problem("syntax", "every answer is empty or NIL; are the answers in a field that is not read?", file)


def _in_order(
    pool: ThreadPoolExecutor, work: Callable[[list[RunFile]], _Settled], batches: Iterator[list[RunFile]]
) -> Iterator[_Settled]:
    """Results in the order of the batches, with few enough under way that memory stays bounded."""
    waiting: deque[Future[_Settled]] = deque()
    for batch in batches:
        waiting.append(pool.submit(work, batch))
        if len(waiting) > 3:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _first_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The first row of every file; rows of one file are adjacent."""
    return rows.filter((rows["run"] != rows["run"].shift(1)).fill_null(value=True))


def _check_tags(rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Problem]:
    """Tags that cannot be, and second tags in one file."""
    first = dict(_first_rows(rows).select("run", "tag").iter_rows())
    for run, tag in first.items():
        if fault := name_fault(tag):
            yield Problem("syntax", f"the run tag {tag[:80]!r} {fault}", names[run], 1)
    if not ((rows["tag"] != rows["tag"].shift(1)) & (rows["run"] == rows["run"].shift(1))).any():
        return
    for run, line, tag, question in (
        rows.select("run", "line", "tag", "asked").unique(["run", "tag"], keep="first", maintain_order=True).iter_rows()
    ):
        if tag != first[run]:
            message = f"question {question} has the run tag {tag!r}, the first line {first[run]!r}; one file is one run"
            yield Problem("second-tag", message, names[run], line, question)


def _ranked(rows: pl.DataFrame, *, several: bool) -> pl.DataFrame:
    """Rows with their place in the response (`several`: some response has more than one), in the table's schema."""
    rows = rows.drop("tag", "asked", "nil", "confidence", strict=False)
    if "doc" not in rows.columns:
        return rows
    nothing = rows["doc"].is_null()
    if "text" in rows.columns:
        nothing &= rows["text"].is_null()
    place: NDArray[np.uint32]
    if "rank" in rows.columns:
        place = rows["rank"].to_numpy()
    elif several:
        run, question = rows["run"].to_numpy(), rows["question"].to_physical().to_numpy()
        place = ranks(run.astype(np.int64), question.astype(np.int64))
    else:
        place = np.ones(rows.height, dtype=np.uint32)
    return rows.with_columns(rank=pl.Series(np.where(nothing.to_numpy(), 0, place), dtype=pl.UInt32))


def _gathered(
    tables: list[pl.DataFrame],
    tags: dict[int, str],
    counts: NDArray[np.int64],
    called: Sequence[str],
    questions: TestSet,
    problems: Problems,
    warnings: Problems,
    unread_lines: Set[tuple[str, str | None]],
    information: Mapping[str, RunInformation],
) -> RunFiles:
    """All batches as one table, the runs in the order of their files."""
    order: dict[str, int] = {}
    for index, tag in sorted(tags.items()):
        if tag in order:
            other = called[order[tag]]
            message = f"has the tag {tag!r}, as {other} has; give every run a tag of its own"
            problems.append(Problem("second-tag", message, called[index]))
            continue
        order[tag] = index
        if set_name(called[index]) != tag:
            warnings.append(Problem("configuration", f"has the run {tag!r}; name the file after it", called[index]))
    indexes = list(order.values())
    place = np.full(len(called), -1)
    place[indexes] = np.arange(len(indexes))
    table = pl.concat(tables, how="diagonal") if tables else pl.DataFrame(schema={"run": pl.UInt32})
    run = place[table["run"].to_numpy()].astype(np.uint32) if table.height else np.empty(0, dtype=np.uint32)
    if len(indexes) < len(tags):  # a run whose tag another one has is faulty
        table, run = table.filter(pl.Series(run < len(indexes))), run[run < len(indexes)]
    table = table.with_columns(run=pl.Series(run, dtype=pl.UInt32).cat.to(pl.Enum(list(order))))
    # Which questions the lines beyond the first 200 faulty ones answer, nobody knows.
    unread = {problem.file for problem in problems if problem.line is None} | set(problems.beyond)
    unread |= {file for file, question in unread_lines if question is None}
    reported = {(problem.file, problem.question) for problem in problems} | unread_lines
    return RunFiles(
        runs=Runs(tuple(order), table, information),
        files={tag: called[index] for tag, index in order.items()},
        problems=problems.kept(),
        # Not those of files that were not read, and those whose line is at fault.
        missing=tuple(
            gap
            for gap in missing(counts, called, questions)
            if gap.file not in unread and (gap.file, gap.question) not in reported
        ),
        warnings=tuple(warnings),
    )
