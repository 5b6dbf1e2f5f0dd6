"""Write an evaluation out: as a folder of JSON lines that scores the same, in the forms of NIST, or as a release.

Runs, judgments, nuggets and answers leave as the bytes they are, so that nothing in them is lost; the questions, in
whatever form they came, leave as JSON lines. A release is the bundle in which a track gives out its test set, judgments
and runs for others to use:

    questions, runs, judgments, nuggets, answers   as an evaluation of its own, which scores the same
    nist/                                          the same in NIST's forms, as far as these can express it
    README.md                                      what is in it, in numbers, and how to use it
    LICENCE.txt                                    one line, where the organiser states it
    SHA256SUMS                                     a checksum of every other file, for `sha256sum -c`
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from qassay._version import __version__
from qassay.errors import InputError, Problem, Remedy, UsageError, few
from qassay.formats import files, jsonl
from qassay.formats.folder import QUESTIONS, Folder, judgment_file, read_configuration, with_two_way
from qassay.formats.links import CONFIGURATION, open_inside, refuse_way_out
from qassay.formats.names import set_name
from qassay.formats.nist_forms import nist_files
from qassay.formats.parts import Part
from qassay.formats.questions import QuestionFile, question_row, read_questions, reference_rows
from qassay.tables import plural

# Lists what an export wrote, so that the next one knows what it may replace.
MANIFEST = "export.json"

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


@dataclass(frozen=True)
class Export:
    """The files of an export by their place in it, and what a reader should know of them."""

    contents: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    # Documents are copied file by file: they may be larger than memory.
    documents: Mapping[str, Path] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Places of all files, sorted."""
        return sorted([*self.contents, *self.documents])


def make_export(folder: Folder, *, nist: bool = False, collection: bool = False) -> Export:
    """Gather the contents of an export; nothing is written."""
    configuration = read_configuration(folder)
    read = read_questions(folder.questions())
    own = [folder.configuration, *_own_task(folder), folder.patterns]
    contents = {folder.name(path): files.stored_bytes(path) for path in own if path.is_file()}
    contents |= _copied([folder.run_information, *folder.runs()])
    contents[QUESTIONS] = jsonl.dump_rows(map(question_row, read.questions)).encode()
    notes: list[str] = []
    if read.reference and "reference" not in folder.judgment_sets():
        _move_labels(contents, read, notes)
    if nist:
        forms = nist_files(folder, configuration, read.questions)
        contents |= {f"nist/{name}": text.encode() for name, text in forms.texts.items()}
        notes += forms.notes
    else:
        sets = [*folder.judgment_sets().values(), *folder.nugget_lists().values()]
        contents |= _copied([folder.answers, *sets, *folder.samples().values()])
    place = refuse_way_out(folder.collection) if collection else folder.collection
    paths = sorted(path for path in place.rglob("*") if path.is_file())
    documents = {path.relative_to(folder.path).as_posix(): path for path in paths}
    if documents and not collection:
        many = plural(len(documents), "file")
        notes.append(f"collection/ is left out ({many}); scores do not need it. With it: --collection")
    return Export(contents, tuple(notes), documents if collection else {})


def write_export(export: Export, target: Path, *, folder: Folder, force: bool = False) -> None:
    """Write an export as a whole: the target is complete, or unchanged.

    A target that is new, empty, or contains nothing but an earlier export is replaced. Into any other only `force`
    writes: then files of the same names are replaced, and all others stay.
    """
    source, place = folder.path.resolve(), target.resolve()
    inside = [source / name for name in ("runs", "judgments", "nuggets", "collection")]
    if (place == source and folder.stored is None) or any(place.is_relative_to(path) for path in inside):
        raise UsageError(f"--to {target}: this is a part of the evaluation itself; name another folder")
    if place == source:
        _write_over(export, folder, force=force)
        return
    earlier = _earlier(target)
    # Every file below the folder, and every folder without one.
    paths = [path for path in target.rglob("*") if not path.is_dir() or not any(path.iterdir())]
    foreign = sorted({path.relative_to(target).as_posix() for path in paths} - earlier)
    if target.exists() and not target.is_dir():
        raise InputError(Problem("configuration", "is a file; name a folder", str(target)))
    if foreign and not force:
        others = few(foreign, 3)
        ways = (Remedy("force", True, "To write among them"),)
        message = f"contains other files ({others}); name a new folder"
        raise InputError(Problem("configuration", message, str(target), way_out=ways))
    manifest = json.dumps({"export": "qassay", "files": export.names}, indent=1) + "\n"
    contents = {**export.contents, MANIFEST: manifest.encode()}
    if foreign:
        files.write_all({target / name: data for name, data in contents.items()})
        _copy_documents(export, target)
        for name in earlier - set(contents) - set(export.documents):
            (target / name).unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".export-") as staging:
        new_folder = Path(staging) / "new"
        files.write_all({new_folder / name: data for name, data in contents.items()})
        _copy_documents(export, new_folder)
        if target.exists():
            target.rename(Path(staging) / "old")
        new_folder.rename(target)


def _copied(parts: Iterable[Part | None]) -> dict[str, bytes]:
    return {part.name: part.stored() for part in parts if part is not None}


def _move_labels(contents: dict[str, bytes], read: QuestionFile, notes: list[str]) -> None:
    """Make a judgment set of the labels that the file of questions carries: its JSON lines carry none."""
    contents[judgment_file("reference")] = jsonl.dump_rows(reference_rows(read)).encode()
    if read.two_way:
        marked = with_two_way(files.decode(contents[CONFIGURATION], file=CONFIGURATION), "reference")
        if marked is None:
            where = f"two_way in the {CONFIGURATION} of the export"
            notes.append(f'Add "reference" to {where}: its NO means "not entailed".')
        else:
            contents[CONFIGURATION] = marked.encode()


def _own_task(folder: Folder) -> list[Path]:
    """The file that defines the task, where the evaluation brings its own."""
    task = tomllib.loads(files.read_text(folder.configuration)).get("task")
    return [folder.path / task] if isinstance(task, str) and task.endswith(".toml") else []


def _copy_documents(export: Export, target: Path) -> None:
    for name, path in export.documents.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        with open_inside(path) as source, (target / name).open("wb") as copy:
            shutil.copyfileobj(source, copy)


def _earlier(target: Path) -> set[str]:
    """The files that an earlier export wrote here."""
    try:
        manifest = json.loads((target / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return set()
    listed = manifest.get("files") if isinstance(manifest, dict) and manifest.get("export") == "qassay" else None
    if not isinstance(listed, list):
        return set()
    names = [PurePosixPath(name) for name in listed if isinstance(name, str)]
    # A name that leads out of the folder was not written by an export.
    return {MANIFEST, *(str(name) for name in names if not name.is_absolute() and ".." not in name.parts)}


def _write_over(export: Export, folder: Folder, *, force: bool) -> None:
    """Write the export of a store over the files of its own evaluation; files that the export does not contain stay.

    Files with the same contents under another name (another form, another compression) are removed.
    """
    plain_folder = Folder(folder.path)
    if not force:
        ways = (Remedy("force", True, "To write its store over its files"),)
        raise InputError(Problem("configuration", "is the evaluation itself", str(plain_folder.path), way_out=ways))
    paths = [
        path
        for place in ("questions.*", "runs/*", "judgments/*", "nuggets/*")
        for path in plain_folder.path.glob(place)
    ]
    names = [PurePosixPath(name) for name in export.contents]
    written = {(name.parent.as_posix(), set_name(Path(name.name))): name.name for name in names}
    files.write_all({plain_folder.path / name: data for name, data in export.contents.items()})
    for path in paths:
        place = path.parent.relative_to(plain_folder.path).as_posix()
        if path.is_file() and written.get((place, set_name(path)), path.name) != path.name:
            path.unlink()


# ---- a release ------------------------------------------------------------------------------------------------------


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
        with open_inside(path) as file:
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
