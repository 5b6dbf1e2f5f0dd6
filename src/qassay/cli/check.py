"""`qassay check`: an evaluation, or runs before they are added."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from qassay.checking import Checked, check_folder, check_run_files
from qassay.cli.inputs import JsonOption, SheetOption
from qassay.cli.output import MOST_SHOWN, first_few, print_json, visible
from qassay.errors import Remedy, UsageError
from qassay.tables import plural


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="FOLDER|RUN...", help="An evaluation, or files of runs.")],
    inside: Annotated[
        Path | None, typer.Option("--in", metavar="FOLDER", help="The evaluation that the runs are for.")
    ] = None,
    form: Annotated[str | None, typer.Option("--form", help="Form of the runs, where it is not recognised.")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Encoding of the runs.")] = None,
    sheet: SheetOption = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="NAME", help="Name of the system whose answers the file contains.")
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="[FILE:]WHAT=KEY,...", help="Keys of your own, such as answer=prediction."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check an evaluation, or runs before they are added.

    Checks every rule of the task and reports all errors at once, each with file, line, question and rule (of each file
    the first 200, and the number of all). The exit status is 1 if there are errors; warnings do not count.
    Answers with keys of your own are read as `qassay import` reads them.

    Examples

      qassay check my-eval
      qassay check new-run.txt other-run.txt --in my-eval
      qassay check my-eval --json
    """
    if inside is None and len(paths) == 1 and not paths[0].is_file():
        checked = check_folder(paths[0])
    elif inside is None:
        raise UsageError("say which evaluation the runs are for: qassay check RUN... --in FOLDER")
    else:
        from qassay.formats.answers import parse_map
        from qassay.formats.importing import Options

        options = Options(encoding=encoding, sheet=sheet, run=run, keys=parse_map(keys or ()))
        checked = check_run_files(paths, inside, form=form, options=options)
    if as_json:
        print_json(checked.as_json())
    else:
        _print(checked)
    if checked.errors:
        raise typer.Exit(1)


def _print(checked: Checked) -> None:
    for problem in first_few(checked.warnings):
        print(visible(f"warning: {problem.spelt(Remedy.on_command_line)}"), file=sys.stderr)
    for problem in first_few(checked.errors):
        print(visible(f"error: {problem.spelt(Remedy.on_command_line)}"), file=sys.stderr)
    counted = ", ".join(f"{number} {kind}" for kind, number in checked.questions.items())
    in_series = f" in {checked.series} series" if checked.series else ""
    print(f"questions  {counted or 'none'}{in_series}")
    more = f" and {len(checked.runs) - MOST_SHOWN} more" if len(checked.runs) > MOST_SHOWN else ""
    tags = f": {visible(', '.join(checked.runs[:MOST_SHOWN]))}{more}" if checked.runs else ""
    print(f"runs       {len(checked.runs)}{tags}")
    for name, number in checked.judgments.items():
        print(f"judgments  {visible(name)}: {number:,}")
    for name, counts in checked.nuggets.items():
        questions = plural(counts["lists"], "question")
        print(f"nuggets    {visible(name)}: {counts['nuggets']} ({counts['vital']} vital) for {questions}")
    if checked.documents is not None:
        print(f"documents  {checked.documents:,}")
    if checked.answers:
        print(f"answers    {checked.answers} known from question development")
    errors, warnings = checked.errors.total, checked.warnings.total
    verdict = plural(errors, "error") if errors else "no errors"
    print(verdict + (f", {plural(warnings, 'warning')}" if warnings else ""))
