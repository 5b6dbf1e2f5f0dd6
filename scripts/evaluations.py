"""The evaluations behind the pictures of the application: copies of the built-in ones, with people and work.

Names, judgments and the order of the items are fixed, so that pictures differ only where the application does.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qassay.demo import Demo, demo_folder
from qassay.formats.folder import open_folder
from qassay.store.assignment.assignments import assignments_of
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import accounts, add_account
from qassay.store.people.sessions import begin_session, hash_password
from qassay.store.settings import put_setting
from qassay.web.demonstration import PEOPLE, give_out, prepare
from qassay.web.results.publishing import SHOWN_EARLY

# The setting of the store that numbers and orders of items are drawn from, and what it is here.
SEED_SETTING = "order-seed"
SEED = "pictures of the application"
START_SECONDS = 60.0


@dataclass(frozen=True)
class PreparedEvaluation:
    """An evaluation with people and work."""

    folder: Path
    store: Store

    def number(self, name: str) -> int:
        """The number of an account."""
        with self.store.read() as connection:
            return next(account.id for account in accounts(connection) if account.name == name)

    def session(self, name: str) -> str:
        """The secret of a new session of this person."""
        number = self.number(name)
        with self.store.write() as connection:
            return begin_session(
                connection, number, address="127.0.0.1", agent="Mozilla/5.0 (X11; Linux) Firefox/140.0"
            )

    def assignment(self, name: str, question: str) -> int:
        """The number of this person's assignment on a question."""
        number = self.number(name)
        with self.store.read() as connection:
            return next(
                assignment.id for assignment in assignments_of(connection, number) if assignment.question == question
            )


def half_way(folder: Path) -> PreparedEvaluation:
    """The question series, half judged, as `qassay demo --serve` shows them; results have not been opened yet."""
    shutil.copytree(demo_folder(), folder)
    store = _new_store(folder)
    prepare(folder)
    with store.write() as connection:
        put_setting(connection, SHOWN_EARLY, None)
    return PreparedEvaluation(folder, store)


def finished(folder: Path) -> PreparedEvaluation:
    """The question series with all their judgments, adjudicated."""
    shutil.copytree(demo_folder(), folder)
    return _opened(folder)


def entailment(folder: Path) -> PreparedEvaluation:
    """Pairs to judge, in three ways."""
    _copy("entailment", folder, keep=("3", "5", "6", "10", "14"), task="entailment3")
    return _with_assignments(_opened(folder))


def justifications(folder: Path) -> PreparedEvaluation:
    """Justifications of one pair to rate; the pair itself has its reference answer."""
    _copy("entailment", folder, keep=("3",), sets=("adjudicated",))
    pairs = '["3"]'
    (folder / "qassay.toml").write_text(f'name = "Qassay demo"\ntask = "justification"\njustified = {pairs}\n')
    path = folder / "judgments" / "adjudicated.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    _write_rows(path, [row for row in rows if "understandability" not in row])
    return _with_assignments(_opened(folder))


def long_answers(folder: Path) -> PreparedEvaluation:
    """Answers with citations, their nuggets and citations to judge."""
    _copy("rag", folder, keep=("r1", "r2"))
    return _with_assignments(_opened(folder), citations=True)


def free_text(folder: Path) -> PreparedEvaluation:
    """Answers in free text of two systems, with the passages that each was made from."""
    question_text = "Who wrote The Master and Margarita, and when did he finish it?"
    answers = {
        "small": (
            "It is by Mikhail Bulgakov, who finished it in 1967.",
            {"D7": "The novel appeared in the journal Moskva in 1966 and 1967, long after its author had died."},
        ),
        "large": (
            "Mikhail Bulgakov wrote it from 1928 on and worked on it until shortly before his death in 1940.",
            {
                "D2": "Bulgakov began the novel in 1928 and burned a first version in 1930.",
                "D9": "He dictated the last changes to his wife four weeks before he died, in March 1940.",
            },
        ),
    }
    (folder / "runs").mkdir(parents=True)
    (folder / "qassay.toml").write_text('name = "Qassay demo"\ntask = "qa"\nsupport = true\n', encoding="utf-8")
    _write_rows(
        folder / "questions.jsonl",
        [{"id": "q1", "type": "qa", "text": question_text, "gold": ["Mikhail Bulgakov, in 1940"]}],
    )
    for run, (text, documents) in answers.items():
        contexts = [{"doc": doc, "text": passage} for doc, passage in documents.items()]
        row = {"run": run, "question": "q1", "items": [{"text": text}], "contexts": contexts}
        _write_rows(folder / "runs" / f"{run}.jsonl", [row])
    return _with_assignments(_opened(folder))


def definitions(folder: Path) -> PreparedEvaluation:
    """What series call other, as definition questions with holistic scores."""

    def ask(row: dict[str, Any]) -> dict[str, Any]:
        return {"id": row["id"], "type": "definition", "text": f"Who was {row['target']}?"}

    _copy("series", folder, keep=("1.7",), task="definition", ask=ask)
    return _with_assignments(_opened(folder), holistic=True)


def passages(folder: Path) -> PreparedEvaluation:
    """Extracts of documents: the answers of two runs with the text around them."""
    keep = ("1.1", "1.3", "1.5", "5.1", "5.2")
    _copy("series", folder, keep=keep, task="passages")
    articles = (folder / "collection" / "articles.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, articles)}
    for path in (folder / "runs").iterdir():
        lines = [line.split(maxsplit=3) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(_extract(line, texts) for line in lines), encoding="utf-8")
    return _with_assignments(_opened(folder))


def _extract(fields: list[str], texts: dict[str, str]) -> str:
    question, tag, doc, *answer = fields
    if not answer or answer[0] not in texts.get(doc, ""):
        return f"{question} {tag} NIL\n"
    middle = texts[doc].index(answer[0]) + len(answer[0]) // 2
    start = max(0, middle - 100)
    return f"{question} {tag} {doc} {start} {min(200, len(texts[doc]) - start)}\n"


def _copy(
    which: Demo,
    folder: Path,
    *,
    keep: Sequence[str],
    task: str | None = None,
    sets: Sequence[str] = (),
    ask: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row,
) -> None:
    """A built-in evaluation with some of its questions and, of its judgments, these sets alone."""
    shutil.copytree(demo_folder(which), folder)
    for path in (folder / "judgments").iterdir():
        if path.stem not in sets:
            path.unlink()
    if task is not None:
        (folder / "qassay.toml").write_text(f'name = "Qassay demo"\ntask = "{task}"\n', encoding="utf-8")
        shutil.rmtree(folder / "nuggets", ignore_errors=True)
    questions = folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    _write_rows(questions, [ask(row) for row in rows if row["id"] in keep])
    for path in [*folder.glob("*/*.jsonl"), folder / "answers.jsonl", *folder.glob("runs/*.txt")]:
        if path.is_file() and path.parent.name != "collection":
            lines = path.read_text(encoding="utf-8").splitlines()
            path.write_text("".join(f"{line}\n" for line in lines if _question(line) in keep), encoding="utf-8")


def _question(line: str) -> str:
    if not line.startswith("{"):
        return line.split()[0]
    row = json.loads(line)
    return str(row.get("question") or row.get("topic_id"))


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _new_store(folder: Path) -> Store:
    store = open_store(folder, create=True)
    with store.write() as connection:
        put_setting(connection, SEED_SETTING, SEED)
    return store


def _opened(folder: Path) -> PreparedEvaluation:
    """The store of a folder, with the people of the demo."""
    store = _new_store(folder)
    import_folder(store, open_folder(folder))
    hashed = hash_password(SEED)
    with store.write() as connection:
        for name, role in PEOPLE:
            add_account(connection, name, role, password=hashed)
    return PreparedEvaluation(folder, store)


def _with_assignments(prepared: PreparedEvaluation, **pool: Any) -> PreparedEvaluation:
    """Everything pooled and given to the two assessors."""
    judges = [prepared.number(name) for name, role in PEOPLE if role == "assessor"]
    give_out(prepared.store, prepared.folder, judges, **pool)
    return prepared


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The application on this folder, in a process of its own; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    code = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "serve", str(folder), "--port", str(port), "--log", "none"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"})
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the server at {url} did not begin to answer")
