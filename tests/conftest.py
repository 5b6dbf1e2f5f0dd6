"""What tests share: the golden figures, and the real data where it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("QASSAY_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Figures printed in the papers, and figures recomputed from them, each with its source."""
    return json.loads((ROOT / "tests" / "golden" / "papers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """A file of the real data, or a skip that says what is missing."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"real data not here: {name} (set QASSAY_DATA)")
        return path

    return find
