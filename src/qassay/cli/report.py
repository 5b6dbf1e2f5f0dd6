"""`qassay report`: one document to show."""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from qassay.cli.inputs import (
    JsonOption,
    ScoringOptions,
    SeedOption,
    SourcesArgument,
    announce,
    is_evaluation,
    refuse,
    takes_scoring,
)
from qassay.cli.output import fold, print_json, visible, without_isolates
from qassay.errors import InputError, Problem, UsageError
from qassay.extras import require

if TYPE_CHECKING:
    from qassay.formats.scores import ScoreTables
    from qassay.reports import Report
    from qassay.reports.document import Material
    from qassay.tables import Table

Format = Literal["html", "markdown", "latex", "csv", "parquet"]
SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex"}
DEFAULTS: dict[Format, str] = {
    "html": "report.html",
    "markdown": "report.md",
    "latex": "report.tex",
    "csv": "report",
    "parquet": "report",
}
# Forms that are a folder of tables and figures.
FOLDERS = ("csv", "parquet")
ORGANISATION = "organisation"


@takes_scoring
def command(
    sources: SourcesArgument,
    *,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Where to write it (default: report.html).")
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="html, markdown, latex; csv or parquet: a folder of tables and figures."),
    ] = None,
    by: Annotated[
        Literal["organisation"] | None,
        typer.Option("--by", help="One result page per organisation, into the folder --to."),
    ] = None,
    top: Annotated[int | None, typer.Option("--top", min=1, metavar="N", help="LaTeX: only the N best runs.")] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="TITLE", help="Title of the report.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    scoring: ScoringOptions,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write one document to show: the answer first, then figures and tables.

    It says who is ahead, which differences are real, where the systems
    differ, how far the judges agree, and how many more questions are needed;
    then how this was computed, and the commands that print each number. The
    HTML file contains everything: it opens from disk, without a network,
    follows light and dark mode, and can be printed.

    LaTeX has the tables of a TREC overview (booktabs): submitter, run,
    score, components; all runs, and the best run of each organisation. With
    --by organisation each organisation gets its own page: its scores next to
    the median and the best, without the names of other runs.

    Examples

      qassay report my-eval
      qassay report scores.csv --to for-the-meeting.html
      qassay report my-eval --format latex --top 10
      qassay report my-eval --format parquet --to tables
      qassay report my-eval --by organisation --to result-pages
    """
    require("figures", "qassay report")
    if by == ORGANISATION:
        _result_pages(sources, scoring, to, form, force=force, as_json=as_json)
        return
    kind = form or SUFFIXES.get(to.suffix.lower() if to else "", "html")
    target = to or Path(DEFAULTS[kind])
    if top is not None and kind != "latex":
        raise UsageError("--top is for --format latex")
    _check_target(target, folder=kind in FOLDERS, force=force)
    from dataclasses import replace

    from qassay.reports import build_report

    tables = None if is_evaluation(sources) else scoring.read(sources)
    material = _material(sources, tables, scoring, seed)
    report = build_report(material if name is None else replace(material, name=name))
    contents = _contents(report, kind, top)
    _write(target, contents, folder=kind in FOLDERS)
    if tables is not None:
        announce(tables, as_json=as_json)
    size = sum(map(len, contents.values()))
    if as_json:
        print_json(
            {
                "to": str(target),
                "format": kind,
                "files": sorted(contents) if kind in FOLDERS else [target.name],
                "bytes": size,
                "answer": list(report.answer),
                "facts": [{"label": f.label, "value": f.value, "meaning": f.meaning} for f in report.facts],
                "missing": list(material.missing),
            }
        )
        return
    for sentence in report.answer:
        print(visible(fold(without_isolates(sentence))))
    print()
    many = f"{len(contents)} files, " if len(contents) > 1 else ""
    print(visible(f"Wrote {target} ({many}{size / 1000:,.0f} kB)."))


def _material(sources: Sequence[str], tables: ScoreTables | None, scoring: ScoringOptions, seed: int) -> Material:
    """The results of the sources."""
    from qassay.studies.reporting import of_evaluation, of_matrix

    options = _options(scoring)
    if tables is None:
        from qassay.evaluation import open_evaluation

        refuse("a folder", scoring.given_options())
        evaluation = open_evaluation(sources[0])
        return of_evaluation(evaluation, scoring.key, scoring.how, sources=list(sources), options=options, seed=seed)
    file_name = Path(sources[0].rpartition("=")[2]).name
    if len(tables.matrices) > 1:
        raise UsageError(f"a report is about one metric, and --metric all are {', '.join(tables.matrices)}; choose one")
    title = file_name if len(sources) == 1 else f"{file_name} and {len(sources) - 1} more"
    return of_matrix(tables.matrix, name=title, sources=list(sources), options=options, seed=seed)


def _options(scoring: ScoringOptions) -> list[str]:
    """The options that were given, as a command has them."""
    options: list[str] = []
    for field in fields(scoring):
        value = getattr(scoring, field.name)
        if value == field.default or value is None:
            continue
        option = f"--{field.name.replace('_', '-')}"
        if value is True:
            options.append(option)
        else:
            options += [
                part for text in (value if isinstance(value, list) else [value]) for part in (option, str(text))
            ]
    return options


def _contents(report: Report, form: Format, top: int | None) -> dict[str, bytes]:
    """The files of a report by name; a single one has no name of its own."""
    if form == "html":
        return {"": report.html().encode()}
    if form == "markdown":
        return {"": report.markdown().encode()}
    if form == "latex":
        return {"": report.latex(top=top).encode()}
    contents: dict[str, bytes] = {}
    for exhibit in report.exhibits():
        contents[f"{exhibit.name}.{form}"] = _rows(exhibit.numbers, form)
        if exhibit.figure is not None:
            contents[f"{exhibit.name}.svg"] = exhibit.figure.svg().encode()
            contents[f"{exhibit.name}.png"] = exhibit.figure.png()
            contents[f"{exhibit.name}.pdf"] = exhibit.figure.pdf()
    return contents


def _rows(table: Table, form: Format) -> bytes:
    """A table as a file, with numbers at full precision."""
    if form == "csv":
        return table.csv().encode()
    written = io.BytesIO()
    table.to_polars().write_parquet(written)
    return written.getvalue()


def _check_target(target: Path, *, folder: bool, force: bool) -> None:
    """Stop before the work where its result could not be written."""
    parent = target.absolute().parent
    if not parent.is_dir():
        message = "there is no such folder. Make it first, or name another place with --to"
        raise InputError(Problem("configuration", message, str(parent)))
    if not os.access(parent if not target.is_dir() else target, os.W_OK):
        message = "the folder cannot be written to. Name another place with --to"
        raise InputError(Problem("configuration", message, str(parent)))
    if folder and target.exists() and not target.is_dir():
        raise InputError(Problem("configuration", "is a file. Name a folder with --to", str(target)))
    if not folder and target.is_dir():
        raise InputError(Problem("configuration", "is a folder. Name a file with --to", str(target)))
    exists = any(target.iterdir()) if target.is_dir() else target.exists()
    if exists and not force:
        problem = "is not empty. To write into it" if folder else "exists already. To replace it"
        raise InputError(Problem("configuration", f"{problem}: --force", str(target)))


def _write(target: Path, contents: Mapping[str, bytes], *, folder: bool) -> None:
    """Write everything, or nothing."""
    from qassay.formats import files

    if not folder:
        files.write_all({target: contents[""]})
        return
    if target.exists():
        files.write_all({target / name: data for name, data in contents.items()})
        return
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".report-") as staging:
        new_folder = Path(staging) / "new"
        files.write_all({new_folder / name: data for name, data in contents.items()})
        new_folder.rename(target)


def _result_pages(
    sources: Sequence[str],
    scoring: ScoringOptions,
    to: Path | None,
    form: Format | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """One page per organisation."""
    from qassay.evaluation import open_evaluation
    from qassay.reports.organisations import organisation_page, organisations
    from qassay.studies.judged_answers import answers_by_run

    if to is None:
        raise UsageError("--by organisation writes a folder of pages: name it with --to")
    if form not in (None, "html"):
        raise UsageError("--by organisation writes HTML pages; leave --format out")
    if not is_evaluation(sources):
        raise UsageError("--by organisation needs an evaluation: tables of scores do not name organisations")
    refuse("a folder", scoring.given_options())
    _check_target(to, folder=True, force=force)
    evaluation = open_evaluation(sources[0])
    scores = scoring.scores(evaluation)
    names = organisations(scores)
    if not names:
        message = 'no run names its organisation. Add it to runs.jsonl: {"run": ..., "organisation": ...}'
        raise InputError(Problem("configuration", message, str(sources[0])))
    pages = dict(zip(_file_names(names), names, strict=True))
    answers = answers_by_run(evaluation, scores, [row.run for row in scores.runs])
    contents = {file: organisation_page(scores, which, answers).html().encode() for file, which in pages.items()}
    _write(to, contents, folder=True)
    nameless = [row.run for row in scores.runs if not scores.information[row.run].organisation]
    if as_json:
        print_json({"to": str(to), "pages": pages, "runs_without_organisation": nameless})
        return
    print(visible(f"Wrote {len(pages)} pages to {to}:"))
    for file, which in pages.items():
        print(visible(f"  {file}  {which}"))
    if nameless:
        print(visible(f"Without a page, because they name no organisation: {', '.join(nameless)}."))


def _file_names(names: Sequence[str]) -> list[str]:
    """A file name for each organisation, of plain characters, none twice.

    >>> _file_names(["Team A", "team a!", "../x", "שלום"])
    ['team-a.html', 'team-a-2.html', 'x.html', 'organisation.html']
    """
    counts: dict[str, int] = {}
    files = []
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or ORGANISATION
        counts[plain] = counts.get(plain, 0) + 1
        candidate = plain if counts[plain] == 1 else f"{plain}-{counts[plain]}"
        while f"{candidate}.html" in files:
            candidate += "-"
        files.append(f"{candidate}.html")
    return files
