"""`qassay run`: drive a system over the questions and write a run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from qassay.collections import Collection
    from qassay.evaluation import Evaluation
    from qassay.systems.harness import Log, Manner, UnderTest

SystemOption = Annotated[
    str,
    typer.Option("--system", metavar="S", help="A reference system, module:callable, a command, or a URL."),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the system; may be repeated.")
]
TagOption = Annotated[str | None, typer.Option("--tag", metavar="TAG", help="The run's tag; else made from --system.")]
OrganisationOption = Annotated[str | None, typer.Option("--organisation", metavar="TEXT", help="Whose run it is.")]
DescriptionOption = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="What it is; else the spelling of the system.")
]
FormOption = Annotated[
    str, typer.Option("--form", metavar="FORM", help="Form of the file: jsonl, trec4, trec7, extract, rte, rag24.")
]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, max=256, help="Series asked at a time.")]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds an answer may take.")]
RetriesOption = Annotated[int, typer.Option("--retries", min=0, max=100, help="Further attempts after a failure.")]
BackoffOption = Annotated[
    float, typer.Option("--backoff", min=0.0, help="Seconds before the second attempt; doubled each time.")
]
FailureOption = Annotated[
    Literal["stop", "nil"],
    typer.Option("--on-failure", help="When all attempts have failed: stop, or take NIL (an empty list) and go on."),
]
IsolateOption = Annotated[bool, typer.Option("--isolate", help="A new process of a command for every series.")]
TokenOption = Annotated[
    str | None,
    typer.Option("--token-from", metavar="VARIABLE", help="Environment variable with the token for a URL."),
]
RayOption = Annotated[
    str | None, typer.Option("--ray", metavar="ADDRESS", help="Answer on a Ray cluster (local: on one made here).")
]
RestartOption = Annotated[bool, typer.Option("--restart", help="Do not continue a broken-off run: begin anew.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace a run that is there already.")]


def command(
    folder: FolderArgument,
    system: SystemOption,
    settings: SetOption = None,
    tag: TagOption = None,
    organisation: OrganisationOption = None,
    description: DescriptionOption = None,
    form: FormOption = "jsonl",
    workers: WorkersOption = 1,
    timeout: TimeoutOption = 60.0,
    retries: RetriesOption = 2,
    backoff: BackoffOption = 0.5,
    on_failure: FailureOption = "stop",
    isolate: IsolateOption = False,
    token_from: TokenOption = None,
    ray: RayOption = None,
    restart: RestartOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Drive a system over the questions and write a run.

    The system is handed one question at a time, with the earlier questions
    of its series and its own answers to them, and nothing else. The run is
    written to runs/ when it is complete and keeps all rules; every call is
    in logs/TAG.jsonl. The same command continues a run that was broken off.

    Reference systems: sentence-baseline, frequent-name, factoid, passages,
    list, definition, series. A command reads JSON lines and writes one line
    a question; a URL is posted the same JSON, or is a chat model where it
    ends in /chat/completions. No other address is spoken to.

    Examples

      qassay run my-eval --system series
      qassay run my-eval --system "series(other=sentence-baseline)" --tag base
      qassay run my-eval --system factoid --set threshold=0.3 --workers 2
      qassay run my-eval --system "python my_system.py" --tag mine
      qassay run my-eval --system my_module:answer --on-failure nil
      qassay run my-eval --system http://localhost:8000/v1/chat/completions --set model=m
    """
    from qassay.evaluation import open_evaluation
    from qassay.systems.harness import Manner, default_tag, open_system

    evaluation = open_evaluation(folder)
    given = _settings(settings or [])
    manner = Manner(workers, timeout, retries, backoff, on_failure, isolate)
    _refuse_form(evaluation, form)
    collection = _documents(evaluation)
    under_test = open_system(
        system,
        task=evaluation.task,
        collection=collection,
        documents=evaluation.folder.collection if collection is not None else None,
        settings=given,
        token=_token(token_from),
    )
    if ray is not None:
        from qassay.systems.harness.over_ray import over_ray

        under_test = over_ray(under_test, ray)
    about = (organisation, description or under_test.spelling)
    job = Job(evaluation, under_test, tag or default_tag(under_test.spelling), form, about, collection, manner)
    result = job.run(restart=restart, force=force)
    if as_json:
        from qassay.cli.output import print_json

        print_json(result)
    else:
        _tell(result, folder)


@dataclass(frozen=True)
class Job:
    """Everything about one call of the command."""

    evaluation: Evaluation
    system: UnderTest
    tag: str
    form: str
    about: tuple[str | None, str | None]
    collection: Collection | None
    manner: Manner

    def run(self, *, restart: bool, force: bool) -> dict[str, Any]:
        """Ask, write the run, and tell what was done."""
        from qassay.cli.output import progress
        from qassay.formats.folder import file_name
        from qassay.systems.harness import Log, drive
        from qassay.systems.harness.log import header

        evaluation = self.evaluation
        self._refuse_existing(force=force)
        head = header(self.tag, self.system.spelling, evaluation.task.name, evaluation.questions)
        path = evaluation.folder.path / "logs" / (file_name(self.tag) + ".jsonl")
        begun = time.monotonic()
        if self.collection is not None and self.system.searches:
            _index(self.collection)
        with Log(path, head, evaluation.questions, restart=restart or (force and _is_finished(path))) as log:
            kept = len(log.answers)
            try:
                with progress(f"asking {self.tag}") as update:
                    answers = drive(
                        self.system,
                        evaluation.questions,
                        task=evaluation.task,
                        log=log,
                        collection=self.collection,
                        manner=self.manner,
                        progress=update,
                    )
            except KeyboardInterrupt:
                print(f"{len(log.answers)} answers are kept: the same command goes on from there", file=sys.stderr)
                raise
            written = self._write(answers)
            log.finish()
            return self._result(written, log, kept=kept, seconds=time.monotonic() - begun)

    def _write(self, answers: Mapping[str, Any]) -> str:
        """Write the run to runs/ or, where the evaluation has one, to its store; how messages call its file."""
        from qassay.formats.files import TemporaryFolder
        from qassay.formats.folder import Folder
        from qassay.runs import RunInformation
        from qassay.systems.harness import write_run

        evaluation = self.evaluation
        own = evaluation.folder
        organisation, description = self.about
        place = own if own.written is None else Folder(own.path, TemporaryFolder())
        written = write_run(
            place,
            self.tag,
            answers,
            task=evaluation.task,
            questions=evaluation.questions,
            form=self.form,
            information=RunInformation(organisation, description),
            lengths=self.collection.lengths() if self.collection is not None else None,
        )
        if place is not own:
            from qassay.store.engine import open_store
            from qassay.store.folder.intake import take_in

            store = open_store(own)
            try:
                take_in(store, place, replace=True)
            finally:
                store.close()
        return place.name(written)

    def _refuse_existing(self, *, force: bool) -> None:
        from qassay.formats.folder import name_fault
        from qassay.systems.harness.writing import existing

        if fault := name_fault(self.tag):
            raise UsageError(f"the run tag {self.tag!r} {fault}")
        there = existing(self.evaluation.folder, self.tag)
        if there and not force:
            name = self.evaluation.folder.name(there[0])
            message = "is there already; choose another --tag, or replace it with --force"
            raise InputError(Problem("configuration", message, name))

    def _result(self, written: str, log: Log, *, kept: int, seconds: float) -> dict[str, Any]:
        answers = log.answers.values()
        folder = self.evaluation.folder
        return {
            "run": self.tag,
            "system": self.system.spelling,
            "file": written,
            "stored": folder.written is not None,
            "log": folder.name(log.path),
            "questions": len(log.answers),
            "continued": kept,
            "nil": sum(answer.nil for answer in answers),
            "empty": sum(not (answer.nil or answer.items or answer.decision) for answer in answers),
            "failed": [one for one in self.evaluation.questions.ids if one in log.failed],
            "seconds": round(seconds, 3),
        }


def _documents(evaluation: Evaluation) -> Collection | None:
    """The collection of the evaluation, read where there is one."""
    place = evaluation.folder.collection
    if not place.is_dir() or not any(place.iterdir()):
        return None
    from qassay.cli.output import progress
    from qassay.collections import open_collection

    with progress("reading documents") as update:
        return open_collection(place, progress=update)


def _index(collection: Collection) -> None:
    """Make the indexes before the first question, whose time-out they are no part of."""
    for passages in (True, False):
        collection.index(passages=passages)


def _is_finished(path: Path) -> bool:
    return path.exists() and b'\n{"finished"' in path.read_bytes()


def _settings(given: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for one in given:
        name, equals, value = (part.strip() for part in one.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"--set takes NAME=VALUE, not {one!r}")
        if name in settings:
            raise UsageError(f"--set {name} is given twice")
        settings[name] = value
    return settings


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    if not os.environ.get(variable):
        raise UsageError(f"the environment variable {variable} that --token-from names is not set")
    return os.environ[variable]


def _refuse_form(evaluation: Evaluation, form: str) -> None:
    """Stop at a form that cannot be written before anything is asked."""
    from qassay.errors import unknown
    from qassay.systems.harness.writing import SUFFIXES

    possible = [one for one in evaluation.task.forms if one in SUFFIXES]
    if form not in possible:
        raise unknown(f"form to write a run of task {evaluation.task.name} in", form, possible)


def _tell(result: Mapping[str, Any], folder: Path) -> None:
    from qassay.cli.output import visible

    again = f", {result['continued']} of them before the break" if result["continued"] else ""
    print(visible(f"Asked {result['system']} {result['questions']} questions{again}."))
    counts = [f"{result['nil']} NIL"] * bool(result["nil"]) + [f"{result['empty']} empty"] * bool(result["empty"])
    where = " to the store of the evaluation" if result["stored"] else ""
    print(visible(f"Wrote {result['file']}{where}, checked{': ' + ', '.join(counts) if counts else ''}."))
    if result["failed"]:
        shown = ", ".join(result["failed"][:10]) + (", ..." if len(result["failed"]) > 10 else "")
        print(visible(f"warning: {len(result['failed'])} questions failed and are empty: {shown}"), file=sys.stderr)
    print(visible(f"Every call is in {result['log']}."))
    print(visible(f"Next: qassay pool {folder}, which says what is to be judged"))
