"""Files on their way to become runs, read as an import reads them and stored nowhere: runs, and tables of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from qassay.errors import InputError
from qassay.formats import files
from qassay.formats.folder import Configuration, Folder
from qassay.formats.importing.answers import import_responses
from qassay.formats.importing.plan import Added, Options, Plan, Source
from qassay.formats.recognise import Setting, kind_of
from qassay.formats.runs import RunFiles, read_runs
from qassay.questions import TestSet
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class AsRuns:
    """What was read, and the contents of the runs that were made from tables of answers, by tag."""

    read: RunFiles
    made: Mapping[str, bytes] = field(default_factory=dict)


def read_as_runs(
    paths: Sequence[Path], *, task: Task, questions: TestSet, names: Mapping[Path, str] | None = None
) -> AsRuns:
    """Read and check files as an import would; `names` says how messages call them."""
    called = {path: str((names or {}).get(path, path)) for path in paths}
    setting = Setting(questions.by_id, free_text=True)
    answers = [path for path in paths if task.has("text") and kind_of(files.read_bytes(path), setting) == "responses"]
    made: dict[str, bytes] = {}
    places: dict[Path, str] = {}
    room = files.TemporaryFolder("qassay-answers-")
    for number, path in enumerate(answers):
        plan = Plan(Folder(room.path), Configuration("", task), Options(), questions)
        source = Source(path, called[path], "responses")
        plan.added[source] = Added(source.name, source.kind, "")
        import_responses(plan, [source])
        if plan.problems:
            raise InputError(plan.problems)
        for tag, run in plan.incoming.runs.items():
            place = room.path / f"{number}-{len(made)}.jsonl"
            place.write_bytes(run.data)
            made[tag], places[place] = run.data, called[path]
    others = [path for path in paths if path not in answers]
    return AsRuns(read_runs([*others, *places], task=task, questions=questions, names=called | places), made)
