"""Write an evaluation out: as a folder of JSON lines that scores the same, or in the forms of NIST.

Runs, judgments, nuggets and answers leave as the bytes they are, so that nothing in them is lost; the questions, in
whatever form they came, leave as JSON lines.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from qassay.errors import InputError, Problem, UsageError, few
from qassay.formats import files, jsonl
from qassay.formats.exporting.nist import nist_files
from qassay.formats.folder import CONFIGURATION, Folder, read_configuration, with_two_way
from qassay.formats.names import set_name
from qassay.formats.questions import QuestionFile, question_row, read_questions, reference_rows
from qassay.tables import plural

# Lists what an export wrote, so that the next one knows what it may replace.
MANIFEST = "export.json"


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
    """Gather what an export holds; nothing is written."""
    configuration = read_configuration(folder)
    path = folder.questions()
    found = read_questions(path, file=folder.name(path))
    questions = found.questions
    contents = dict(_copied(folder, [folder.configuration, *own_task(folder), folder.patterns, folder.run_information]))
    contents["questions.jsonl"] = jsonl.dump_rows(map(question_row, questions)).encode()
    contents |= _copied(folder, folder.runs())
    notes: list[str] = []
    if found.reference and "reference" not in folder.judgment_sets():
        _move_labels(contents, found, notes)
    if nist:
        made = nist_files(folder, configuration, questions)
        contents |= {f"nist/{name}": text.encode() for name, text in made.texts.items()}
        notes += made.notes
    else:
        sets = (folder.judgment_sets(), folder.nugget_lists())
        contents |= _copied(folder, [folder.answers, *(path for found in sets for path in found.values())])
    documents = _documents(folder)
    if documents and not collection:
        many = plural(len(documents), "file")
        notes.append(f"collection/ is left out ({many}); scores do not need it. With it: --collection")
    return Export(contents, tuple(notes), documents if collection else {})


def write_export(export: Export, target: Path, *, folder: Folder, force: bool = False) -> None:
    """Write an export whole: the target is there complete, or as it was before.

    A target that is new, empty, or holds nothing but an earlier export is replaced. Into any other only `force`
    writes: then files of the same names are replaced, and all others stay.
    """
    _refuse_own_places(target, folder)
    if target.resolve() == folder.path.resolve():
        _write_over(export, folder, force=force)
        return
    earlier = _earlier(target)
    foreign = sorted(set(_listed(target)) - earlier)
    if target.exists() and not target.is_dir():
        raise InputError(Problem("configuration", "is a file; name a folder", str(target)))
    if foreign and not force:
        message = (
            f"holds other things ({few(foreign, 3)}); name a new folder with --to, or write among them with --force"
        )
        raise InputError(Problem("configuration", message, str(target)))
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
        made = Path(staging) / "new"
        files.write_all({made / name: data for name, data in contents.items()})
        _copy_documents(export, made)
        if target.exists():
            target.rename(Path(staging) / "old")
        made.rename(target)


def _copied(folder: Folder, paths: Iterable[Path]) -> dict[str, bytes]:
    return {Path(folder.name(path)).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def _move_labels(contents: dict[str, bytes], found: QuestionFile, notes: list[str]) -> None:
    """Make a judgment set of the labels that the file of questions carries: its JSON lines carry none."""
    contents["judgments/reference.jsonl"] = jsonl.dump_rows(reference_rows(found)).encode()
    if found.two_way:
        marked = with_two_way(files.decode(contents[CONFIGURATION], file=CONFIGURATION), "reference")
        if marked is None:
            notes.append(
                f'Add "reference" to two_way in the {CONFIGURATION} of the export: its NO means "not entailed".'
            )
        else:
            contents[CONFIGURATION] = marked.encode()


def own_task(folder: Folder) -> list[Path]:
    """The file that defines the task, where the evaluation brings its own."""
    task = tomllib.loads(files.read_text(folder.configuration)).get("task")
    if not isinstance(task, str) or not task.endswith(".toml"):
        return []
    path = (folder.path / task).resolve()
    if not path.is_relative_to(folder.path.resolve()):
        message = f"task: {task} lies outside the evaluation; copy it there before exporting"
        raise InputError(Problem("configuration", message, CONFIGURATION))
    return [folder.path / task]


def _documents(folder: Folder) -> dict[str, Path]:
    found = sorted(path for path in folder.collection.rglob("*") if path.is_file())
    return {path.relative_to(folder.path).as_posix(): path for path in found}


def _copy_documents(export: Export, target: Path) -> None:
    for name, path in export.documents.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _listed(target: Path) -> list[str]:
    """Every file below a folder, and every folder without one."""
    if not target.is_dir():
        return []
    found = [path for path in target.rglob("*") if not path.is_dir() or not any(path.iterdir())]
    return [path.relative_to(target).as_posix() for path in found]


def _earlier(target: Path) -> set[str]:
    """What an earlier export wrote here."""
    try:
        manifest = json.loads((target / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return set()
    if (
        not isinstance(manifest, dict)
        or manifest.get("export") != "qassay"
        or not isinstance(manifest.get("files"), list)
    ):
        return set()
    names = [PurePosixPath(name) for name in manifest["files"] if isinstance(name, str)]
    # A name that leads out of the folder was not written by an export.
    return {MANIFEST, *(str(name) for name in names if not name.is_absolute() and ".." not in name.parts)}


def _write_over(export: Export, folder: Folder, *, force: bool) -> None:
    """Write the export of a store over the files of its own evaluation; what the export does not hold stays.

    Files that hold the same things under another name (another form, another compression) go.
    """
    own = Folder(folder.path)
    if not force:
        message = "is the evaluation itself; to write its store over its files: --force"
        raise InputError(Problem("configuration", message, str(own.path)))
    paths = [path for place in ("questions.*", "runs/*", "judgments/*", "nuggets/*") for path in own.path.glob(place)]
    held = {
        (name.parent.as_posix(), set_name(Path(name.name))): name.name for name in map(PurePosixPath, export.contents)
    }
    files.write_all({own.path / name: data for name, data in export.contents.items()})
    for path in paths:
        place = path.parent.relative_to(own.path).as_posix()
        if path.is_file() and held.get((place, set_name(path)), path.name) != path.name:
            path.unlink()


def _refuse_own_places(target: Path, folder: Folder) -> None:
    """Stop at the places of the evaluation itself; with a store, its own folder may take the export."""
    own = folder.path.resolve()
    place = target.resolve()
    inside = [own / name for name in ("runs", "judgments", "nuggets", "collection")]
    if (place == own and folder.written is None) or any(place.is_relative_to(path) for path in inside):
        raise UsageError(f"--to {target}: this is a part of the evaluation itself; name another folder")
