"""Files on their way to become runs, read as runs and stored nowhere: runs, and people's own tables of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from qassay.errors import InputError, Problem, Problems, Remedy
from qassay.formats import files
from qassay.formats.answers import keys_for, refuse_other_files
from qassay.formats.folder import Configuration, Folder
from qassay.formats.importing.answers import answers_as_runs
from qassay.formats.importing.plan import ImportPlan, IncomingFile, Options
from qassay.formats.parts import Contents, Part, file_part, part_of
from qassay.formats.recognise import Setting, in_utf_8, kind_of
from qassay.formats.runs import RunFiles, read_runs
from qassay.questions import TestSet
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class AsRuns:
    """What was read, and the contents of the runs that were made from tables of answers, by tag."""

    read: RunFiles
    made: Mapping[str, bytes] = field(default_factory=dict)


def read_as_runs(
    paths: Sequence[Path],
    *,
    task: Task,
    questions: TestSet,
    form: str | None = None,
    options: Options | None = None,
    names: Mapping[Path, str] | None = None,
) -> AsRuns:
    """Read and check files as an import would; `names` says how messages call them."""
    options = options or Options()
    called = {path: str((names or {}).get(path, path)) for path in paths}
    refuse_other_files(options.keys, called.values())
    problems, warnings = Problems(), Problems()
    kinds = {}
    if task.is_free_text and form is None:
        setting = Setting(questions.by_id, free_text=True, encoding=options.encoding, sheet=options.sheet)
        kinds = {
            path: _kind(path, replace(setting, keys=keys_for(options.keys, name))) for path, name in called.items()
        }
    answers = [path for path, kind in kinds.items() if kind == "responses"]
    for path in (path for path, kind in kinds.items() if kind == "unknown"):
        message = "is neither a run nor a table of answers with known keys"
        ways = (Remedy("map", ("id=KEY", "answer=KEY"), "To name its keys"),)
        problems.append(Problem("syntax", message, called[path], way_out=ways))
    made: dict[str, bytes] = {}
    made_parts: list[Part] = []
    if answers:
        plan = ImportPlan(Folder(Path(), Contents({})), Configuration("", task), options, questions)
        try:
            sources = [IncomingFile(path, called[path], "responses") for path in answers]
            for source, tag, data in answers_as_runs(plan, sources):
                made_parts.append(part_of(source.name, data))
                made[tag] = data
        except InputError as error:
            problems += error.problems
        problems += plan.problems
        warnings += plan.warnings
    others = [file_part(path, called[path]) for path in paths if kinds.get(path) not in ("responses", "unknown")]
    read = read_runs(
        [*others, *made_parts],
        task=task,
        questions=questions,
        form=form,
        encoding=options.encoding or "utf-8",
    )
    # The names of files say nothing of the runs that were made.
    made_from = {part.name for part in made_parts}
    warnings += (
        warning for warning in read.warnings if warning.file not in made_from or warning.rule != "configuration"
    )
    problems += read.problems
    return AsRuns(replace(read, problems=problems.kept(), warnings=tuple(warnings)), made)


def _kind(path: Path, setting: Setting) -> str | None:
    """The kind of a file; None where reading it as a run says more than that it is unknown."""
    try:
        data = in_utf_8(files.read_bytes(path), str(path), setting.encoding)
    except (InputError, OSError):
        return None
    is_table = not data.removeprefix(files.BOM).lstrip().startswith(b"{") and b"\0" not in data and data.strip()
    return kind_of(data, setting) or ("unknown" if is_table else None)
