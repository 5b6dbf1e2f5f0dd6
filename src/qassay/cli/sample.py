"""`qassay sample`: the draw, handed to the people who judge it, on a sheet or in the application."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qassay.cli.output import progress
from qassay.cli.studying import command_of
from qassay.errors import InputError, Problem, UsageError
from qassay.formats.names import name_fault
from qassay.options import Option
from qassay.studies.sample import STUDY, DrawnSample, kept, to_label
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.judging.sets import JudgmentSet
    from qassay.meta.correction.sampling import Sample


def handed_out(
    drawn: DrawnSample,
    evaluation: Evaluation,
    *,
    sheet: Annotated[
        Path | None, Option("Write a judging sheet: HTML, or JSONL with verdicts to fill in.", "FILE", read=Path)
    ] = None,
    assessor: Annotated[str, Option("Who judges the sheet: the set that import makes.", "NAME")] = "people",
    assign: Annotated[str | None, Option("Give the questions to these accounts of the application.", "PEOPLE")] = None,
) -> DrawnSample:
    """The sample, kept, on its sheet and assigned; the faults of all of that come first."""
    if fault := name_fault(assessor):
        raise UsageError(f"the name {assessor!r} {fault}")
    if sheet is not None and sheet.exists():
        raise UsageError(f"{sheet} is there already, perhaps with somebody's judgments; name another file")
    accounts = _accounts(evaluation, assign, drawn.sample) if assign is not None else []
    drawn = kept(evaluation, drawn)
    if sheet is not None:
        drawn = replace(drawn, sheet=str(sheet), sheet_rows=_write_sheet(evaluation, drawn, sheet, assessor))
    if assign is not None:
        drawn = replace(drawn, assigned=_assign(evaluation, drawn.sample, accounts))
    return replace(drawn, steps=tuple(_next_steps(evaluation.folder.path, drawn, assessor)))


def _next_steps(folder: Path, drawn: DrawnSample, assessor: str) -> list[str]:
    """What was written, and the next steps as commands."""
    lines = [f"Wrote {drawn.file}."]
    if drawn.assigned is not None:
        lines.append(f"Assigned {plural(drawn.assigned, 'question')} in the application (judgment set first).")
    if drawn.sheet is not None and drawn.sheet_rows is not None:
        lines.append(f"Wrote {drawn.sheet}: {plural(drawn.sheet_rows, 'item')} for {assessor}.")
        is_filled_in = drawn.sheet.endswith(".jsonl")
        back = f"{drawn.sheet} --set {assessor}" if is_filled_in else "THE-FILE-THAT-COMES-BACK.jsonl"
        lines.append(f"When it is judged: qassay import {folder} {back}")
    people = assessor if drawn.assigned is None else "first"
    command = ["compare", str(folder), *drawn.pair] if drawn.pair else ["score", str(folder)]
    scored = "".join(f" --{name} {value}" for name, value in drawn.how.items() if value not in (None, "stop"))
    lines.append(f"Then: qassay {' '.join(command)} --key {drawn.for_} --correct-with {people}{scored}")
    return lines


command = command_of(STUDY, then=handed_out, keep=False)


# ---- the sheet ------------------------------------------------------------------------------------------------------


def _write_sheet(evaluation: Evaluation, drawn: DrawnSample, path: Path, assessor: str) -> int:
    """Write the sheet of a sample, in the order of the draw, without what the assessor judged; the items on it."""
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
