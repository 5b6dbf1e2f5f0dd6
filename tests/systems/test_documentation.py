"""The page on systems knows every system and parameter (its commands are run with those of all pages)."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path

import pytest

import qassay
from qassay.systems import SYSTEMS, load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "systems.md"


def test_every_system_and_parameter_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^### (.+?)\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL))
    for name, place in SYSTEMS.items():
        section = next(body for title, body in sections.items() if name in title.split(", "))
        assert "```" in section, f"{name} has no picture"
        for parameter in list(inspect.signature(load(place)).parameters.values())[1:]:
            assert f"`{parameter.name}`" in section, f"{name}: {parameter.name} is not explained"


def test_the_last_example_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(qassay.demo_folder(), tmp_path / "demo")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    lines = example.strip().splitlines()
    scope: dict[str, object] = {}
    exec("\n".join([*lines[:-1], "answer = " + lines[-1]]), scope)
    assert scope["answer"].items[0].text == "Colin Archer"
