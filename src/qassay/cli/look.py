"""`qassay look`: what is in files, and which command answers what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import JsonOption, SheetOption
from qassay.cli.output import print_json, visible


def command(
    paths: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files or folders to look at.")],
    sheet: SheetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is in files, and which commands to use.

    Says of each file what it is, what it contains, and which commands to
    run next. Nothing is computed and nothing is written. It knows answers
    and judgments with keys of your own, tables of scores, logs of other
    tools, evaluations, and everything that import knows.

    Examples

      qassay look answers.jsonl
      qassay look results/*.csv
    """
    from qassay.formats.looking import NextStep, look, together

    findings = [look(path, sheet) for path in paths]
    joint = together(findings)
    if as_json:
        print_json(
            {
                "files": [finding.as_json() for finding in findings],
                "together": [{"command": step.command, "purpose": step.purpose} for step in joint],
            }
        )
        return

    def show(steps: tuple[NextStep, ...] | list[NextStep]) -> None:
        for step in steps:
            print(visible(f"  {step.command}"))
            print(visible(f"      {step.purpose}"))

    for place, finding in enumerate(findings):
        if place:
            print()
        print(visible(f"{finding.file} {finding.summary}"))
        for detail in finding.details:
            print(visible(f"  {detail}"))
        if finding.steps:
            print("Next:")
            show(finding.steps)
    if joint:
        print("\nAll files together:")
        show(joint)
