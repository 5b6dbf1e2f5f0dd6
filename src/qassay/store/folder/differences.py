"""Files of a folder that say something else than its store."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path

from qassay.errors import InputError, Problem
from qassay.formats import files, jsonl
from qassay.formats.folder import Folder
from qassay.formats.importing.rows import Identity, by_fields, canonical, judgment_identity
from qassay.formats.questions import read_questions
from qassay.questions import TestSet
from qassay.store.pool.things import digest


def differing_files(folder: Folder, stored: Folder) -> list[Problem]:
    """A warning for each file of the folder that is not as in its store, which is written out as `stored`.

    Rows are compared as what they say, thing by thing: the order of fields and of things makes no difference.
    """
    own = Folder(folder.path)
    return [
        Problem(
            "configuration",
            "differs from the store, which is what counts: import it, or export the store over it"
            " (qassay export FOLDER --to FOLDER --force)",
            own.name(path),
        )
        for path, is_same in _comparisons(own, stored)
        if not _holds(is_same)
    ]


def _comparisons(own: Folder, stored: Folder) -> Iterator[tuple[Path, Callable[[], bool]]]:
    """Every file of the folder with the question whether it is as in the store."""
    asked = _questions(stored)
    for path in sorted(own.path.glob("questions.*")):
        yield path, partial(_same_questions, path, asked)
    yield own.answers, partial(_same_rows, own.answers, stored.answers, by_fields("question", "answer", "doc"))
    described = (own.run_information, stored.run_information)
    yield described[0], partial(_same_rows, *described, by_fields("run"), last=True)
    lists, sets = stored.nugget_lists(), stored.judgment_sets()
    for name, path in own.nugget_lists().items():
        yield path, partial(_same_rows, path, lists.get(name), by_fields("question", "nugget"))
    for name, path in own.judgment_sets().items():
        yield path, partial(_same_rows, path, sets.get(name), judgment_identity(asked))
    # A run may have come in under another name: its bytes tell.
    held = {digest(files.read_bytes(path)) for path in stored.runs()}
    for path in own.runs():
        yield path, partial(_is_among, path, held)


def _holds(question: Callable[[], bool]) -> bool:
    """The answer; a file that cannot be read is not as in the store."""
    try:
        return question()
    except InputError:
        return False


def _questions(stored: Folder) -> TestSet:
    if not any(stored.contents.glob("questions.*")):
        return TestSet(())
    return read_questions(stored.questions()).questions


def _same_questions(path: Path, stored: TestSet) -> bool:
    return read_questions(path).questions.questions == stored.questions


def _is_among(path: Path, held: set[str]) -> bool:
    return digest(files.read_bytes(path)) in held


def _same_rows(own: Path, other: Path | None, identity: Identity, *, last: bool = False) -> bool:
    """Whether two files say the same of every thing, with all that was said before or, else, in the end."""
    if not own.is_file():
        return True
    theirs = files.read_bytes(other) if other is not None and other.is_file() else b""
    ours = files.read_bytes(own)
    if ours == theirs:
        return True
    return _said(ours, own, identity, last=last) == _said(theirs, own, identity, last=last)


def _said(data: bytes, path: Path, identity: Identity, *, last: bool) -> dict[Hashable, list[bytes]]:
    said: dict[Hashable, list[bytes]] = {}
    for _, row in jsonl.parse_rows(files.decode(data, file=path.name), file=path.name):
        thing = identity(row)
        said[thing] = [*([] if last else said.get(thing, [])), canonical(row)]
    return said
