"""One call of `qassay run` once its options are read: a system is asked, and its run is written."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qassay.errors import InputError, Problem, UsageError

if TYPE_CHECKING:
    from qassay.collections import Collection
    from qassay.evaluation import Evaluation
    from qassay.systems.harness import DriveOptions, Log, UnderTest


@dataclass(frozen=True)
class RunJob:
    """Everything about one call of the command."""

    evaluation: Evaluation
    system: UnderTest
    tag: str
    form: str
    about: tuple[str | None, str | None]
    collection: Collection | None
    options: DriveOptions

    def run(self, *, restart: bool, force: bool) -> dict[str, Any]:
        """Ask, write the run, and tell what was done."""
        from qassay.cli.output import progress
        from qassay.formats.names import file_name
        from qassay.systems.harness import Log, drive
        from qassay.systems.harness.log import header

        evaluation = self.evaluation
        self._refuse_existing(force=force)
        head = header(self.tag, self.system.spelling, evaluation.task.name, evaluation.questions)
        path = evaluation.folder.path / "logs" / (file_name(self.tag) + ".jsonl")
        begun = time.monotonic()
        if self.collection is not None and self.system.searches:
            _index(self.collection)
        with Log(path, head, evaluation.questions, restart=restart or (force and _is_finished(path))) as log:
            kept = len(log.answers)
            try:
                with progress(f"asking {self.tag}") as update:
                    answers = drive(
                        self.system,
                        evaluation.questions,
                        task=evaluation.task,
                        log=log,
                        collection=self.collection,
                        options=self.options,
                        progress=update,
                    )
            except KeyboardInterrupt:
                print(f"{len(log.answers)} answers are kept: the same command goes on from there", file=sys.stderr)
                raise
            written = self._write(answers)
            log.finish()
            return self._result(written, log, kept=kept, seconds=time.monotonic() - begun)

    def _write(self, answers: Mapping[str, Any]) -> str:
        """Write the run to runs/ or, where the evaluation has one, to its store; how messages call its file."""
        from qassay.formats.files import TemporaryFolder
        from qassay.formats.folder import Folder
        from qassay.runs import RunInformation
        from qassay.systems.harness import write_run

        evaluation = self.evaluation
        own = evaluation.folder
        organisation, description = self.about
        place = own if own.written is None else Folder(own.path, TemporaryFolder())
        written = write_run(
            place,
            self.tag,
            answers,
            task=evaluation.task,
            questions=evaluation.questions,
            form=self.form,
            information=RunInformation(organisation, description),
            lengths=self.collection.lengths() if self.collection is not None else None,
        )
        if place is not own:
            from qassay.store.engine import open_store
            from qassay.store.folder.importing import import_folder

            store = open_store(own)
            try:
                import_folder(store, place, replace=True)
            finally:
                store.close()
        return place.name(written)

    def _refuse_existing(self, *, force: bool) -> None:
        from qassay.formats.names import name_fault

        if fault := name_fault(self.tag):
            raise UsageError(f"the run tag {self.tag!r} {fault}")
        there = self.evaluation.folder.files_of_run(self.tag)
        if there and not force:
            name = self.evaluation.folder.name(there[0])
            message = "is there already; choose another --tag, or replace it with --force"
            raise InputError(Problem("configuration", message, name))

    def _result(self, written: str, log: Log, *, kept: int, seconds: float) -> dict[str, Any]:
        answers = log.answers.values()
        folder = self.evaluation.folder
        return {
            "run": self.tag,
            "system": self.system.spelling,
            "file": written,
            "stored": folder.written is not None,
            "log": folder.name(log.path),
            "questions": len(log.answers),
            "continued": kept,
            "nil": sum(answer.nil for answer in answers),
            "empty": sum(not (answer.nil or answer.items or answer.decision) for answer in answers),
            "failed": [one for one in self.evaluation.questions.ids if one in log.failed],
            "seconds": round(seconds, 3),
        }


def _index(collection: Collection) -> None:
    """Make the indexes before the first question, whose time-out they are no part of."""
    for passages in (True, False):
        collection.index(passages=passages)


def _is_finished(path: Path) -> bool:
    return path.exists() and b'\n{"finished"' in path.read_bytes()
