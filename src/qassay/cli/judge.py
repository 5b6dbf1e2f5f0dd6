"""`qassay judge`: an automatic assessor judges what is in the pool."""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.places import import_plan, writable
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.assessors import AutomaticAssessor, Judged
    from qassay.assessors.base import Documents, Nuggets
    from qassay.collections import Collection
    from qassay.evaluation import Evaluation

WithOption = Annotated[
    str,
    typer.Option(
        "--with",
        metavar="ASSESSOR",
        help="patterns, patterns(exact=true), match, match(normalise=true), overlap or overlap(threshold=0.5).",
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
    judgments are sent there; FOLDER still says where patterns, known answers
    and nuggets are. An organiser makes the token on the page Account.

    Examples

      qassay judge my-eval --with patterns
      qassay judge my-eval --with "match(normalise=true)" --set match
      qassay judge my-rag-eval --with overlap
      qassay stability my-eval --sets adjudicated,patterns
      QASSAY_TOKEN=qsy_... qassay judge my-eval --with patterns --server http://127.0.0.1:8000
    """
    from qassay.assessors import open_assessor
    from qassay.evaluation import open_evaluation
    from qassay.formats.names import name_fault
    from qassay.judging import SETTLED_SETS

    evaluation = open_evaluation(folder)
    judge = open_assessor(assessor, evaluation)
    name = set_name or judge.name
    if fault := name_fault(name):
        raise UsageError(f"the set name {name!r} {fault}")
    if name in SETTLED_SETS or name in evaluation.assessor_sets:
        raise UsageError(f"the set {name} holds the judgments of people; name another with --set")
    shown = {"nuggets": _nuggets(evaluation, name), "documents": _documents(evaluation)}
    if server is not None:
        done = _on_server(server, judge, name, shown, again=again)
    else:
        done = _in_folder(evaluation, judge, name, shown, again=again)
    _say(done, name, where=server or str(folder), as_json=as_json)


def _in_folder(
    evaluation: Evaluation, judge: AutomaticAssessor, name: str, shown: dict[str, Any], *, again: bool
) -> Judged:
    from qassay.assessors import judge_items
    from qassay.formats.importing import Options, plan_import
    from qassay.formats.jsonl import write_rows
    from qassay.judging import names_nuggets
    from qassay.judging.items import pool_items
    from qassay.nuggets import NUGGET_COLUMNS, list_of_key

    known = _known(evaluation, name) if not again else set()
    justified = evaluation.configuration.justified
    items = pool_items(evaluation.runs, evaluation.questions, evaluation.task, seed="", justified=justified)
    done = judge_items(judge, items, evaluation.questions, evaluation.task, known=known, **shown)
    if not done.rows:
        return done
    opened, store = writable(evaluation.folder.path)
    rows = {"judgments": done.rows}
    if any(map(names_nuggets, done.rows)) and list_of_key(name, opened.nugget_lists()) is None:
        # Scoring would find no list for the set: it gets the one that the assessor was shown.
        rows["nuggets"] = [
            {field: nugget[field] for field in NUGGET_COLUMNS if nugget.get(field) is not None}
            for listed in shown["nuggets"].values()
            for nugget in listed
        ]
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place) / f"{kind}.jsonl" for kind in rows]
        for file, content in zip(files, rows.values(), strict=True):
            write_rows(file, content)
        import_plan(plan_import(opened, files, options=Options(set_name=name)), store)
    return done


def _known(evaluation: Evaluation, name: str) -> set[str]:
    """The subjects that the set has judged already."""
    from qassay.judging import subject

    if name not in evaluation.sets:
        return set()
    judged = evaluation.judgment_set(name)
    return {subject(kind, row) for kind, table in judged.kinds.items() for row in table.iter_rows(named=True)}


def _nuggets(evaluation: Evaluation, name: str) -> Nuggets:
    """The nuggets of each question, by the list that an assessor of this set would be shown."""
    from qassay.judging.sets import list_shown

    lists = sorted(evaluation.folder.nugget_lists())
    chosen = list_shown(name, lists)
    by_question: dict[str, list[dict[str, object]]] = {}
    if chosen in lists:
        for row in evaluation.nugget_list(chosen).iter_rows(named=True):
            by_question.setdefault(row["question"], []).append(row)
    return by_question


def _documents(evaluation: Evaluation) -> Documents:
    """The texts of the collection; it is opened when the first one is asked for."""
    from functools import cache

    @cache
    def collection() -> Collection | None:
        from qassay.collections import open_collection

        place = evaluation.folder.collection
        return open_collection(place) if place.is_dir() else None

    def text(doc: str) -> str | None:
        documents = collection()
        return documents.document(doc).text if documents is not None and doc in documents else None

    return text


def _on_server(server: str, judge: AutomaticAssessor, name: str, shown: dict[str, Any], *, again: bool) -> Judged:
    from qassay.assessors import judge_items
    from qassay.client import Client

    token = os.environ.get(TOKEN)
    if not token:
        raise UsageError(f"--server needs a token in {TOKEN}; an organiser makes one on the page Account")
    client = Client(server, token=token)
    served = client.evaluation()
    known = set() if again else client.judged(name)
    done = judge_items(judge, client.items(), served.questions, served.task, known=known, **shown)
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
    if done.rows:
        print(visible(f"A program's judgments are used only where they are named: --key {shlex.quote(name)}"))
    if done.known:
        print(f"{done.known:,} were judged before and stay as they are; --again judges them too.")
    if done.silent:
        reasons = "no pattern, known answer or nugget for the question, an empty answer, or another kind of judgment"
        print(f"{done.silent:,} left unjudged: {reasons}.")
