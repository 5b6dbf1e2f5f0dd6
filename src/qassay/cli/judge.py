"""`qassay judge`: an automatic assessor judges what is in the pool."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.assessors import Done
    from qassay.evaluation import Evaluation

WithOption = Annotated[
    str,
    typer.Option(
        "--with",
        metavar="ASSESSOR",
        help="patterns, match, recall, learned, overlap, transfer, module:callable, or a command.",
    ),
]
SetOption = Annotated[
    str | None, typer.Option("--set", metavar="SET", help="Name of the judgment set (default: the assessor's).")
]
ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="Judge for a served evaluation; the token is in QASSAY_TOKEN."),
]
AgainOption = Annotated[bool, typer.Option("--again", help="Judge also what the set has already.")]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, max=64, help="Decisions under way at once, for your own assessors.")
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", min=0.1, help="Seconds that a command may take for one decision.")
]
RayOption = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Judge on a Ray cluster: HOST:PORT, auto, or local (one made here)."),
]
TOKEN = "QASSAY_TOKEN"  # noqa: S105  # the name of a variable


def command(
    folder: FolderArgument,
    assessor: WithOption,
    set_name: SetOption = None,
    server: ServerOption = None,
    again: AgainOption = False,
    workers: WorkersOption = None,
    timeout: TimeoutOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an automatic assessor judge what is in the pool.

    It writes an ordinary judgment set under its own name, so that trust,
    agree, stability and score take it like any other assessor. What it has
    judged already is not judged again, and a job that was broken off goes on.
    Answers it has no opinion on are left unjudged and counted.

    An assessor of your own is a Python function (module:callable), or a
    command that reads one JSON line per decision and writes one.

    With --server, the pool is fetched from a running application and the
    judgments are sent there; FOLDER still says where patterns, known answers
    and nuggets are. An organiser makes the token on the page Account.

    With --ray, batches of answers are judged on the nodes of a Ray cluster,
    by --workers copies of the assessor (default: one per processor). A worker
    that dies is replaced. Qassay has to be installed on the nodes.

    Examples

      qassay judge my-eval --with patterns
      qassay judge my-eval --with "match(normalise=true)" --set match
      qassay judge my-rag-eval --with overlap
      qassay judge my-qa-eval --with learned
      qassay judge my-qa-eval --with my_judges:strict --workers 8
      qassay judge my-rag-eval --with overlap --ray 10.0.0.5:6379
      qassay trust my-eval --assessor patterns
      QASSAY_TOKEN=qsy_... qassay judge my-eval --with patterns --server http://127.0.0.1:8000
    """
    from qassay.assessors import judge, open_assessor
    from qassay.cli.output import progress
    from qassay.client import Client
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(folder)
    chosen = open_assessor(assessor, evaluation, workers=workers, timeout=timeout)
    with progress("judging") as update:
        total = _decisions(evaluation, set_name or chosen.name)

        def tick(done: int) -> None:
            update(done, max(done, total))

        client = None if server is None else Client(server, token=_token())
        done = judge(
            evaluation,
            chosen,
            set_name=set_name,
            again=again,
            workers=workers,
            ray=ray or False,
            server=client,
            progress=tick,
        )
    _say(done, where=server or str(folder), as_json=as_json)


def _decisions(evaluation: Evaluation, name: str) -> int:
    """How many decisions the pool takes; for the progress bar alone, so that nobody waits for it without one."""
    import sys

    from qassay.judging.pool import pool

    if not sys.stderr.isatty():
        return 0
    counted = pool(evaluation.runs, evaluation.questions, evaluation.task, None, evaluation.nugget_list(name))
    return sum(part.subjects.height for part in counted.types)


def _token() -> str:
    token = os.environ.get(TOKEN)
    if not token:
        raise UsageError(f"--server needs a token in {TOKEN}; an organiser makes one on the page Account")
    return token


def _say(done: Done, *, where: str, as_json: bool) -> None:
    from qassay.cli.output import print_json, visible

    if as_json:
        print_json(done.as_json())
        return
    labels = ", ".join(f"{count:,} {label}" for label, count in sorted(done.labels.items())) or "nothing new"
    print(visible(f"{done.set_name}: judged {done.judged:,} ({labels}) in {where}"))
    if done.resumed:
        print(f"{done.resumed:,} of them came from a job that was broken off.")
    if done.judged:
        print(visible(f"A program's judgments are used only where they are named: --key {shlex.quote(done.set_name)}"))
    if done.known:
        print(f"{done.known:,} were judged before and stay as they are; --again judges them too.")
    if done.silent:
        reasons = "no pattern, known answer or nugget for the question, an empty answer, or another kind of judgment"
        print(f"{done.silent:,} left unjudged: {reasons}.")
