"""`qassay sample`: the random questions that people should judge to correct an automatic assessor."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qassay.cli.inputs import (
    ComponentOption,
    FolderArgument,
    JsonOption,
    MeasureOption,
    MissingOption,
    SeedOption,
    UnjudgedOption,
)
from qassay.cli.output import fold, print_json, progress, visible
from qassay.errors import InputError, Problem, UsageError
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.analysis.sampling import DrawnSample
    from qassay.evaluation import Evaluation
    from qassay.judging.sets import JudgmentSet
    from qassay.meta.correction.sampling import Sample

PEOPLE = "people"


def command(
    folder: FolderArgument,
    size: Annotated[int, typer.Option("--size", min=1, metavar="N", help="How many questions to draw.")],
    judge: Annotated[str, typer.Option("--for", metavar="SET", help="The automatic assessor to correct.")],
    for_pair: Annotated[
        str | None,
        typer.Option(
            "--for-pair", metavar="A,B", help="Only questions on which two runs differ, for their difference."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the sample (default: that of the assessor).")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", metavar="FILE", help="Write a judging sheet: HTML, or JSONL with verdicts to fill in."),
    ] = None,
    assessor: Annotated[
        str, typer.Option("--assessor", metavar="NAME", help="Who judges the sheet: the set that import makes.")
    ] = PEOPLE,
    assign: Annotated[
        str | None,
        typer.Option("--assign", metavar="PEOPLE", help="Give the questions to these accounts of the application."),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Draw whole questions where single nuggets would be drawn.")
    ] = False,
    measure: MeasureOption = None,
    component: ComponentOption = None,
    unjudged: UnjudgedOption = "stop",
    missing: MissingOption = "stop",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw the questions that people should judge to correct an automatic assessor.

    The sample is a list of questions in random order, the same for all
    runs, in FOLDER/samples. People judge it from the top: the questions
    judged so far correct the scores of the assessor (score --correct-with),
    as long as none is skipped. Fix the number of questions first: an answer
    is wrong more often than 5% if you stop once it is clear. Stopping for
    another reason, such as lack of time, is fine. A larger sample with
    the same seed begins with the smaller one. Equal answers are judged once,
    and a sheet leaves out answers that its assessor has judged already.

    For nuggets and series every topic or series gets labels in turn.

    Examples

      qassay sample my-eval --size 60 --for gpt-4 --sheet ada.html --assessor ada
      qassay import my-eval ada-3f2a9c81d07e.jsonl
      qassay score my-eval --key gpt-4 --correct-with ada
      qassay sample my-eval --size 60 --for gpt-4 --assign ada,ben
      qassay sample my-eval --size 40 --for gpt-4 --for-pair new,old
    """
    from qassay.analysis.sampling import sample
    from qassay.evaluation import open_evaluation
    from qassay.formats.names import name_fault
    from qassay.formats.samples import write_sample

    for text in (name, assessor):
        if text is not None and (fault := name_fault(text)):
            raise UsageError(f"the name {text!r} {fault}")
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet} is there already, perhaps with somebody's judgments; name another file")
    evaluation = open_evaluation(folder)
    drawn = sample(
        evaluation,
        size,
        judge,
        pair=_pair(for_pair),
        name=name,
        measure=measure,
        component=component,
        unjudged=unjudged,
        missing=missing,
        whole=whole,
        seed=seed,
        keep=False,  # first the faults of what is to be done with it
    )
    accounts = _accounts(evaluation, assign, drawn.sample) if assign is not None else []
    path = write_sample(evaluation.folder, drawn.sample)
    document: dict[str, Any] = {**drawn.as_json(), "file": evaluation.folder.name(path)}
    if sheet is not None:
        document["sheet"] = str(sheet)
        document["sheet_rows"] = _write_sheet(evaluation, drawn, sheet, assessor)
    if assign is not None:
        document["assigned"] = _assign(evaluation, drawn.sample, accounts)
    if as_json:
        print_json(document)
        return
    print(fold(visible(f"{drawn.sentence()}.")))
    for note in drawn.notes:
        print(fold(visible(note)))
    print(visible(f"\nWrote {document['file']}."))
    options = {"--measure": measure, "--component": component, "--unjudged": unjudged, "--missing": missing}
    scored = "".join(f" {name} {value}" for name, value in options.items() if value not in (None, "stop"))
    for line in _next_steps(folder, document, judge, assessor, drawn.sample, scored):
        print(visible(line))


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    if len(names) != 2:
        raise UsageError(f"--for-pair takes two runs, such as --for-pair new,old, not {text!r}")
    return names[0], names[1]


def _next_steps(
    folder: Path, document: dict[str, Any], judge: str, assessor: str, sample: Sample, scored: str
) -> list[str]:
    """The next steps, as commands; `scored` are the options that say how runs are scored."""
    people = "first" if "assigned" in document else assessor
    lines = []
    if "assigned" in document:
        lines.append(f"Assigned {plural(document['assigned'], 'question')} in the application (judgment set first).")
    if "sheet" in document:
        lines.append(f"Wrote {document['sheet']}: {plural(document['sheet_rows'], 'item')} for {assessor}.")
        file = document["sheet"] if document["sheet"].endswith(".jsonl") else "THE-FILE-THAT-COMES-BACK.jsonl"
        more = f" --set {assessor}" if file == document["sheet"] else ""
        lines.append(f"When it is judged: qassay import {folder} {file}{more}")
    verb = "score" if sample.pair is None else "compare"
    runs = "" if sample.pair is None else f" {sample.pair[0]} {sample.pair[1]}"
    lines.append(f"Then: qassay {verb} {folder}{runs} --key {judge} --correct-with {people}{scored}")
    return lines


# ---- the sheet ------------------------------------------------------------------------------------------------------


def _write_sheet(evaluation: Evaluation, drawn: DrawnSample, path: Path, assessor: str) -> int:
    """Write the sheet of a sample, in the order of the draw, without what the assessor judged; the items on it."""
    from qassay.analysis.sampling import to_label

    if path.suffix == ".jsonl":
        return _write_rows(evaluation, drawn.sample, path, assessor)
    from qassay.cli.sheet import judging_seed, keep_key
    from qassay.web.sheet.content import Wanted, make_content
    from qassay.web.sheet.page import write_page

    sample = drawn.sample
    left = {
        name
        for part in to_label(evaluation, sample, _own(evaluation, assessor)).types
        for name in part.left["question"]
    }
    nuggets = frozenset((draw.question, str(draw.nugget)) for draw in sample.draws) if sample.is_of_nuggets else None
    wanted = Wanted(
        assessor,
        [name for name in dict.fromkeys(draw.question for draw in sample.draws) if name in left],
        in_order=True,
        nuggets=nuggets,
        runs=sample.pair,
    )
    if not left:
        raise InputError(
            Problem("configuration", f"{assessor} has judged all of the sample: there is nothing for a sheet")
        )
    with progress("Making the sheet") as update:
        content = make_content(evaluation, wanted, seed=judging_seed(evaluation), progress=update)
    write_page(content, path)
    keep_key(evaluation, content.key)
    return content.items


def _own(evaluation: Evaluation, assessor: str) -> JudgmentSet | None:
    """The judgments that the assessor has already."""
    return evaluation.judgment_set(assessor) if assessor in evaluation.sets else None


def _write_rows(evaluation: Evaluation, sample: Sample, path: Path, assessor: str) -> int:
    """Write what is to be judged as JSONL, with verdicts to fill in, in the order of the draw."""
    from qassay.analysis.sampling import to_label
    from qassay.formats.jsonl import write_rows

    places = {(draw.question, draw.nugget): place for place, draw in enumerate(sample.draws)}
    rows = to_label(evaluation, sample, _own(evaluation, assessor)).sheet(evaluation.questions)
    rows.sort(key=lambda row: places[row["question"], row.get("nugget") if sample.is_of_nuggets else None])
    if not rows:
        raise InputError(
            Problem("configuration", f"{assessor} has judged all of the sample: there is nothing for a sheet")
        )
    write_rows(path, rows)
    return len(rows)


# ---- the application ------------------------------------------------------------------------------------------------


def _accounts(evaluation: Evaluation, people: str, sample: Sample) -> list[int]:
    """The numbers of the accounts that are named; an error where the evaluation has no store, or not these people."""
    from qassay.store.folder.snapshot import existing_store
    from qassay.store.people import accounts

    if sample.is_of_nuggets:
        raise UsageError("the application assigns whole questions, and this sample has single nuggets: add --whole")
    if sample.pair is not None:
        raise UsageError("the application assigns the answers of all runs; judge a sample for two runs on a --sheet")
    store = existing_store(evaluation.folder, evaluation.configuration)
    if store is None:
        message = "has no store to assign questions in. Start it once with qassay serve, and invite the people"
        raise InputError(Problem("configuration", message, evaluation.folder.name()))
    with closing(store), store.read() as connection:
        by_name = {account.name.casefold(): account for account in accounts(connection)}
    numbers = []
    for name in (part.strip() for part in people.split(",") if part.strip()):
        account = by_name.get(name.casefold())
        if account is None or not account.active:
            listed = ", ".join(account.name for account in by_name.values() if account.active) or "nobody"
            message = f"there is no account {name!r} to assign to (there is {listed}); invite people on the page People"
            raise InputError(Problem("configuration", message, evaluation.folder.name()))
        numbers.append(account.id)
    if not numbers:
        raise UsageError("--assign takes the names of accounts, separated by commas")
    return numbers


def _assign(evaluation: Evaluation, sample: Sample, accounts: list[int]) -> int:
    """Give the questions of the sample to people, in the order of the draw; the number of new assignments."""
    from qassay.judging import Wanted
    from qassay.questions import TestSet
    from qassay.store.acts import Act
    from qassay.store.assignment.assignments import assign
    from qassay.store.folder.snapshot import existing_store
    from qassay.store.pool.pooling import pool_mark, pool_summary
    from qassay.web.pooling import pool

    store = existing_store(evaluation.folder, evaluation.configuration)
    if store is None:
        raise UsageError("the store of the evaluation is gone")
    with closing(store):
        with store.read() as connection:
            summary, mark = pool_summary(connection), pool_mark(connection)
        if summary is None or summary.mark != mark:
            wanted = Wanted(summary.holistic, summary.citations) if summary is not None else Wanted()
            pool(store, evaluation, mark=mark, person=None, wanted=wanted)
        by_id = evaluation.questions.by_id
        questions = TestSet(tuple(by_id[draw.question] for draw in sample.draws))
        with store.write() as connection:
            return assign(Act(connection, evaluation.task), questions, assessors=1, accounts=accounts)
