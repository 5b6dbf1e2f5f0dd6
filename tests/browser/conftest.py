"""What the browser tests share: the installed wheel, served; a real browser; pages that complain about anything odd.

The server is a process of its own that runs what the wheel holds, so that a template or a script that is missing from
it shows. Debian's Chromium drives the pages.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import select

from nursery import call, nursery
from qassay.demo import demo_folder
from qassay.formats.folder import open_folder
from qassay.store.assignment.assignments import assignments_of
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import begin_session, hash_password
from qassay.store.schema import current_judgment
from qassay.web.demonstration import give_out

ROOT = Path(__file__).resolve().parents[2]
COOKIE = "qassay"
PASSWORD = "a long enough password"
PEOPLE = (("Olga", "organiser"), ("Ada", "assessor"), ("Ben", "assessor"), ("Cleo", "adjudicator"), ("Rea", "reader"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser test that fails is tried once more, and named at the end as rerun: a busy machine delays a page.

    A key pressed before the page listens is lost; so are the five seconds in which an expectation must come true.
    """
    for item in items:
        if item.path.is_relative_to(ROOT / "tests" / "browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@dataclass
class SmallEvaluation:
    """A small evaluation with people and work, before it is served: `account` gives numbers by name."""

    folder: Path
    store: Store
    account: dict[str, int] = field(default_factory=dict)

    def session(self, name: str) -> str:
        """The secret of a new session of this person."""
        with self.store.write() as connection:
            return begin_session(connection, self.account[name], address="test", agent="test")

    def first(self, name: str) -> int:
        """The number of this person's first assignment."""
        with self.store.read() as connection:
            return assignments_of(connection, self.account[name])[0].id

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The current judgments of a set."""
        query = (
            select(current_judgment.c.body)
            .where(current_judgment.c.set == name, current_judgment.c.body.is_not(None))
            .order_by(current_judgment.c.judgment)
        )
        with self.store.read() as connection:
            return [json.loads(body) for body in connection.execute(query).scalars()]

    def give_out(self, *names: str, assessors: int = 2, **pool: Any) -> None:
        """Pool the runs and give every question to these people."""
        give_out(self.store, self.folder, [self.account[name] for name in names], assessors=assessors, **pool)


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    process: ForkServerProcess


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as its wheel installs it."""
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place), str(ROOT)]
    subprocess.run(build, check=True, stderr=subprocess.DEVNULL)
    wheel = next(place.glob("qassay-*.whl"))
    install = [*pip, "install", "--no-deps", "--no-index", "--target", str(place / "site"), str(wheel)]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    return place / "site"


@cache
def hashed_once(password: str) -> str:
    """The hash of a password, which is slow to make on purpose."""
    return hash_password(password)


@pytest.fixture
def make_evaluation(tmp_path: Path) -> Iterator[Callable[..., SmallEvaluation]]:
    """`make_evaluation("series", "1", "2")`: that demo without judgments and nuggets.

    It is cut down to these series or questions. A path in place of the name is the folder of an evaluation.
    """
    made: list[SmallEvaluation] = []

    def make(
        which: Any = "series",
        *keep: str,
        without: Sequence[str] = ("judgments", "nuggets"),
        task: str | None = None,
    ) -> SmallEvaluation:
        folder = tmp_path / f"eval-{len(made)}"
        shutil.copytree(which if isinstance(which, Path) else demo_folder(which), folder)
        for name in without:
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        if keep:
            _cut_down(folder, set(keep))
        if task is not None:
            _other_task(folder, task)
        store = open_store(folder, create=True)
        import_folder(store, open_folder(folder))
        evaluation = SmallEvaluation(folder, store)
        hashed = hashed_once(PASSWORD)
        with store.write() as connection:
            for name, role in PEOPLE:
                evaluation.account[name] = add_account(connection, name, role, password=hashed).id
        made.append(evaluation)
        return evaluation

    yield make
    for evaluation in made:
        evaluation.store.close()


@pytest.fixture
def free_text(tmp_path: Path) -> Path:
    """A folder with free-text answers: a shared one, a long one from right to left, one without gold and contexts."""
    folder = tmp_path / "free-text"
    (folder / "runs").mkdir(parents=True)
    labels = '{correct = 1, partly = 0.5, wrong = {value = 0, key = "x"}}'
    (folder / "qassay.toml").write_text(f'name = "Trial"\ntask = "qa"\nlabels = {labels}\nsupport = true\n')
    questions = [
        {"id": "q1", "type": "qa", "text": "Who wrote it?", "gold": ["Mikhail Bulgakov", "ميخائيل بولغاكوف"]},
        {"id": "q2", "type": "qa", "text": "When was it finished?", "gold": ["1940"]},
        {"id": "q3", "type": "qa", "text": "Where?"},
    ]
    answers = {
        "small": {"q1": "Bulgakov wrote it.", "q2": "In 1928.", "q3": ""},
        "large": {"q1": "Bulgakov wrote it.", "q2": "كتبها في موسكو " * 200 + "x" * 400, "q3": "In Moscow."},
    }
    contexts = {"small": [{"doc": "D1", "text": "Bulgakov is its author."}], "large": [{"text": "Beside the point."}]}
    _write_rows(folder / "questions.jsonl", questions)
    for run, texts in answers.items():
        rows = [
            {"run": run, "question": question, "items": [{"text": text}] if text else []}
            | ({} if question == "q3" else {"contexts": contexts[run]})
            for question, text in texts.items()
        ]
        _write_rows(folder / "runs" / f"{run}.jsonl", rows)
    return folder


@pytest.fixture(scope="session")
def forked(wheel: Path) -> ForkServerContext:
    """Where servers come from."""
    return nursery(wheel)


@pytest.fixture
def serve(forked: ForkServerContext, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """`serve(folder)`: the application as installed, in a process of its own. An unforeseen error fails the test."""
    running: list[ForkServerProcess] = []
    log = tmp_path / "server.log"

    def start(folder: Path, *options: str, port: int | None = None) -> Server:
        chosen = port or free_port()
        arguments = ["serve", str(folder), "--port", str(chosen), *options]
        process = forked.Process(target=call, args=(arguments, str(log)))
        process.start()
        running.append(process)
        server = Server(f"http://127.0.0.1:{chosen}", process)
        wait_for(server)
        return server

    yield start
    for process in running:
        process.terminate()
        process.join(timeout=20)
        if process.exitcode is None:
            process.kill()
            process.join()
    logged = log.read_text(errors="replace") if log.exists() else ""
    assert "unforeseen error" not in logged, logged[-4000:]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """`visit(server, evaluation, "Ada")`: a page with Ada signed in. What is odd about it fails the test at its end."""
    contexts: list[BrowserContext] = []
    odd: list[str] = []

    def open_page(
        server: Server, make_evaluation: SmallEvaluation | None = None, name: str | None = None, **options: Any
    ) -> Page:
        expected = options.pop("expected", ())
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        if make_evaluation is not None and name is not None:
            context.add_cookies([{"name": COOKIE, "value": make_evaluation.session(name), "url": server.url}])
        page = context.new_page()

        def watch_console(message: Any) -> None:
            if message.type in ("error", "warning") and not any(part in message.text for part in expected):
                odd.append(f"console: {message.text}")

        page.on("console", watch_console)
        page.on("pageerror", lambda error: odd.append(f"script: {error}"))
        page.on("request", lambda asked: None if asked.url.startswith((server.url, "data:", "blob:"))
                else odd.append(f"asked for {asked.url}"))  # fmt: skip
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not odd, "\n".join(odd)


@pytest.fixture
def accessible() -> Callable[[Page], None]:
    """Fails where axe-core finds a violation on the page."""

    def check(page: Page) -> None:
        violations = Axe().run(page).response["violations"]
        messages = [
            f"{violation['id']}: {violation['help']}: {[node['target'] for node in violation['nodes']][:3]}"
            for violation in violations
        ]
        assert not messages, f"{page.url}\n" + "\n".join(messages)

    return check


def free_port() -> int:
    """A port of the loopback address that nobody uses just now."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def wait_for(server: Server, seconds: float = 60.0) -> None:
    """Wait until the server answers; an error with what it said where it does not."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if server.process.exitcode is not None:
            raise RuntimeError(f"the server ended with status {server.process.exitcode}")
        try:
            with urllib.request.urlopen(f"{server.url}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.02)
    raise RuntimeError("the server did not begin to answer")


@pytest.fixture
def saved() -> Callable[[Page], None]:
    """Waits until a page says that everything is saved."""

    def wait(page: Page) -> None:
        page.wait_for_function("() => document.getElementById('save-state')?.dataset.state === 'saved'")

    return wait


def _write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _cut_down(folder: Path, keep: set[str]) -> None:
    """Keep some series (or questions) of a demo, with what runs and answers say of them."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines() if line.strip()]
    chosen = [row for row in rows if row.get("series") in keep or row["id"] in keep]
    names = {row["id"] for row in chosen}
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chosen))
    for path in [*folder.glob("*.jsonl"), *folder.glob("*/*.jsonl"), *folder.glob("runs/*.txt")]:
        if path.name in ("questions.jsonl", "runs.jsonl") or "collection" in path.parts:
            continue
        lines = [line for line in path.read_text().splitlines() if _question(line) in names]
        path.write_text("".join(line + "\n" for line in lines))
    text = (folder / "qassay.toml").read_text()
    if "justified" in text:
        pairs = [pair for pair in tomllib.loads(text)["justified"] if pair in names]
        name, task = (tomllib.loads(text)[key] for key in ("name", "task"))
        (folder / "qassay.toml").write_text(f'name = "{name}"\ntask = "{task}"\njustified = {json.dumps(pairs)}\n')


def _other_task(folder: Path, task: str) -> None:
    """The same under another task; what series call `other` is a definition where the task has those."""
    (folder / "qassay.toml").write_text(f'name = "Trial"\ntask = "{task}"\n')
    if task == "definition":
        path = folder / "questions.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        changed = [{"id": row["id"], "type": "definition", "text": f"What is {row['target']}?"} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in changed))


def _question(line: str) -> str:
    if not line.startswith("{"):
        return line.split()[0]
    row = json.loads(line)
    return str(row.get("question") or row.get("topic_id"))


@pytest.fixture
def ada(
    make_evaluation: Callable[..., Any], serve: Callable[..., Any], visit: Callable[..., Any]
) -> tuple[Any, Any, Callable[..., Page]]:
    """Two questions assigned to Ada: the evaluation, the server, and a way to open her first question."""
    # Without known answers: a verdict against one asks first.
    evaluation = make_evaluation("series", "1.1", "1.2", without=("judgments", "nuggets", "answers.jsonl"))
    evaluation.give_out("Ada", assessors=1)
    server = serve(evaluation.folder)

    def sit_down(**options: Any) -> Page:
        page: Page = visit(server, evaluation, "Ada", **options)
        page.goto(f"{server.url}/judge/{evaluation.first('Ada')}")
        expect(page.locator(".answer-string")).to_be_visible()
        return page

    return evaluation, server, sit_down
