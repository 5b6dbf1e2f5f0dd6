"""Write an evaluation out: as a folder of JSON lines that scores the same, or in the forms of NIST.

Runs, judgments, nuggets and answers leave as the bytes they are, so that nothing in them is lost; the questions, in
whatever form they came, leave as JSON lines.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from qassay.errors import InputError, Problem, Problems, UsageError, few
from qassay.formats import files, jsonl, nist, question_forms
from qassay.formats.folder import CONFIGURATION, Configuration, Folder, read_configuration, with_two_way
from qassay.formats.judgments import read_answers, read_judgments, read_nuggets
from qassay.formats.names import file_name, set_name
from qassay.formats.questions import QuestionFile, question_row, read_questions, reference_rows
from qassay.formats.runs import read_runs
from qassay.judging import ROW_KINDS
from qassay.judging.keys import Key, no_answers, no_nuggets
from qassay.judging.sets import JudgmentSet
from qassay.questions import TestSet
from qassay.tables import plural

# Lists what an export wrote, so that the next one knows what it may replace.
MANIFEST = "export.json"
# The responses of runs, as (document, string), by question and run.
Items = Mapping[tuple[str, str], list[tuple[str | None, str]]]


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
    path = folder.questions()
    read = read_questions(path, file=folder.name(path))
    own = [folder.configuration, *_own_task(folder), folder.patterns, folder.run_information, *folder.runs()]
    contents = _copied(folder, own)
    contents["questions.jsonl"] = jsonl.dump_rows(map(question_row, read.questions)).encode()
    notes: list[str] = []
    if read.reference and "reference" not in folder.judgment_sets():
        _move_labels(contents, read, notes)
    if nist:
        forms = nist_files(folder, configuration, read.questions)
        contents |= {f"nist/{name}": text.encode() for name, text in forms.texts.items()}
        notes += forms.notes
    else:
        sets = [*folder.judgment_sets().values(), *folder.nugget_lists().values()]
        contents |= _copied(folder, [folder.answers, *sets, *folder.samples().values()])
    paths = sorted(path for path in folder.collection.rglob("*") if path.is_file())
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
    own, place = folder.path.resolve(), target.resolve()
    inside = [own / name for name in ("runs", "judgments", "nuggets", "collection")]
    if (place == own and folder.written is None) or any(place.is_relative_to(path) for path in inside):
        raise UsageError(f"--to {target}: this is a part of the evaluation itself; name another folder")
    if place == own:
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
        message = f"contains other files ({others}); name a new folder with --to, or write among them with --force"
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
        new_folder = Path(staging) / "new"
        files.write_all({new_folder / name: data for name, data in contents.items()})
        _copy_documents(export, new_folder)
        if target.exists():
            target.rename(Path(staging) / "old")
        new_folder.rename(target)


def _copied(folder: Folder, paths: Iterable[Path]) -> dict[str, bytes]:
    return {Path(folder.name(path)).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def _move_labels(contents: dict[str, bytes], read: QuestionFile, notes: list[str]) -> None:
    """Make a judgment set of the labels that the file of questions carries: its JSON lines carry none."""
    contents["judgments/reference.jsonl"] = jsonl.dump_rows(reference_rows(read)).encode()
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
    if not isinstance(task, str) or not task.endswith(".toml"):
        return []
    path = (folder.path / task).resolve()
    if not path.is_relative_to(folder.path.resolve()):
        message = f"task: {task} lies outside the evaluation; copy it there before exporting"
        raise InputError(Problem("configuration", message, CONFIGURATION))
    return [folder.path / task]


def _copy_documents(export: Export, target: Path) -> None:
    for name, path in export.documents.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _earlier(target: Path) -> set[str]:
    """The files that an earlier export wrote here."""
    try:
        manifest = json.loads((target / MANIFEST).read_bytes())
    except (OSError, ValueError):
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
    own = Folder(folder.path)
    if not force:
        message = "is the evaluation itself; to write its store over its files: --force"
        raise InputError(Problem("configuration", message, str(own.path)))
    paths = [path for place in ("questions.*", "runs/*", "judgments/*", "nuggets/*") for path in own.path.glob(place)]
    names = [PurePosixPath(name) for name in export.contents]
    written = {(name.parent.as_posix(), set_name(Path(name.name))): name.name for name in names}
    files.write_all({own.path / name: data for name, data in export.contents.items()})
    for path in paths:
        place = path.parent.relative_to(own.path).as_posix()
        if path.is_file() and written.get((place, set_name(path)), path.name) != path.name:
            path.unlink()


# ---- the forms of NIST ----------------------------------------------------------------------------------------------


@dataclass
class NistFiles:
    """Texts by file name, what NIST's forms leave out, and the strings they cannot express."""

    texts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def add(self, name: str, form: Callable[..., str], *content: object) -> None:
        """Add a file that is not empty."""
        try:
            text = form(*content, file=name)
        except InputError as error:
            self.problems += error.problems
            return
        if text:
            self.texts[name] = text


def nist_files(folder: Folder, configuration: Configuration, questions: TestSet) -> NistFiles:
    """All that NIST's forms can say of an evaluation; an error where a string does not fit on a line."""
    forms = NistFiles()
    titles = {question.id: question.text or question.target or "" for question in questions}
    answers = no_answers()
    if folder.answers.is_file():
        answers = read_answers(folder.answers, questions, file=folder.name(folder.answers))
    sets = {
        name: read_judgments(path, name, questions, configuration.task, file=folder.name(path))
        for name, path in folder.judgment_sets().items()
    }
    matched = any(judged.kind("match").height for judged in sets.values())
    items = _items(folder, configuration, questions) if matched else {}
    for name, judged in (sets or {"": JudgmentSet("", {})}).items():
        if name:
            _add_judgments(forms, file_name(name), judged, items)
        # The answers that list questions are scored against: those of development, and what the runs added. In JSON
        # lines the second part is derived. NIST's form of list judgments does not name them, so here they are listed.
        known = Key(judged, no_nuggets(), answers).answer_classes().to_dicts()
        forms.add(f"{file_name(name)}-answers.txt" if name else "answers.txt", nist.format_answers, known, titles)
    for name, path in folder.nugget_lists().items():
        table = read_nuggets(path, questions, file=folder.name(path))
        forms.add(f"{file_name(name)}-nuggets.txt", nist.format_nuggets, table.to_dicts(), titles)
        forms.add(f"{file_name(name)}-weights.txt", nist.format_weights, table.to_dicts())
    _add_questions(forms, configuration.name, questions)
    if forms.problems:
        raise InputError(forms.problems)
    return forms


def _add_questions(forms: NistFiles, name: str, questions: TestSet) -> None:
    """The questions in the form of their track, and the types of their targets."""
    form = question_forms.form_of(questions)
    if form == "series":
        forms.add("questions.xml", lambda file: question_forms.series_xml(questions, name=name, file=file))
    elif form == "topics":
        forms.add("topics.txt", lambda file: question_forms.topics(questions, file=file))
    elif form == "rag":
        forms.add("topics.tsv", lambda file: question_forms.rag_topics(questions, file=file))
    else:
        forms.notes.append("The questions are in questions.jsonl alone: TREC has no form for them as they are.")
    forms.add("target-types.txt", lambda file: question_forms.target_types(questions))


def _add_judgments(forms: NistFiles, name: str, judged: JudgmentSet, items: Items) -> None:
    factoid = judged.kind("item")
    placed = factoid.filter(pl.col("text").is_null()).height
    if placed:
        forms.notes.append(f"{name}: {placed:,} judged extracts are left out; NIST's form has strings.")
    forms.add(f"{name}-factoid.txt", nist.format_factoid, factoid.filter(pl.col("text").is_not_null()).to_dicts())
    forms.add(f"{name}-list.txt", nist.format_list, judged.kind("list").to_dicts())
    matches = judged.kind("match")
    forms.add(f"{name}-other.txt", nist.format_other, matches.to_dicts(), items)
    if matches.filter(pl.col("item").is_null() & (pl.col("nuggets").list.len() > 0)).height:
        forms.notes.append(f"{name}: nuggets matched in a response as a whole are written with its first item.")
    for kind, record in ROW_KINDS.items():
        count = judged.kind(kind).height
        if count and kind not in ("item", "list", "match"):
            forms.notes.append(f"{name}: {count:,} {record.nouns[1]} are left out; NIST has no form for them.")


def _items(folder: Folder, configuration: Configuration, questions: TestSet) -> Items:
    """The items of the runs' responses to questions with nuggets."""
    names = {path: folder.name(path) for path in folder.runs()}
    read = read_runs(list(names), task=configuration.task, questions=questions, names=names)
    if read.problems:
        raise InputError(read.problems)
    items: dict[tuple[str, str], list[tuple[str | None, str]]] = {}
    if not read.runs.table.height or "text" not in read.runs.table.columns:
        return items
    rows = read.runs.table.filter(pl.col("text").is_not_null()).sort("run", "question", "rank", maintain_order=True)
    for run, question, doc, text in rows.select("run", "question", "doc", "text").iter_rows():
        items.setdefault((question, run), []).append((doc, text))
    return items
