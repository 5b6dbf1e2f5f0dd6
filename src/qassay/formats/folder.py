"""The folder of an evaluation: where everything is, what `qassay.toml` says, and the task that it names."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from qassay import tasks
from qassay.errors import InputError, Problem, Problems, QassayError, Remedy, unknown
from qassay.formats import files
from qassay.formats.links import CONFIGURATION, refuse_way_out, stays_inside
from qassay.formats.names import file_name, set_name
from qassay.formats.parts import Contents, Part, file_part
from qassay.formats.tracks import Track, track_faults, track_of
from qassay.plugins import broken, load_plugin, plugins
from qassay.tasks import Task

# What is said of a folder that is not an evaluation.
NOT_AN_EVALUATION = f"is not an evaluation: it has no {CONFIGURATION}"
# Keys of qassay.toml that are not keys of a task.
OWN_KEYS = ("name", "task", "database", "drop", "justified", "two_way", "automatic", "track")
# Parts with a name of their own.
QUESTIONS, ANSWERS, INFORMATION = "questions.jsonl", "answers.jsonl", "runs.jsonl"
# The store of a served evaluation: this file, or the database that qassay.toml or the variable names.
DATABASE = "qassay.db"
VARIABLE = "QASSAY_DATABASE"


@dataclass(frozen=True)
class Configuration:
    """The content of `qassay.toml`: the task with its changes, and the organiser's decisions."""

    name: str
    task: Task
    drop: Mapping[str, str] = field(default_factory=dict)
    # Series that leave the series scores only: their questions stay in the means by type.
    drop_from_series: Mapping[str, str] = field(default_factory=dict)
    justified: tuple[str, ...] = ()
    two_way: tuple[str, ...] = ()
    # Judgment sets that programs gave, although their rows carry no trace.
    automatic: tuple[str, ...] = ()
    database: str | None = None
    track: Track = field(default_factory=Track)


@dataclass(frozen=True, slots=True)
class Folder:
    """The places of an evaluation's files.

    Configuration, patterns, samples and documents are always in the folder itself. Questions, answers, runs, nuggets
    and judgments are parts: of the store, where the evaluation has one (`stored`), else files.
    """

    path: Path
    stored: Contents | None = None

    @property
    def configuration(self) -> Path:
        """`qassay.toml`."""
        return self.path / CONFIGURATION

    @property
    def answers(self) -> Part | None:
        """Answers known from question development."""
        return self.part(ANSWERS)

    @property
    def patterns(self) -> Path:
        """Answer patterns."""
        return self.path / "patterns.txt"

    @property
    def run_information(self) -> Part | None:
        """Organisation, description and so on of the runs."""
        return self.part(INFORMATION)

    @property
    def collection(self) -> Path:
        """The folder of documents."""
        return self.path / "collection"

    def part(self, name: str) -> Part | None:
        """The part with this name; None where there is none."""
        if self.stored is not None:
            return self.stored.parts.get(name)
        path = self.path / name
        return file_part(path, name) if path.exists() else None

    def parts(self, pattern: str) -> list[Part]:
        """Parts whose names match a pattern such as `runs/*`, sorted by name."""
        if self.stored is not None:
            return [part for name, part in sorted(self.stored.parts.items()) if fnmatchcase(name, pattern)]
        place, _, own = pattern.rpartition("/")
        return [file_part(path, self.name(path)) for path in _visible(self.path / place, own)]

    def question_files(self) -> list[Part]:
        """The files of questions: one, unless somebody added another."""
        return self.parts("questions.*")

    def questions(self) -> Part:
        """The one file of questions."""
        parts = self.question_files()
        if len(parts) == 1:
            return parts[0]
        message = "there are no questions yet"
        ways: tuple[Remedy, ...] = (Remedy("qassay", "import FOLDER QUESTIONS", "To add them"),)
        if parts:
            names = ", ".join(part.name for part in parts)
            message, ways = f"has several files of questions ({names}); keep one", ()
        elif drafts := self.unpublished():
            message, ways = drafts.message.replace("has", "has no questions, only", 1), drafts.way_out
        raise InputError(Problem("configuration", message, self.name(), way_out=ways))

    def unpublished(self) -> Problem | None:
        """How many drafts wait in the store, and where they are published; nothing where there are none."""
        drafts = 0 if self.stored is None else self.stored.drafts
        if not drafts:
            return None
        count, they = ("1 draft that is", "it") if drafts == 1 else (f"{drafts:,} drafts that are", "them")
        way = Remedy("qassay", f"serve {self.path}", f"To publish {they}, on the page Questions")
        return Problem("configuration", f"has {count} not published yet", self.name(), way_out=(way,))

    def runs(self) -> list[Part]:
        """Runs, sorted by the name of their file."""
        return self.parts("runs/*")

    def files_of_run(self, tag: str) -> list[Part]:
        """Files of the run with this tag: none, or one unless somebody copied it."""
        return [part for part in self.runs() if set_name(part.name) == tag]

    def judgment_sets(self) -> dict[str, Part]:
        """Judgment sets by name."""
        return _by_name(self.parts("judgments/*.jsonl*"))

    def nugget_lists(self) -> dict[str, Part]:
        """Nugget lists by name."""
        return _by_name(self.parts("nuggets/*.jsonl*"))

    def samples(self) -> dict[str, Part]:
        """Drawn samples by name; they are always in the folder itself."""
        return _by_name(Folder(self.path).parts("samples/*.jsonl"))

    def sample_file(self, name: str) -> Path:
        """Where the sample with this name is written."""
        return self.path / "samples" / (file_name(name) + ".jsonl")

    def name(self, path: Path | None = None) -> str:
        """How messages call a file of this folder: by its path within it."""
        if path is None:
            return str(self.path)
        return str(path.relative_to(self.path) if path.is_relative_to(self.path) else path)


def run_file(tag: str, suffix: str) -> str:
    """The name of the part with this run; `suffix` begins with a dot."""
    return f"runs/{file_name(tag)}{suffix}"


def judgment_file(name: str) -> str:
    """The name of the part with this judgment set."""
    return f"judgments/{file_name(name)}.jsonl"


def nugget_file(name: str) -> str:
    """The name of the part with this nugget list."""
    return f"nuggets/{file_name(name)}.jsonl"


def _by_name(parts: list[Part]) -> dict[str, Part]:
    """Parts by the names that those of their files stand for; an error where two have the same, as .jsonl and .gz."""
    by_name: dict[str, Part] = {}
    for part in parts:
        first = by_name.setdefault(set_name(part.name), part)
        if first != part:
            other = PurePath(first.name).name
            message = f"is {set_name(part.name)!r} for a second time: {other} is it too; keep one of them"
            raise InputError(Problem("configuration", message, part.name))
    return by_name


def open_folder(path: Path | str) -> Folder:
    """The folder at this path; an error where it is not an evaluation."""
    folder = Folder(Path(path))
    if not folder.path.is_dir():
        advice = "; make an evaluation with: qassay init FOLDER"
        fault = f"does not exist{files.near_file(folder.path) or advice}"
        if folder.path.exists():
            takes = "compare, describe, plan, sensitivity and stability take a table of scores"
            fault = f"is a file, not an evaluation ({takes}){advice}"
        raise InputError(Problem("configuration", fault, str(path)))
    if not folder.configuration.is_file():
        message = f"{NOT_AN_EVALUATION}; make one with: qassay init FOLDER --task NAME"
        raise InputError(Problem("configuration", message, str(path)))
    return folder


def read_configuration(folder: Folder) -> Configuration:
    """The content of `qassay.toml`; every fault is reported with the key it is in."""
    keys = files.parse_toml(files.read_text(folder.configuration), file=CONFIGURATION)
    problems = Problems(_faults(keys))
    if problems:
        raise InputError(problems)
    drop = keys.get("drop", {})
    return Configuration(
        name=keys.get("name", folder.path.resolve().name),
        task=_task(keys, folder),
        drop={name: reason for name, reason in drop.items() if isinstance(reason, str)},
        drop_from_series={name: rule["reason"] for name, rule in drop.items() if isinstance(rule, dict)},
        justified=tuple(keys.get("justified", ())),
        two_way=tuple(keys.get("two_way", ())),
        automatic=tuple(keys.get("automatic", ())),
        database=keys.get("database"),
        track=track_of(keys.get("track", {})),
    )


def named_database(configuration: Configuration) -> str | None:
    """The address of the database that the variable or, else, `qassay.toml` names."""
    return os.environ.get(VARIABLE) or configuration.database


def may_have_store(folder: Folder, configuration: Configuration) -> bool:
    """Whether an evaluation may have a store: a database is named, or its file is in the folder.

    A file without a byte is not one: `serve` leaves it where the disk was full.
    """
    file = folder.path / DATABASE
    return named_database(configuration) is not None or (file.is_file() and file.stat().st_size > 0)


def with_two_way(text: str, name: str) -> str | None:
    """The text of `qassay.toml` with a set marked as two-way; None where a person has to do it."""
    return with_listed(text, "two_way", name)


def with_listed(text: str, key: str, name: str) -> str | None:
    """The text of `qassay.toml` with a name added to a list of it; None where a person has to do it.

    >>> with_listed('task = "entailment3"', "two_way", "main")
    'two_way = ["main"]\\ntask = "entailment3"'
    >>> with_listed('automatic = ["match"]  # by rule', "automatic", "gpt")
    'automatic = ["match", "gpt"]  # by rule'
    """
    keys = tomllib.loads(text)
    before = keys.get(key, [])
    if name in before:
        return text
    names = [*before, name]
    listed = f"{key} = {json.dumps(names, ensure_ascii=False)}"
    written = re.compile(rf"^{key}[ \t]*=[ \t]*\[[^\]\[]*\]", re.MULTILINE)
    marked = written.sub(lambda _: listed, text, count=1) if key in keys else f"{listed}\n{text}"
    try:
        done = tomllib.loads(marked) == {**keys, key: names}
    except tomllib.TOMLDecodeError:
        done = False
    return marked if done else None


def _visible(folder: Path, pattern: str) -> list[Path]:
    refuse_way_out(folder)
    paths = sorted(path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith("."))
    return [files.refuse_odd_name(path) for path in paths]


def _is_series_rule(rule: Any) -> bool:
    """Whether a rule of `[drop]` is {reason = "...", from = "series"}."""
    return isinstance(rule, dict) and isinstance(rule.get("reason"), str) and rule == {**rule, "from": "series"}


def _faults(keys: Mapping[str, Any]) -> list[Problem]:
    def fault(key: str, message: str) -> Problem:
        return Problem("configuration", f"{key}: {message}", CONFIGURATION)

    problems = Problems()
    for key in ("name", "task", "database"):
        if not isinstance(keys.get(key, ""), str):
            problems.append(fault(key, f"is {keys[key]!r}; it takes a string"))
        elif "\0" in keys.get(key, ""):
            problems.append(fault(key, "contains a null character; remove it"))
    for key in ("justified", "two_way", "automatic"):
        value = keys.get(key, [])
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            problems.append(fault(key, f"is {value!r}; it takes a list of strings"))
    drop = keys.get("drop", {})
    if not isinstance(drop, dict) or not all(isinstance(rule, str) or _is_series_rule(rule) for rule in drop.values()):
        message = 'takes a table of reasons, such as "7" = "never judged" or "7" = {reason = "...", from = "series"}'
        problems.append(fault("drop", message))
    problems += [Problem("configuration", message, CONFIGURATION) for message in track_faults(keys.get("track", {}))]
    if "task" not in keys and "types" not in keys:
        problems.append(fault("task", f"is missing; it is one of {', '.join(tasks.names())}, or a TOML file"))
    return problems


def _task(keys: Mapping[str, Any], folder: Folder) -> Task:
    """The named task, or the one in the named file, with the changes that `qassay.toml` makes to it."""
    name = keys.get("task")
    base: Mapping[str, Any] = {}
    if name is not None and name.endswith(".toml"):
        if not stays_inside(folder.path / name, folder.path):
            message = f"task: {name} lies outside the evaluation; copy it into the folder"
            raise InputError(Problem("configuration", message, CONFIGURATION))
        try:
            base = files.parse_toml(files.read_text(folder.path / name), file=Path(name).name)
        except OSError as error:
            message = f"task: cannot read {Path(name).name}: {error.strerror}"
            raise InputError(Problem("configuration", message, CONFIGURATION)) from None
    elif name is not None:
        try:
            base = task_definition(name)
        except QassayError as error:
            raise InputError(Problem("configuration", f"task: {error}", CONFIGURATION)) from None
    changes = {key: value for key, value in keys.items() if key not in OWN_KEYS}
    definition = merged({"name": keys.get("name", "own"), **base}, changes)
    if "labels" in changes:  # other labels, not more of them
        definition["labels"] = changes["labels"]
    return tasks.from_definition(definition, file=CONFIGURATION)


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The base with the changes laid over it, table by table.

    >>> merged({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}})
    {'a': {'x': 1, 'y': 3}}
    """
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def task_names() -> list[str]:
    """Names of all tasks, those of plug-ins too."""
    return sorted({*tasks.names(), *plugins("task")})


def task_definition(name: str) -> dict[str, Any]:
    """The definition of a task: its TOML file, or the table that a plug-in has."""
    if name in tasks.names():
        return tasks.definition(name)
    if name not in plugins("task"):
        raise unknown("task", name, task_names())
    definition = load_plugin("task", name)
    if not isinstance(definition, Mapping):
        raise broken("task", name, f"it is {type(definition).__name__}, not the table of a task")
    return {"name": name, **definition}


def named_task(name: str) -> Task:
    """A task by name; a plug-in's is checked like any other."""
    if name in tasks.names():
        return tasks.task(name)
    try:
        return tasks.from_definition(task_definition(name), file=name)
    except InputError as error:
        raise broken("task", name, str(error)) from None
