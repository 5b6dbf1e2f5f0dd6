"""`qassay judge`: an automatic assessor judges what is in the pool."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.assessors import AutomaticAssessor, JobResult
    from qassay.assessors.llm import Planned
    from qassay.assessors.llm.cost import Spending
    from qassay.evaluation import Evaluation

WithOption = Annotated[
    str,
    typer.Option(
        "--with",
        metavar="ASSESSOR",
        help="patterns, match, recall, learned, overlap, transfer, llm(model=...), module:callable, or a command.",
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
    float | None, typer.Option("--timeout", min=0.1, help="Seconds that a command or a model may take for one call.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what a model would be asked and what it would cost; ask nothing.")
]
LimitOption = Annotated[
    float | None, typer.Option("--limit", metavar="MONEY", min=0.0, help="The most that a model may cost in this job.")
]
NuggetsOption = Annotated[
    Literal["create", "rate"] | None,
    typer.Option(
        "--nuggets", help="Let a model write the list of nuggets from the pool, or rate a list, vital or okay."
    ),
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
    dry_run: DryRunOption = False,
    limit: LimitOption = None,
    nuggets: NuggetsOption = None,
    ray: RayOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an automatic assessor judge the answers in the pool.

    Its judgments are a judgment set with its own name, which trust, agree,
    stability and score use like that of a person (score --key NAME). The same
    command continues an interrupted job; it does not judge an answer twice.
    Answers that the assessor cannot judge stay unjudged and are counted.

    An assessor of your own is a Python function (module:callable), or a
    command that reads one JSON line per decision and writes one.

    A language model is asked through OpenAI, or through any endpoint with
    the same interface; the API key is in OPENAI_API_KEY or in the variable
    that key_env names. Answers of the model are kept, so that you never pay
    for the same answer twice.

    With --server, the answers come from a running application and the
    judgments are sent there; patterns, known answers and nuggets are still
    read from FOLDER. An organiser makes the token on the page Account.

    With --ray, batches of answers are judged on the nodes of a Ray cluster,
    by --workers copies of the assessor (default: one per processor). A worker
    that dies is replaced. Qassay has to be installed on the nodes. Calls to a
    language model are sent from there; its cache, its limit and its pace stay
    here.

    Examples

      qassay judge my-eval --with patterns
      qassay judge my-eval --with "match(normalise=true)" --set match
      qassay judge my-rag-eval --with overlap
      qassay judge my-qa-eval --with learned
      qassay judge my-qa-eval --with my_judges:strict --workers 8
      qassay judge my-qa-eval --with "llm(model=gpt-4o-mini)" --dry-run
      qassay judge my-qa-eval --with "llm(model=gpt-4o-mini)" --limit 2.50
      qassay judge my-qa-eval --with "llm(model=qwen3, endpoint=http://127.0.0.1:8000/v1, votes=3)"
      qassay judge my-rag-eval --with "llm(model=gpt-4o-mini)" --nuggets create
      qassay judge my-rag-eval --with overlap --ray 10.0.0.5:6379
      qassay judge my-qa-eval --with "llm(model=gpt-4o-mini, parallel=4000)" --ray 10.0.0.5:6379
      qassay trust my-eval --assessor patterns
      QASSAY_TOKEN=qsy_... qassay judge my-eval --with patterns --server http://127.0.0.1:8000
    """
    from qassay.assessors import judge, open_assessor, plan_judging
    from qassay.cli import LIMIT_REACHED
    from qassay.cli.output import progress
    from qassay.client import Client
    from qassay.evaluation import open_evaluation

    evaluation = open_evaluation(folder)
    opened = open_assessor(assessor, evaluation, workers=workers, timeout=timeout, limit=limit)
    if nuggets is not None:
        if dry_run or server is not None or again:
            raise UsageError("--nuggets goes without --dry-run, --server and --again")
        if ray is not None:
            from qassay.assessors.over_ray import over_ray

            opened = over_ray(opened, ray, collection=evaluation.folder.collection, workers=workers)
        _write_nuggets(evaluation, opened, set_name, rate=nuggets == "rate", as_json=as_json)
    elif dry_run:
        if server is not None:
            raise UsageError("--dry-run counts what is in the folder; leave --server out")
        _say_plan(plan_judging(evaluation, opened, set_name=set_name, again=again), limit, as_json=as_json)
    else:
        with progress("judging") as update:
            total = _decisions(evaluation, set_name or opened.name)
            done = judge(
                evaluation,
                opened,
                set_name=set_name,
                again=again,
                workers=workers,
                ray=ray or False,
                server=None if server is None else Client(server, token=_token()),
                progress=lambda number: update(number, max(number, total)),
            )
        _say(done, where=server or str(folder), as_json=as_json)
        if done.account is not None and done.account.stopped:
            raise typer.Exit(LIMIT_REACHED)


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


def _say(done: JobResult, *, where: str, as_json: bool) -> None:
    from qassay.assessors.judging import OTHER
    from qassay.cli.output import print_json, visible

    if as_json:
        print_json(done.as_json())
        return
    shown = [
        f"{count:,} {'without a label' if label == OTHER else label}" for label, count in sorted(done.labels.items())
    ]
    labels = ", ".join(shown) or "nothing new"
    print(visible(f"{done.set_name}: judged {done.judged:,} ({labels}) in {where}"))
    if done.resumed:
        print(f"{done.resumed:,} of them came from a job that was interrupted.")
    if done.judged:
        name = shlex.quote(done.set_name)
        print(visible(f"A program's judgments are used only if you ask for them. To score with these: --key {name}"))
    if done.known:
        print(f"{done.known:,} were judged before and stay as they are; --again judges them too.")
    if done.account is not None:
        _say_calls(done.account)
    for remark in done.remarks:
        print(visible(remark))


def _write_nuggets(
    evaluation: Evaluation, assessor: AutomaticAssessor, set_name: str | None, *, rate: bool, as_json: bool
) -> None:
    from qassay.assessors.llm import LanguageModel
    from qassay.assessors.llm.nuggets import write_nuggets
    from qassay.cli.output import print_json, visible

    if not isinstance(assessor, LanguageModel):
        raise UsageError(f"{assessor.name} writes no nuggets; a language model does: llm(model=...)")
    written = write_nuggets(evaluation, assessor, rate=rate, set_name=set_name)
    if as_json:
        print_json(written.as_json())
        return
    counts = f"{_number(written.nuggets, 'nugget')} ({written.vital:,} vital)"
    print(visible(f"{written.set_name}: {counts} for {_number(written.questions, 'question')}"))
    _say_calls(written.account)
    if written.failed:
        print(
            visible(
                f"No usable answer for: {', '.join(written.failed[:10])}. Judge again under another --set to retry."
            )
        )


def _say_calls(account: Spending) -> None:
    from qassay.cli.output import visible

    tokens = f"{account.input_tokens:,} + {account.output_tokens:,} tokens{' (estimated)' * account.estimated}"
    cached = f"; {account.cached:,} answers from the cache" * bool(account.cached)
    print(f"{_number(account.calls, 'call')}, {tokens}, {_money(account.cost)}{cached}.")
    if account.failed:
        print(f"{account.failed:,} failed: no usable answer; the reasons are in .models/failures.jsonl.")
    if account.stopped:
        print(visible(f"Stopped: {account.stopped}. Judge again with a higher --limit to go on."))


def _say_plan(planned: Planned, limit: float | None, *, as_json: bool) -> None:
    from qassay.cli.output import print_json

    if as_json:
        print_json(planned.as_json())
        return
    calls = sum(planned.calls.values())
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in planned.calls.items())
    paid = f"{_number(calls, 'call')} to pay for" + (f" ({kinds})" if kinds else "")
    print(f"{_number(planned.decisions, 'decision')} to make, {paid}.")
    if planned.cached:
        print(f"{_number(planned.cached, 'answer')} paid for before, or asked for twice.")
    print(
        f"About {planned.input_tokens:,} tokens to read and {planned.output_tokens:,} to write: {_money(planned.cost)}."
    )
    if limit is not None and planned.cost is not None and planned.cost > limit:
        print(f"More than the limit of {limit:g}: the job would stop there.")
    print("Estimated from the length of the texts; nothing was asked.")


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _money(cost: float | None) -> str:
    if cost is None:
        return "cost unknown (no price for this model; give it: price=INPUT/OUTPUT per million tokens)"
    return f"cost {cost:,.4f}" if cost < 1 else f"cost {cost:,.2f}"
