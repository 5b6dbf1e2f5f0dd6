"""Plain words: phrases of plain_words.toml are in nothing that people read, nor in the code."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "qassay"
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((SOURCE / "demo").rglob("*.md")),
]
# Texts for language models: their wording was measured, and changing it would change the figures.
MEASURED = SOURCE / "assessors" / "llm" / "prompts"
COMMENT = re.compile(r"(?m)(?:^|(?<=\s\s))[ \t]*#+[ \t](.*)$")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase to avoid; `read` is for one that docstrings and comments may use."""

    find: re.Pattern[str]
    write: str
    read: bool


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, where it begins, and whether people who use the program read it."""

    path: Path
    line: int
    text: str
    read: bool = True


def _phrases() -> list[Phrase]:
    listed = tomllib.loads((ROOT / "tests" / "plain_words.toml").read_text(encoding="utf-8"))["phrase"]
    return [
        Phrase(re.compile(entry["find"].replace(" ", r"\s+"), re.IGNORECASE), entry["write"], "only" in entry)
        for entry in listed
    ]


def _complaints(passages: Iterator[Passage] | list[Passage]) -> list[str]:
    """Every phrase found: its place, and what to write."""
    phrases = _phrases()
    anything = re.compile("|".join(phrase.find.pattern for phrase in phrases), re.IGNORECASE)
    return [
        f"{passage.path}:{passage.line + passage.text.count(chr(10), 0, match.start())}: "
        f"{' '.join(match[0].split())!r}; write: {phrase.write}"
        for passage in passages
        if anything.search(passage.text)
        for phrase in phrases
        if passage.read or not phrase.read
        for match in phrase.find.finditer(passage.text)
    ]


def _prose(text: str) -> str:
    """A page without its code, whose outputs come from the program; line numbers stay."""
    code = re.compile(r"(?ms)^```.*?^```$|<!-- generated: .*?<!-- end -->|`[^`\n]*`")
    return code.sub(lambda match: "\n" * match[0].count("\n"), text)


def _unreleased(changes: str) -> str:
    """The part of the changes that no release has."""
    lines = changes.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("## "))
    return "".join(lines[: first + 1]) + "".join(takewhile(lambda line: not line.startswith("## "), lines[first + 1 :]))


def _strings(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """The strings of a module: line, text, and whether it is a docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    owners = (node for node in ast.walk(tree) if isinstance(node, documented) and ast.get_docstring(node) is not None)
    docstrings = {id(owner.body[0].value) for owner in owners if isinstance(owner.body[0], ast.Expr)}
    inner: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inner.update(id(value) for value in node.values)
            texts = (value.value if isinstance(value, ast.Constant) else "0" for value in node.values)
            yield node.lineno, "".join(map(str, texts)), False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.lineno, node.value, id(node) in docstrings


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a module; lines that follow each other are one comment."""
    begun, last, lines = 0, -1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.search(line) if "#" in line else None
        if comment is None:
            continue
        if lines and number != last + 1:
            yield begun, "\n".join(lines)
            lines = []
        begun, last = (begun if lines else number), number
        lines.append(comment[1])
    if lines:
        yield begun, "\n".join(lines)


def _module(path: Path) -> Iterator[Passage]:
    """What a module says: its strings, docstrings and comments. Docstrings of commands are their help."""
    text = path.read_text(encoding="utf-8")
    helping = (SOURCE / "cli") in path.parents
    for line, words, docstring in _strings(ast.parse(text)):
        if " " not in words:  # a name or a value
            continue
        yield Passage(path, line, words, helping or not docstring)
    for line, words in _comments(text):
        yield Passage(path, line, words, read=False)


def _application() -> Iterator[Passage]:
    """Templates, scripts and settings that people read, without the prompts."""
    for kind in ("html", "js", "toml", "txt"):
        for path in sorted(SOURCE.rglob(f"*.{kind}")):
            if MEASURED not in path.parents and "demo" not in path.parts:
                yield from _scripted(path) if kind == "js" else [Passage(path, 1, path.read_text(encoding="utf-8"))]


def _scripted(path: Path) -> Iterator[Passage]:
    """A script of the application: its code with its messages, then its comments."""
    text = path.read_text(encoding="utf-8")
    comments = re.compile(r"(?m)/\*(?s:.*?)\*/|(?:^\s*//.*\n)+|(?<=[;{}),\s])//\s.*$")
    yield Passage(path, 1, comments.sub(lambda match: "\n" * match[0].count("\n"), text))
    for comment in comments.finditer(text):
        plain = re.sub(r"(?m)^(\s*)(?://|\*)(?=\s)", r"\1", comment[0])
        yield Passage(path, text.count("\n", 0, comment.start()) + 1, plain, read=False)


def _listed(complaints: list[str]) -> str:
    return "\n" + "\n".join(complaint.removeprefix(f"{ROOT}/") for complaint in complaints)


def test_pages_use_plain_words() -> None:
    pages = [Passage(path, 1, _prose(path.read_text(encoding="utf-8"))) for path in PAGES]
    changes = ROOT / "CHANGELOG.md"
    pages.append(Passage(changes, 1, _prose(_unreleased(changes.read_text(encoding="utf-8")))))
    complaints = _complaints(pages)
    assert not complaints, _listed(complaints)


def test_the_application_uses_plain_words() -> None:
    complaints = _complaints(_application())
    assert not complaints, _listed(complaints)


def test_messages_help_docstrings_and_comments_use_plain_words() -> None:
    complaints = _complaints(passage for path in sorted(SOURCE.rglob("*.py")) for passage in _module(path))
    assert not complaints, _listed(complaints)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('def f():\n    """Do it\n    anew."""\n', ["3: 'anew'"]),
        ('MESSAGE = (\n    f"{1} is "\n    "no system")\n', ["2: 'is no'"]),
        ("x = 1\n# The one that\n# stands.\n", ["2: 'that stands'"]),
        ("x = 1  # made anew\n", ["1: 'anew'"]),
        ('def f():\n    """There is no closed form; it is no longer so. 30 km stand for it."""\n', []),
        ('raise ValueError("no closed form")\n', ["1: 'closed form'"]),
    ],
    ids=["docstring", "message", "comment", "end of line", "ordinary", "only where read"],
)
def test_a_phrase_is_found_with_its_place(text: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text, encoding="utf-8")
    complaints = _complaints(_module(path))
    assert [complaint.removeprefix(f"{path}:").partition(";")[0] for complaint in complaints] == expected


# The glossary


def _glossary() -> Any:
    """scripts/glossary.py."""
    if str(ROOT / "scripts") not in sys.path:
        sys.path.insert(0, str(ROOT / "scripts"))
    return importlib.import_module("glossary")


def test_a_term_is_linked_where_a_page_first_uses_it() -> None:
    """For the pages of the site, which get their links when it is built; the README has its own."""
    glossary = _glossary()
    anchors = re.findall(r"(?m)^### (.*)$", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert anchors == re.findall(r"(?m)^### (.*)$", glossary.page()), "run: python scripts/generate_docs.py"
    used = set()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if path.name == glossary.PAGE:
            continue
        text = path.read_text(encoding="utf-8")
        linked = glossary.linked(text, "glossary.md")
        assert re.sub(r"\[([^\]\n]*)\]\(glossary\.md#[\w-]+\)", r"\1", linked) == re.sub(
            r"\[([^\]\n]*)\]\(glossary\.md#[\w-]+\)", r"\1", text
        ), "only links are added"
        used.update(re.findall(r"glossary\.md#([\w-]+)", linked))
    assert len(used) >= 40
    assert used <= {term.anchor for term in glossary.terms()}


def test_links_are_put_on_the_first_use_in_prose_alone() -> None:
    glossary = _glossary()
    page = "# Nuggets\n\n`nugget`, [a nugget](x.md)\n\n```text\nnugget\n```\nOne *nugget* and a nugget. Gold answers.\n"
    linked = glossary.linked(page, "../glossary.md")
    added = "*[nugget](../glossary.md#nugget)* and a nugget. [Gold answers](../glossary.md#gold-answer)."
    assert linked == page.replace("*nugget* and a nugget. Gold answers.", added)


def test_the_readme_links_its_terms() -> None:
    """Where the README first uses a term, it explains it or links to the glossary."""
    glossary = _glossary()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = []
    for term in glossary.terms():
        if (place := glossary.first_use(text, term)) is not None:
            link = text.find(f"docs/glossary.md#{term.anchor})")
            if link < 0 or link > place[0]:
                missing.append(f"{text[slice(*place)]!r} in line {text.count(chr(10), 0, place[0]) + 1}")
    assert not missing, missing
