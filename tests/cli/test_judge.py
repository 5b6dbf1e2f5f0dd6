"""`qassay judge`: an automatic assessor on a folder, on a store, and on a server."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

import qassay
from qassay import net
from qassay.cli import main
from qassay.client import Client, ServerError
from qassay.errors import InputError, UsageError
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import make_token


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the built-in evaluation."""
    shutil.copytree(qassay.demo_folder(), tmp_path / "eval")
    return tmp_path / "eval"


def test_it_writes_a_set_that_is_automatic_and_resumes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "patterns", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["set"] == "patterns"
    assert first["judged"] == sum(first["labels"].values()) > 1000
    rows = [json.loads(line) for line in (folder / "judgments" / "patterns.jsonl").read_text().splitlines()]
    assert len(rows) == first["judged"]
    assert all(row["assessor"] == "patterns" and row["trace"] for row in rows)
    evaluation = open_evaluation(folder)
    assert "patterns" in evaluation.sets
    assert "patterns" not in evaluation.assessor_sets
    assert main(["judge", str(folder), "--with", "patterns", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["judged"], again["known"]) == (0, first["judged"])


def test_it_writes_to_the_store_where_there_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "match", "--set", "strings"]) == 0
    from_files = open_evaluation(folder).judgment_set("strings")
    shutil.rmtree(folder / "judgments")
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    store.close()
    assert main(["judge", str(folder), "--with", "match", "--set", "strings"]) == 0
    assert not (folder / "judgments").exists()
    from_store = open_evaluation(folder).judgment_set("strings")
    assert from_store.kinds.keys() == from_files.kinds.keys()
    for kind, rows in from_files.kinds.items():
        assert rows.equals(from_store.kinds[kind])
    assert "judged" in capsys.readouterr().out


def test_it_says_what_it_left_unjudged_and_why(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "patterns"]) == 0
    printed = capsys.readouterr().out
    assert "154 nugget matches left unjudged: patterns judges answers and list items only." in printed
    assert "18 left unjudged: no pattern for the question." in printed
    assert main(["judge", str(folder), "--with", "overlap"]) == 0
    printed = capsys.readouterr().out
    assert "judged 154 (154 without a label)" in printed
    assert "268 answers left unjudged: overlap judges nugget matches" in printed
    assert "867 list items left unjudged" in printed


def test_written_patterns_say_what_they_find(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(folder), "--with", "patterns(judged=adjudicated)"]) == 0
    judged = open_evaluation(folder).judgment_set("adjudicated")
    strings = [row for kind in ("item", "list") for row in judged.kind(kind).iter_rows(named=True)]
    right, wrong = (
        len({(row["question"], row["text"]) for row in strings if row["judgment"] == label}) for label in "RW"
    )
    assert f"find {right} of the {right} strings judged R, and 1 of the {wrong} judged W." in capsys.readouterr().out


@pytest.mark.parametrize(("which", "nouns"), [("rag", "judgments of nugget support"), ("entailment", "ratings")])
@pytest.mark.parametrize("assessor", ["match", "recall"])
def test_an_assessor_of_strings_is_refused_where_none_are_judged(
    which: str, nouns: str, assessor: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--which", which, "--to", str(tmp_path / which)]) == 0
    assert main(["judge", str(tmp_path / which), "--with", assessor]) == 1
    message = capsys.readouterr().err
    assert f"only {nouns}" in message
    assert ("overlap" in message) == (which == "rag")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--with", "paterns"], 1, "did you mean"),
        (["--with", "patterns", "--set", "a b"], 2, "white space"),
        (["--with", "patterns", "--server", "http://127.0.0.1:9"], 2, "QASSAY_TOKEN"),
    ],
)
def test_errors(
    folder: Path, arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = main(["judge", str(folder), *arguments])
    assert message in capsys.readouterr().err
    assert ended in (status, 2)


def test_without_patterns_it_says_how_to_get_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "patterns.txt").unlink()
    assert main(["judge", str(folder), "--with", "patterns"]) == 1
    assert "qassay import FOLDER PATTERNS" in capsys.readouterr().err


@pytest.fixture
def served(folder: Path) -> Iterator[tuple[str, Store, str, str]]:
    """The evaluation, pooled and served: address, store, and the tokens of an organiser and of an assessor."""
    from qassay.web.application import create_app
    from qassay.web.demonstration import give_out
    from qassay.web.site import Settings

    shutil.rmtree(folder / "judgments")
    store = open_store(folder, create=True)
    import_folder(store, open_folder(folder))
    with store.write() as connection:
        organiser = add_account(connection, "Olga", "organiser").id
        assessor = add_account(connection, "Ada", "assessor").id
        tokens = [make_token(connection, number, "test") for number in (organiser, assessor)]
    give_out(store, folder, [assessor], assessors=1)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    app = create_app(folder, Settings(port=port, log="none"), store=store)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}", store, *(token[0] if isinstance(token, tuple) else token for token in tokens)
    server.should_exit = True
    thread.join(timeout=20)
    store.close()


def test_on_a_server_it_writes_what_it_would_write_in_the_folder(
    served: tuple[str, Store, str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, store, token, _ = served
    plain = tmp_path / "plain"
    shutil.copytree(qassay.demo_folder(), plain)
    assert main(["judge", str(plain), "--with", "patterns"]) == 0
    monkeypatch.setenv("QASSAY_TOKEN", token)
    assert main(["judge", str(folder), "--with", "patterns", "--server", address]) == 0
    stored = open_evaluation(folder, store=store).judgment_set("patterns")
    here = open_evaluation(plain).judgment_set("patterns")
    for kind, rows in here.kinds.items():
        columns = [name for name in rows.columns if name != "line"]
        assert rows.select(columns).sort(columns[:4]).equals(stored.kinds[kind].select(columns).sort(columns[:4]))
    client = Client(address, token=token)
    assert client.judged("patterns")
    assert client.send_judgments("patterns", []) == 0


def test_the_client_tells_what_the_server_objects_to(served: tuple[str, Store, str, str]) -> None:
    address, _, organiser, assessor = served
    client = Client(address, token=organiser)
    with pytest.raises(InputError, match="is not a label"):
        client.send_judgments("mine", [{"question": "1.1", "doc": "D", "text": "x", "judgment": "Q"}])
    with pytest.raises(ServerError, match="belongs to the people"):
        client.send_judgments("first", [{"question": "1.1", "doc": "D", "text": "x", "judgment": "R"}])
    with pytest.raises(ServerError, match="403"):
        list(Client(address, token=assessor).items())
    with pytest.raises(ServerError, match="401"):
        Client(address, token="qsy_nobody").evaluation()
    with pytest.raises(UsageError):
        Client("ftp://x", token="")


def test_a_server_that_is_away_is_tried_again_and_then_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(net.time, "sleep", pauses.append)
    with pytest.raises(ServerError, match="cannot be reached"):
        Client("http://127.0.0.1:9", token="x").evaluation()
    assert len(pauses) == 4


@pytest.mark.parametrize("name", ["first", "adjudicated"])
def test_the_judgments_of_people_are_left_alone(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "judgments" / f"{name}.jsonl").read_bytes()
    assert main(["judge", str(folder), "--with", "patterns", "--set", name, "--again"]) == 2
    assert "judgments of people" in capsys.readouterr().err
    assert (folder / "judgments" / f"{name}.jsonl").read_bytes() == before
