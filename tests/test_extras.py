"""The base scores and analyses; a command whose extra is missing says the line that installs it, and writes nothing."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import qassay
from on_disk import snapshot
from qassay.extras import EXTRAS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Stands for an environment with the base alone: a module of an extra cannot be found, by import or by asking for it.
# pydantic comes with typer.
BLOCKED = """
import sys
from importlib.machinery import PathFinder
BLOCKED = {blocked!r}
class Blocker(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in BLOCKED else PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [Blocker if finder is PathFinder else finder for finder in sys.meta_path]
import contextlib, io, json
from qassay.cli import main
results = {{}}
for name, arguments in json.loads(sys.argv[1]).items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    results[name] = [status, out.getvalue(), err.getvalue()]
print(json.dumps(results))
"""
WITH_MARKERS = {"uvloop", "httptools"}
BLOCKED = BLOCKED.format(
    blocked={module for modules in EXTRAS.values() for module in modules} - {"pydantic"} | WITH_MARKERS
)

SCORES = "id,A,B\n" + "".join(f"q{unit},{unit % 3 / 2},{unit % 5 / 4}\n" for unit in range(20))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", name)[0]).lower()


def test_the_base_is_small() -> None:
    assert len(PROJECT["dependencies"]) <= 10


def test_modules_of_extras_are_those_of_the_project_file() -> None:
    """Every module belongs to a package that its extra declares; every package that any platform has is listed."""
    packages = importlib.metadata.packages_distributions()
    declared = {
        name: {_normal(line) for line in lines if not line.startswith("qassay[") and ";" not in line}
        for name, lines in PROJECT["optional-dependencies"].items()
    }
    for extra, modules in EXTRAS.items():
        owners = {_normal(packages[module][0]) for module in modules if module in packages}
        absent = [module for module in modules if module not in packages]
        assert owners <= declared[extra], extra
        assert len(owners) + len(absent) == len(declared[extra]), extra


def test_every_extra_is_in_all() -> None:
    whole = re.findall(r"\w+", PROJECT["optional-dependencies"]["all"][0].partition("[")[2])
    assert set(whole) == set(EXTRAS)


BASE_COMMANDS = {
    "version": ["--version"],
    "compare": ["compare", "scores.csv", "A", "B"],
    "all pairs": ["compare", "scores.csv"],
    "sensitivity": ["sensitivity", "scores.csv"],
    "plan": ["plan", "scores.csv"],
    "score": ["score", "DEMO"],
    "check": ["check", "DEMO"],
    "pool": ["pool", "DEMO"],
    "describe": ["describe", "DEMO"],
    "agree": ["agree", "DEMO"],
    "stability": ["stability", "DEMO"],
    "reuse": ["reuse", "DEMO"],
    "judge": ["judge", "copy", "--with", "match"],
    "init": ["init", "new", "--task", "qa"],
    "import": ["import", "copy", "more.jsonl"],
    "export": ["export", "copy", "--to", "out"],
    "help of an extra": ["serve", "--help"],
}
# What is asked for, and the extra that it needs.
EXTRA_COMMANDS = {
    "serve": (["serve", "copy"], "qassay serve", "serve"),
    "demo": (["demo", "--serve", "--to", "served"], "qassay demo", "serve"),
    "sheet": (["sheet", "copy", "--assessor", "ada"], "qassay sheet", "serve"),
    "backup": (["backup", "copy"], "qassay backup", "serve"),
    "restore": (["restore", "copy", "scores.csv"], "qassay restore", "serve"),
    "run": (["run", "copy", "--system", "factoid"], "the system factoid", "search"),
    "ray": (["run", "copy", "--system", "cat", "--ray", "local"], "--ray", "ray"),
    "model": (["judge", "copy", "--with", "llm(model=m, endpoint=http://127.0.0.1:9/v1)"], "the assessor llm", "llm"),
    "judge over ray": (["judge", "copy", "--with", "match", "--ray", "local"], "--ray", "ray"),
    "embedding": (["judge", "copy", "--with", "embedding"], "the assessor embedding", "embed"),
    "report": (["report", "scores.csv"], "qassay report", "figures"),
    "score a store": (["score", "stored"], "stored has a store, and reading it", "serve"),
    "import into a store": (["import", "stored", "more.jsonl"], "stored has a store, and changing it", "serve"),
}


def _prepare(folder: Path) -> Path:
    (folder / "scores.csv").write_text(SCORES, encoding="utf-8")
    (folder / "more.jsonl").write_text('{"question": "1.1", "answer": "x"}\n', encoding="utf-8")
    for name in ("copy", "stored"):
        shutil.copytree(qassay.demo_folder(), folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "stored" / "qassay.db").write_bytes(b"SQLite format 3\0")
    return folder


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _prepare(tmp_path_factory.mktemp("base"))


def _without_extras(place: Path, commands: dict[str, list[str]]) -> dict[str, list[Any]]:
    """Exit status, output and errors of commands, called one after the other where no extra is installed."""
    demo = str(qassay.demo_folder())
    given = {name: [demo if part == "DEMO" else part for part in parts] for name, parts in commands.items()}
    command = [sys.executable, "-c", BLOCKED, json.dumps(given)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results: dict[str, list[Any]] = json.loads(done.stdout)
    return results


def test_the_base_does_without_extras(workplace: Path) -> None:
    results = _without_extras(workplace, BASE_COMMANDS)
    assert {name: errors for name, (status, _, errors) in results.items() if status != 0} == {}


def test_a_missing_extra_is_one_line_to_install(workplace: Path) -> None:
    before = snapshot(workplace)
    results = _without_extras(workplace, {name: command for name, (command, _, _) in EXTRA_COMMANDS.items()})
    for name, (_, what, extra) in EXTRA_COMMANDS.items():
        assert results[name] == [2, "", f"error: {what} needs more: pip install 'qassay[{extra}]'\n"]
    assert snapshot(workplace) == before


def test_other_missing_modules_are_not_extras(tmp_path: Path) -> None:
    """A fault of the program is not disguised as something to install."""
    code = BLOCKED.replace("from qassay.cli", "BLOCKED.add('msgspec')\nfrom qassay.cli")
    command = [sys.executable, "-c", code, json.dumps({"score": ["score", str(qassay.demo_folder())]})]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in done.stderr


@pytest.mark.slow
def test_the_wheel_alone_in_an_empty_environment(tmp_path: Path) -> None:
    """The real thing: the base from the package index in an environment of its own."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", str(ROOT)]
    subprocess.run([*build, "--wheel-dir", str(tmp_path)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    place = tmp_path / "work"
    place.mkdir()
    _prepare(place)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def call(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        command = [str(python.parent / "qassay"), *(str(place / "copy") if a == "DEMO" else a for a in arguments)]
        return subprocess.run(command, cwd=place, env=own, capture_output=True, text=True, check=False)

    for arguments in BASE_COMMANDS.values():
        assert call(arguments).returncode == 0, arguments
    for arguments, what, extra in EXTRA_COMMANDS.values():
        done = call(arguments)
        assert done.stderr == f"error: {what} needs more: pip install 'qassay[{extra}]'\n"
        assert done.returncode == 2
