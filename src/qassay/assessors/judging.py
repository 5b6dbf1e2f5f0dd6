"""An assessor judges the pool of an evaluation, into a set of its own.

What it judges is written to a journal in the evaluation's folder as it comes and imported when all is judged: a job
that was interrupted, by a failure or by force, goes on where it stopped. What the set has already is not judged again.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from qassay.assessors.base import BATCH, AutomaticAssessor, Judging, Nuggets, documents_at, trait
from qassay.errors import InputError, Problem, UsageError
from qassay.evaluation import Evaluation
from qassay.formats.files import append_file
from qassay.formats.folder import judgment_file, nugget_file
from qassay.formats.importing import Options, plan_import
from qassay.formats.jsonl import write_rows
from qassay.formats.links import refuse_way_out
from qassay.formats.names import file_name, name_fault
from qassay.judging import LABEL_FIELDS, SETTLED_SETS, Item, Row, Wanted, kind_of_row, names_nuggets, subject
from qassay.judging.items import pool_items
from qassay.judging.sets import list_shown
from qassay.nuggets import NUGGET_COLUMNS, list_of_key
from qassay.store import import_plan, writable

if TYPE_CHECKING:
    from qassay.assessors.llm import Planned
    from qassay.assessors.llm.cost import Spending
    from qassay.client import Client

# Judgments wait this long at most before they are sent to a server.
SECONDS = 5.0
# Under this name judgments without a plain label are counted: nuggets of a response, scores.
OTHER = "other"
# Called with the number of decisions made.
Progress = Callable[[int], None]


@dataclass
class JobResult:
    """The result of a job: judgments by label, parts without an opinion, parts that were judged before."""

    set_name: str
    labels: Counter[str] = field(default_factory=Counter)
    silent: int = 0
    known: int = 0
    # Judgments of an earlier job that was interrupted.
    resumed: int = 0
    # What a language model was asked, and what it cost; None for other assessors.
    account: Spending | None = None
    # Sentences for people: how the assessor was made, and why it left something unjudged.
    remarks: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """The number of new judgments."""
        return self.labels.total()

    def add(self, row: Row) -> None:
        """Count a judgment by its label."""
        label = next((row[name] for name in LABEL_FIELDS if row.get(name)), OTHER)
        self.labels[str(label)] += 1

    def count(self, judging: Judging, *, known: int) -> None:
        """Take over what was counted while judging; failed calls are not silence."""
        self.account = getattr(judging.assessor, "account", None)
        self.silent = judging.silent - (self.account.failed if self.account else 0)
        self.known = known
        if self.account and self.account.failed and not self.judged and not known:
            raise InputError(Problem("configuration", self.account.unusable(judging.assessor.name)))
        self.remarks = (*trait(judging.assessor, "remarks", ()), *judging.reasons(self.silent))

    def as_json(self) -> dict[str, Any]:
        """The document of `judge --json`."""
        model = {} if self.account is None else {"model": self.account.as_json()}
        return {
            "set": self.set_name,
            "judged": self.judged,
            "labels": dict(self.labels),
            "known": self.known,
            "silent": self.silent,
            "resumed": self.resumed,
            **model,
        }


def judge(
    evaluation: Evaluation,
    assessor: AutomaticAssessor,
    *,
    set_name: str | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> JobResult:
    """Let an assessor judge the pool of an evaluation; its judgments are added to a set of its own."""
    name = checked_name(evaluation, assessor, set_name)
    done = JobResult(name)
    known = set() if again else _known(evaluation, name)
    nuggets = shown_nuggets(evaluation, name)
    journal = Journal.of(evaluation, name, again=again)
    imported_before = again and name in evaluation.sets
    for row in journal.rows():
        judged = _subject(row, evaluation)
        imported_before = imported_before or judged in known
        known.add(judged)
        done.add(row)
        done.resumed += 1
    judging = Judging(
        assessor,
        evaluation.questions,
        evaluation.task,
        nuggets,
        documents_at(evaluation.folder.collection),
        known,
        progress,
    )
    try:
        journal.write(_counted(judging.rows(_items(evaluation, assessor)), done))
    except InputError:
        # A model that stops answering may never answer again: what was paid for is in the set.
        if done.judged and hasattr(assessor, "account"):
            journal.move(evaluation, name, nuggets, new=not imported_before)
        raise
    finally:
        close(assessor)
    done.count(judging, known=judging.skipped - done.resumed)
    if done.judged:
        journal.move(evaluation, name, nuggets, new=not imported_before)
    else:
        journal.remove()
    return done


def plan_judging(
    evaluation: Evaluation, assessor: AutomaticAssessor, *, set_name: str | None = None, again: bool = False
) -> Planned:
    """An estimate for judging: calls, tokens and cost, estimated. Nothing is called and nothing written."""
    planning = getattr(assessor, "plan", None)
    if planning is None:
        raise UsageError(f"{assessor.name} calls no model: it costs nothing, and --dry-run has nothing to say")
    name = checked_name(evaluation, assessor, set_name)
    known = set() if again else _known(evaluation, name)
    if not again:
        known |= {_subject(row, evaluation) for row in Journal.of(evaluation, name, again=False).rows()}
    nuggets = shown_nuggets(evaluation, name)
    documents = documents_at(evaluation.folder.collection)
    judging = Judging(assessor, evaluation.questions, evaluation.task, nuggets, documents, known)
    planned: Planned = planning(judging.cases(_items(evaluation, assessor)))
    return planned


def judge_on_server(
    client: Client,
    evaluation: Evaluation,
    assessor: AutomaticAssessor,
    *,
    set_name: str | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> JobResult:
    """Judge the pool of a served evaluation; judgments are sent as they come, so that an interrupted job goes on."""
    name = checked_name(evaluation, assessor, set_name)
    served, done = client.evaluation(), JobResult(name)
    known = set() if again else client.judged(name)
    judging = Judging(
        assessor,
        served.questions,
        served.task,
        shown_nuggets(evaluation, name),
        documents_at(evaluation.folder.collection),
        known,
        progress,
    )
    try:
        rows = _counted(judging.rows(client.items()), done)
        _sent(rows, lambda batch: client.send_judgments(name, batch))
    finally:
        close(assessor)
    done.count(judging, known=judging.skipped)
    return done


def checked_name(evaluation: Evaluation, assessor: AutomaticAssessor, set_name: str | None) -> str:
    """The name of the set; a set of people is not written to."""
    name = set_name or assessor.name
    if fault := name_fault(name):
        raise UsageError(f"the set name {name!r} {fault}; name the set with --set")
    if name in SETTLED_SETS or name in evaluation.assessor_sets:
        raise UsageError(f"the set {name} has judgments of people; name another with --set")
    return name


def close(assessor: AutomaticAssessor) -> None:
    """End whatever an assessor keeps running."""
    if callable(ending := getattr(assessor, "close", None)):
        ending()


@dataclass(frozen=True)
class Journal:
    """Judgments on their way into a set: one JSON line each, in a hidden file of the evaluation's folder."""

    path: Path

    @classmethod
    def of(cls, evaluation: Evaluation, name: str, *, again: bool) -> Journal:
        """The journal of a set; judging again starts a new one."""
        journal = cls(refuse_way_out(evaluation.folder.path / f".judging-{file_name(name)}.jsonl"))
        if again:
            journal.remove()
        return journal

    def rows(self) -> Iterator[Row]:
        """The rows of an earlier job; a last line that was cut off is dropped from the file."""
        if not self.path.exists():
            return
        whole = 0
        with self.path.open("rb") as file:
            for line in file:
                try:
                    row = msgspec.json.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    break
                if not line.endswith(b"\n") or not isinstance(row, dict):
                    break
                whole += len(line)
                yield row
        with self.path.open("r+b") as file:
            file.truncate(whole)

    def write(self, rows: Iterable[Row]) -> None:
        """Add each row as it comes, without a buffer: what was written survives the end of this process."""
        with contextlib.ExitStack() as stack:
            file = None
            for row in rows:
                # The file is made by the first row: an assessor without an opinion leaves nothing behind.
                file = file or stack.enter_context(self.path.open("ab", buffering=0))
                file.write(msgspec.json.format(msgspec.json.encode(row), indent=0) + b"\n")

    def move(self, evaluation: Evaluation, name: str, nuggets: Nuggets, *, new: bool) -> None:
        """Add the judgments to their set."""
        _import(evaluation, self.path, name, nuggets, new=new)
        self.remove()

    def remove(self) -> None:
        """The judgments are in the set, or are not wanted."""
        self.path.unlink(missing_ok=True)


def _sent(rows: Iterable[Row], send: Callable[[list[Row]], object]) -> None:
    """Send rows in batches, incomplete ones every few seconds; rows that came before a failure are sent too."""
    batch: list[Row] = []
    last = time.monotonic()
    try:
        for row in rows:
            batch.append(row)
            if len(batch) >= BATCH or time.monotonic() - last >= SECONDS:
                send(batch)
                batch, last = [], time.monotonic()
    finally:
        if batch:
            send(batch)


def shown_nuggets(evaluation: Evaluation, name: str) -> Nuggets:
    """The nuggets of each question, by the list that an assessor of this set would be shown."""
    lists = sorted(evaluation.folder.nugget_lists())
    chosen = list_shown(name, lists)
    by_question: dict[str, list[dict[str, object]]] = {}
    if chosen in lists:
        for row in evaluation.nugget_list(chosen).iter_rows(named=True):
            by_question.setdefault(row["question"], []).append(row)
    return by_question


def _items(evaluation: Evaluation, assessor: AutomaticAssessor) -> Iterator[Item]:
    justified = evaluation.configuration.justified
    wanted = getattr(assessor, "wanted", Wanted())
    return pool_items(
        evaluation.runs, evaluation.questions, evaluation.task, seed="", justified=justified, wanted=wanted
    )


def _counted(rows: Iterable[Row], done: JobResult) -> Iterator[Row]:
    for row in rows:
        done.add(row)
        yield row


def _known(evaluation: Evaluation, name: str) -> set[str]:
    """The subjects that the set has judged already."""
    if name not in evaluation.sets:
        return set()
    judged = evaluation.judgment_set(name)
    return {subject(kind, row) for kind, table in judged.kinds.items() for row in table.iter_rows(named=True)}


def _subject(row: Row, evaluation: Evaluation) -> str:
    question = evaluation.questions.by_id.get(str(row.get("question")))
    kind = kind_of_row(row, question.type if question else None, evaluation.task)
    return subject(kind, row) if kind else ""


def _import(evaluation: Evaluation, journal: Path, name: str, nuggets: Nuggets, *, new: bool) -> None:
    """Add the rows of the journal to the set and, where scoring would find no list of nuggets, the one shown.

    Rows of `new` subjects need no comparison with those of the set, and were checked when they were made: the journal
    is appended to the file of the set as it is, whatever its size.
    """
    opened, store = writable(evaluation.folder.path)
    listed: tuple[dict[str, Any], ...] = ()
    if nuggets and list_of_key(name, opened.nugget_lists()) is None and _has_nuggets(journal):
        listed = tuple(_nugget_row(nugget) for rows in nuggets.values() for nugget in rows)
    known = opened.judgment_sets().get(name)
    target = opened.path / (judgment_file(name) if known is None else known.name)
    if store is None and new and target.suffix == ".jsonl":
        if listed:
            write_rows(opened.path / nugget_file(name), listed)
        append_file(target, journal)
        return
    import_plan(plan_import(opened, [journal], options=Options(set_name=name), nuggets=listed), store, own=True)


def _has_nuggets(journal: Path) -> bool:
    """Whether any row is given against a list of nuggets."""
    with journal.open("rb") as file:
        return any(names_nuggets(msgspec.json.decode(line)) for line in file)


def _nugget_row(nugget: Mapping[str, Any]) -> dict[str, Any]:
    return {name: nugget[name] for name in NUGGET_COLUMNS if nugget.get(name) is not None}
