"""What the tests of collections share: folders of documents, and a switch for small ones to stand on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

Content = str | bytes | Sequence[Mapping[str, object]]


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[Mapping[str, Content]], Path]:
    """Make a folder of files: names, and contents as text, as bytes, or as rows of JSON lines."""

    def make(files: Mapping[str, Content]) -> Path:
        root = tmp_path / "documents"
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not isinstance(content, str | bytes):
                content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return make


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every collection stands on disk, however small."""
    monkeypatch.setattr("qassay.collections.building.SMALL", -1)
