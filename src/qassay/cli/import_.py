"""`qassay import`: add what files contain to an evaluation."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption, SheetOption
from qassay.cli.output import print_json, visible
from qassay.errors import InputError, Problem, UsageError, unknown
from qassay.questions import TYPES
from qassay.store import import_plan, writable

if TYPE_CHECKING:
    from qassay.formats.importing import ImportPlan, Options
    from qassay.store.engine import Store


def command(
    folder: FolderArgument,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files to add; their kind is recognised.")],
    kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="What the files are, where it cannot be recognised.")
    ] = None,
    set_name: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="Judgment set or nugget list to add to.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of the files, such as latin-1.")
    ] = None,
    sheet: SheetOption = None,
    default_type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Type of questions whose file does not name it, such as list."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace questions and runs that are there and differ.")
    ] = False,
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Name of the system whose answers the file contains.")
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="[FILE:]WHAT=KEY,...", help="Keys of your own, such as answer=prediction."),
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            metavar="YOURS=LABEL,...",
            help="Labels to translate, such as yes=correct; with ERROR= they stay unjudged.",
        ),
    ] = None,
    automatic: Annotated[
        bool, typer.Option("--automatic", help="A program gave these judgments: they are used only where named.")
    ] = False,
    spread: Annotated[
        bool,
        typer.Option("--spread", help="Rows of several assessors about one item go into sets first, second, ..."),
    ] = False,
    new_questions: Annotated[
        bool, typer.Option("--new-questions", help="Answers may add questions to a test set that has some.")
    ] = False,
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="NAME", help="Make the evaluation, with this task, if there is none."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Add questions, runs, judgments and more from files.

    Questions, runs, judgments, nuggets, known answers, patterns and
    descriptions of runs are recognised by their content, in JSON lines and
    in the forms of TREC and RTE. Everything is checked first: if any file
    has an error, nothing is written. New judgments are added, and the
    earlier ones stay as history; importing a file again adds nothing. If
    the evaluation has been served, the rows go to its store.

    Answers in free text (task qa) come in files of your own: JSON lines, a
    JSON list, CSV, Excel, Parquet or Arrow with a question and an answer per
    row and, if you have them, an id, gold answers, contexts and the name of
    the system. Common names of fields are known; --map names others, with
    FILE: in front of them those of one file. The name of the system comes
    from --run, else from the field run, system or model, else from the file.
    Answers belong to the question with their id, else to the one with their
    text. If the evaluation has questions, answers to others are an error;
    --new-questions adds these.

    Judgments and nuggets go to the set with the name of their file, those
    in NIST's forms to the set adjudicated, and a judging sheet to the set
    with the name of its assessor; --set names another. A judgment may name
    a run instead of the answer. If a file has several assessors' rows about
    one item (a crowd), --spread puts them into the sets first, second,
    third, ... in the order of the file.

    KIND is one of questions, responses, run, judgments, sheet, nuggets, answers,
    patterns, run-information, rag-assignments, rag-nuggets, nugget-weights,
    target-types, nist-factoid, nist-list, nist-other, nist-nuggets, nist-answers.

    Examples

      qassay import my-eval old.jsonl new.jsonl --task qa
      qassay import my-eval answers.csv --map answer=prediction,gold=answer
      qassay import my-eval a.csv b.csv --map b.csv:answer=prediction
      qassay import my-eval book.xlsx --sheet Labels
      qassay import my-eval labels.csv --labels yes=correct,no=incorrect
      qassay import my-eval gpt.jsonl --automatic
      qassay import my-eval crowd.csv --spread
      qassay import my-eval trec13questions.xml
      qassay import my-eval runs/*.txt judgments/first.jsonl
      qassay import my-eval qrels.txt --as nist-factoid --set first
    """
    if default_type is not None and default_type not in TYPES:
        raise unknown("question type", default_type, TYPES)
    from qassay.formats.answers import parse_map, parse_pairs
    from qassay.formats.importing import Options

    options = Options(
        set_name=set_name,
        encoding=encoding,
        sheet=sheet,
        default_type=default_type,
        replace=replace,
        run=run,
        keys=parse_map(keys or ()),
        labels=dict(parse_pairs(labels or (), "--labels", "yes=correct", may_be_empty=True)),
        automatic=automatic,
        spread=spread,
        new_questions=new_questions,
    )
    with _evaluation(folder, task, paths):
        plan, store = _import(folder, paths, kind, options)
    if as_json:
        added = [file.as_json() for file in plan.added.values()]
        print_json({"added": added, "warnings": [warning.as_json() for warning in plan.warnings]})
        return
    for warning in plan.warnings:
        print(visible(f"warning: {warning}"), file=sys.stderr)
    for file in plan.added.values():
        print(visible(f"{file.file}: {file.message}"))
    if store is not None and plan.added:
        print("They are in the store of the evaluation; qassay export writes it out as files.")


def _import(folder: Path, paths: Sequence[Path], kind: str | None, options: Options) -> tuple[ImportPlan, Store | None]:
    from qassay.collections import open_collection
    from qassay.formats.importing import plan_import

    opened, store = writable(folder)
    if opened.collection.is_dir():
        options = dataclasses.replace(options, lengths=lambda: open_collection(opened.collection).lengths())
    plan = plan_import(opened, paths, kind=kind, options=options)
    import_plan(plan, store)
    return plan, store


@contextmanager
def _evaluation(folder: Path, task: str | None, paths: Sequence[Path]) -> Iterator[None]:
    """Make the evaluation where there is none and a task is named; it goes again where the import fails."""
    from qassay.formats.folder import Folder, read_configuration
    from qassay.formats.links import CONFIGURATION

    exists = (folder / CONFIGURATION).is_file()
    if exists and task is not None:
        current_task = read_configuration(Folder(folder)).task.name
        if current_task != Path(task).stem:
            raise UsageError(f"{folder} has the task {current_task}; import without --task, or into another folder")
    if exists or task is None:
        if not exists and not folder.is_file():
            raise InputError(Problem("configuration", _no_evaluation(folder, paths), str(folder)))
        yield
        return
    from qassay.cli.init import make_evaluation

    files = [folder / CONFIGURATION, *([folder / Path(task).name] if task.endswith(".toml") else [])]
    folders = [folder / name for name in ("runs", "judgments", "nuggets")]
    new = [path for path in (*files, *folders, folder) if not path.exists()]
    try:
        make_evaluation(folder, task=task)
        yield
    except BaseException:
        for path in new:
            with suppress(OSError):  # a folder that is not empty stays
                path.unlink() if path in files else path.rmdir()
        raise


def _no_evaluation(folder: Path, paths: Sequence[Path]) -> str:
    """Advice where the folder is not an evaluation: one command where the files contain answers."""
    from qassay.formats.looking import look

    state = "is not an evaluation yet" if folder.is_dir() else "does not exist"
    if all(path.is_file() and look(path).kind == "responses" for path in paths):
        files = " ".join(shlex.quote(str(path)) for path in paths)
        return f"{state}; to make it from these answers: qassay import {shlex.quote(str(folder))} {files} --task qa"
    return f"{state}; make it with: qassay init {shlex.quote(str(folder))} --task NAME"
