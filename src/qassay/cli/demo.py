"""`qassay demo`: the whole story on the built-in evaluation."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from qassay.cli.inputs import JsonOption
from qassay.cli.output import print_json
from qassay.cli.story import print_story, tell
from qassay.demo import Demo, copy_demo
from qassay.errors import UsageError
from qassay.tables import plural

# What each account of the served demonstration shows.
TO_SEE = {
    "organiser": "questions with search, runs, assignments and progress, results",
    "assessor-1": "what is left to judge: answers, lists, nuggets; ? shows the keys",
    "assessor-2": "the same questions, blind to what assessor-1 says",
    "adjudicator": "what the two disagree on in the finished series, without names",
    "reader": "results, once the organiser has published them",
}


def command(
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FOLDER", help="Copy the evaluation there instead, to play with.")
    ] = None,
    which: Annotated[
        Demo, typer.Option("--which", help="The evaluation to copy: series, entailment with justifications, or rag.")
    ] = "series",
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on this machine, half judged, with accounts to sign in as.")
    ] = False,
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="With --serve.")] = 8000,
    as_json: JsonOption = False,
) -> None:
    """The whole story on a built-in evaluation.

    Ten runs of the reference systems on sixteen series of questions,
    judged by three assessors: the leaderboard, what the assessors
    disagree on, what another assessor's judgments do to the ranking, and
    which difference can be trusted with so few questions. Offline, in
    seconds.

    --to copies the evaluation, so that every command can be tried on it;
    with --which, one of the two smaller ones. --serve shows the web
    application on it, on this machine alone, until Ctrl-C.

    Examples

      qassay demo
      qassay demo --to demo
      qassay demo --to pairs --which entailment
      qassay demo --serve
      qassay score demo
    """
    if serve:
        if which != "series" or as_json:
            raise UsageError("--serve shows the question series, for people: without --which and --json")
        _serve(to, port)
        return
    if to is None and which != "series":
        raise UsageError("the story is about the question series; --which goes with --to")
    if to is not None:
        names = copy_demo(to, which)
        print_json({"to": str(to), "files": names}) if as_json else _tell_copied(to, names)
        return
    story = tell()
    print_json(story.as_json()) if as_json else print_story(story)


def _serve(to: Path | None, port: int) -> None:
    """Serve a copy of the evaluation; without a folder of its own it is gone afterwards."""
    import os
    import tempfile

    from qassay.cli.serve import serve_folder
    from qassay.web.site import Settings, sign_on_from

    settings = Settings(port=port, sign_on=sign_on_from(os.environ), log="none")
    with tempfile.TemporaryDirectory(prefix="qassay-demo-") as place:
        folder = to if to is not None else Path(place) / "demo"
        serve_folder(folder, settings, before=lambda: _prepare(folder, is_kept=to is not None))


def _prepare(folder: Path, *, is_kept: bool) -> None:
    from qassay.web.demonstration import prepare

    copy_demo(folder)
    people = prepare(folder)
    width = max(len(one.name) for one in people)
    print("Ten series are judged by both assessors, six are not. Sign in as")
    for one in people:
        print(f"  {one.name:{width}}  password {one.password}  {TO_SEE[one.name]}")
    print("Every start makes new passwords." + ("" if is_kept else " With --to FOLDER the copy is kept."))


def _tell_copied(to: Path, names: list[str]) -> None:
    where = shlex.quote(str(to))
    print(f"Copied {plural(len(names), 'file')} to {to}. Its README.md says what is in it.")
    print(f"Next: qassay check {where}, qassay score {where}")
