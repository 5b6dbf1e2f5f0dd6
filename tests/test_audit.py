"""The audit of packages: what was not looked at is not clean."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"name": "numpy", "skip_reason": "not found"}
CLEAN = {"name": "jinja2", "version": "3.1.6", "vulns": []}
FAULTY = {"name": "jinja2", "version": "3.1.2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.3"]}]}


@pytest.fixture(scope="module")
def audit() -> Any:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["audit"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("packages", "status", "message"),
    [
        ([CLEAN], 0, "1 packages looked at, 0 known"),
        ([FAULTY, CLEAN], 1, "jinja2 3.1.2: PYSEC-1, fixed in 3.1.3"),
        ([CLEAN, SKIPPED], 2, "NOT LOOKED AT: 1 packages"),
        ([FAULTY, SKIPPED], 1, "NOT LOOKED AT"),
        ([SKIPPED], 2, "0 packages looked at"),
        ([], 2, "0 packages"),
    ],
)
def test_a_report_is_clean_where_all_was_looked_at(audit: Any, packages: list[Any], status: int, message: str) -> None:
    report = audit.read_audit(json.dumps({"dependencies": packages, "fixes": []}))
    assert report.status == status
    assert message in str(report)


@pytest.mark.parametrize(
    ("prints", "status"),
    [(json.dumps({"dependencies": [SKIPPED]}), 2), ("", 2), (json.dumps({"dependencies": [CLEAN]}), 0)],
)
def test_a_database_that_is_away_is_reported(
    audit: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], prints: str, status: int
) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{prints}'\n")
    program.chmod(0o755)
    assert audit.main([str(program), "constraints.txt"]) == status
    assert ("could be reached" in capsys.readouterr().err) == (status == 2)
