"""`qassay judge`: an automatic assessor judges what is in the pool."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.places import import_plan, writable
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.assessors import AutomaticAssessor
    from qassay.assessors.judging import Judged
    from qassay.evaluation import Evaluation

WithOption = Annotated[
    str,
    typer.Option("--with", metavar="ASSESSOR", help="patterns, patterns(exact=true), match or match(normalise=true)."),
]
SetOption = Annotated[
    str | None, typer.Option("--set", metavar="SET", help="Name of the judgment set (default: the assessor's).")
]
ServerOption = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="Judge for a served evaluation; the token is in QASSAY_TOKEN."),
]
AgainOption = Annotated[bool, typer.Option("--again", help="Judge also what the set has already.")]
TOKEN = "QASSAY_TOKEN"  # noqa: S105  # the name of a variable


def command(
    folder: FolderArgument,
    assessor: WithOption,
    set_name: SetOption = None,
    server: ServerOption = None,
    again: AgainOption = False,
    as_json: JsonOption = False,
) -> None:
    """Let an automatic assessor judge what is in the pool.

    It writes an ordinary judgment set under its own name, so that agree,
    stability and score take it like any other assessor. What it has judged
    already is not judged again; what it cannot tell is left out and counted.

    With --server, the pool is fetched from a running application and the
    judgments are sent there; FOLDER still says where patterns and known
    answers are. An organiser makes the token on the page Account.

    Examples

      qassay judge my-eval --with patterns
      qassay judge my-eval --with "match(normalise=true)" --set match
      qassay stability my-eval --sets adjudicated,patterns
      QASSAY_TOKEN=qsy_... qassay judge my-eval --with patterns --server http://127.0.0.1:8000
    """
    from qassay.assessors import open_assessor
    from qassay.evaluation import open_evaluation
    from qassay.formats.names import name_fault
    from qassay.judgments import SETTLED_SETS

    evaluation = open_evaluation(folder)
    judge = open_assessor(assessor, evaluation)
    name = set_name or judge.name
    if fault := name_fault(name):
        raise UsageError(f"the set name {name!r} {fault}")
    if name in SETTLED_SETS or name in evaluation.assessor_sets:
        raise UsageError(f"the set {name} holds the judgments of people; name another with --set")
    if server is not None:
        done = _on_server(server, judge, name, again=again)
    else:
        done = _in_folder(evaluation, judge, name, again=again)
    _say(done, name, where=server or str(folder), as_json=as_json)


def _in_folder(evaluation: Evaluation, judge: AutomaticAssessor, name: str, *, again: bool) -> Judged:
    from qassay.assessors import judge_items
    from qassay.formats.importing import Options, plan_import
    from qassay.formats.jsonl import write_rows
    from qassay.store.pool.items import pool_items

    known = _known(evaluation, name) if not again else set()
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="")
    done = judge_items(judge, items, evaluation.questions, evaluation.task, known=known)
    if not done.rows:
        return done
    opened, store = writable(evaluation.folder.path)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "judgments.jsonl"
        write_rows(file, done.rows)
        plan = plan_import(opened, [file], kind="judgments", options=Options(set_name=name))
        import_plan(plan, store)
    return done


def _known(evaluation: Evaluation, name: str) -> set[str]:
    """The things that the set has judged already."""
    from qassay.store.pool.things import thing

    if name not in evaluation.sets:
        return set()
    judged = evaluation.judgment_set(name)
    return {thing(kind, row) for kind, table in judged.kinds.items() for row in table.iter_rows(named=True)}


def _on_server(server: str, judge: AutomaticAssessor, name: str, *, again: bool) -> Judged:
    from qassay.assessors import judge_items
    from qassay.client import Client

    token = os.environ.get(TOKEN)
    if not token:
        raise UsageError(f"--server needs a token in {TOKEN}; an organiser makes one on the page Account")
    client = Client(server, token=token)
    evaluation = client.evaluation()
    known = set() if again else client.judged(name)
    done = judge_items(judge, client.items(), evaluation.questions, evaluation.task, known=known)
    client.send_judgments(name, done.rows)
    return done


def _say(done: Judged, name: str, *, where: str, as_json: bool) -> None:
    from qassay.cli.output import print_json, visible

    counts: dict[str, int] = {}
    for row in done.rows:
        label = str(row.get("judgment") or row.get("support") or "other")
        counts[label] = counts.get(label, 0) + 1
    if as_json:
        summary = {"set": name, "judged": len(done.rows), "labels": counts, "known": done.known, "silent": done.silent}
        print_json(summary)
        return
    labels = ", ".join(f"{count:,} {label}" for label, count in sorted(counts.items())) or "nothing new"
    print(visible(f"{name}: judged {len(done.rows):,} ({labels}) in {where}"))
    if done.known:
        print(f"{done.known:,} were judged before and stay as they are; --again judges them too.")
    if done.silent:
        print(f"{done.silent:,} it could not tell: no pattern or no known answer for the question, or no string.")
