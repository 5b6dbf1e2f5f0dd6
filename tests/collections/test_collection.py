"""A collection as others use it: in order, by doc-id, on disk and in memory, after breaks and changes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from qassay import collections
from qassay.collections import Collection, building, open_collection
from qassay.collections.documents import Stretch
from qassay.collections.store import DocumentStore, DocumentWriter
from qassay.collections.tantivy_engine import TantivyEngine
from qassay.errors import InputError

Folder = Callable[..., Path]
ROWS: list[dict[str, object]] = [
    {
        "id": f"d{number:03d}",
        "title": f"Title {number}",
        "text": f"Text number {number}. " + "More words here. " * (number % 7),
    }
    for number in range(300)
]


def files(parts: int = 3) -> dict[str, object]:
    size = len(ROWS) // parts
    return {f"{part}.jsonl": ROWS[part * size : (part + 1) * size] for part in range(parts)}


def made(root: Path) -> list[Path]:
    return sorted((root / ".qassay").glob("collection-*"))


@pytest.fixture(params=["memory", "disk"])
def either(request: pytest.FixtureRequest, folder: Folder) -> Collection:
    if request.param == "disk":
        request.getfixturevalue("on_disk")
    return open_collection(folder(files()))


def test_documents_in_order_and_by_doc_id(either: Collection) -> None:
    assert len(either) == 300
    assert [document.id for document in either] == [row["id"] for row in ROWS] == list(either.lengths())
    for row in (ROWS[0], ROWS[299], ROWS[120]):
        document = either.document(str(row["id"]))
        assert (document.id, document.text, document.title) == (row["id"], row["text"], row["title"])
    assert either.lengths() == {row["id"]: len(str(row["text"])) for row in ROWS}
    assert either.place("d101") == "documents/1.jsonl:2"


@pytest.mark.parametrize("strange", ["d999", "", "NIL", "\0", "\ud800", "d001'; --"])
def test_a_doc_id_that_is_not_there(either: Collection, strange: str) -> None:
    assert "d001" in either
    assert strange not in either
    assert 5 not in either
    with pytest.raises(KeyError):
        either.document(strange)


def test_a_small_collection_writes_nothing(folder: Folder) -> None:
    root = folder(files())
    open_collection(root).search("number")
    assert sorted(path.name for path in root.iterdir()) == ["0.jsonl", "1.jsonl", "2.jsonl"]


@pytest.mark.usefixtures("on_disk")
def test_an_indexed_collection_is_not_read_again(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder(files())
    before = open_collection(root).search("number 17")
    monkeypatch.setattr(building, "read", None)
    monkeypatch.setattr(collections, "units", None)
    assert open_collection(root).search("number 17") == before
    assert (root / ".qassay" / ".gitignore").read_text() == "*\n"
    assert "8a477f597d28d172789f06886806bc55" in (root / ".qassay" / "CACHEDIR.TAG").read_text()


@pytest.mark.usefixtures("on_disk")
def test_the_cache_of_an_evaluation_is_next_to_its_collection(folder: Folder) -> None:
    evaluation = folder({"qassay.toml": 'task = "passages"', **{f"collection/{k}": v for k, v in files().items()}})
    open_collection(evaluation / "collection")
    assert len(made(evaluation)) == 1
    assert not (evaluation / "collection" / ".qassay").exists()


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("change", ["add", "edit", "remove", "touch"])
def test_a_changed_collection_is_read_again(folder: Folder, change: str) -> None:
    root = folder(files())
    open_collection(root).index()
    first = made(root)
    if change == "add":
        (root / "new.txt").write_text("A zebra.")
    elif change == "edit":
        (root / "0.jsonl").write_text('{"id": "z", "text": "A zebra."}')
    elif change == "remove":
        (root / "2.jsonl").unlink()
    else:
        os.utime(root / "0.jsonl", ns=(1, 1))
    collection = open_collection(root)
    assert len(collection) == {"add": 301, "edit": 201, "remove": 200, "touch": 300}[change]
    assert [hit.text for hit in collection.search("zebra")] == (["A zebra."] if change in ("add", "edit") else [])
    assert len(made(root)) == 1
    assert made(root) != first


@pytest.mark.usefixtures("on_disk")
def test_a_faulty_collection_is_faulty_every_time(folder: Folder) -> None:
    root = folder({**files(), "again.jsonl": ROWS[:1]})
    for _ in range(2):
        with pytest.raises(
            InputError, match=r"d000 is there twice: in documents/0\.jsonl:1 and in documents/again\.jsonl:1"
        ):
            open_collection(root)


@pytest.mark.usefixtures("on_disk")
def test_reading_goes_on_after_a_break(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder(files(10))
    monkeypatch.setattr("qassay.collections.store._FRAME", 1 << 10)
    monkeypatch.setattr("qassay.collections.store._BATCH", 1)
    whole = list(open_collection(root))
    for path in made(root)[0].iterdir():
        path.unlink()
    taken: list[str] = []
    real = building.kind_of

    def breaking(source: building.OpenFile) -> object:
        taken.append(source.path.name)
        if len(taken) == 7:
            raise KeyboardInterrupt
        return real(source)

    monkeypatch.setattr(building, "kind_of", breaking)
    with pytest.raises(KeyboardInterrupt):
        open_collection(root)
    assert list(open_collection(root)) == whole
    assert taken[:7] == [f"{number}.jsonl" for number in range(7)]
    assert "0.jsonl" not in taken[7:]
    assert taken[-1] == "9.jsonl"


@pytest.mark.usefixtures("on_disk")
def test_faults_before_a_break_are_found_after_it(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder({**files(10), "2a.jsonl": "{", "3a.jsonl": ROWS[:1], "2b.png": b"\x89"})
    monkeypatch.setattr("qassay.collections.store._BATCH", 0)
    real = building.kind_of

    def breaking(source: building.OpenFile) -> object:
        if source.path.name == "7.jsonl":
            raise KeyboardInterrupt
        return real(source)

    with monkeypatch.context() as patch:
        patch.setattr(building, "kind_of", breaking)
        with pytest.raises(KeyboardInterrupt):
            open_collection(root)
    with pytest.raises(InputError) as caught:
        open_collection(root)
    assert [problem.file for problem in caught.value.problems] == ["documents/2a.jsonl", "documents/3a.jsonl"]


@pytest.mark.usefixtures("on_disk")
def test_indexing_goes_on_after_a_break(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder(files())
    whole = open_collection(root)
    expected = whole.search("number words", limit=250)
    place_ = made(root)[0]
    (place_ / next(path.name for path in place_.glob("passages-*.complete"))).unlink()
    for path in next(path for path in place_.glob("passages-*") if path.is_dir()).iterdir():
        path.unlink()
    monkeypatch.setattr(collections, "_COMMIT", 2000)
    added: list[int] = []
    real = TantivyEngine.add

    def breaking(engine: TantivyEngine, units: Iterable[Stretch]) -> None:
        units = list(units)
        added.append(units[0].document)
        if len(added) == 200:
            raise KeyboardInterrupt
        real(engine, units)

    monkeypatch.setattr(TantivyEngine, "add", breaking)
    with pytest.raises(KeyboardInterrupt):
        open_collection(root).index()
    assert open_collection(root).search("number words", limit=250) == expected
    assert added[:200] == list(range(200))
    assert 100 < added[200] < 200, "what was committed is not indexed again"
    assert added[200:] == list(range(added[200], 300)), "and nothing is left out"


def test_a_killed_process_leaves_what_the_next_one_needs(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while indexing, without any chance to clean up."""
    root = folder(files())
    code = """
import os, signal, sys
from qassay import collections
from qassay.collections import building, open_collection
from qassay.collections.tantivy_engine import TantivyEngine
building.SMALL = -1
collections._COMMIT = 2000
real, count = TantivyEngine.add, 0
def add(engine, units):
    global count
    count += 1
    if count == 250:
        os.kill(os.getpid(), signal.SIGKILL)
    real(engine, units)
TantivyEngine.add = add
open_collection(sys.argv[1]).index()
"""
    done = subprocess.run([sys.executable, "-c", code, str(root)], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    expected = open_collection(root).search("number words", limit=250)  # small: in memory
    again = subprocess.run(
        [sys.executable, "-c", code.replace("250", "10**9") + "print(len(open_collection(sys.argv[1])))", str(root)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert again.stdout.strip() == "300"
    monkeypatch.setattr(building, "SMALL", -1)
    assert open_collection(root).search("number words", limit=250) == expected


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("what", ["store", "index"])
def test_a_broken_cache_is_rebuilt(folder: Folder, what: str) -> None:
    root = folder(files())
    expected = open_collection(root).search("number 42")
    if what == "store":
        (made(root)[0] / "documents.db").write_bytes(b"rubbish" * 1000)
    else:
        next(made(root)[0].glob("passages-*/meta.json")).write_text("rubbish")
    assert open_collection(root).search("number 42") == expected


@pytest.mark.usefixtures("on_disk")
def test_a_folder_that_cannot_be_written(folder: Folder) -> None:
    root = folder({**files(), ".qassay": "a file where the folder would be"})
    collection = open_collection(root)
    assert len(collection.search("number 42")) == 10
    assert collection._place is not None
    stand_in = collection._place.path
    assert collection._place.temporary
    assert stand_in.is_dir()
    del collection
    assert not stand_in.exists()


@pytest.mark.usefixtures("on_disk")
def test_a_folder_that_can_only_be_read_but_was_indexed_by_others(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = folder(files())
    expected = open_collection(root).search("number 42")
    monkeypatch.setattr(building.os, "access", lambda *_: False)
    monkeypatch.setattr(building, "read", None)
    monkeypatch.setattr(collections, "units", None)
    collection = open_collection(root)
    assert collection._place is not None
    assert collection._place.temporary
    assert collection.search("number 42") == expected


def test_progress_is_reported_to_the_end(folder: Folder) -> None:
    progress: list[tuple[int, int]] = []
    root = folder(files())
    collection = open_collection(root, progress=lambda done, total: progress.append((done, total)))
    size = sum(path.stat().st_size for path in root.iterdir())
    assert progress[-1] == (size, size)
    collection.index()
    assert progress[-1] == (300, 300)
    assert all(done <= total for done, total in progress)


def test_a_copy_reopens_the_folder(either: Collection) -> None:
    copy = pickle.loads(pickle.dumps(either))
    assert copy.document("d007") == either.document("d007")
    assert copy.search("number 7") == either.search("number 7")


def test_threads_share_a_collection(either: Collection) -> None:
    expected = {number: either.document(f"d{number:03d}") for number in range(0, 300, 7)}
    wrong: list[object] = []

    def ask() -> None:
        for number, document in expected.items():
            if either.document(document.id) != document or not either.search(f"number {number}", limit=2):
                wrong.append(number)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_process_waits_for_the_other(tmp_path: Path) -> None:
    spot = building.CollectionFolder(tmp_path)
    waiting = threading.Event()
    order: list[str] = []

    def hold() -> None:
        with spot.lock():
            waiting.set()
            time.sleep(0.3)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    waiting.wait()
    with spot.lock():
        order.append("second")
    thread.join()
    assert order == ["first", "second"]


def test_closing(either: Collection) -> None:
    with either as collection:
        assert len(collection) == 300
    with pytest.raises(Exception, match="closed"):
        len(either)


def test_many_documents_without_text(folder: Folder) -> None:
    root = folder({"a.jsonl": [{"id": str(number), "text": ""} for number in range(9000)]})
    collection = open_collection(root)
    assert len(list(collection)) == 9000
    assert collection.search("anything") == []


def test_the_store_numbers_what_it_takes(folder: Folder, tmp_path: Path) -> None:
    store = DocumentStore(tmp_path / "x.db")
    writer = DocumentWriter(store)
    writer.begin("a")
    for document in open_collection(folder(files())):
        writer.add(document, 3)
    writer.end()
    writer.commit()
    assert [number for number, _ in store.iterate(297)] == [297, 298, 299]
    assert [number for number in (5, 299, 1000) if store.numbered(number)] == [5, 299]
