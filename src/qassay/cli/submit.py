"""`qassay submit`: a participant's runs, sent to a served evaluation."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qassay.cli.inputs import JsonOption, warn
from qassay.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from qassay.client import Client
    from qassay.tables import Table

TOKEN = "QASSAY_TOKEN"  # noqa: S105  # the name of a variable


def command(
    evaluation: Annotated[
        str,
        typer.Argument(metavar="E", help="The evaluation: your folder of it, or its name where you have none."),
    ],
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Files of runs; with --withdraw, tags. None: show what is submitted."),
    ] = None,
    server: Annotated[
        str, typer.Option("--server", metavar="URL", envvar="QASSAY_SERVER", help="Address of the server.")
    ] = "",
    description: Annotated[str | None, typer.Option("--description", help="What the runs are.")] = None,
    manual: Annotated[
        bool, typer.Option("--manual", help="Somebody looked at questions or answers while they were made.")
    ] = False,
    priority: Annotated[
        int | None, typer.Option("--priority", min=0, max=1_000_000, help="1 is the run to judge first.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace earlier runs with the same tags.")] = False,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Withdraw the runs with these tags.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Submit runs to a served evaluation, as a participant.

    The token is in QASSAY_TOKEN; you make it on the page Account. Where E is
    your folder of the evaluation, the runs are checked there first, and
    nothing is sent if one has an error. The server checks them again and
    reports all errors. Runs can be replaced and withdrawn until the deadline.
    Without runs, the command shows what your organisation has submitted.

    Examples

      qassay submit my-track --server https://qa.example.org
      qassay submit my-track run-1.txt --priority 1 --server https://qa.example.org
      qassay submit my-track run-1.txt --replace --server https://qa.example.org
      qassay submit my-track run-tag --withdraw --server https://qa.example.org
    """
    from qassay.client import Client, understanding

    if not server:
        raise UsageError("name the server: --server https://..., or set QASSAY_SERVER")
    token = os.environ.get(TOKEN)
    if not token:
        raise UsageError(f"submitting needs a token in {TOKEN}; make one on the page Account of the server")
    names = runs or []
    files = [] if withdraw else [Path(name) for name in names]
    _check_here(evaluation, files)
    client = Client(server, token=token)
    withdrawn = names if withdraw else []
    with understanding(server):
        _check_name(evaluation, client)
        reports = []
        for path in files:
            about: dict[str, Any] = {"description": description, "manual": manual, "priority": priority}
            reports.append(_file(path, client.submit(path, **about, replace=replace)))
        for tag in withdrawn:
            client.withdraw(tag)
        _print(client.submissions(), reports, withdrawn, as_json=as_json)


def _check_here(evaluation: str, files: Sequence[Path]) -> None:
    """Stop at files that cannot be read and, where the evaluation is here, at runs with errors."""
    missing = [Problem("syntax", "there is no such file", str(path)) for path in files if not path.is_file()]
    if missing:
        raise InputError(missing)
    if files and Path(evaluation).is_dir():
        from qassay.checking import check_run_files

        checked = check_run_files(list(files), Path(evaluation))
        if checked.errors:
            raise InputError(checked.errors)


def _check_name(evaluation: str, client: Client) -> None:
    """Stop where the server has another evaluation than the one that is named; a folder may be called anything."""
    if Path(evaluation).is_dir():
        return
    served = client.submissions()["evaluation"]
    if served != evaluation:
        message = f"the server has the evaluation {served!r}, and there is no folder {evaluation}; name that evaluation"
        raise InputError(Problem("configuration", message))


def _print(page: dict[str, Any], files: Sequence[dict[str, Any]], withdrawn: Sequence[str], *, as_json: bool) -> None:
    from qassay.cli.output import first_few, print_json, print_tables, visible

    if as_json:
        names = ("description", "manual", "priority", "withdrawn", "judged", "at")
        runs = [{"run": run["tag"], **{name: run[name] for name in names}} for run in page["runs"]]
        about = {name: page[name] for name in ("evaluation", "organisation", "deadline", "limit")}
        print_json({**about, "files": list(files), "withdrawn": list(withdrawn), "runs": runs})
    else:
        for file in files:
            for warning in file.get("warnings", ()):
                warn(Problem(**warning))
            problems = [Problem(**problem) for problem in file["errors"]]
            for problem in first_few(problems):
                print(visible(f"error: {problem}"), file=sys.stderr)
            result = (
                f"submitted as {', '.join(file['runs'])}"
                if file["runs"]
                else f"not submitted, {file['errors_total']:,} errors"
            )
            print(visible(f"{file['file']}: {result.replace(' 1 errors', ' 1 error')}"))
        for tag in withdrawn:
            print(visible(f"{tag}: withdrawn"))
        print_tables([_table(page)])
    if any(file["run"] is None for file in files):
        raise typer.Exit(1)


def _file(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    """The server's answer about a file, for the output."""
    errors = [Problem(file=str(path), **fault).as_json() for fault in report["first"]]
    warnings = [Problem(file=str(path), **fault).as_json() for fault in report.get("warnings", ())]
    result = {"file": str(path), "run": report["tag"], "runs": report["tags"]}
    result |= {"errors": errors, "errors_total": report["faults"]}
    return result | ({"warnings": warnings} if warnings else {})


def _table(page: dict[str, Any]) -> Table:
    """The runs of the organisation, and until when they may change."""
    from datetime import datetime

    from qassay.formats.tracks import spoken
    from qassay.tables import Cell, Column, table

    rows: list[list[Cell]] = [
        [run["tag"], run["priority"], "withdrawn" if run["withdrawn"] else "submitted"]
        + [spoken(datetime.fromisoformat(run["at"]))]
        + ([] if page["pooled"] is None else ["yes" if run["judged"] else "no"])
        for run in page["runs"]
    ]
    columns: list[Column | str] = ["run", Column("priority"), "state", "at"]
    columns += [] if page["pooled"] is None else ["judged"]
    limit = f" of at most {page['limit']}" if page["limit"] is not None else ""
    notes = []
    if page["closed"]:
        notes.append(f"{page['closed'][0].upper()}{page['closed'][1:]}.")
    elif page["deadline_says"]:
        notes.append(f"Runs can be submitted, replaced and withdrawn until {page['deadline_says']}.")
    return table(f"Runs of {page['organisation']}: {page['current']}{limit}", columns, rows, notes)
