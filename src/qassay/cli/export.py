"""`qassay export`: write an evaluation out."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, visible
from qassay.errors import QassayError, Remedy, UsageError, few
from qassay.tables import plural


def command(
    folder: FolderArgument,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Where to write it; else FOLDER/export.")
    ] = None,
    nist: Annotated[
        bool, typer.Option("--nist", help="Judgments, nuggets and answers in NIST's forms, in DIR/nist.")
    ] = False,
    release: Annotated[
        bool, typer.Option("--release", help="A bundle to publish: all forms, README, checksums, licence.")
    ] = False,
    licence: Annotated[
        str | None, typer.Option("--licence", metavar="LINE", help="Licence of a release, in one line.")
    ] = None,
    collection: Annotated[bool, typer.Option("--collection", help="Copy the documents too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that contains other files.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an evaluation out, as JSONL or in NIST forms.

    The export is an evaluation too: it has the same scores, to the last
    bit, and also the fields that Qassay does not know. With --nist,
    judgments, nuggets and answers are written in the forms that NIST
    publishes, without history, assessors and notes.

    A folder that contains only an earlier export is replaced; any other
    folder needs --force. If the evaluation has been served, the export has
    the data of its store; --to FOLDER --force replaces the files of the
    evaluation itself.

    Examples

      qassay export my-eval
      qassay export my-eval --to for-nist --nist
      qassay export my-eval --to bundle --release --licence "CC BY 4.0"
    """
    if licence is not None and not release:
        raise UsageError("--licence goes into the README of a bundle; add --release")
    from qassay.formats.exporting import make_export, make_release, write_export
    from qassay.formats.folder import open_folder, read_configuration
    from qassay.store import as_stored

    opened = open_folder(folder)
    opened = as_stored(opened, read_configuration(opened))
    target = folder / "export" if to is None else to
    if release:
        sections, people = _sections(folder)
        export = make_release(opened, licence=licence, collection=collection, sections=sections)
        if people:
            note = (
                f"Judgments name their assessors ({few(people)}): ask them, or replace the names, before you publish."
            )
            export = dataclasses.replace(export, notes=(*export.notes, note))
    else:
        export = make_export(opened, nist=nist, collection=collection)
    write_export(export, target, folder=opened, force=force)
    if as_json:
        print_json({"to": str(target), "files": export.names, "notes": list(export.notes)})
        return
    print(f"Wrote {plural(len(export.names), 'file')} to {target}:")
    # One line per file at the top, one line per folder.
    places = Counter(name.split("/")[0] + ("/" if "/" in name else "") for name in export.names)
    for place, count in places.items():
        print(visible(f"  {place} ({plural(count, 'file')})" if place.endswith("/") else f"  {place}"))
    for note in export.notes:
        print(visible(note))


def _sections(folder: Path) -> tuple[list[str], list[str]]:
    """Parts of the README, the facts and the scores under the default key; and the people whom judgments name."""
    from qassay.evaluation import open_evaluation
    from qassay.studies.facts import facts

    evaluation = open_evaluation(folder)
    result = facts(evaluation)
    sections = ["## In numbers", *(table.markdown().strip() for table in result.tables())]
    try:
        scored = evaluation.score(missing="skip").leaderboard().markdown().strip()
    except QassayError as error:
        scored = f"There are no scores yet: {error.spelt(Remedy.on_command_line).splitlines()[0]}"
    return [*sections, "## Scores", scored], list(result.assessors)
