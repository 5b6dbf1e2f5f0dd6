"""`qassay run`: drive a system over the questions and write a run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, progress, visible
from qassay.errors import InputError, Problem, Remedy, UsageError, few, unknown
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.collections import Collection
    from qassay.evaluation import Evaluation
    from qassay.runs import RunInformation
    from qassay.systems.harness.driving import DriveOptions
    from qassay.systems.harness.opening import UnderTest


def command(
    folder: FolderArgument,
    system: Annotated[
        str,
        typer.Option("--system", metavar="S", help="A reference system, module:callable, a command, or a URL."),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the system; may be repeated."),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="TAG", help="The run's tag; else made from --system.")
    ] = None,
    organisation: Annotated[str | None, typer.Option("--organisation", metavar="TEXT", help="Whose run it is.")] = None,
    description: Annotated[
        str | None, typer.Option("--description", metavar="TEXT", help="What it is; else the spelling of the system.")
    ] = None,
    form: Annotated[
        str, typer.Option("--form", metavar="FORM", help="Form of the file: jsonl, trec4, trec7, extract, rte, rag24.")
    ] = "jsonl",
    workers: Annotated[int, typer.Option("--workers", min=1, max=256, help="Series asked at a time.")] = 1,
    timeout: Annotated[float, typer.Option("--timeout", min=0.01, help="Seconds an answer may take.")] = 60.0,
    retries: Annotated[int, typer.Option("--retries", min=0, max=100, help="Further attempts after a failure.")] = 2,
    backoff: Annotated[
        float, typer.Option("--backoff", min=0.0, help="Seconds before the second attempt; doubled each time.")
    ] = 0.5,
    on_failure: Annotated[
        Literal["stop", "nil"],
        typer.Option(
            "--on-failure", help="When all attempts have failed: stop, or take NIL (an empty list) and go on."
        ),
    ] = "stop",
    isolate: Annotated[bool, typer.Option("--isolate", help="A new process of a command for every series.")] = False,
    token_from: Annotated[
        str | None,
        typer.Option("--token-from", metavar="VARIABLE", help="Environment variable with the token for a URL."),
    ] = None,
    ray: Annotated[
        str | None, typer.Option("--ray", metavar="ADDRESS", help="Answer on a Ray cluster (local: on one made here).")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Start over; do not continue an interrupted run.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a run that is there already.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Put the questions to a system and write its run.

    The system gets one question at a time, with the earlier questions of
    the same series and its own answers to them, and nothing else. Its run
    (all its answers) is written to runs/ when it is complete and obeys all
    rules; every call is in logs/TAG.jsonl. The same command continues an
    interrupted run.

    Reference systems: sentence-baseline, frequent-name, factoid, passages,
    list, definition, series. A command reads JSON lines and writes one line
    per question. A URL gets the same JSON by POST; if it ends in
    /chat/completions, it is a chat model. Qassay connects to no other
    address.

    Examples

      qassay run my-eval --system series
      qassay run my-eval --system "series(other=sentence-baseline)" --tag base
      qassay run my-eval --system factoid --set threshold=0.3 --workers 2
      qassay run my-eval --system "python my_system.py" --tag mine
      qassay run my-eval --system my_module:answer --on-failure nil
      qassay run my-eval --system http://localhost:8000/v1/chat/completions --set model=m
    """
    from qassay.evaluation import open_evaluation
    from qassay.runs import RunInformation
    from qassay.systems.harness.driving import DriveOptions
    from qassay.systems.harness.opening import default_tag, open_system
    from qassay.systems.harness.writing import SUFFIXES

    evaluation = open_evaluation(folder)
    parameters = _settings(settings or [])
    options = DriveOptions(workers, timeout, retries, backoff, on_failure, isolate)
    possible = [name for name in evaluation.task.forms if name in SUFFIXES]
    if form not in possible:  # before anything is asked
        raise unknown(f"form to write a run of task {evaluation.task.name} in", form, possible)
    collection = _documents(evaluation)
    under_test = open_system(
        system,
        task=evaluation.task,
        collection=collection,
        documents=evaluation.folder.collection if collection is not None else None,
        settings=parameters,
        token=_token(token_from),
    )
    if ray is not None:
        from qassay.systems.harness.opening import over_ray

        under_test = over_ray(under_test, ray)
    about = RunInformation(organisation, description or under_test.spelling)
    job = RunJob(evaluation, under_test, tag or default_tag(under_test.spelling), form, about, collection, options)
    result = job.run(restart=restart, force=force)
    if as_json:
        print_json(result)
    else:
        _print_result(result, folder, evaluation.folder.unpublished())


def _documents(evaluation: Evaluation) -> Collection | None:
    """The collection of the evaluation, read where there is one."""
    place = evaluation.folder.collection
    if not place.is_dir() or not any(place.iterdir()):
        return None
    from qassay.collections import open_collection

    with progress("reading documents") as update:
        return open_collection(place, progress=update)


def _settings(texts: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for setting in texts:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"--set takes NAME=VALUE, not {setting!r}")
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


def _print_result(result: Mapping[str, Any], folder: Path, unpublished: Problem | None) -> None:
    again = f", {result['continued']} of them before the break" if result["continued"] else ""
    print(visible(f"Asked {result['system']} {plural(result['questions'], 'question')}{again}."))
    counts = [f"{result['nil']} NIL"] * bool(result["nil"]) + [f"{result['empty']} empty"] * bool(result["empty"])
    where = " to the store of the evaluation" if result["stored"] else ""
    print(visible(f"Wrote {result['file']}{where}, checked{': ' + ', '.join(counts) if counts else ''}."))
    if result["failed"]:
        failed = plural(len(result["failed"]), "question")
        verb = "is" if len(result["failed"]) == 1 else "are"
        print(visible(f"warning: {failed} failed and {verb} empty: {few(result['failed'], 10)}"), file=sys.stderr)
    if unpublished:
        drafts = replace(unpublished, file=None).spelt(Remedy.on_command_line)
        print(visible(f"warning: not all is asked: the evaluation {drafts}"), file=sys.stderr)
    print(visible(f"Every call is in {result['log']}."))
    print(visible(f"Next: qassay pool {folder}, which says what is to be judged"))


@dataclass(frozen=True)
class RunJob:
    """Everything about one call of the command."""

    evaluation: Evaluation
    system: UnderTest
    tag: str
    form: str
    information: RunInformation
    collection: Collection | None
    options: DriveOptions

    def run(self, *, restart: bool, force: bool) -> dict[str, Any]:
        """Ask, write the run, and report what was done."""
        from qassay.formats.names import file_name, name_fault
        from qassay.systems.harness.driving import drive
        from qassay.systems.harness.log import Log, header

        evaluation = self.evaluation
        if fault := name_fault(self.tag):
            raise UsageError(f"the run tag {self.tag!r} {fault}")
        existing = evaluation.folder.files_of_run(self.tag)
        if existing and not force:
            message = "is there already; choose another --tag, or replace it with --force"
            raise InputError(Problem("configuration", message, existing[0].name))
        head = header(self.tag, self.system.spelling, evaluation.task.name, evaluation.questions)
        path = evaluation.folder.path / "logs" / (file_name(self.tag) + ".jsonl")
        begun = time.monotonic()
        if self.collection is not None and self.system.searches:
            # Before the first question, whose time-out does not include indexing.
            for passages in (True, False):
                self.collection.index(passages=passages)
        finished = path.exists() and b'\n{"finished"' in path.read_bytes()
        with Log(path, head, evaluation.questions, restart=restart or (force and finished)) as log:
            continued = len(log.answers)
            try:
                with progress(f"asking {self.tag}") as update:
                    answers = drive(
                        self.system,
                        evaluation.questions,
                        task=evaluation.task,
                        log=log,
                        collection=self.collection,
                        options=self.options,
                        progress=update,
                    )
            except KeyboardInterrupt:
                print(f"{len(log.answers)} answers are kept: the same command goes on from there", file=sys.stderr)
                raise
            file = self._write(answers)
            log.finish()
        answered = log.answers.values()
        return {
            "run": self.tag,
            "system": self.system.spelling,
            "file": file,
            "stored": evaluation.folder.stored is not None,
            "log": evaluation.folder.name(log.path),
            "questions": len(answered),
            "continued": continued,
            "nil": sum(answer.nil for answer in answered),
            "empty": sum(not (answer.nil or answer.items or answer.decision) for answer in answered),
            "failed": [question for question in evaluation.questions.ids if question in log.failed],
            "seconds": round(time.monotonic() - begun, 3),
        }

    def _write(self, answers: Mapping[str, Any]) -> str:
        """Write the run to runs/ or, where the evaluation has one, to its store; how messages call its file."""
        from qassay.store import import_plan, writable
        from qassay.systems.harness.writing import plan_run

        evaluation = self.evaluation
        folder, store = writable(evaluation.folder.path)
        plan = plan_run(
            folder,
            evaluation.configuration,
            self.tag,
            answers,
            questions=evaluation.questions,
            form=self.form,
            information=self.information,
            lengths=self.collection.lengths() if self.collection is not None else None,
        )
        import_plan(plan, store, own=True)
        return plan.incoming.runs[self.tag].name
