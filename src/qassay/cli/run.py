"""`qassay run`: drive a system over the questions and write a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.errors import UsageError, few

if TYPE_CHECKING:
    from qassay.collections import Collection
    from qassay.evaluation import Evaluation
    from qassay.systems.harness import UnderTest

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
    from qassay.cli.driving import RunJob
    from qassay.evaluation import open_evaluation
    from qassay.systems.harness import DriveOptions, default_tag

    evaluation = open_evaluation(folder)
    given = _settings(settings or [])
    options = DriveOptions(workers, timeout, retries, backoff, on_failure, isolate)
    _refuse_form(evaluation, form)
    collection = _documents(evaluation)
    under_test = _opened(system, evaluation, collection, given, token=_token(token_from), ray=ray)
    about = (organisation, description or under_test.spelling)
    job = RunJob(evaluation, under_test, tag or default_tag(under_test.spelling), form, about, collection, options)
    result = job.run(restart=restart, force=force)
    if as_json:
        from qassay.cli.output import print_json

        print_json(result)
    else:
        _tell(result, folder, evaluation.folder.unpublished())


def _opened(
    system: str,
    evaluation: Evaluation,
    collection: Collection | None,
    settings: Mapping[str, str],
    *,
    token: str | None,
    ray: str | None,
) -> UnderTest:
    """The system, here or on a Ray cluster."""
    from qassay.systems.harness import open_system

    opened = open_system(
        system,
        task=evaluation.task,
        collection=collection,
        documents=evaluation.folder.collection if collection is not None else None,
        settings=settings,
        token=token,
    )
    if ray is None:
        return opened
    from qassay.systems.harness.over_ray import over_ray

    return over_ray(opened, ray)


def _documents(evaluation: Evaluation) -> Collection | None:
    """The collection of the evaluation, read where there is one."""
    place = evaluation.folder.collection
    if not place.is_dir() or not any(place.iterdir()):
        return None
    from qassay.cli.output import progress
    from qassay.collections import open_collection

    with progress("reading documents") as update:
        return open_collection(place, progress=update)


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


def _tell(result: Mapping[str, Any], folder: Path, unpublished: str | None) -> None:
    from qassay.cli.output import visible
    from qassay.tables import plural

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
        print(visible(f"warning: not asked: {unpublished}"), file=sys.stderr)
    print(visible(f"Every call is in {result['log']}."))
    print(visible(f"Next: qassay pool {folder}, which says what is to be judged"))
