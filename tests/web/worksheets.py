"""A list question and the `other` question of a series, pooled and given to two assessors, for tests of the screens."""

from __future__ import annotations

import json
import shutil
from itertools import count
from pathlib import Path
from typing import Any

from qassay.formats.folder import Folder
from qassay.store.assignment.assignments import assignments_of
from qassay.store.folder.importing import import_folder
from qassay.web import demonstration

RUNS = {
    "north": "1.6 north D1 Ann\n1.6 north D2 Bob\n1.7 north D1 She won a prize.\n1.7 north D2 It was radium.\n",
    "south": "1.6 south D1 Ann\n1.7 south D3 Radium it was.\n1.7 south D1 She won a prize.\n",
    "west": "1.6 west D2 Robert\n1.7 west D4 Nothing of interest.\n",
}
NUGGETS = [
    {"question": "1.7", "nugget": "1", "vital": True, "text": "won a prize"},
    {"question": "1.7", "nugget": "2", "vital": False, "text": "radium"},
]
_KEYS = count()


def key() -> str:
    """An idempotency key that nobody has used."""
    return f"test-key-{next(_KEYS):08}"


def give_out(site: Any, accounts: dict[str, int]) -> None:
    """Leave two questions and three runs of the evaluation, and give them to the assessor and the adjudicator."""
    folder = Path(site.folder)
    for name in ("judgments", "nuggets", "runs"):
        shutil.rmtree(folder / name)
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row["id"] in ("1.6", "1.7")]
    _write(folder / "questions.jsonl", chosen)
    _write(folder / "answers.jsonl", [{"question": "1.6", "answer": "Zoe"}])
    _write(folder / "nuggets" / "development.jsonl", NUGGETS)
    (folder / "runs.jsonl").unlink(missing_ok=True)
    for tag, text in RUNS.items():
        (folder / "runs").mkdir(exist_ok=True)
        (folder / "runs" / f"{tag}.txt").write_text(text, encoding="utf-8")
    import_folder(site.store, Folder(folder))
    demonstration.give_out(site.store, folder, [accounts["assessor"], accounts["adjudicator"]])


def assignment(site: Any, account: int, question: str) -> int:
    """The number of somebody's assignment on a question."""
    with site.store.read() as connection:
        return next(row.id for row in assignments_of(connection, account) if row.question == question)


def decide(client: Any, number: int, item: int, part: str, verdict: dict[str, Any]) -> dict[str, Any]:
    """Save a verdict over the current one."""
    parts = client.get(f"/api/judge/{number}/items/{item}").json()["parts"]
    expected = next(row["version"] for row in parts if row["part"] == part)
    sent = {"key": key(), "item": item, "part": part, "expected": expected, "verdict": verdict}
    answer = client.post(f"/api/judge/{number}/decisions", json=sent)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
