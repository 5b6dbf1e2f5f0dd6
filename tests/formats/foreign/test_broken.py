"""Broken logs get a message with place and advice, and nothing that a stranger sends costs much."""

from __future__ import annotations

import io
import json
import math
import random
import sys
import types
import zipfile
from collections import Counter
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import zstandard

from qassay.errors import InputError, UsageError
from qassay.formats import files, foreign
from qassay.formats.foreign import _names, _scores, _zip, read_log
from qassay.formats.score_rows import ScoreRows
from qassay.plugins import plugins

SAMPLES = Path(__file__).parent / "samples"


def sample(tool: str, name: str) -> Path:
    [path] = SAMPLES.glob(f"{tool}-*/{name}")
    return path


def refusal(path: Path) -> str:
    """The message for a broken file; it begins with the place."""
    with pytest.raises(InputError) as caught:
        read_log(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def read(path: Path) -> ScoreRows:
    rows = read_log(path)
    assert rows is not None
    return rows


def changed(tmp_path: Path, source: Path, change: Callable[[Any], Any]) -> Path:
    """A copy of a JSON file after a change."""
    value = json.loads(source.read_text(encoding="utf-8"))
    path = tmp_path / source.name
    path.write_text(json.dumps(change(value) or value), encoding="utf-8")
    return path


def replaced(tmp_path: Path, source: Path, old: str, new: str, *, times: int = 1) -> Path:
    """A copy of a text file after a replacement."""
    text = source.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / source.name
    path.write_text(text.replace(old, new, times), encoding="utf-8")
    return path


def members(source: Path) -> dict[str, bytes]:
    """The members of a log of Inspect, unpacked by the reader that is tested elsewhere against the scores."""
    archive = _zip.Archive(source.read_bytes(), source, "")
    return {name: archive.read(name) for name in archive.names}


def packed(path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("tool", "name", "says"),
    [
        ("inspect", "alpha.eval", "broken zip file, perhaps only a part of one"),
        ("inspect", "beta.json", "the text ends too early"),
        ("lm_eval", "alpha/samples_facts_choice_*.jsonl", "the text ends too early"),
        ("promptfoo", "repeated.json", "the text ends too early"),
        ("deepeval", "beta.json", "the text ends too early"),
        ("ragas", "beta.csv", "2 cells where the header has 7"),
        ("ragas", "beta.jsonl", "the text ends too early"),
        ("ir_measures", "beta.tsv", "has 2 fields, the lines above 3"),
        ("ir_measures", "beta.trec_eval", "has 2 fields, the lines above 3"),
        ("ir_measures", "beta.jsonl", "the text ends too early"),
        ("mlflow", "beta.csv", "unexpected end of data"),
        ("mlflow", "beta.json", "the text ends too early"),
        ("phoenix", "beta.csv", "not CSV: unexpected end of data"),
        ("phoenix", "alpha.json", "the text ends too early"),
        ("langsmith", "beta.csv", "the header has 9"),
    ],
)
def test_truncated_logs_are_refused_with_advice(tmp_path: Path, tool: str, name: str, says: str) -> None:
    source = sample(tool, name)
    content = source.read_bytes()
    path = tmp_path / source.name
    end = int(0.7 * len(content))
    if "fields" in says:
        end = content.rindex(b"\t") - 1
    elif "2 cells" in says:
        end = content.rindex(b"[") - 1
    path.write_bytes(content[:end])
    message = refusal(path)
    assert says in message
    assert message.endswith(".")
    if path.suffix in (".csv", ".tsv", ".jsonl", ".trec_eval") and "end of data" not in says:
        last_line = len(content[:end].splitlines())
        assert message.startswith(f":{last_line}: ")


def test_inspect_wrong_types_name_the_place(tmp_path: Path) -> None:
    def no_model(log: Any) -> None:
        log["eval"]["model"] = 5

    assert ": eval.model is a whole number; expected a text." in refusal(
        changed(tmp_path, sample("inspect", "beta.json"), no_model)
    )

    def no_scores(log: Any) -> None:
        log["samples"][1]["scores"] = [1]

    assert ": samples[1].scores is a list; expected an object or nothing." in refusal(
        changed(tmp_path, sample("inspect", "beta.json"), no_scores)
    )


def test_inspect_missing_keys_name_the_place(tmp_path: Path) -> None:
    def no_model(log: Any) -> None:
        del log["eval"]["model"]

    message = refusal(changed(tmp_path, sample("inspect", "beta.json"), no_model))
    assert ": eval has no 'model'." in message
    assert "inspect log dump" in message


def test_inspect_zip_that_is_not_a_log(tmp_path: Path) -> None:
    message = refusal(packed(tmp_path / "notes.eval", {"readme.txt": b"hello"}))
    assert "is a zip file but not a log of Inspect" in message
    assert read_log(packed(tmp_path / "book.xlsx", {"[Content_Types].xml": b"<x/>"})) is None


def test_inspect_member_that_is_broken(tmp_path: Path) -> None:
    source = sample("inspect", "alpha.eval")
    content = bytearray(source.read_bytes())
    place = content.rindex(zstandard.FRAME_HEADER) + 40
    content[place] ^= 0xFF
    path = tmp_path / "alpha.eval"
    path.write_bytes(bytes(content))
    assert "member header.json is broken" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_inspect_run_that_was_killed_is_read_from_its_journal(tmp_path: Path, method: int) -> None:
    source = sample("inspect", "alpha.eval")
    journal = {name: content for name, content in members(source).items() if name.startswith("_journal/")}
    rows = read(packed(tmp_path / "alpha.eval", journal, method))
    whole = read(source)
    assert sorted(zip(rows.questions, rows.metrics, rows.repeats, rows.values, strict=True)) == sorted(
        zip(whole.questions, whole.metrics, whole.repeats, whole.values, strict=True)
    )
    assert "the run did not end" in str(rows.warnings[0])


def test_inspect_log_without_summaries_is_read_from_its_samples(tmp_path: Path) -> None:
    source = sample("inspect", "alpha.eval")
    chosen = {name: content for name, content in members(source).items() if name == "header.json" or "samples/" in name}
    rows = read(packed(tmp_path / "alpha.eval", chosen))
    assert sorted(rows.values) == sorted(read(source).values)


def test_inspect_run_without_a_single_score_is_refused(tmp_path: Path) -> None:
    start = {"_journal/start.json": members(sample("inspect", "alpha.eval"))["_journal/start.json"]}
    message = refusal(packed(tmp_path / "alpha.eval", start))
    assert "contains no scores. The run was interrupted (status started); run `inspect eval-retry`" in message


def test_inspect_unknown_versions_are_read_with_a_warning(tmp_path: Path) -> None:
    def later(log: Any) -> None:
        log["version"] = 7
        log["eval"]["packages"]["inspect_ai"] = "9.1.0"

    rows = read(changed(tmp_path, sample("inspect", "beta.json"), later))
    assert len(rows) == 12
    assert "has version 7 of Inspect's log format" in str(rows.warnings[0])
    assert "was written by Inspect 9.1.0, which was not tried" in str(rows.warnings[1])


def test_inspect_text_among_numbers_is_an_error_and_only_text_is_left_out(tmp_path: Path) -> None:
    def one_text(log: Any) -> None:
        log["samples"][0]["scores"]["match"]["value"] = "splendid"

    message = refusal(changed(tmp_path, sample("inspect", "beta.json"), one_text))
    assert ": question 'moon', metric match: 'splendid' is not a number." in message

    def all_text(log: Any) -> None:
        for each in log["samples"]:
            each["scores"]["match"]["value"] = "splendid"

    rows = read(changed(tmp_path, sample("inspect", "beta.json"), all_text))
    assert "match" not in rows.metrics
    assert "Left out because it has no numbers: match." in rows.notes


def test_values_that_are_not_there_are_missing_and_never_0(tmp_path: Path) -> None:
    def unscored(log: Any) -> None:
        log["samples"][0]["scores"]["match"]["value"] = math.nan
        log["samples"][1]["scores"]["graded"]["value"] = None

    rows = read(changed(tmp_path, sample("inspect", "beta.json"), unscored))
    missing = [
        (metric, repeat)
        for metric, repeat, value in zip(rows.metrics, rows.repeats, rows.values, strict=True)
        if math.isnan(value)
    ]
    assert missing == [("match", "1"), ("graded", "2")]


def test_lm_eval_lines_that_are_broken(tmp_path: Path) -> None:
    source = sample("lm_eval", "alpha/samples_facts_choice_*.jsonl")
    text = source.read_text(encoding="utf-8")
    path = tmp_path / source.name
    for old, new, says in (
        ('"doc_id": 2', '"doc_id": [2]', ":3: has a doc_id that is neither"),
        ('"doc_id": 2, ', "", ":3: has no doc_id"),
        ('"acc": 0.0', '"acc": "high"', ":1: question 'facts_choice/0', metric acc: 'high' is not a number"),
        ('"acc": 0.0, ', "", ":1: lists the metric 'acc' but has no value"),
        ('"metrics": ["acc", "acc_norm"]', '"metrics": "acc"', ":1: metrics is not a list of names"),
    ):
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        message = refusal(path)
        assert message.startswith(says)
        assert message.endswith("Use the file as `lm_eval --log_samples` wrote it.")


def test_lm_eval_means_of_tasks_are_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "results_2026.json"
    path.write_text(json.dumps({"results": {"facts": {"acc,none": 0.5}}, "group_subtasks": {}, "configs": {}}))
    assert "Run lm_eval with --log_samples and use its samples_*.jsonl." in refusal(path)


def test_promptfoo_results_that_are_broken(tmp_path: Path) -> None:
    source = sample("promptfoo", "repeated.json")

    def text_score(file: Any) -> None:
        file["results"]["results"][0]["score"] = "high"

    def no_score(file: Any) -> None:
        del file["results"]["results"][1]["score"]

    def no_list(file: Any) -> None:
        file["results"]["results"] = 3

    def nothing(file: Any) -> None:
        file["results"]["results"] = []

    for change, says in (
        (text_score, ": question 'moon', metric score: 'high' is not a number."),
        (no_score, ": results.results[1] has no 'score'."),
        (no_list, ": results.results is a whole number; expected a list."),
        (nothing, ": contains no scores."),
    ):
        message = refusal(changed(tmp_path, source, change))
        assert message.startswith(says)
        assert message.endswith("Export the results again: promptfoo export eval ID --output results.json.")


def test_promptfoo_tests_are_distinguished_and_prompts_are_systems(tmp_path: Path) -> None:
    def result(provider: str, prompt: str, place: int, **test: Any) -> dict[str, Any]:
        case = {"vars": test["vars"], "description": test.get("description"), "assert": test.get("check")}
        return {
            "provider": {"id": provider, "label": ""},
            "prompt": {"raw": prompt, "label": prompt},
            "promptIdx": 0,
            "testIdx": place,
            "vars": test["vars"],
            "testCase": case,
            "score": place / 10,
        }

    results = [
        result("a", "short", 0, vars={"q": "x"}, description="same"),
        result("a", "short", 1, vars={"q": "y"}, description="same"),
        result("a", "short", 2, vars={"q": "z"}, check=[1]),
        result("a", "short", 3, vars={"q": "z"}, check=[2]),
        result("a", "long", 4, vars={"q": "z"}, check=[2]),
    ]
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 4, "results": results}}), encoding="utf-8")
    rows = read(path)
    assert rows.questions == ["same: x", "same: y", "z", "z (2)", "z (2)"]
    assert rows.systems == ["a, short"] * 4 + ["a, long"]
    assert rows.repeats == [""] * 5
    assert "has version 4 of promptfoo's results" in str(rows.warnings[0])


def test_deepeval_runs_that_are_broken(tmp_path: Path) -> None:
    source = sample("deepeval", "alpha.json")

    def no_name(run: Any) -> None:
        del run["testCases"][2]["metricsData"][0]["name"]

    def no_list(run: Any) -> None:
        run["testCases"] = {"a": 1}

    def text_score(run: Any) -> None:
        run["testCases"][0]["metricsData"][0]["score"] = "high"

    for change, says in (
        (no_name, ": testCases[2].metricsData[0] has no 'name'."),
        (no_list, ": testCases is an object; expected a list."),
        (text_score, ": question 'france', metric Exact Match: 'high' is not a number."),
    ):
        message = refusal(changed(tmp_path, source, change))
        assert message.startswith(says)
        assert message.endswith("or evaluate again with DEEPEVAL_RESULTS_FOLDER set.")


def test_deepeval_cases_without_names_are_named_by_their_input(tmp_path: Path) -> None:
    def unnamed(run: Any) -> None:
        run["identifier"] = None
        for place, case in enumerate(run["testCases"]):
            case["name"] = f"test_case_{place}"

    rows = read(changed(tmp_path, sample("deepeval", "alpha.json"), unnamed))
    assert rows.questions[0] == "What is the capital of France?"
    assert set(rows.systems) == {"alpha"}


@pytest.mark.parametrize(
    ("tool", "name", "old", "new", "says"),
    [
        (
            "ragas",
            "beta.csv",
            "Paris,1.0,",
            "Paris,high,",
            ":2: question 'What is the capital of France?', metric exact",
        ),
        ("ragas", "beta.csv", "What is the capital of France?", "", ":2: has no user_input"),
        ("ragas", "beta.csv", "exact_match,non_llm", "user_input,non_llm", ":1: two columns are called 'user_input'"),
        (
            "ragas",
            "beta.jsonl",
            '{"user_input":"Who walked',
            '{user_input":"Who walked',
            ":3: this line is not JSON: ",
        ),
        (
            "langsmith",
            "beta.csv",
            "Paris,True,",
            "Paris,high,",
            ":2: question 'What is the capital of France?', metric",
        ),
        ("langsmith", "beta.csv", "Paris,True,1.0,", "Paris,True,1.0,,", ":2: 10 cells where the header has 9"),
        ("mlflow", "beta.csv", ",1.0,True,", ",1.0,high,", ":2: question 'What is the capital of France?', metric"),
        ("mlflow", "beta.json", ',"Paris",1.0]', ',"Paris"]', ": data row 1 has 3 values, there are 4 columns"),
        ("mlflow", "beta.json", '"data":[[', '"data":[7,[', ": data[0] is a whole number; expected a list."),
        ("phoenix", "beta.csv", "RGF0YXNldEV4YW1wbGU6MQ==", "", ":2: has no example_id"),
        (
            "phoenix",
            "beta.csv",
            ",True,1.0,",
            ",True,high,",
            ":2: question 'What is the capital of France?', metric exact",
        ),
        ("phoenix", "alpha.json", '"name": "exact",', "", "an annotation has no name"),
        (
            "phoenix",
            "alpha-evals.csv",
            "\nfrance,What is the capital of France?",
            "\n,",
            ":2: has no column that names",
        ),
        ("ir_measures", "beta.tsv", "water\tAP\t", "water\tAP\tx", ":4: question 'water', metric AP: 'x"),
        ("ir_measures", "beta.tsv", "water\tAP\t", "water\t", ":4: has 2 fields, the lines above 3"),
        ("ir_measures", "beta.jsonl", '"measure": "AP", ', "", ":1: has no 'measure'"),
    ],
)
def test_tables_that_are_broken(tmp_path: Path, tool: str, name: str, old: str, new: str, says: str) -> None:
    source = sample(tool, name)
    if tool == "mlflow" and name == "beta.csv" and old not in source.read_text(encoding="utf-8"):
        old, new = ",True,1.0,", ",high,1.0,"
    if says.startswith(":1: has no 'measure'"):
        # The first line recognises the file; the second is the broken one.
        text = source.read_text(encoding="utf-8")
        first, rest = text.split("\n", 1)
        path = tmp_path / source.name
        path.write_text(first + "\n" + rest.replace('"measure": ', '"mesure": ', 1), encoding="utf-8")
        says = ":2: has no 'measure'"
    else:
        path = replaced(tmp_path, source, old, new)
    message = refusal(path)
    assert says in message
    assert message.endswith(".")


def test_frames_of_several_systems_have_a_column_that_names_them(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("user_input,response,model,faithfulness\nWho?,x,a,1\nWho?,y,b,0.5\n")
    assert read(path).systems == ["a", "b"]


def test_four_columns_of_ir_measures_name_the_system(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    path.write_text("a q1 nDCG@10 0.5\nb q1 nDCG@10 0.7\na all nDCG@10 0.5\n")
    rows = read(path)
    assert (rows.systems, rows.questions, rows.values) == (["a", "b"], ["q1", "q1"], [0.5, 0.7])
    assert rows.notes == ["1 mean over all topics (topic 'all') left out."]


@pytest.mark.parametrize(
    "text",
    [
        "qid,A,B\nq1,1,0\n",
        "question,system,score\nq1,a,1\n",
        "qid,A/score,B/score\nq1,1,0\n",
        "q1 0.5 0.7\nq2 0.1 0.2\n",
        "user_input,response,reference\nWho?,x,y\n",
        '{"id": "q1", "score": 1}\n',
        '{"question": "Who?", "answer": "x", "contexts": []}\n',
        '{"results": [1, 2]}',
        "[1, 2]",
        "",
        "\n\n",
        '"unterminated',
    ],
)
def test_tables_of_the_users_own_are_nobodys_log(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    assert read_log(path) is None


def test_packed_logs_are_read(tmp_path: Path) -> None:
    source = sample("ragas", "beta.csv")
    path = tmp_path / "beta.csv.zst"
    path.write_bytes(zstandard.compress(source.read_bytes()))
    assert read(path).values == read(source).values
    assert set(read(path).systems) == {"beta"}


def test_archives_that_unpack_to_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = members(sample("inspect", "alpha.eval"))["header.json"]
    bomb = packed(tmp_path / "bomb.eval", {"header.json": header, "summaries.json": b" " * (50 << 20)})
    assert bomb.stat().st_size < 100_000
    monkeypatch.setattr(files, "_ALWAYS_UNPACKED", 1 << 20)
    assert "summaries.json: unpacks to more than 200 times its size" in refusal(bomb)
    monkeypatch.setattr(_zip, "MOST_UNPACKED", 1 << 20)
    assert "summaries.json: unpacks to more than 1 MiB" in refusal(bomb)
    monkeypatch.setattr(_zip, "MOST_MEMBERS", 1)
    assert "has more than 1 members" in refusal(bomb)


def test_logs_that_are_too_large_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MOST_BYTES", 1000)
    path = tmp_path / "beta.json"
    path.write_bytes(sample("deepeval", "beta.json").read_bytes())
    assert "Split the log, or export its scores as a table." in refusal(path)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('{"version": 2, "status": "success", "eval": {"model": "m", "plan": ' + "[" * 100_000)
    assert "cannot be read as JSON: it is nested too deeply." in refusal(path)
    path.write_text('{"evalId": "x", "results": {"results": [{"vars": ' + '{"a":' * 100_000)
    assert "cannot be read as JSON: it is nested too deeply." in refusal(path)


@pytest.mark.parametrize(("old", "new"), [('"france"', '"fr\\ud800"'), ('"flaky"', '"fl\\uD800"')])
def test_half_characters_are_refused(tmp_path: Path, old: str, new: str) -> None:
    """In a text and in a name; no file can contain them."""
    path = replaced(tmp_path, sample("deepeval", "alpha.json"), old, new)
    assert refusal(path).startswith(": cannot be read as JSON: a text has half a character (a lone surrogate). ")


@pytest.mark.parametrize("text", ["1e400", "Infinity", "-Infinity", "1e200", "9" * 400, "9" * 5000])
def test_numbers_that_are_not_scores_are_refused(tmp_path: Path, text: str) -> None:
    source = sample("deepeval", "alpha.json")
    assert refusal(replaced(tmp_path, source, '"score": 1.0', f'"score": {text}'))


def test_names_have_no_control_characters_and_stay_apart(tmp_path: Path) -> None:
    assert _names.name("a\x1b[31m\nb\u202e\u2028c\ud800") == "a [31m b c"
    long = ["x" * 5000 + end for end in "ab"]
    assert _names.name(long[0]) != _names.name(long[1])
    assert max(len(_names.name(text)) for text in long) <= _names.LONGEST_NAME
    path = tmp_path / "a.csv"
    path.write_text("user_input,response,metric\x07\n\x1b]0;title\x07Who?,x,1\n")
    rows = read(path)
    assert (rows.questions, rows.metrics) == (["]0;title Who?"], ["metric"])


def test_numbers_are_read_as_tools_write_them() -> None:
    assert [_scores.number(value) for value in (True, "False", "0.5", "", "NaN", None, 3)] == [
        1,
        0,
        0.5,
        None,
        None,
        None,
        3,
    ]
    for value in ("1_000", "x", [1], {"a": 1}, math.inf):
        with pytest.raises(ValueError):  # noqa: PT011
            _scores.number(value)


INSERTED = (
    b'"',
    b"{",
    b"[",
    b"null",
    b"-1e999",
    b"\0",
    b"\xff",
    b"NaN",
    b",",
    b"\n",
    b"\t",
    b"{}",
    b"true",
    b"\xed\xa0\x80",
)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_logs_are_read_refused_or_nobodys(tmp_path: Path, seed: int) -> None:
    """Whatever happened to a file, the only error is one that names it."""
    draw = random.Random(seed)
    names = ("README.md", "printed.json", "questions.json")
    sources = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.name not in names)
    outcomes = Counter[str]()
    for _ in range(100):
        source = draw.choice(sources)
        content = bytearray(source.read_bytes())
        for _ in range(draw.choice((1, 2, 5, 30))):
            place = draw.randrange(len(content) + 1)
            content[place : place + draw.choice((0, 1, 5, 200))] = draw.choice(INSERTED)
        path = tmp_path / source.name
        path.write_bytes(bytes(content))
        try:
            rows = read_log(path)
        except InputError as error:
            outcomes["refused" if str(error).startswith(str(path)) else "without a place"] += 1
        else:
            outcomes["nobody's" if rows is None else "read"] += 1
            assert rows is None or not any(map(math.isinf, rows.values))
    assert set(outcomes) == {"refused", "nobody's", "read"}


def test_plug_ins_read_logs_that_nobody_else_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("their_reader")
    rows = ScoreRows(form="their log", file="x")
    module.__dict__.update(
        NAME="theirs",
        VERSIONS=("1",),
        looks_like=lambda path, head: head.startswith(b"THEIRS"),
        read=lambda path, content: rows,
    )
    monkeypatch.setitem(sys.modules, "their_reader", module)
    plug_ins = [EntryPoint("theirs", "their_reader", "qassay.formats")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: plug_ins if group == "qassay.formats" else [])
    foreign._plug_ins.cache_clear()
    plugins.cache_clear()
    path = tmp_path / "log.theirs"
    path.write_bytes(b"THEIRS 1")
    assert read_log(path) is rows
    foreign._plug_ins.cache_clear()
    del module.read
    with pytest.raises(UsageError, match=r"the format 'theirs' is a plug-in .* and fails: .* read"):
        read_log(path)
    foreign._plug_ins.cache_clear()
    plugins.cache_clear()


def test_reading_loads_no_heavy_library() -> None:
    import subprocess

    code = (
        "import sys; from pathlib import Path; from qassay.formats.foreign import read_log; "
        "read_log(Path(sys.argv[1])); print(*sorted(set(sys.modules) & {'polars', 'numpy', 'pandas', 'scipy'}))"
    )
    command = [sys.executable, "-c", code, str(sample("inspect", "alpha.eval"))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""


def test_archives_are_read_from_memory() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a", b"1")
    assert _zip.Archive(content.getvalue(), Path("x"), "").read("a") == b"1"
