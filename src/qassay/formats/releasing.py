"""A release: the bundle in which a track gives out its test set, judgments and runs for others to use.

questions, runs, judgments, nuggets, answers   as an evaluation of its own, which scores the same
nist/                                          the same in NIST's forms, as far as these can express it
README.md                                      what is in it, in numbers, and how to use it
LICENCE.txt                                    one line, where the organiser states it
SHA256SUMS                                     a checksum of every other file, for `sha256sum -c`
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from qassay._version import __version__
from qassay.errors import InputError, Problem
from qassay.formats.exporting import Export, make_export
from qassay.formats.folder import CONFIGURATION, Folder, read_configuration
from qassay.tables import plural

README = "README.md"
LICENCE = "LICENCE.txt"
CHECKSUMS = "SHA256SUMS"
NO_LICENCE = "No licence is stated. Ask the organisers before you use or pass on these files."
# What the parts of a bundle are, by the first part of their place.
_PARTS: Mapping[str, str] = {
    CONFIGURATION: "name, task, and what differs from the task's defaults",
    "questions.jsonl": "the questions",
    "answers.jsonl": "answers known from question development",
    "patterns.txt": "answer patterns",
    "runs.jsonl": "information about the runs",
    "runs/": "the responses of the systems, one file per run",
    "judgments/": "the judgments, one file per set",
    "nuggets/": "nugget lists",
    "collection/": "the documents",
    "nist/": "questions, judgments, nuggets and answers in the forms of TREC and NIST",
    LICENCE: "the licence, in a line",
    CHECKSUMS: "checksums of all files (SHA-256)",
}


def make_release(
    folder: Folder, *, licence: str | None = None, collection: bool = False, sections: Sequence[str] = ()
) -> Export:
    """Gather the bundle; nothing is written. `sections` are parts of the README, in Markdown."""
    if licence is not None and ("\n" in licence or "\r" in licence or not licence.strip()):
        raise InputError(Problem("configuration", "--licence takes one line, such as 'CC BY 4.0'"))
    plain = make_export(folder, collection=collection)
    contents, notes = dict(plain.contents), list(plain.notes)
    try:
        nist = make_export(folder, nist=True)
        contents |= {name: data for name, data in nist.contents.items() if name.startswith("nist/")}
        notes += [note for note in nist.notes if note not in notes]
    except InputError as error:
        notes.append(f"nist/ is left out: {error.problems[0].message}")
    contents[CONFIGURATION] = without_database(contents[CONFIGURATION].decode()).encode()
    if licence is not None:
        contents[LICENCE] = f"{licence.strip()}\n".encode()
    name = read_configuration(folder).name
    places = [*contents, *plain.documents, README, CHECKSUMS]
    contents[README] = _readme(name, licence, places, sections).encode()
    contents[CHECKSUMS] = checksums(contents, plain.documents).encode()
    return replace(plain, contents=contents, notes=tuple(notes))


def checksums(contents: Mapping[str, bytes], documents: Mapping[str, Path]) -> str:
    """The lines of `sha256sum` for these files, sorted by name."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    for name, path in documents.items():
        with path.open("rb") as file:
            digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return "".join(_line(digests[name], name) for name in sorted(digests))


def _line(digest: str, name: str) -> str:
    """A line of `sha256sum`, which marks names with backslashes or line ends by a backslash in front."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n"


def without_database(text: str) -> str:
    """The text of `qassay.toml` without the address of a database, which may contain a password.

    >>> without_database('task = "qa"\\ndatabase = "postgresql://me:secret@db/x"\\n')
    'task = "qa"\\n'
    """
    keys = tomllib.loads(text)
    if "database" not in keys:
        return text
    without = re.sub(r"(?m)^[ \t]*database[ \t]*=.*\n?", "", text, count=1)
    try:
        done = tomllib.loads(without) == {key: value for key, value in keys.items() if key != "database"}
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        message = "names a database, which must not be in a release; put the address into the variable QASSAY_DATABASE"
        raise InputError(Problem("configuration", message, CONFIGURATION))
    return without


def _readme(name: str, licence: str | None, places: Sequence[str], sections: Sequence[str]) -> str:
    """The content of the bundle, and how to use it."""
    counts = Counter(place.split("/")[0] + ("/" if "/" in place else "") for place in places)
    rows = [
        f"| `{part}` | {plural(count, 'file') if part.endswith('/') else ''} | {_PARTS.get(part, '')} |"
        for part, count in sorted(counts.items())
        if part != README
    ]
    files = "\n".join(["| place | files | content |", "|---|---|---|", *rows])
    terms = NO_LICENCE if licence is None else f"Licence: {licence.strip()}"
    use = (
        f"Made with Qassay {__version__}. The folder is an evaluation: `qassay score .` gives the scores, and "
        "`qassay import` brings its files into another one. `sha256sum -c SHA256SUMS` checks that nothing has changed."
    )
    # Names and tags are other people's strings: no page that shows the file takes them for markup.
    texts = [f"# {' '.join(name.split())}", terms, use, "## Files", files, *sections]
    return "\n\n".join(text.replace("<", "&lt;") for text in texts) + "\n"
