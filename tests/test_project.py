"""The project's own house rules: what committed files hold, and what the wheel ships."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import qassay
from qassay import tasks

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(qassay.__file__).parent
# Left out of every walk: what .gitignore names, and git itself.
IGNORED = {
    line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line and not line.startswith("*")
}
TEXT = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ".jsonl", ".svg", ".css", ".json", ""}


def _files() -> list[Path]:
    """The files that a commit would hold: git's own list, or a walk where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        tracked = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        tracked = [path for path in ROOT.rglob("*") if not IGNORED & set(path.relative_to(ROOT).parts)]
    return sorted(path for path in tracked if path.is_file() and path.suffix in TEXT)


FILES = _files()
PYTHON = [path for path in FILES if path.suffix == ".py"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _places(pattern: str, paths: list[Path]) -> list[str]:
    wrong = []
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if re.search(pattern, line):
                wrong.append(f"{_name(path)}:{number}: {line.strip()[:100]}")
    return wrong


def test_no_file_names_a_place_of_one_machine() -> None:
    homes = "|".join(("home", "Users", "root", "work", "opt", "mnt"))
    assert not _places(rf"(?<![\w./:<-])/(?:{homes})/[\w.-]", FILES)
    assert not _places(r"\b[A-Z]:\\\\?[A-Za-z]", [path for path in FILES if path.suffix != ".jsonl"])


def test_no_file_names_a_package_index() -> None:
    hosts = ("pypi" + r"\.org", "pythonhosted" + r"\.org", "index" + "-url", "registry" + r"\.npmjs")
    assert not _places("|".join(hosts), FILES)


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[\w.!+]+", line)] == []
    names = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert len(set(names)) == len(names)


def test_dependencies_are_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = {
        re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in (ROOT / "constraints.txt").read_text().split()
    }
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~ ]", requirement)[0]).lower() for requirement in wanted} - {
        "qassay"
    }
    assert names <= pinned


def test_every_python_file_says_what_it_is() -> None:
    written = [path for path in PYTHON if path.stat().st_size]
    without = [path for path in written if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert not without, f"no docstring: {', '.join(map(_name, without))}"


def test_no_python_file_is_empty() -> None:
    assert [_name(path) for path in PYTHON if not path.stat().st_size and path.name != "__init__.py"] == []


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "Apache-2.0"


def test_the_changelog_knows_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = qassay.__version__.split(".dev")[0]
    assert f"[{released}]" in text or ("[Unreleased]" in text and released in text)


def test_hooks_fetch_nothing() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo:\s*(\S+)", text) == ["local"]
    assert set(re.findall(r"language:\s*(\S+)", text)) == {"system"}


def _shipped() -> set[str]:
    """What a wheel has to hold besides modules, as paths within it."""
    names = {f"qassay/tasks/{name}.toml" for name in tasks.names()} | {"qassay/py.typed"}
    folder = qassay.demo_folder().parent
    shipped = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    shipped = {name for name in shipped if not name.endswith((".py", ".pyc"))}
    assert {"series/qassay.toml", "series/runs/hobby.txt", "entailment/questions.jsonl", "rag/runs.jsonl"} <= shipped
    return names | {f"qassay/demo/{name}" for name in shipped}


def test_package_data_is_beside_the_modules() -> None:
    """Hatchling ships every file below the package that git does not ignore: so none of them may be ignored."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert wheel["targets"]["wheel"] == {"packages": ["src/qassay"]}
    shipped = [PACKAGE.parent / name for name in _shipped()]
    assert all(path.is_file() for path in shipped)
    if not (ROOT / ".git").exists():
        pytest.skip("no git here to ask what is ignored")
    names = "\n".join(str(path.relative_to(ROOT)) for path in shipped)
    asked = subprocess.run(
        ["git", "check-ignore", "--stdin"], cwd=ROOT, input=names, capture_output=True, text=True, check=False
    )
    assert asked.stdout == ""


def test_the_wheel_holds_tasks_and_demo(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed; its configuration is checked instead")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "."]
    subprocess.run([*command, "--wheel-dir", str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    members = set(zipfile.ZipFile(wheel).namelist())
    assert _shipped() <= members
    assert any(name.endswith("licenses/LICENSE") for name in members)
    assert not [name for name in members if not name.startswith(("qassay/", "qassay-"))]


def test_every_program_of_the_system_is_installed_by_name() -> None:
    """A fresh machine has none of them: without its name here, `make soak` skips a test, or ends with an error."""
    script = (ROOT / "scripts" / "system_packages.sh").read_text()
    installed = set(re.findall(r"^ *need (\S+) \S+$", script, re.MULTILINE))
    recipes = set(re.findall(r"^\t(npm|node|docker) ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    looked_for = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"""(?:shutil\.which|\bprogram)\("([\w-]+)"[,)]""", path.read_text(encoding="utf-8"))
    }
    of_every_debian = {"bash", "setpriv", "true"}
    assert recipes | looked_for - of_every_debian - {"initdb"} <= installed
    assert recipes | looked_for > {"npm", "node", "nginx", "firefox-esr", "chromium"}


def test_the_citation_has_the_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {qassay.__version__}\n" in text
    assert "license: Apache-2.0" in text


def test_the_container_installs_extras_that_exist() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    wanted = re.search(r"/src\[([\w,]+)\]", text)
    assert wanted is not None
    assert set(wanted[1].split(",")) <= set(extras)
    assert "serve" in wanted[1]


def test_every_extra_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [name for name in extras if name not in ("dev", "docs") and f"| `{name}` |" not in page] == []
