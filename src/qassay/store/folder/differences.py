"""Files of a folder that say something else than its store."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats.folder import Folder, read_configuration
from qassay.formats.importing.rows import Identity, by_fields, canonical, judgment_identity, missing
from qassay.formats.questions import read_questions
from qassay.judging import digest
from qassay.questions import TestSet
from qassay.tasks import Task

# A file that is behind says nothing that the store does not say: importing it would bring nothing.
State: TypeAlias = Literal["same", "behind", "other"]
ADVICE = {
    "behind": "lacks what the store has, which is what counts; to write it anew: {export}",
    "other": "differs from the store, which is what counts: import it, or export the store over it ({export})",
}


def differing_files(folder: Folder, stored: Folder) -> list[Problem]:
    """A warning for each file of the folder that is not as in its store, which is written out as `stored`.

    Rows are compared as what they say, thing by thing: the order of fields and of things makes no difference.
    """
    own = Folder(folder.path)
    where = shlex.quote(str(folder.path))
    export = f"qassay export {where} --to {where} --force"
    found = ((path, _state(compare)) for path, compare in _comparisons(own, stored, read_configuration(own).task))
    return [
        Problem("configuration", ADVICE[state].format(export=export), own.name(path))
        for path, state in found
        if state != "same"
    ]


def _comparisons(own: Folder, stored: Folder, task: Task) -> Iterator[tuple[Path, Callable[[], State]]]:
    """Every file of the folder with the question how it stands to the store."""
    asked = _questions(stored)
    for path in sorted(own.path.glob("questions.*")):
        yield path, partial(_questions_state, path, asked)
    yield own.answers, partial(_rows_state, own.answers, stored.answers, by_fields("question", "answer", "doc"))
    described = (own.run_information, stored.run_information)
    yield described[0], partial(_rows_state, *described, by_fields("run"), last=True)
    lists, sets = stored.nugget_lists(), stored.judgment_sets()
    for name, path in own.nugget_lists().items():
        yield path, partial(_rows_state, path, lists.get(name), by_fields("question", "nugget"))
    for name, path in own.judgment_sets().items():
        yield path, partial(_rows_state, path, sets.get(name), judgment_identity(asked, task))
    # A run may have come in under another name: its bytes tell.
    held = {digest(files.read_bytes(path)) for path in stored.runs()}
    for path in own.runs():
        yield path, partial(_is_among, path, held)


def _state(compare: Callable[[], State]) -> State:
    """The answer; a file that cannot be read is not as in the store."""
    try:
        return compare()
    except InputError:
        return "other"


def _questions(stored: Folder) -> TestSet:
    if not any(stored.contents.glob("questions.*")):
        return TestSet(())
    return read_questions(stored.questions()).questions


def _questions_state(path: Path, stored: TestSet) -> State:
    own = read_questions(path).questions.questions
    if own == stored.questions:
        return "same"
    return "behind" if all(stored.by_id.get(question.id) == question for question in own) else "other"


def _is_among(path: Path, held: set[str]) -> State:
    return "same" if digest(files.read_bytes(path)) in held else "other"


def _rows_state(own: Path, other: Path | None, identity: Identity, *, last: bool = False) -> State:
    """What one file says of every thing against the other, with all that was said before or, else, in the end."""
    if not own.is_file():
        return "same"
    theirs = files.read_bytes(other) if other is not None and other.is_file() else b""
    ours = files.read_bytes(own)
    if ours == theirs:
        return "same"
    said, there = (_said(data, own, identity, last=last) for data in (ours, theirs))
    if said == there:
        return "same"
    return "other" if missing(((thing, row) for thing, rows in said.items() for row in rows), there) else "behind"


def _said(data: bytes, path: Path, identity: Identity, *, last: bool) -> dict[Hashable, list[bytes]]:
    said: dict[Hashable, list[bytes]] = {}
    for _, row in jsonl.parse_rows(files.decode(data, file=path.name), file=path.name):
        thing = identity(row)
        said[thing] = [*([] if last else said.get(thing, [])), canonical(row)]
    return said
