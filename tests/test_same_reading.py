"""A file is the same thing at every door: what `look` says of it is what `compare`, `report`, Python and `import` read.

The files are those of the documentation, the valid inputs of the fuzz targets and what they broke before, the logs of
other tools, and tables with each name that a field may have.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import polars as pl
import pytest

import qassay
from qassay.cli import main
from qassay.errors import InputError, QassayError
from qassay.formats import fields
from qassay.formats.folder import Folder, open_folder
from qassay.formats.importing import plan_import
from qassay.formats.looking import FileFinding, look
from qassay.formats.recognise import Setting, recognise

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "fuzz"))

import fuzz_targets  # noqa: E402

TITLED = re.compile(r'^```\S* title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# What `look` says of files that are read as scores, alone or beside answers.
ALSO = "It also contains scores."


def of_the_docs() -> Iterator[tuple[str, bytes]]:
    for page in sorted((HERE.parent / "docs").rglob("*.md")):
        for name, text in TITLED.findall(page.read_text(encoding="utf-8")):
            if Path(name).suffix in (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xml"):
                yield f"{page.stem}/{name}", text.encode()


def of_the_fuzz_corpus(work: Path) -> Iterator[tuple[str, bytes]]:
    yield from fuzz_targets._score_files(work).items()
    yield from fuzz_targets._binary_tables(work).items()
    yield from ((f"foreign/{name}", data) for name, data in fuzz_targets._foreign().items())
    evaluations = fuzz_targets._evaluations(work / "valid")
    importable = fuzz_targets._importable(evaluations, fuzz_targets._nist(work))
    yield from ((f"importable/{name}", data) for name, data in importable.items())
    kept = HERE / "fuzz" / "crashes"
    yield from ((f"kept/{path.name}", path.read_bytes()) for path in sorted(kept.rglob("*")) if path.is_file())


def of_every_name() -> Iterator[tuple[str, bytes]]:
    questions, systems = ("q1", "q2", "q3"), ("A", "B")
    for name in (*fields.QUESTION_ID, *fields.UNIT, *fields.QUESTION, "Question ID", "User input"):
        wide = "".join(f"{question},{place % 2},1\n" for place, question in enumerate(questions))
        yield f"names/wide-{name}.csv", f"{name},A,B\n{wide}".encode()
        for system in fields.SYSTEM if name == "id" else ("system",):
            rows = "".join(f"{question},{each},{len(question) % 2}\n" for question in questions for each in systems)
            yield f"names/long-{name}-{system}.csv", f"{name},{system},score\n{rows}".encode()
    for name in fields.QUESTION:
        for answer in fields.ANSWER:
            yield f"names/{name}-{answer}.v2.csv", f"{name},{answer}\nWho wrote it?,x\nWhen was it?,y\n".encode()
    yield "names/blank.csv", b"id,A,B,comment\n1,0,1,\n2,1,1,\n3,0,0,\n"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    work = tmp_path_factory.mktemp("samples")
    paths = {}
    every = [*of_the_docs(), *of_the_fuzz_corpus(tmp_path_factory.mktemp("corpus")), *of_every_name()]
    for place, (name, data) in enumerate(every):
        path = work / str(place) / Path(name).name
        path.parent.mkdir()
        path.write_bytes(data)
        paths[f"{place} {name}"] = path
    assert len(paths) > 200
    return paths


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """An evaluation of answers that has none yet."""
    folder = tmp_path_factory.mktemp("e") / "e"
    with redirect_stdout(io.StringIO()):
        assert main(["init", str(folder), "--task", "qa"]) == 0
    return open_folder(folder)


def printed(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


def looked(path: Path) -> FileFinding | None:
    try:
        return look(path)
    except InputError:
        return None


def test_scores_are_the_same_at_every_door(samples: Mapping[str, Path]) -> None:
    compared = 0
    differing: list[str] = []
    for name, path in samples.items():
        finding = looked(path)
        is_scores = finding is not None and (finding.kind == "scores" or ALSO in finding.details)
        needs_missing = is_scores and any("--missing skip" in step.command for step in finding.steps)  # type: ignore[union-attr]
        options = {"missing": "skip"} if needs_missing else {}
        tables, fault = None, ""
        try:
            tables = qassay.scores(path, metric="all", **options)
        except QassayError as error:
            fault = str(error)
        if is_scores != (tables is not None):
            differing.append(f"{name}: {finding and finding.kind} for look, {tables or fault}")
        if tables is None or finding is None:
            continue
        systems = next(iter(tables.matrices.values())).runs
        if not any(", ".join(systems[:5]) in detail for detail in finding.details):
            differing.append(f"{name}: {systems} for Python, {finding.details} for look")
        if len(tables.matrices) == 1:
            [matrix] = tables.matrices.values()
            alone = qassay.scores(path, **options).matrix
            assert (alone.runs, alone.units, alone.notes) == (matrix.runs, matrix.units, matrix.notes), name
            assert alone.values.tolist() == matrix.values.tolist(), name
        if path.suffix == ".csv" and not name.split()[1].startswith("foreign"):
            text = path.read_text(encoding="utf-8")
            frame = pl.read_csv(io.StringIO(text), separator=";" if ";" in text.split("\n")[0] else ",")
            if not any(";" in row for row in text.split("\n")):
                in_memory = qassay.scores(frame, metric="all", **options)
                assert {n: m.runs for n, m in in_memory} == {n: m.runs for n, m in tables}, name
                assert {n: len(m.units) for n, m in in_memory} == {n: len(m.units) for n, m in tables}, name
        compared += 1
    assert not differing, "\n".join(differing)
    assert compared > 60


def test_answers_and_the_rest_are_the_same_at_every_door(samples: Mapping[str, Path], empty: Folder) -> None:
    imported = 0
    differing: list[str] = []
    for name, path in samples.items():
        finding = looked(path)
        try:
            kind: str | None = recognise(path, setting=Setting(free_text=True))
        except InputError:
            kind = None
        kinds = {kind, "answers"} if kind == "responses" else {kind}  # ids with answers are known answers, too
        if finding is not None and kind is not None:
            assert finding.kind in kinds or ("scores" in finding.kind and kind == "responses"), name
        if kind != "responses" or finding is None or finding.kind != "responses":
            continue
        can_import = not any("cannot be read yet" in text for text in (finding.summary, *finding.details))
        plan, fault = None, ""
        try:
            plan = plan_import(empty, [path])
        except InputError as error:
            fault = str(error)
        if can_import != (plan is not None):
            differing.append(f"{name}: {finding.summary} for look, {fault}")
        if plan is None:
            continue
        said = " ".join((finding.summary, *finding.details))
        assert all(run in said for run in [*plan.incoming.runs][:5]), (name, said)
        imported += 1
    assert not differing, "\n".join(differing)
    assert imported > 30


@pytest.mark.parametrize("verb", ["compare", "describe", "plan", "report", "sensitivity", "stability"])
def test_a_folder_of_logs_is_the_same_at_every_door(verb: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("id,A,B\n1,0,1\n2,1,1\n")
    says = "is not an evaluation: it has no qassay.toml"
    assert says in printed("look", tmp_path / "logs")[1]
    mixtures = [[tmp_path / "logs", tmp_path / "logs" / "a.csv"]] if verb != "stability" else []
    for sources in ([tmp_path / "logs"], *mixtures):
        status, _, err = printed(verb, *sources)
        assert (status, says in err) == (1, True)
    with pytest.raises(InputError, match=says):
        qassay.describe(tmp_path / "logs")
    with pytest.raises(QassayError):
        qassay.scores(tmp_path / "logs")


def test_every_metric_is_never_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,system,f1,em\n" + "".join(f"{n},{s},0.{n},{n % 2}\n" for n in range(1, 9) for s in "AB"))
    status, out, _ = printed("compare", path, "--metric", "all", "--json")
    assert (status, [*json.loads(out)["metrics"]]) == (0, ["f1", "em"])
    status, _, err = printed("report", path, "--metric", "all", "--to", tmp_path / "r.html")
    assert (status, "a report is about one metric" in err) == (2, True)
