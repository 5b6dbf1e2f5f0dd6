"""Every assessor judges a served evaluation as it judges the folder: from the command line and from Python."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from listening import listening

import qassay
from qassay.assessors import NAMES, Case
from qassay.cli import main
from qassay.client import Client
from qassay.evaluation import open_evaluation
from qassay.formats.folder import open_folder
from qassay.store.engine import Store, open_store
from qassay.store.folder.importing import import_folder
from qassay.store.people import add_account
from qassay.store.people.sessions import make_token

# Every assessor once: strings of the question series, nuggets of the long answers.
ON_NUGGETS = ("overlap", "learned")
FIRST = {name.partition("(")[0]: name for name in reversed(NAMES) if not name.startswith("llm")}
SERIES = [spelling for name, spelling in FIRST.items() if name not in ON_NUGGETS]
NUGGETS = [spelling for name, spelling in FIRST.items() if name in (*ON_NUGGETS, "embedding")]


@dataclass(frozen=True)
class House:
    """A served evaluation, and a copy of its folder that is not served."""

    folder: Path
    plain: Path
    store: Store
    address: str
    token: str

    def rows(self, name: str, *, served: bool) -> list[dict[str, Any]]:
        """The judgments of a set, in an order of their own."""
        where = open_evaluation(self.folder, store=self.store) if served else open_evaluation(self.plain)
        tables = where.judgment_set(name).kinds.items()
        rows = [{"kind": kind, **row} for kind, table in tables for row in table.drop("line").iter_rows(named=True)]
        return sorted(rows, key=lambda row: json.dumps(row, default=str))


def _served(place: Path, evaluation: Path, stack: ExitStack) -> House:
    from qassay.web.application import create_app
    from qassay.web.demonstration import give_out
    from qassay.web.site import Settings

    for name in ("served", "plain"):
        shutil.copytree(evaluation, place / name)
    store = open_store(place / "served", create=True)
    stack.callback(store.close)
    import_folder(store, open_folder(place / "served"))
    with store.write() as connection:
        organiser = add_account(connection, "Olga", "organiser").id
        token = make_token(connection, organiser, "test")
    give_out(store, place / "served", [organiser], assessors=1)
    _, port = stack.enter_context(listening(create_app(place / "served", Settings(log="none"), store=store)))
    address = f"http://127.0.0.1:{port}"
    return House(place / "served", place / "plain", store, address, token if isinstance(token, str) else token[0])


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with ExitStack() as stack:
        yield _served(tmp_path_factory.mktemp("series"), qassay.demo_folder(), stack)


@pytest.fixture(scope="module")
def nuggets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    place = tmp_path_factory.mktemp("nuggets")
    assert main(["demo", "--which", "rag", "--to", str(place / "rag")]) == 0
    with ExitStack() as stack:
        yield _served(place, place / "rag", stack)


def _judged_alike(house: House, spelling: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("QASSAY_TOKEN", house.token)
    name = spelling.replace("(", "-").replace(")", "").replace("=", "-")
    assert main(["judge", str(house.plain), "--with", spelling, "--set", name]) == 0
    assert main(["judge", str(house.folder), "--with", spelling, "--set", name, "--server", house.address]) == 0
    here = house.rows(name, served=False)
    assert here
    assert house.rows(name, served=True) == here
    return name


@pytest.mark.parametrize("spelling", SERIES)
def test_assessors_of_strings(series: House, spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _judged_alike(series, spelling, monkeypatch)


@pytest.mark.parametrize("spelling", NUGGETS)
def test_assessors_of_nuggets(nuggets: House, spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = _judged_alike(nuggets, spelling, monkeypatch)
    scores = [
        {row.run: row.score for row in evaluation.score(name).runs}
        for evaluation in (open_evaluation(nuggets.plain), open_evaluation(nuggets.folder, store=nuggets.store))
    ]
    assert scores[0] == scores[1]


def test_from_python_interrupted_and_resumed(nuggets: House) -> None:
    client = Client(nuggets.address, token=nuggets.token)
    evaluation = open_evaluation(nuggets.plain)
    asked: list[str] = []

    def fails(case: Case) -> str | None:
        if len(asked) == 30:
            raise RuntimeError("power cut")
        asked.append(case.part.subject)
        return "full" if case.kind == "support" else None

    with pytest.raises(qassay.InputError, match="power cut"):
        qassay.judge(evaluation, fails, set_name="mine", server=client)
    sent = client.judged("mine")
    assert 0 < len(sent) <= 30
    asked.clear()
    done = qassay.judge(evaluation, lambda case: fails_never(case, asked), set_name="mine", server=client)
    assert not sent & set(asked)
    assert done.known == len(sent)
    assert client.judged("mine") == sent | set(asked)
    supports = open_evaluation(nuggets.folder, store=nuggets.store).judgment_set("mine").kind("support")
    assert supports.select(pl.col("support") == "full").to_series().all()


def fails_never(case: Case, asked: list[str]) -> str | None:
    """The same assessor after the power cut."""
    if case.kind == "support":
        asked.append(case.part.subject)
        return "full"
    return None
