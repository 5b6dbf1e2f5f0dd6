"""Plug-ins: found by their entry points, loaded when asked for, and named with their package where they fail."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import qassay
from qassay.cli import main
from qassay.collections import open_collection
from qassay.plugins import KINDS, group, load_plugin, plugins
from qassay.questions import Question
from qassay.systems import Asked

MODULE = """
from qassay.assessors import Opinion
from qassay.systems import Answer, Item

class Strict:
    def __init__(self, length):
        self.length = length
        self.name = f"strict-{length}"
    def judge(self, case):
        text = case.part.row.get("text")
        if case.part.kind != "item" or text is None:
            return None
        return Opinion({"judgment": "R" if len(str(text)) <= self.length else "W"}, {"length": len(str(text))})

def strict(evaluation, *, length: int = 5):
    return Strict(length)

def echo(collection, *, word: str = "echo"):
    document = next(iter(collection)).id
    def answer(asked):
        if asked.question.type == "factoid":
            return Answer(nil=True)
        return Answer(items=(Item(word, document),))
    return answer

TASK = {
    "title": "Short answers", "measure": "label_mean", "forms": ["jsonl"],
    "labels": {"good": 1, "bad": 0},
    "types": {"qa": {"response": "text", "score": "label_mean"}},
}
BROKEN_TASK = {"title": "No measure"}
NUMBER = 7
def makes_nothing(evaluation): return None
"""

ENTRIES = """
[qassay.assessors]
strict = plugged:strict
absent = plugged_elsewhere:strict
number = plugged:NUMBER
nothing = plugged:makes_nothing
match = plugged:strict
[qassay.systems]
echo = plugged:echo
number = plugged:NUMBER
[qassay.tasks]
short = plugged:TASK
broken = plugged:BROKEN_TASK
number = plugged:NUMBER
"""


def _install(folder: Path, name: str, entries: str) -> None:
    about = folder / f"{name}-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(entries, encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with plug-ins, installed for this test."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "plugged.py").write_text(MODULE, encoding="utf-8")
    _install(folder, "plugged", ENTRIES)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "plugged", raising=False)
    plugins.cache_clear()
    yield folder
    plugins.cache_clear()
    sys.modules.pop("plugged", None)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(qassay.demo_folder(), tmp_path / "copy"))


Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def calling(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        return status, *capsys.readouterr()

    return calling


def test_an_assessor_of_another_package_judges(installed: Path, copy: Path, call: Call) -> None:
    status, out, err = call("judge", str(copy), "--with", "strict(length=4)", "--json")
    assert status == 0, err
    document = json.loads(out)
    assert document["set"] == "strict-4"
    evaluation = qassay.open(copy)
    rows = evaluation.judgment_set("strict-4").kinds["item"].to_dicts()
    assert len(rows) == document["labels"]["R"] + document["labels"]["W"]
    assert all((row["judgment"] == "R") == (len(row["text"]) <= 4) for row in rows)


def test_a_system_of_another_package_is_driven(installed: Path, copy: Path, call: Call) -> None:
    status, _, err = call("run", str(copy), "--system", "echo", "--set", "word=hello", "--tag", "echoing")
    assert status == 0, err
    (run,) = [path for path in (copy / "runs").iterdir() if path.name.startswith("echoing")]
    assert "hello" in run.read_text(encoding="utf-8")


def test_a_task_of_another_package_is_a_task(installed: Path, tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "new"
    assert call("init", str(folder), "--task", "short")[0] == 0
    assert dict(qassay.open(folder).task.values) == {"good": 1.0, "bad": 0.0}
    status, _, err = call("init", str(tmp_path / "other"), "--task", "shrot")
    assert (status, "did you mean 'short'" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["judge", "COPY", "--with", "absent"], "ModuleNotFoundError: No module named 'plugged_elsewhere'"),
        (["judge", "COPY", "--with", "number"], "it is int, which cannot be called"),
        (["judge", "COPY", "--with", "nothing"], "what it makes is neither a function nor has a method judge"),
        (["run", "COPY", "--system", "number"], "it is int, which cannot be called"),
        (["init", "NEW", "--task", "number"], "it is int, not the table of a task"),
        (["init", "NEW", "--task", "broken"], "measure: is missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_broken_plug_in_is_named_with_its_package(
    installed: Path, copy: Path, tmp_path: Path, call: Call, arguments: list[str], message: str
) -> None:
    places = {"COPY": str(copy), "NEW": str(tmp_path / "new")}
    status, _, err = call(*(places.get(argument, argument) for argument in arguments))
    assert status in (1, 2)
    assert message in err
    assert "plugged 1.2" in err or "broken" in err
    assert not (tmp_path / "new").exists()


def test_built_in_names_stay(installed: Path, copy: Path, call: Call) -> None:
    status, out, _ = call("judge", str(copy), "--with", "match", "--json")
    assert (status, json.loads(out)["set"]) == (0, "match")


def test_two_packages_with_one_name_are_an_error(installed: Path, copy: Path, call: Call) -> None:
    _install(installed, "rival", "[qassay.assessors]\nstrict = rival:strict\n")
    plugins.cache_clear()
    status, _, err = call("judge", str(copy), "--with", "strict")
    assert status == 2
    assert "two packages have a plug-in assessor 'strict'" in err
    assert "rival 1.2" in err


def test_nobody_looks_for_plug_ins_before_a_name_is_unknown() -> None:
    code = (
        "import qassay.plugins as p; p.plugins = None\n"
        "from qassay.cli import main; import sys; sys.exit(main(['score', sys.argv[1]]))"
    )
    command = [sys.executable, "-c", code, str(qassay.demo_folder())]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_the_examples_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: Path, call: Call) -> None:
    """The package that how-to/extend.md shows, installed."""
    page = (Path(__file__).resolve().parent.parent / "docs" / "how-to" / "extend.md").read_text(encoding="utf-8")
    folder = tmp_path / "shown"
    (folder / "my_package").mkdir(parents=True)
    (folder / "my_package" / "__init__.py").touch()
    for name, code in re.findall(r'(?ms)^```python title="([^"]+)"\n(.*?)^```$', page):
        (folder / name).write_text(code, encoding="utf-8")
    shown = re.findall(r'(?m)^\[project.entry-points."(.*?)"\]\n((?:[\w-]+ = ".*?"\n)+)', page)
    assert sorted(name for name, _ in shown) == sorted(map(group, KINDS))
    _install(folder, "my_package", "".join(f"[{name}]\n{lines}" for name, lines in shown).replace('"', ""))
    monkeypatch.syspath_prepend(str(folder))
    plugins.cache_clear()
    try:
        assert json.loads(call("judge", str(copy), "--with", "short(length=12)", "--json")[1])["set"] == "short-12"
        assert call("init", str(tmp_path / "new"), "--task", "my-task")[0] == 0
        system = load_plugin("system", "my-system")(None)
        assert system(Asked(Question("1", "list", "?"))).items == ()
        hits = load_plugin("system", "my-system")(open_collection(copy / "collection"), limit=2)
        assert len(hits(Asked(Question("1", "list", "Marie Curie"))).items) == 2
    finally:
        plugins.cache_clear()
        for name in [name for name in sys.modules if name.startswith("my_package")]:
            del sys.modules[name]
