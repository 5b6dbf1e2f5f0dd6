"""The form of every JSONL row and of every `--json` output, as JSON Schema.

    rows       rows of the files of an evaluation
    scores     documents of scores that commands print
    outputs    documents of all other commands, and what several documents share
    records    the documents of studies, from their records

The types of these files are the one place; the schemas are generated from them, and `qassay schema NAME` prints
one. Keys that are not named are allowed everywhere: rows may carry fields of their own, and outputs may gain keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from qassay.errors import unknown
from qassay.schemas import outputs, rows, scores
from qassay.schemas.records import document_of
from qassay.studies import COMMANDS, study

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# Name, title, and the types that a row or document may have.
ROWS: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    "question-row": ("A row of questions.jsonl", (rows.QuestionRow,)),
    "run-row": ("A row of runs/TAG.jsonl", (rows.ItemsRow, rows.DecisionRow, rows.RagRow)),
    "run-information-row": ("A row of runs.jsonl", (rows.RunInformationRow,)),
    "judgment-row": ("A row of judgments/SET.jsonl", rows.JUDGMENTS),
    "answer-row": ("A row of answers.jsonl", (rows.AnswerRow,)),
    "nugget-row": ("A row of nuggets/SET.jsonl", (rows.NuggetRow,)),
    "sample-row": ("A row of samples/NAME.jsonl", (rows.SampleRow,)),
}
OUTPUTS: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {
    # The documents of a study are its records.
    **{name: (f"qassay {name} --json", ()) for name in COMMANDS},
    "backup": ("qassay backup --json", (outputs.Backup,)),
    "look": ("qassay look --json", (outputs.Look,)),
    "check": ("qassay check --json", (outputs.Check,)),
    "completion": ("qassay completion --json", (outputs.Completion,)),
    "demo": ("qassay demo --json", (scores.Story, outputs.Written)),
    "errors": ("any command with --json that fails with exit status 1", (outputs.Errors,)),
    "export": ("qassay export --json", (outputs.Export,)),
    "import": ("qassay import --json", (outputs.Import,)),
    "init": ("qassay init --json", (outputs.Init,)),
    "judge": ("qassay judge --json", (outputs.Judge, outputs.JudgePlanned, outputs.JudgeNuggets)),
    "pool": ("qassay pool --json", (outputs.Pool,)),
    "report": ("qassay report --json", (outputs.Report, outputs.ResultPages)),
    "restore": ("qassay restore --json", (outputs.Restore,)),
    "run": ("qassay run --json", (outputs.Run,)),
    "schema": ("qassay schema --json", (outputs.Names,)),
    # The scores are an output of their own beside the records of the study.
    "score": ("qassay score --json", (scores.Score,)),
    "sheet": ("qassay sheet --json", (outputs.Sheet,)),
    "submit": ("qassay submit --json", (outputs.Submit,)),
}
NAMES: Final[Mapping[str, tuple[str, tuple[Any, ...]]]] = {**ROWS, **OUTPUTS}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a row or of a command's output."""
    if name not in NAMES:
        raise unknown("schema", name, NAMES)
    title, types = NAMES[name]
    if name in COMMANDS:
        chosen = study(name)
        types += tuple(map(document_of, chosen.documents)) + ((outputs.ByMetric,) if chosen.source == "scores" else ())
    parts, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    body = parts[0] if len(parts) == 1 else {"anyOf": list(parts)}
    return {"$schema": DIALECT, "title": title, **body, "$defs": definitions}
