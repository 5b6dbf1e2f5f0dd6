"""The content of a file, and the commands for it. Nothing is computed, and nothing is written.

`look` asks one recogniser after the other: logs of other tools and tables of scores, the kinds that `import` knows, and
people's own tables of answers and judgments. `hint` puts the finding into one sentence, for a command that cannot read
its input.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qassay import tasks
from qassay.errors import InputError, Remedy, few, with_way_out
from qassay.formats import files
from qassay.formats.answers import JUDGMENT_KEYS, AnswerTable, read_answers
from qassay.formats.cells import COUNTED_AS_ZERO, SKIP_OR_ZERO
from qassay.formats.columns import OneSystemError
from qassay.formats.folder import NOT_AN_EVALUATION, Folder, read_configuration
from qassay.formats.foreign import read_log
from qassay.formats.links import CONFIGURATION
from qassay.formats.names import set_name
from qassay.formats.questions import parse_questions
from qassay.formats.recognise import KINDS, Setting, in_utf_8, kind_of
from qassay.formats.tables import is_binary, parse_table
from qassay.formats.tables.table import RawTable
from qassay.judging import LABEL_FIELDS
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.formats.scores import ScoreTables

# The evaluation in the commands that are proposed.
FOLDER = "my-eval"
# What people call the label of a judgment.
_LABELS = JUDGMENT_KEYS["judgment"]
# Commands that take scores.
_SCORE_VERBS = ("compare", "sensitivity", "plan", "describe", "stability", "report")


@dataclass(frozen=True, slots=True)
class NextStep:
    """A command to run next, and what it does."""

    command: str
    purpose: str


@dataclass(frozen=True, slots=True)
class FileFinding:
    """The kind of a file, its content, and the commands for it."""

    file: str
    kind: str
    summary: str
    details: tuple[str, ...] = ()
    steps: tuple[NextStep, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The row of `look --json`."""
        steps = [{"command": step.command, "purpose": step.purpose} for step in self.steps]
        details = list(self.details)
        return {"file": self.file, "kind": self.kind, "summary": self.summary, "details": details, "commands": steps}


@dataclass(frozen=True, slots=True)
class _File:
    """A file that is looked at, and the sheet that is meant where it is a workbook."""

    path: Path
    data: bytes
    sheet: str | None = None

    @property
    def quoted(self) -> str:
        """The file in a command, with its sheet."""
        return shlex.quote(str(self.path)) + (f" --sheet {shlex.quote(self.sheet)}" if self.sheet else "")

    def table(self) -> RawTable:
        """The file as a table."""
        return parse_table(self.data, file=str(self.path), sheet=self.sheet)

    def scores(self, source: object = None, **options: Any) -> ScoreTables:
        """The file as scores."""
        from qassay.formats.scores import read_scores

        return read_scores(source or self.path, sheet=self.sheet, **options)


def look(path: Path, sheet: str | None = None) -> FileFinding:
    """The content of a file or folder; an error only where it cannot be read at all."""
    if path.is_dir():
        return _folder(path)
    data = files.read_bytes(path)
    if not data.strip():
        return FileFinding(str(path), "empty", "is empty.")
    file = _File(path, in_utf_8(data, str(path), None), sheet)
    if sheet is not None:
        file.table()  # without the sheet there is nothing to look at
    findings = [finding for recogniser in _RECOGNISERS if (finding := _asked(recogniser, file)) is not None]
    if not findings:
        return _unknown(file)
    first = findings[0]
    # A file of answers may have their scores too, and a log of another tool the answers.
    also = {"responses": "It also contains answers that can be judged.", "scores": "It also contains scores."}
    for other in findings[1:]:
        if {first.kind, other.kind} == also.keys():
            details = (*first.details, also[other.kind], *other.details)
            return replace(first, details=details, steps=(*first.steps, *other.steps))
    return first


def hint(path: Path, verb: str = "") -> str:
    """The likely kind of a file and the command for it, in one sentence.

    Empty where nothing is known, and where one of the commands is the one that was just tried (`verb`).
    """
    try:
        finding = look(path)
    except (InputError, OSError):
        return ""
    known = finding.steps and finding.kind != "unknown"
    if not known or (finding.kind == "scores" and verb in _SCORE_VERBS):
        return ""
    if any(step.command.split()[1:2] == [verb] for step in finding.steps):
        return ""
    return f"{finding.file} {finding.summary} Try: {finding.steps[0].command}"


def together(findings: Sequence[FileFinding]) -> list[NextStep]:
    """Commands for several files at once: answers of several systems, scores of several systems."""
    steps = []
    for kind, command, purpose in (
        ("responses", "qassay import {folder} {files} --task qa", "import the answers of all systems"),
        ("scores", "qassay compare {files}{metric}", "compare the systems of all files"),
    ):
        same = [finding for finding in findings if finding.kind == kind]
        if len(same) > 1:
            files = " ".join(shlex.quote(finding.file) for finding in same)
            # The metric that the commands for the first file name, where there are several.
            _, option, metric = (same[0].steps[0].command if same[0].steps else "").partition(" --metric ")
            steps.append(NextStep(command.format(folder=FOLDER, files=files, metric=option + metric), purpose))
    return steps


Recogniser = Callable[[_File], FileFinding | None]


def _asked(recogniser: Recogniser, file: _File) -> FileFinding | None:
    """The answer of a recogniser; a file that it cannot read is not of its kind."""
    try:
        return recogniser(file)
    except InputError:
        return None


# ---- scores ---------------------------------------------------------------------------------------------------------


def _log(file: _File) -> FileFinding | None:
    """The log of another tool."""
    path = file.path
    rows = read_log(path) if file.sheet is None else None
    if rows is None:
        return None
    systems, questions = list(dict.fromkeys(rows.systems)), dict.fromkeys(rows.questions)
    details = [f"{plural(len(systems), 'system')}: {few(systems)}", plural(len(questions), "question")]
    metrics = [name for name in dict.fromkeys(rows.metrics) if name]
    repeats = len({name for name in rows.repeats if name})
    details += [f"{plural(len(metrics), 'metric')}: {few(metrics)}"] if metrics else []
    details += [plural(repeats, "repeat")] if repeats > 1 else []
    details += [str(warning) for warning in rows.warnings]
    steps = _score_steps(file, systems, metrics)
    finding = FileFinding(str(path), "scores", f"contains scores: {rows.form}.", tuple(details), steps)
    return _skipping(finding) if _has_gaps(file) else finding


def _has_gaps(file: _File) -> bool:
    """Whether scores can be read only where missing ones are left out."""
    for missing in ("stop", "skip"):
        try:
            file.scores(metric="all", missing=missing)
        except InputError:
            continue
        return missing == "skip"
    return False


def _scores(file: _File) -> FileFinding | None:
    """A table of scores, wide or long."""
    path = file.path
    try:
        tables = file.scores(metric="all")
    except OneSystemError:
        tables = file.scores([f"{path.name.split('.')[0]}={path}"], metric="all")
    except InputError:
        if file.data[:1] in (b"{", b"["):
            raise
        tables = file.scores(metric="all", missing="zero")  # a table with empty cells is a table of scores
        return _with_gaps(file, tables)
    return _table_of_scores(file, tables)


def _with_gaps(file: _File, tables: ScoreTables) -> FileFinding:
    """A table in which scores are missing: commands stop there without --missing."""
    finding = _table_of_scores(file, tables)
    advice = "; ".join(f"{option.purpose}: {option.on_command_line()}" for option in SKIP_OR_ZERO) + "."
    details = (
        f"{detail.replace(f' {COUNTED_AS_ZERO}', '')} {advice}" if COUNTED_AS_ZERO in detail else detail
        for detail in finding.details
    )
    return _skipping(replace(finding, details=tuple(details)))


def _skipping(finding: FileFinding) -> FileFinding:
    """The same with commands that leave out questions without a score."""
    steps = (replace(step, command=f"{step.command} --missing skip") for step in finding.steps)
    return replace(finding, steps=tuple(steps))


def _table_of_scores(file: _File, tables: ScoreTables) -> FileFinding:
    first = next(iter(tables.matrices.values()))
    details = [f"{plural(len(first.runs), 'system')}: {few(first.runs)}"]
    details += [f"metrics: {few(tables.matrices)}"] if len(tables.matrices) > 1 else []
    details += dict.fromkeys(note for _, matrix in tables for note in matrix.notes)
    return FileFinding(
        str(file.path),
        "scores",
        f"contains scores: {tables.read}.",
        tuple(details),
        _score_steps(file, first.runs, list(tables.matrices)),
    )


def _score_steps(file: _File, systems: Sequence[str], metrics: Sequence[str]) -> tuple[NextStep, ...]:
    """The commands for scores; those of one system are compared with another file."""
    scores = file.quoted
    chosen = f" --metric {shlex.quote(metrics[0])}" if len(metrics) > 1 else ""
    if len(systems) < 2:
        return (NextStep(f"qassay compare {scores} OTHER{chosen}", "is it better than the system of another file"),)
    return (
        NextStep(f"qassay compare {scores}{chosen}", "which systems differ by more than chance"),
        NextStep(f"qassay sensitivity {scores}{chosen}", "how large a difference must be to repeat"),
        NextStep(f"qassay plan {scores}{chosen}", "how many questions a wanted difference needs"),
    )


# ---- what import knows ----------------------------------------------------------------------------------------------


def _importable(file: _File) -> FileFinding | None:
    """Questions, runs, judgments and the rest, as `import` recognises them."""
    path = file.path
    kind = kind_of(file.data, Setting(free_text=True, sheet=file.sheet))
    if kind is None:
        return None
    if kind == "responses":
        try:
            table = read_answers(file.table(), {})
        except InputError as error:
            return _faulty_responses(file, error)
        if all(_is_id(row.question) for row in table.rows) and not table.has_ids:
            kind = "answers"
        else:
            return _responses(file, table)
    details, before = _contents(kind, file)
    purpose = "add it to an evaluation" + (" (--automatic: a program judged)" if kind == "judgments" else "")
    steps = (*before, NextStep(f"qassay import {FOLDER} {file.quoted}", purpose))
    return FileFinding(str(path), kind, f"contains {KINDS[kind]}.", tuple(details), steps)


def _is_id(text: str) -> bool:
    return not any(character.isspace() for character in text)


def _responses(file: _File, table: AnswerTable) -> FileFinding:
    """Answers with keys of people's own."""
    keys = [f"{name} in {key!r}" for name, key in table.keys.of.items()]
    details = [f"{table.records.form}, {plural(len(table.rows), 'row')}", f"keys: {', '.join(keys)}"]
    if table.answered:
        systems = table.systems or [set_name(file.path)]
        from_name = "" if table.systems else " (the file's name; --run names another)"
        details.append(f"{plural(len(systems), 'system')}: {few(systems)}{from_name}")
        if empty := sum(not (row.text or "").strip() for row in table.rows):
            details.append(plural(empty, "empty answer"))
    if not table.has_ids:
        details.append("no ids: questions are known by their text")
    if table.keys.left_out:
        details.append(f"not used: {few(table.keys.left_out)}")
    steps = [NextStep(f"qassay import {FOLDER} {file.quoted} --task qa", "make an evaluation of it")]
    if table.answered:
        steps.append(NextStep(f"qassay serve {FOLDER}", "judge the answers in the browser"))
    if table.answered and any(row.gold for row in table.rows):
        steps.append(
            NextStep(f'qassay judge {FOLDER} --with "match(normalise=true)"', "compare them with the gold answers")
        )
    contents = "answers in free text" if table.answered else "questions with gold answers"
    return FileFinding(str(file.path), "responses", f"contains {contents}.", tuple(details), tuple(steps))


def _faulty_responses(file: _File, error: InputError) -> FileFinding:
    """Answers with something to decide or to correct before they can be imported."""
    details = [problem.message for problem in error.problems[:5]]
    step = NextStep(f"qassay import {FOLDER} {file.quoted} --task qa", "when this is corrected, or with --map")
    return FileFinding(
        str(file.path), "responses", "contains answers that cannot be read yet.", tuple(details), (step,)
    )


def _contents(kind: str, file: _File) -> tuple[list[str], list[NextStep]]:
    """The counts of a file of this kind, and the steps before its import."""
    name, data = str(file.path), file.data
    if kind == "questions":
        counts = parse_questions(data, file=name).questions.counts()
        fitting = [each for each in tasks.names() if counts.keys() <= tasks.task(each).types.keys()]
        task_name = fitting[0] if len(fitting) == 1 else "NAME"
        details = [", ".join(plural(number, f"{type_} question") for type_, number in counts.items())]
        details += [f"tasks with such questions: {', '.join(fitting)}"] if fitting else []
        return details, [NextStep(f"qassay init {FOLDER} --task {task_name}", "make an evaluation for them")]
    if kind == "run":
        check = NextStep(f"qassay check {file.quoted} --in {FOLDER}", "find errors before it is added")
        return _lines(data), [check]
    if kind in ("judgments", "nuggets", "answers"):
        return _counted(kind, file.table()), []
    return _lines(data), []


def _lines(data: bytes) -> list[str]:
    return [plural(sum(bool(line.strip()) for line in data.split(b"\n")), "line")]


def _counted(kind: str, table: RawTable) -> list[str]:
    """Numbers of rows and questions, labels and runs."""
    rows = [row for _, row in table.rows()]
    questions = {str(row.get("question", row.get("id"))) for row in rows}
    details = [f"{plural(len(rows), 'row')} about {plural(len(questions), 'question')}"]
    for key, noun in (*((name, "label") for name in dict.fromkeys((*LABEL_FIELDS, *_LABELS))), ("run", "run")):
        if kind == "judgments" and (values := Counter(str(row[key]) for row in rows if row.get(key) is not None)):
            listed = [f"{value} ({count:,})" for value, count in values.most_common()]
            details.append(f"{noun}s: {few(listed, 8)}")
    return details


# ---- everything else ------------------------------------------------------------------------------------------------


def _documents(file: _File) -> FileFinding | None:
    """Documents of a collection."""
    if file.data.removeprefix(files.BOM).lstrip()[:5].lower() != b"<doc>":
        return None
    step = NextStep(f"cp {file.quoted} {FOLDER}/collection/", "make it part of the collection")
    return FileFinding(str(file.path), "documents", "contains documents.", (), (step,))


def _folder(path: Path) -> FileFinding:
    """An evaluation, or any other folder."""
    where = shlex.quote(str(path))
    if not (path / CONFIGURATION).is_file():
        step = NextStep(f"qassay look {where}/*", "look at the files in it")
        return FileFinding(str(path), "folder", f"{NOT_AN_EVALUATION}.", (), (step,))
    task = read_configuration(Folder(path)).task
    steps = (
        NextStep(f"qassay check {where}", "what is in it, and what is wrong with it"),
        NextStep(f"qassay serve {where}", "judge in the browser"),
        NextStep(f"qassay score {where}", "scores and leaderboard"),
        NextStep(f"qassay compare {where}", "which systems differ by more than chance"),
    )
    return FileFinding(str(path), "evaluation", f"is an evaluation with the task {task.name}: {task.title}.", (), steps)


def _unknown(file: _File) -> FileFinding:
    """A file of no known kind: its columns, and what to say about them."""
    steps: tuple[NextStep, ...] = ()
    try:
        columns = file.table().names()
        is_table = len(columns) > 1
        details = [f"keys: {few(columns, 12)}"] if is_table else []
    except InputError as error:
        is_table = is_binary(file.data)
        details = [] if is_table else [str(problem) for problem in error.problems[:1]]
    if is_table and (fault := _not_scores(file)):
        details.append(f"no scores that can be read: {fault}")
        steps = (NextStep(f"qassay compare {file.quoted}", "when this is corrected, if it contains scores"),)
    steps = (
        *steps,
        NextStep(
            f"qassay import {FOLDER} {file.quoted} --map question=KEY,answer=KEY --task qa", "if it contains answers"
        ),
        NextStep(f"qassay import {FOLDER} {file.quoted} --as KIND", f"if it is one of {', '.join(KINDS)}"),
    )
    return FileFinding(str(file.path), "unknown", "is not recognised.", tuple(details), steps)


def _not_scores(file: _File) -> str:
    """The first reason why a table cannot be read as scores."""
    try:
        file.scores(missing="zero")
    except InputError as error:
        return with_way_out(error.problems[0].message, error.problems[0].way_out, Remedy.on_command_line)
    return ""


_RECOGNISERS: tuple[Recogniser, ...] = (_documents, _log, _importable, _scores)
