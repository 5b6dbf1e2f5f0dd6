"""`qassay serve`: from a folder to a served evaluation, and what it says when it cannot."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qassay import cli
from qassay.demo import demo_folder

Start = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(demo_folder(), tmp_path / "eval"))


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a server on a free port; the process, and what it has printed when it is ready."""
    running: list[subprocess.Popen[str]] = []

    def starting(
        *arguments: object, until: str = "served at", verb: tuple[str, ...] = ("serve",)
    ) -> tuple[subprocess.Popen[str], str]:
        code = "import sys; from qassay.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, *verb, *map(str, arguments), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        running.append(process)
        printed = ""
        assert process.stdout is not None
        while until not in printed:
            line = process.stdout.readline()
            if not line:
                raise AssertionError(f"ended: {printed} {process.stderr.read() if process.stderr else ''}")
            printed += line
        return process, printed

    yield starting
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ask(printed: str, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
    address = re.search(r"http://([\d.]+):(\d+)", printed)
    assert address is not None
    connection = http.client.HTTPConnection(address[1], int(address[2]), timeout=30)
    sent = {"Content-Type": "application/json", "Origin": address[0], **headers}
    connection.request(method, path, None if body is None else json.dumps(body), sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_from_a_folder_to_the_first_organiser(folder: Path, start: Start) -> None:
    process, printed = start(folder, "--log", "json", until="/welcome#")
    assert "Imported " in printed
    assert "Qassay demo is served at http://127.0.0.1:" in printed
    assert ask(printed, "GET", "/health") == (200, '{"status":"ok"}')
    link = re.search(r"/welcome#(\S+)", printed)
    assert link is not None
    sent = {"token": link[1], "name": "Ada", "password": "a long enough password"}
    assert ask(printed, "POST", "/api/welcome", sent) == (200, '{"name":"Ada","role":"organiser"}')
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=30)
    assert process.returncode == 130
    assert link[1] not in log
    assert "Traceback" not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [line["route"] for line in lines if "route" in line] == ["/health", "/api/welcome"]
    # The second start finds an organiser, and takes nothing in.
    process, printed = start(folder, "--log", "none")
    assert "Imported" not in printed
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert "welcome" not in printed + rest
    process, printed = start(folder, "--log", "none", "--invite-organiser", until="/welcome#")
    assert "another organiser" in printed


@pytest.mark.parametrize("insecure", [True, False])
def test_insecure_says_so_at_start(folder: Path, start: Start, insecure: bool) -> None:
    options = ("--host", "0.0.0.0", "--insecure") if insecure else ()  # the test is about that
    process, _ = start(folder, "--log", "none", *options)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert ("passwords and judgments cross the network unencrypted" in log) is insecure


def test_it_stops_on_request(folder: Path, start: Start) -> None:
    process, printed = start(folder, until="/welcome#")
    assert ask(printed, "GET", "/health")[0] == 200
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert process.returncode == 0
    assert log.splitlines()[1:] == []
    # The store was closed: nothing is left beside it.
    assert not (folder / "qassay.db-wal").exists()


@pytest.mark.slow
def test_it_stops_while_it_prepares(folder: Path, start: Start) -> None:
    process, _ = start(folder, until="Imported")
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert process.returncode in (0, 130)  # it may have been ready
    assert "Traceback" not in log


@pytest.mark.slow
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_demonstration_stops_like_any_other_and_leaves_nothing(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals, status: int
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, printed = start(verb=("demo", "--serve"))
    assert ask(printed, "GET", "/health")[0] == 200
    assert len(list(tmp_path.glob("qassay-demo-*"))) == 1
    process.send_signal(sent)
    process.communicate(timeout=30)
    assert process.returncode == status
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_demonstration_stops_while_it_copies(tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process, _ = start(verb=("demo", "--serve"), until="")
    while not list(tmp_path.glob("qassay-demo-*/demo/qassay.toml")):
        time.sleep(0.01)
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=30)
    assert process.returncode == 130
    assert log.strip() == "interrupted"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "--public-url"),
        (["--host", "0.0.0.0", "--public-url", "http://qa.example.org"], "--insecure"),
        (["--trusted-header", "X-Remote-User"], "--trusted-proxy"),
        (["--log", "xml"], "text, json or none"),
    ],
)
def test_unsafe_settings_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert cli.main(["serve", str(folder), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "qassay.db").exists()


def test_a_port_that_is_taken_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["serve", str(folder), "--port", str(port)]) == 2
    assert f"port {port} is taken" in capsys.readouterr().err


def test_a_faulty_folder_is_not_half_imported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "judgments" / "first.jsonl").write_text("{nonsense\n")
    assert cli.main(["serve", str(folder), "--port", "0"]) == 1
    assert "judgments/first.jsonl" in capsys.readouterr().err
    shutil.copy(demo_folder() / "judgments" / "first.jsonl", folder / "judgments")
