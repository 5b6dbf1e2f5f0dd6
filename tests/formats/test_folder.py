"""The folder of an evaluation, and what its qassay.toml says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qassay.errors import InputError
from qassay.formats.folder import Folder, merged, open_folder, read_configuration, run_file, with_two_way
from qassay.formats.names import file_name, name_fault, set_name


def folder(tmp_path: Path, text: str) -> Folder:
    (tmp_path / "qassay.toml").write_text(text, encoding="utf-8")
    return open_folder(tmp_path)


def faults(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_configuration(folder(tmp_path, text))
    assert {problem.rule for problem in caught.value.problems} == {"configuration"}
    return [problem.message for problem in caught.value.problems]


def test_the_shortest_configuration(tmp_path: Path) -> None:
    configuration = read_configuration(folder(tmp_path, 'task = "series2004"'))
    assert (configuration.name, configuration.task.name, configuration.drop, configuration.two_way) == (
        tmp_path.name,
        "series2004",
        {},
        (),
    )


def test_everything_a_configuration_may_say(tmp_path: Path) -> None:
    text = """
name = "Ours"
task = "series2004"
two_way = ["main"]
justified = ["75"]
database = "postgresql+psycopg://x"
[drop]
"7" = "never judged"
[types.other]
score = "nugget_f(beta=1)"
"""
    configuration = read_configuration(folder(tmp_path, text))
    assert (configuration.name, configuration.drop, configuration.two_way) == ("Ours", {"7": "never judged"}, ("main",))
    assert (configuration.justified, configuration.database) == (("75",), "postgresql+psycopg://x")
    assert configuration.task.types["other"].score == "nugget_f(beta=1)"
    assert configuration.task.types["other"].weight == 0.25


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'name = "own"\ntitle = "Own"\nmeasure = "accuracy"\nforms = ["jsonl"]\nlabels = ["R", "W"]\n'
        '[types.factoid]\nresponse = "one"\nscore = "accuracy"\n'
    )
    assert read_configuration(folder(tmp_path, 'task = "own.toml"')).task.title == "Own"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["task: is missing"]),
        ("task = [", ["is not TOML"]),
        (f"task = {'[' * 5000}{']' * 5000}", ["is nested too deeply"]),
        ('task = "seris2004"', ["did you mean 'series2004'"]),
        ("task = 7", ["task: is 7"]),
        ('task = "series2004"\nname = 3\njustified = "75"\ntwo_way = [1]\n[drop]\n7 = 8', [
            "name: is 3", "justified: is '75'", "two_way: is [1]", "drop: takes",
        ]),
        ('task = "series2004"\nmesure = "x"', ["mesure"]),
        ('task = "none.toml"', ["cannot read none.toml"]),
    ],
)  # fmt: skip
def test_faults_of_a_configuration(tmp_path: Path, text: str, says: list[str]) -> None:
    messages = faults(tmp_path, text)
    assert len(messages) == len(says)
    assert all(part in message for part, message in zip(says, messages, strict=True))


@pytest.mark.parametrize("data", [b"\xff\xfe\0", b"\0", b"task = '\xe9'"])
def test_a_configuration_that_is_not_text(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "qassay.toml").write_bytes(data)
    with pytest.raises(InputError):
        read_configuration(open_folder(tmp_path))


def test_a_folder_that_is_not_an_evaluation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, says in ((tmp_path / "no", "does not exist"), (tmp_path / "file", "and stability take a table")):
        with pytest.raises(InputError, match=says):
            open_folder(path)
    with pytest.raises(InputError, match=re.escape("has no qassay.toml")):
        open_folder(tmp_path)


def test_places(tmp_path: Path) -> None:
    for name in (
        "runs/B.txt",
        "runs/A.jsonl.gz",
        "runs/.hidden",
        "judgments/llm%3Agpt.jsonl",
        "nuggets/first.jsonl.zst",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    opened = folder(tmp_path, "")
    assert [part.name for part in opened.runs()] == ["runs/A.jsonl.gz", "runs/B.txt"]
    assert {name: part.name for name, part in opened.judgment_sets().items()} == {
        "llm:gpt": "judgments/llm%3Agpt.jsonl"
    }
    assert list(opened.nugget_lists()) == ["first"]
    assert run_file("a b", ".txt") == "runs/a%20b.txt"
    assert opened.name(tmp_path / "runs" / "B.txt") == "runs/B.txt"


def test_one_file_of_questions(tmp_path: Path) -> None:
    opened = folder(tmp_path, "")
    with pytest.raises(InputError, match="there are no questions yet"):
        opened.questions()
    (tmp_path / "questions.xml").write_text("")
    assert opened.questions().name == "questions.xml"
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(InputError, match="several files of questions"):
        opened.questions()


@given(
    st.text(min_size=1, max_size=12),
    st.sampled_from(["", ".txt", ".jsonl", ".run.txt", ".json"]),
    st.sampled_from([".jsonl", ".txt", ".jsonl.gz", ".txt.zst"]),
)
def test_names_survive_as_file_names(stem: str, end: str, suffix: str) -> None:
    name = stem + end
    assume(name_fault(name) is None)
    escaped = file_name(name)
    assert re.fullmatch(r"[A-Za-z0-9._%-]+", escaped)
    assert not escaped.startswith(".")
    assert set_name(Path(escaped + suffix)) == name


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a\tb", "a\x7fb", "a\u2028b", "a\u00a0b", "a\ud800", "x" * 201])
def test_names_that_cannot_be(name: str) -> None:
    assert name_fault(name)


@pytest.mark.parametrize("name", ["a", "..", "Ünï", "llm:gpt-4", "x" * 200, "%2F"])
def test_names_that_can_be(name: str) -> None:
    assert name_fault(name) is None


def test_marking_a_two_way_set() -> None:
    assert with_two_way('task = "x"\n[drop]\na = "b"\n', "main") == 'two_way = ["main"]\ntask = "x"\n[drop]\na = "b"\n'
    assert with_two_way('two_way = ["main"]', "main") == 'two_way = ["main"]'
    assert with_two_way('two_way = ["other"]', "main") == 'two_way = ["other", "main"]'
    assert with_two_way('x = 1\ntwo_way = [\n "a",\n]  # why\n', "b") == 'x = 1\ntwo_way = ["a", "b"]  # why\n'
    # A list that is spelled in a way that cannot be changed safely is left to a person.
    assert with_two_way('two_way = ["a]"]', "main") is None


def test_changes_are_laid_over_table_by_table() -> None:
    assert merged({"a": {"x": {"y": 1}}, "b": [1]}, {"a": {"x": {"z": 2}}, "b": [2]}) == {
        "a": {"x": {"y": 1, "z": 2}},
        "b": [2],
    }
