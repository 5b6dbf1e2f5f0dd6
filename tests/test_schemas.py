"""The schemas: what commands print and what files contain is what they say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import qassay
from qassay.cli import VERBS, main
from qassay.demo import DEMOS
from qassay.judging import KINDS
from qassay.schemas import NAMES, OUTPUTS, ROWS, rows, schema

Call = Callable[..., Any]


def _faults(name: str, document: object) -> list[str]:
    return [
        f"{'/'.join(map(str, fault.instance_path))}: {fault.message}"
        for fault in jsonschema_rs.validator_for(schema(name)).iter_errors(document)
    ]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: object, status: int = 0) -> Any:
        assert main([*map(str, arguments), "--json"]) == status
        return json.loads(capsys.readouterr().out)

    return calling


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name: str) -> None:
    document = schema(name)
    jsonschema_rs.meta.validate(document)
    assert document["title"]
    assert _faults(name, {}), "an empty document is refused"
    assert _faults(name, [])


def test_every_command_has_a_schema() -> None:
    assert set(VERBS) - set(OUTPUTS) == {"serve"}


# The files


ROW_OF = {
    "questions.jsonl": "question-row",
    "answers.jsonl": "answer-row",
    "runs.jsonl": "run-information-row",
    "judgments": "judgment-row",
    "nuggets": "nugget-row",
    "runs": "run-row",
    "samples": "sample-row",
}


def _rows(folder: Path) -> list[tuple[str, Path]]:
    wrong = []
    for path in sorted(folder.rglob("*.jsonl")):
        part = path.relative_to(folder).parts[0]
        if part in ROW_OF:
            wrong.append((ROW_OF[part], path))
    return wrong


@pytest.mark.parametrize("demo", DEMOS)
def test_rows_of_the_built_in_evaluations_are_as_described(demo: Any) -> None:
    files = _rows(qassay.demo_folder(demo))
    assert files
    for name, path in files:
        validator = jsonschema_rs.validator_for(schema(name))
        for line in path.read_text(encoding="utf-8").splitlines():
            assert validator.is_valid(json.loads(line)), f"{path.name}: {line}"


def test_rows_that_an_export_writes_are_as_described(tmp_path: Path, call: Call) -> None:
    call("export", qassay.demo_folder("rag"), "--to", tmp_path / "out")
    files = _rows(tmp_path / "out")
    assert {name for name, _ in files} >= {"question-row", "judgment-row", "nugget-row", "run-row"}
    for name, path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert _faults(name, json.loads(line)) == [], f"{path.name}: {line}"


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_name_every_field_of_every_kind(kind: str) -> None:
    """A field that a kind of judgment gains is a field of a row."""
    record = KINDS[kind]
    wanted = {*record.identity, *record.fields, *record.file_fields}
    assert any(wanted <= set(row.__annotations__) | set(rows.Judged.__annotations__) for row in rows.JUDGMENTS)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("question-row", {"id": 7, "type": "factoid", "text": "?"}),
        ("question-row", {"id": "7", "type": "riddle", "text": "?"}),
        ("judgment-row", {"question": "1.1", "text": "x"}),
        ("judgment-row", {"judgment": "R", "text": "x"}),
        ("answer-row", {"question": "1.1"}),
        ("nugget-row", {"question": "1", "nugget": "1", "text": "x", "vital": "yes"}),
        ("run-row", {"question": "1.1", "items": []}),
        ("run-row", {"run": "a", "question": "1.1", "items": ["text"]}),
    ],
)
def test_rows_that_are_wrong_are_refused(name: str, row: dict[str, object]) -> None:
    assert _faults(name, row)


def test_rows_may_carry_more() -> None:
    assert _faults("answer-row", {"question": "1", "answer": "x", "colour": "red"}) == []


# The outputs


def _csv(folder: Path) -> Path:
    path = folder / "scores.csv"
    path.write_text("id,A,B\n" + "".join(f"q{n},{n % 3 / 2},{n % 5 / 4}\n" for n in range(30)), encoding="utf-8")
    return path


COMMANDS: dict[str, tuple[str, list[str]]] = {
    "agree items": ("agree", ["agree", "series"]),
    "agree ratings": ("agree", ["agree", "entailment"]),
    "agree support": ("agree", ["agree", "rag"]),
    "agree people": ("agree", ["agree", "people", "--by", "person"]),
    "check": ("check", ["check", "series"]),
    "compare two": ("compare", ["compare", "scores.csv", "A", "B"]),
    "compare all": ("compare", ["compare", "series"]),
    "compare holm": ("compare", ["compare", "scores.csv", "--method", "holm"]),
    "completion": ("completion", ["completion", "bash"]),
    "demo copy": ("demo", ["demo", "--to", "copied"]),
    "demo": ("demo", ["demo"]),
    "describe": ("describe", ["describe", "series"]),
    "describe question": ("describe", ["describe", "series", "--question", "1.5"]),
    "describe pair": ("describe", ["describe", "entailment", "--question", "2"]),
    "describe table": ("describe", ["describe", "scores.csv"]),
    "export": ("export", ["export", "series", "--to", "exported"]),
    "facts": ("facts", ["facts", "series"]),
    "facts pairs": ("facts", ["facts", "entailment"]),
    "import": ("import", ["import", "series", "more.jsonl"]),
    "init": ("init", ["init", "made", "--task", "qa"]),
    "judge": ("judge", ["judge", "series", "--with", "match"]),
    "trust": ("trust", ["trust", "series", "--assessor", "second", "--against", "first", "--resamples", "20"]),
    "look": ("look", ["look", "scores.csv", "series", "more.jsonl"]),
    "plan": ("plan", ["plan", "series"]),
    "plan table": ("plan", ["plan", "scores.csv"]),
    "pool": ("pool", ["pool", "series"]),
    "report": ("report", ["report", "series"]),
    "report table": ("report", ["report", "scores.csv", "--format", "csv"]),
    "report pages": ("report", ["report", "series", "--by", "organisation", "--to", "result-pages"]),
    "reuse": ("reuse", ["reuse", "series"]),
    "sample": ("sample", ["sample", "series", "--size", "30", "--for", "second", "--sheet", "sheet.jsonl"]),
    "sample rag": ("sample", ["sample", "rag", "--size", "20", "--for", "second", "--sheet", "sheet.html"]),
    "score corrected": (
        "score",
        ["score", "series", "--key", "second", "--correct-with", "adjudicated", "--half-width", "0.1"],
    ),
    "compare corrected": (
        "compare",
        [
            *("compare", "series", "hobby", "egret", "--key", "second", "--correct-with", "adjudicated"),
            *("--gate", "--margin", "1"),
        ],
    ),
    "compare all corrected": ("compare", ["compare", "series", "--key", "second", "--correct-with", "adjudicated"]),
    "reuse with": ("reuse", ["reuse", "rag", "--with", "overlap"]),
    "run": ("run", ["run", "series", "--system", "frequent-name", "--tag", "new"]),
    "schema": ("schema", ["schema"]),
    "score": ("score", ["score", "series"]),
    "score rag": ("score", ["score", "rag"]),
    "score by vote": ("score", ["score", "rag", "--key", "majority", "--unjudged", "wrong"]),
    "score ratings": ("score", ["score", "entailment"]),
    "score beta": ("score", ["score", "series", "--beta", "1-3"]),
    "sensitivity": ("sensitivity", ["sensitivity", "series", "--intervals", "3", "--trials", "5"]),
    "sensitivity bare": ("sensitivity", ["sensitivity", "scores.csv", "--intervals", "0", "--trials", "5"]),
    "sheet": ("sheet", ["sheet", "series", "--assessor", "ada"]),
    "stability": ("stability", ["stability", "series"]),
    "stability tables": ("stability", ["stability", "scores.csv", "scores.csv"]),
}


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for demo in DEMOS:
        shutil.copytree(qassay.demo_folder(demo), tmp_path / demo)
    _csv(tmp_path)
    (tmp_path / "more.jsonl").write_text('{"question": "1.1", "answer": "x"}\n', encoding="utf-8")
    shutil.copytree(qassay.demo_folder("entailment"), tmp_path / "people")
    for path in (tmp_path / "people" / "judgments").iterdir():
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        signed = [json.dumps(row | {"assessor": f"{path.stem}-{place % 3}"}) for place, row in enumerate(rows)]
        path.write_text("\n".join(signed), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_print_what_the_schema_says(case: str, workplace: Path, call: Call) -> None:
    name, arguments = COMMANDS[case]
    if "--correct-with" in arguments:
        drawn = call("sample", "series", "--size", "40", "--for", "second")
        for line in (workplace / "series" / drawn["file"]).read_text(encoding="utf-8").splitlines():
            assert _faults("sample-row", json.loads(line)) == []
    assert _faults(name, call(*arguments)) == []


def test_a_gate_a_backup_and_errors_are_as_described(workplace: Path, call: Call) -> None:
    assert _faults("compare", call("compare", "scores.csv", "A", "B", "--gate", status=4)) == []
    assert _faults("errors", call("score", "nowhere", status=1)) == []
    (workplace / "wrong.csv").write_text("id,A,B\nq1,1,x\n", encoding="utf-8")
    assert _faults("errors", call("compare", "wrong.csv", status=1)) == []
    from qassay.formats.folder import open_folder
    from qassay.store.engine import open_store
    from qassay.store.folder.importing import import_folder

    store = open_store(open_folder(workplace / "series"), create=True)
    import_folder(store, open_folder(workplace / "series"))
    store.close()
    document = call("backup", "series", "--to", "kept.db")
    assert _faults("backup", document) == []
    assert _faults("restore", call("restore", "series", "kept.db")) == []


def test_every_schema_is_tried() -> None:
    # The output of `submit`, which needs a server, is tried by the tests of submissions.
    tried = {name for name, _ in COMMANDS.values()} | {"errors", "backup", "restore", "submit"}
    assert tried == set(OUTPUTS)
    assert set(ROW_OF.values()) == set(ROWS)


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "judgement-row"]) == 2
    assert "did you mean 'judgment-row'?" in capsys.readouterr().err


def test_all_names_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    out = capsys.readouterr().out
    assert [name for name in NAMES if name not in out] == []
