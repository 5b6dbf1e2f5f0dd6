"""Every sample that a released tool wrote is read, and the scores are those that the answers deserve."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from qassay.formats import foreign
from qassay.formats.foreign import read_log
from qassay.formats.score_rows import ScoreRows

SAMPLES = Path(__file__).parent / "samples"
ROOT = Path(__file__).parents[3]
QUESTIONS: list[dict[str, Any]] = json.loads((SAMPLES / "questions.json").read_text(encoding="utf-8"))
BY_ID = {row["id"]: row for row in QUESTIONS}
BY_TEXT = {row["question"]: row for row in QUESTIONS}
SYSTEMS = ("alpha", "beta")

Key = tuple[str, str, str, str]


def folder(tool: str) -> Path:
    [folder] = SAMPLES.glob(f"{tool}-*")
    return folder


def logs() -> list[Path]:
    other = ("README.md", "printed.json", "questions.json")
    return sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.name not in other)


def read(path: Path) -> ScoreRows:
    rows = read_log(path)
    assert rows is not None
    return rows


def scores(rows: ScoreRows) -> dict[Key, float]:
    keys = list(zip(rows.systems, rows.questions, rows.metrics, rows.repeats, strict=True))
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, rows.values, strict=True))


def same(got: dict[Key, float], wanted: dict[Key, float]) -> None:
    assert got.keys() == wanted.keys()
    for key, value in wanted.items():
        assert got[key] == pytest.approx(value, nan_ok=True), key


def means(rows: ScoreRows) -> dict[str, float]:
    values = defaultdict(list)
    for metric, value in zip(rows.metrics, rows.values, strict=True):
        if not math.isnan(value):
            values[metric].append(value)
    return {metric: sum(parts) / len(parts) for metric, parts in values.items()}


def exact(answer: str, gold: str) -> float:
    return float(answer == gold)


def recall(answer: str, gold: str) -> float:
    return len(set(gold.split()) & set(answer.split())) / len(gold.split())


def grade(answer: str, gold: str) -> float:
    return 1.0 if answer == gold else 0.5 if recall(answer, gold) else 0.0


def printed(tool: str) -> Any:
    return json.loads((folder(tool) / "printed.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", logs(), ids=lambda path: path.relative_to(SAMPLES).as_posix())
def test_exactly_one_reader_recognises_each_sample(path: Path) -> None:
    readers = [tool.NAME for tool in foreign.tools() if tool.looks_like(path, path.read_bytes()[: foreign.HEAD])]
    assert len(readers) == 1
    assert read(path).file == str(path)


@pytest.mark.parametrize("tool", foreign.tools(), ids=lambda tool: tool.NAME)
def test_each_tool_has_samples_of_the_versions_it_names(tool: foreign.Reader) -> None:
    versions = {path.name.rpartition("-")[2] for path in SAMPLES.iterdir() if path.is_dir()}
    assert tool.VERSIONS
    assert set(tool.VERSIONS) <= versions
    assert tool.FILES
    assert tool.READS


def test_each_sample_says_how_it_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import foreign_samples

    folders = {path.name: path for path in SAMPLES.iterdir() if path.is_dir()}
    assert set(folders) == {tool.folder for tool in foreign_samples.TOOLS}
    for tool in foreign_samples.TOOLS:
        assert (folders[tool.folder] / "README.md").read_text(encoding="utf-8") == foreign_samples.readme(tool)
        assert (ROOT / "scripts" / "foreign" / tool.program).is_file()
        assert any(tool.version in package for package in (*tool.packages, *tool.npm))


def test_the_reader_of_the_page_reads(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "other-tools.md").read_text(encoding="utf-8")
    [program] = re.findall(r'(?s)```python title="my_reader.py"\n(.*?)```', page)
    names: dict[str, Any] = {}
    exec(program, names)
    content = b"MY TOOL\na q1 1\nb q1 0.5\n"
    assert names["looks_like"](tmp_path, content)
    assert names["read"](tmp_path, content).values == [1, 0.5]


def test_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 275_000


def test_other_files_of_the_samples_are_nobodys_log() -> None:
    assert read_log(SAMPLES / "questions.json") is None
    assert read_log(folder("inspect") / "printed.json") is None
    assert read_log(folder("inspect")) is None


def inspect_scores(system: str, questions: list[dict[str, Any]]) -> dict[Key, float]:
    wanted: dict[Key, float] = {}
    for row in questions:
        for epoch, answer in enumerate(row["answers"][system], 1):
            values = {"match": exact(answer, row["gold"]), "exact": exact(answer, row["gold"])}
            values |= {"graded": grade(answer, row["gold"]), "words/recall": recall(answer, row["gold"])}
            values |= {"words/length": len(answer.split()), "non_empty": float(bool(answer))}
            for metric, value in values.items():
                wanted[f"mockllm/{system}", row["id"], metric, str(epoch)] = value
    return wanted


@pytest.mark.parametrize("system", SYSTEMS)
def test_inspect_archives_have_every_scorer_and_epoch(system: str) -> None:
    rows = read(folder("inspect") / f"{system}.eval")
    assert rows.form == "Inspect log"
    same(scores(rows), inspect_scores(system, QUESTIONS[2:]))
    assert "C, I, P, N count as 1, 0, 0.5, 0, as in Inspect." in rows.notes
    assert not rows.warnings
    by_tool = printed("inspect")[f"{system}.eval"]["metrics"]
    for metric, mean in means(rows).items():
        names = [f"{metric.rpartition('/')[2]}/mean", f"{metric}/accuracy"]
        assert mean == pytest.approx(next(by_tool[name] for name in names if name in by_tool))


def test_inspect_json_is_read_like_an_archive() -> None:
    same(scores(read(folder("inspect") / "beta.json")), inspect_scores("beta", QUESTIONS[2:3]))


def test_inspect_run_that_was_interrupted_is_read_with_a_warning() -> None:
    rows = read(folder("inspect") / "broken-off.eval")
    got = scores(rows)
    wanted = {key: value for key, value in inspect_scores("alpha", [BY_ID["moon"]]).items() if key[3] == "1"}
    assert {key: value for key, value in got.items() if key[1] == "moon"} == wanted
    assert all(math.isnan(value) for key, value in got.items() if key[1] != "moon")
    [warning] = rows.warnings
    assert "interrupted (status error)" in str(warning)
    assert "inspect eval-retry" in str(warning)


@pytest.mark.parametrize("system", SYSTEMS)
def test_lm_eval_choices_are_those_of_the_likelihoods(system: str) -> None:
    [path] = (folder("lm_eval") / system).glob("samples_facts_choice_*.jsonl")
    got = scores(read(path))
    wanted: dict[Key, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        likelihoods = [float(part[0]) for part in row["filtered_resps"]]
        lengths = [len(choice) for choice in row["doc"]["choices"]]
        by_length = [value / length for value, length in zip(likelihoods, lengths, strict=True)]
        for metric, values in (("acc", likelihoods), ("acc_norm", by_length)):
            key = (system, f"facts_choice/{row['doc_id']}", metric, "")
            wanted[key] = float(values.index(max(values)) == int(row["target"]))
    same(got, wanted)
    by_tool = printed("lm_eval")[system]["facts_choice"]
    assert means(read(path)) == pytest.approx({name: by_tool[f"{name},none"] for name in ("acc", "acc_norm")})


def test_lm_eval_filters_are_metrics_of_their_own() -> None:
    [path] = (folder("lm_eval") / "alpha").glob("samples_facts_text_*.jsonl")
    by_tool = printed("lm_eval")["alpha"]["facts_text"]
    metrics = ("exact_match,strict", "exact_match,first-word")
    assert means(read(path)) == pytest.approx({metric: by_tool[metric] for metric in metrics})


def test_promptfoo_has_two_systems_two_repeats_and_named_scores() -> None:
    rows = read(folder("promptfoo") / "repeated.json")
    wanted: dict[Key, float] = {}
    for place, row in enumerate(QUESTIONS[2:]):
        question = (
            row["id"]
            if place % 2 == 0
            else json.dumps(
                {"gold": row["gold"], "question": row["question"]}, ensure_ascii=False, separators=(",", ":")
            )
        )
        for system in SYSTEMS:
            for repeat, answer in enumerate(row["answers"][system], 1):
                values = {"exact": exact(answer, row["gold"]), "recall": recall(answer, row["gold"])}
                values["score"] = (values["exact"] + values["recall"]) / 2
                for metric, value in values.items():
                    failed = (system, row["id"], repeat) == ("beta", "river", 1)
                    wanted[system, question, metric, str(repeat)] = math.nan if failed else value
    same(scores(rows), wanted)
    assert rows.default_metric == "score"
    assert "1 call of a provider failed" in str(rows.warnings[0])


@pytest.mark.parametrize("system", SYSTEMS)
def test_deepeval_metrics_that_failed_are_missing(system: str) -> None:
    wanted: dict[Key, float] = {}
    for row in QUESTIONS:
        answer = row["answers"][system][0]
        values = {"Exact Match": exact(answer, row["gold"]), "Word Recall": recall(answer, row["gold"])}
        for metric, value in values.items():
            wanted[f"facts with {system}", row["id"], metric, ""] = value if answer else math.nan
    same(scores(read(folder("deepeval") / f"{system}.json")), wanted)


@pytest.mark.parametrize("name", ["alpha.csv", "beta.csv", "beta.jsonl"])
def test_ragas_frames_have_the_means_that_ragas_prints(name: str) -> None:
    system = name.partition(".")[0]
    rows = read(folder("ragas") / name)
    for (_, question, metric, _), value in scores(rows).items():
        if metric == "exact_match":
            row = BY_TEXT[question]
            assert value == exact(row["answers"][system][0], row["gold"])
    by_tool = dict(re.findall(r"'([^']+)': ([\d.]+)", printed("ragas")[system]))
    assert {metric: f"{mean:.4f}" for metric, mean in means(rows).items()} == by_tool


def test_a_frame_that_a_spreadsheet_saved_is_the_same_log(tmp_path: Path) -> None:
    source = folder("ragas") / "beta.csv"
    path = tmp_path / source.name
    path.write_bytes(("sep=,\r\n" + source.read_text(encoding="utf-8")).encode("utf-16"))
    assert scores(read(path)) == scores(read(source))


@pytest.mark.parametrize("system", SYSTEMS)
def test_ir_measures_and_trec_eval_agree_with_their_own_means(system: str) -> None:
    precise = read(folder("ir_measures") / f"{system}.jsonl")
    text = read(folder("ir_measures") / f"{system}.tsv")
    trec = read(folder("ir_measures") / f"{system}.trec_eval")
    assert set(precise.systems) == set(text.systems) == set(trec.systems) == {system}
    assert scores(text) == {key: round(value, 4) for key, value in scores(precise).items()}
    for (name, topic, metric, _), value in scores(trec).items():
        same_measure = {"map": "AP", "P_5": "P@5"}[metric]
        assert scores(text)[name, topic, same_measure, ""] == value
    summary = [line.split() for line in (folder("ir_measures") / f"{system}.tsv").read_text().splitlines()]
    wanted = {measure: value for topic, measure, value in summary if topic == "all"}
    assert {measure: f"{mean:.4f}" for measure, mean in means(precise).items()} == wanted
    assert "3 means over all topics (topic 'all') left out." in text.notes


@pytest.mark.parametrize("name", ["alpha.csv", "beta.csv", "beta.jsonl"])
def test_mlflow_scorers_are_read_and_expectations_left_out(name: str) -> None:
    system = name.partition(".")[0]
    rows = read(folder("mlflow") / name)
    asked = QUESTIONS if name.endswith("csv") else [BY_TEXT[question] for question in set(rows.questions)]
    wanted: dict[Key, float] = {}
    for row in asked:
        answer = row["answers"][system][0]
        wanted[system, row["question"], "exact", ""] = exact(answer, row["gold"])
        wanted[system, row["question"], "recall", ""] = recall(answer, row["gold"]) if answer else math.nan
    same(scores(rows), wanted)
    if name.endswith("csv"):
        by_tool = {metric.removesuffix("/mean"): value for metric, value in printed("mlflow")[system].items()}
        assert means(rows) == pytest.approx(by_tool)


@pytest.mark.parametrize("system", SYSTEMS)
def test_mlflow_table_of_the_older_interface(system: str) -> None:
    wanted = {
        (system, row["question"], "word_recall", ""): recall(row["answers"][system][0], row["gold"])
        for row in QUESTIONS
    }
    same(scores(read(folder("mlflow") / f"{system}.json")), wanted)


@pytest.mark.parametrize("system", SYSTEMS)
def test_phoenix_experiments_have_their_repetitions(system: str) -> None:
    path = folder("phoenix") / f"{system}.csv"
    wanted: dict[Key, float] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for cells in csv.DictReader(file):
            question, gold = json.loads(cells["input"])["question"], json.loads(cells["reference_output"])["answer"]
            assert cells["output"] in BY_TEXT[question]["answers"][system]
            for metric, function in (("exact", exact), ("recall", recall)):
                wanted[system, question, metric, cells["repetition_number"]] = function(cells["output"], gold)
    assert len(wanted) == 2 * 2 * len(QUESTIONS)
    same(scores(read(path)), wanted)
    if system == "alpha":
        same(scores(read(path.with_suffix(".json"))), wanted)


@pytest.mark.parametrize("system", SYSTEMS)
def test_phoenix_frames_of_evaluators(system: str) -> None:
    wanted = {
        (f"{system}-evals", row["id"], "exact", ""): exact(row["answers"][system][0], row["gold"]) for row in QUESTIONS
    }
    same(scores(read(folder("phoenix") / f"{system}-evals.csv")), wanted)


@pytest.mark.parametrize("system", SYSTEMS)
def test_langsmith_feedback(system: str) -> None:
    wanted: dict[Key, float] = {}
    for row in QUESTIONS:
        answer = row["answers"][system][0]
        wanted[system, row["question"], "exact_match", ""] = exact(answer, row["gold"])
        wanted[system, row["question"], "word_recall", ""] = recall(answer, row["gold"])
    rows = read(folder("langsmith") / f"{system}.csv")
    same(scores(rows), wanted)
    assert rows.lines is not None
    assert rows.lines[0] == 2
