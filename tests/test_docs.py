"""The documentation does not rot: what it shows is what happens, and everything there is is in it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import qassay
from qassay import tasks
from qassay.cli import VERBS, main
from qassay.cli.gate import GATE_STATUS
from qassay.errors import Rule
from qassay.formats.recognise import KINDS, Setting, kind_of
from qassay.measures import MEASURES
from qassay.meta.sensitivity import PRESETS
from qassay.questions import TYPES
from qassay.store.people.sessions import make_token
from qassay.tasks.responses import RESPONSE_FORMS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
# Pages with prose of their own about what commands print.
TOLD = [path for path in PAGES if path.parent.name in ("how-to", ROOT.name) or path.name == "tutorial.md"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _script(name: str) -> Any:
    """A module of scripts/."""
    if str(ROOT / "scripts") not in sys.path:
        sys.path.insert(0, str(ROOT / "scripts"))
    return importlib.import_module(name)


def _text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def _headings(path: Path) -> list[str]:
    outside = _without_blocks(path.read_text(encoding="utf-8"))
    return [line.lstrip("#").strip() for line in outside.splitlines() if line.startswith("#")]


def _without_blocks(text: str) -> str:
    return re.sub(r"(?ms)^```.*?^```$", "", text)


# Examples run, and generated parts are current


@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_a_page_shows_what_its_commands_print(path: Path) -> None:
    page = _script("generate_docs").regenerate(path)
    assert page == path.read_text(encoding="utf-8"), "not current; run: python scripts/generate_docs.py"


def test_the_pictures_are_current() -> None:
    drawn = _script("pictures").pictures()
    assert sorted(drawn) == sorted(path.name for path in (DOCS / "images").iterdir())
    for name, picture in drawn.items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == picture


def test_the_pictures_fetch_nothing() -> None:
    pictures = sorted((DOCS / "images").glob("*.svg"))
    assert len(pictures) >= 4
    for path in pictures:
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?:|@import|@font-face|xlink|<script|<image", text), _name(path)


def test_a_command_really_started_prints_the_same() -> None:
    """Pages are checked with commands called within this process; one is started for real."""
    sessions = _script("sessions")
    page = "```console\n$ qassay demo --to demo\n$ qassay score demo --csv\n$ qassay score nowhere\n$ echo $?\n```"
    started = sessions.play(page)
    assert started == sessions.play(page, inside=True)
    assert "\n1\n```" in started


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```console\n$ qassay score nowhere\n```", "status 1"),
        ("```console\n$ true\n", "not closed"),
        ("<!-- show: a ... b -->\n```console\n$ echo c\n```", "no part"),
        ("```console\n$ pwd\n```", "no page should show"),
        ("<!-- files: docs/nowhere.md -->\n```console\n$ true\n```", "no page docs/nowhere.md"),
    ],
    ids=["status", "open block", "part", "place", "files"],
)
def test_an_example_that_does_not_hold_is_found(page: str, message: str) -> None:
    sessions = _script("sessions")
    with pytest.raises(sessions.SessionError, match=message):
        sessions.play(page)


def test_outputs_are_replaced_and_files_written() -> None:
    page = (
        '```text title="a/b.txt"\nx\n```\n\n```console\n$ cat a/b.txt\nold\n$ cd a\n$ cat <<END\n> y\n> END\nold\n```\n'
    )
    assert _script("sessions").play(page) == page.replace("old\n$ cd", "x\n$ cd").replace("END\nold", "END\ny")


@pytest.mark.parametrize("path", TOLD, ids=_name)
def test_figures_in_the_prose_are_in_the_outputs(path: Path) -> None:
    """A figure that a command no longer prints is an old one."""
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)|Python \d\.\d+|Apache License 2\.0", "", _without_blocks(text))
    blocks = "\n".join(re.findall(r"(?ms)^```.*?^```$", text))
    figures = set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)", prose))
    assert not {figure for figure in figures if figure not in blocks}


def test_the_client_of_the_page_does_what_the_page_says(tmp_path: Path) -> None:
    """The program of how-to/api.md, run against a served evaluation: it prints the output below it."""
    evaluations = _script("evaluations")
    page = _text("how-to/api.md")
    example = re.search(r'(?s)```python title="lenient.py"\n(.*?)```.*?```text\n(.*?)```', page)
    assert example is not None
    prepared = evaluations.half_way(tmp_path / "demo")
    with prepared.store.write() as connection:
        token = make_token(connection, prepared.number("organiser"), "the page")
    with evaluations.served(prepared.folder) as url:
        variables = {**os.environ, "QASSAY_SERVER": url, "QASSAY_TOKEN": token}
        command = [sys.executable, "-c", example[1]]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    prepared.store.close()
    assert done.stdout == example[2], done.stderr


def test_every_screen_has_its_pictures() -> None:
    """What is shown of the application is what scripts/screens.py makes, in light and dark, and not too large."""
    pictures = sorted(path.name for path in (DOCS / "pictures").iterdir())
    assert pictures == sorted(_script("screens").names())
    assert sum((DOCS / "pictures" / name).stat().st_size for name in pictures) < 4_000_000


# Everything there is is in it


def test_every_command_is_documented() -> None:
    headings = _headings(DOCS / "reference" / "commands.md")
    assert [heading for heading in headings if heading.startswith("qassay ")] == [f"qassay {verb}" for verb in VERBS]
    documents = " ".join(_headings(DOCS / "reference" / "json.md")).replace(",", "").split()
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES if path.name != "commands.md")
    for verb in VERBS:
        assert f"qassay {verb}" in pages, f"no page shows qassay {verb}"
        assert verb in documents, f"json.md does not tell what {verb} --json prints"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert not [verb for verb in VERBS if not re.search(rf"`(qassay )?{verb}`", changes)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Help has a summary, examples of this command with options that exist, and says what --json is."""
    assert main([verb, "--help"]) == 0
    printed = capsys.readouterr().out
    assert "--json" in printed or verb == "serve", "only the server prints for people alone"
    about, _, options = printed.partition("Options")
    _, _, examples = about.partition("Examples")
    shown = re.findall(rf"qassay {verb}\b[^\n]*", examples)
    assert shown, "no example"
    for option in re.findall(r"(?<=\s)--[a-z][\w-]*", " ".join(shown)):
        assert option in options, f"an example uses {option}, which is no option"


def test_every_measure_is_documented() -> None:
    headings = _headings(DOCS / "reference" / "measures.md")
    assert [name for name in MEASURES if name not in headings] == []
    assert all(kind.__doc__ and kind.source and kind.title for kind in MEASURES.values())


def test_every_task_type_and_form_is_documented() -> None:
    headings = _headings(DOCS / "reference" / "tasks.md")
    assert [name for name in tasks.names() if name not in headings] == []
    files = _text("reference/files.md")
    assert [kind for kind in TYPES if f"`{kind}`" not in files] == []
    assert [form for form in get_args(tasks.RunForm) if form not in _headings(DOCS / "reference" / "files.md")] == []
    assert [kind for kind in KINDS if f"`{kind}`" not in files] == []
    keys = _text("how-to/define-a-task.md")
    assert [form for form in RESPONSE_FORMS if f"`{form}`" not in keys] == []
    known = [*tasks.Task.__dataclass_fields__, *tasks.QuestionRules.__slots__]
    assert [key for key in known if not re.search(rf"`\[?{key}[`.]", keys)] == []


def test_every_rule_preset_and_status_is_documented() -> None:
    checks = _text("reference/checks.md")
    assert [rule for rule in get_args(Rule) if f"| `{rule}` |" not in checks] == []
    method = _text("method.md")
    assert [preset for preset in PRESETS if f"`{preset}`" not in method] == []
    for decision, status in GATE_STATUS.items():
        assert re.search(rf"\| {decision} \| {status} \|", _text("how-to/compare-in-ci.md"))
        assert status == 0 or f"| {status} | `compare --gate`: {decision} |" in checks


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["check", "nowhere"], 1),
        (["compare"], 2),
        (["nonsense"], 2),
        (["compare", "demo", "ibis", "hobby", "--gate"], 3),
        (["compare", "demo", "badger", "crane", "--gate"], 4),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_statuses_are_those_of_the_table(arguments: list[str], status: int) -> None:
    assert f"| {status} |" in _text("reference/checks.md")
    folder = str(qassay.demo_folder())
    assert main([folder if argument == "demo" else argument for argument in arguments]) == status


def test_every_public_name_is_documented() -> None:
    page = _text("reference/python.md")
    assert {*qassay._HOMES, "__version__"} == set(qassay.__all__)
    assert [name for name in qassay._HOMES if page.count(f"::: qassay.{name}\n") != 1] == []


def test_every_result_is_documented() -> None:
    """What a public function gives is on the page of the functions."""
    page = _text("reference/python.md")
    documented = set(re.findall(r"(?m)^::: [\w.]*?(\w+)$", page))
    functions = [value for name in qassay._HOMES if inspect.isfunction(value := getattr(qassay, name))]
    annotations = (str(inspect.signature(function).return_annotation) for function in functions)
    given = {name.partition("[")[0] for annotation in annotations for name in annotation.split(" | ")}
    assert {"PairComparison", "Description", "AgreementStudy"} < given
    assert given - {"Path", "Measure"} <= documented


def test_the_notebook_is_current() -> None:
    """Its cells run from top to bottom, and give what is stored below them."""
    notebooks = _script("notebooks")
    assert notebooks.NOTEBOOK.read_text(encoding="utf-8") == notebooks.current(), "run: python scripts/generate_docs.py"


def test_a_cell_that_changed_gets_its_new_output() -> None:
    cells = [
        {"cell_type": "code", "source": ["a = 2\n", "print('b')\n", "a * 21"], "outputs": [], "execution_count": None},
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["a"], "outputs": ["old"], "execution_count": 7},
    ]
    first, _, second = _script("notebooks").run({"cells": cells})["cells"]
    assert first["outputs"][0]["text"] == ["b\n"]
    assert first["outputs"][1]["data"] == {"text/plain": ["42"]}
    assert [output["data"] for output in second["outputs"]] == [{"text/plain": ["2"]}]
    assert second["execution_count"] == 2


EXAMPLES = {
    "questions": "questions",
    "pairs": "questions",
    "runs/": "run",
    "runs.jsonl": "run-information",
    "judgments/": "judgments",
    "nuggets/": "nuggets",
    "answers": "answers",
    "responses": "responses",
    "patterns": "patterns",
}


def _examples() -> list[tuple[str, str]]:
    blocks = re.findall(r'(?ms)^```\w+ title="([^"]+)"\n(.*?)^```$', _text("reference/files.md"))
    return [(title, block) for title, block in blocks if title != "scores.csv"]


@pytest.mark.parametrize(("title", "block"), _examples(), ids=lambda text: text if len(text) < 30 else "")
def test_examples_of_files_are_what_they_say(title: str, block: str) -> None:
    kind = next(kind for start, kind in EXAMPLES.items() if title.startswith(start))
    if title in ("runs/sys3.txt", "runs/sys4.txt"):
        kind = "run"
    assert kind_of(block.encode(), Setting({"1", "1.1"})) == kind
    if title.endswith(".jsonl"):
        for line in block.splitlines():
            assert kind_of(line.encode()) == kind, line
            assert isinstance(json.loads(line), dict)


# Pages hold together


def _slugs(path: Path) -> set[str]:
    from markdown.extensions.toc import slugify

    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in _headings(path)}


@pytest.mark.parametrize(
    "path",
    [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"`[^`\n]*`", "", _without_blocks(path.read_text(encoding="utf-8")))
    for link in LINK.finditer(prose):
        address = link[1] or link[2]
        if address.startswith(("https://", "mailto:")):
            continue
        target, _, anchor = address.partition("#")
        other = (path.parent / target).resolve() if target else path
        assert other.exists(), f"{address} leads nowhere"
        if anchor and not anchor.startswith("only-"):
            assert anchor in _slugs(other), f"{address}: there is no such heading"


def test_the_readme_is_in_the_order_that_a_new_reader_needs() -> None:
    """A sentence, a command on scores, two pictures; then the longer ways, and the papers last. Ten minutes."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = [
        "Qassay shows whether",
        "$ qassay compare scores.csv",
        "pictures/report-light.webp",
        "pictures/labels-light.webp",
        "## From answers to a verdict",
        "## Several judges, and language models as judges",
        "## A shared task",
        "## Where it comes from",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "TREC" not in text[: text.index("## Install")]
    assert len(text.split()) < 2500  # 250 words a minute, outputs included


def test_every_page_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": ([\w/-]+\.md)", menu)
    assert sorted(listed) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert "font: false" in menu
    assert "http" not in menu


def test_the_site_builds_and_fetches_nothing(tmp_path: Path) -> None:
    if importlib.util.find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed (qassay[docs])")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|source|iframe)[^>]+src(?:set)?=\"?https?:", text), page
        assert not re.search(r"<link[^>]+href=\"?https?:", text), page
