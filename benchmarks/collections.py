"""Indexing and searching: 200,000 passages beside SQLite FTS5 and bm25s, and a million documents.

Run with `python -m benchmarks.collections`; with `--million`, or the variable QASSAY_BENCH_MILLION, the collection of
a million documents (3 GB of text) is made and indexed too: some twenty minutes of processor time, 7 GB of disk.
"""
# ruff: noqa: A005  # the module is named after the part that it measures, and only run with -m

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.rows import Row
from qassay.collections import open_collection
from qassay.collections.documents import Stretch
from qassay.collections.search import Analyser
from qassay.collections.tantivy_engine import TantivyEngine

WORK = Path(__file__).parent / ".work"
PASSAGES = 200_000
MILLION = 1_000_000
QUERIES = 500
_VOCABULARY = 200_000
_FLAG = "QASSAY_BENCH_MILLION"

BM25S = """
import json, statistics, sys, time
import bm25s
lines, queries = sys.argv[1:3]
texts = [json.loads(line)["text"] for line in open(lines)]
queries = json.load(open(queries))
begin, busy = time.perf_counter(), time.process_time()
index = bm25s.BM25(backend="numba")
index.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
indexing, busy = time.perf_counter() - begin, time.process_time() - busy
times = []
for query in [*queries[:3], *queries]:  # the first ones compile
    begin = time.perf_counter()
    words = bm25s.tokenize([query], stopwords=None, show_progress=False)
    index.retrieve(words, k=10, show_progress=False)
    times.append(time.perf_counter() - begin)
print(json.dumps([indexing, statistics.median(times[3:]), busy]))
"""

READ_AND_INDEX = """
import sys
from qassay.collections import open_collection
collection = open_collection(sys.argv[1])
collection.index()
"""

SEARCH = """
import json, resource, statistics, sys, time
from qassay.collections import open_collection
begin = time.perf_counter()
collection = open_collection(sys.argv[1])
collection.search("warm up")
opening = time.perf_counter() - begin
times = []
for query in json.load(open(sys.argv[2])):
    begin = time.perf_counter()
    collection.search(query)
    times.append(time.perf_counter() - begin)
print(json.dumps([opening, statistics.median(times), max(times), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def passages() -> list[Row]:
    """The engines alone, on the same 200,000 passages: time to index, and to answer a query of four words."""
    lines = generated("passages", PASSAGES, sentences=3)
    texts = [json.loads(line)["text"] for line in lines.open(encoding="utf-8")]
    queries = _queries()
    ours = _tantivy(texts, queries)
    rows = []
    for name, peer in (("SQLite FTS5", _fts5(texts, queries)), ("bm25s", _bm25s(lines, queries))):
        if isinstance(peer, str):
            rows.append(Row(f"index and search, {PASSAGES:,} passages / {name}", ours[0], None, None, peer))
            continue
        size = f"{sum(map(len, texts)) / 1e6:.0f} MB of text"
        notes = (f"{size}; processor {ours[2]:.1f} s / {peer[2]:.1f} s", f"{size}; the 10 best of any word; medians")
        for number, action in enumerate(("index", "one query on")):
            note = notes[number]
            name_ = f"{action} {PASSAGES:,} passages / {name}"
            rows.append(Row(name_, ours[number], peer[number], peer[number] / ours[number], note))
    return rows


def whole() -> list[Row]:
    """What a user waits for: from JSON lines to the first answer, sentences and highlights included."""
    lines = generated("passages", PASSAGES, sentences=3)
    folder = WORK / "collection-passages"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / ".qassay", ignore_errors=True)
    target = folder / lines.name
    if not target.exists():
        target.hardlink_to(lines)
    begin, busy = time.perf_counter(), time.process_time()
    collection = open_collection(folder)
    read = time.perf_counter() - begin
    collection.index()
    both, busy = time.perf_counter() - begin, time.process_time() - busy
    latency = _median(lambda query: len(collection.search(query)), _queries())
    note = f"reading {read:.1f} s, sentences and index {both - read:.1f} s; processor {busy:.1f} s"
    fts = _fts5([document.text for document in collection], _queries())
    conditions = "ours with texts, offsets and highlights; medians"
    return [
        Row(f"{PASSAGES:,} passages, files to index / SQLite FTS5 from memory", both, fts[0], fts[0] / both, note),
        Row(
            "collection.search, 10 hits / SQLite FTS5, row numbers only", latency, fts[1], fts[1] / latency, conditions
        ),
    ]


def million() -> list[Row]:
    """A million documents of 3,000 characters: time, memory and disk; only where it is asked for."""
    if not os.environ.get(_FLAG):
        return []
    folder = WORK / "million"
    for part in range(10):
        generated(f"million/part{part}", MILLION // 10, sentences=28, seed=part)
    shutil.rmtree(folder / ".qassay", ignore_errors=True)
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", READ_AND_INDEX, str(folder)]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError("indexing a million documents failed")
    seconds = time.perf_counter() - begin
    queries = WORK / "queries.json"
    queries.write_text(json.dumps(_queries()), encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, "-c", SEARCH, str(folder), str(queries)], capture_output=True, text=True, check=True
    )
    opening, median, slowest, memory = json.loads(answer.stdout)
    disk = sum(path.stat().st_size for path in (folder / ".qassay").rglob("*") if path.is_file())
    text = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
    busy = usage.ru_utime + usage.ru_stime
    note = f"{text / 1e9:.1f} GB of files, {disk / 1e9:.1f} GB on disk, {usage.ru_maxrss / 2**20:.2f} GiB of memory"
    note += f", {busy:.0f} s of processor"
    figures = f"opening {opening:.2f} s, slowest query {slowest * 1e3:.0f} ms, {memory / 2**20:.2f} GiB of memory"
    return [
        Row("a million documents, files to index (24 GiB allowed)", seconds, None, None, note),
        Row("one query on a million documents", median, None, None, figures),
    ]


def _tantivy(texts: list[str], queries: list[str]) -> tuple[float, float, float]:
    """Time to index, time of a query, and processor time to index."""
    from qassay.collections.search import parse

    path = WORK / "tantivy"
    shutil.rmtree(path, ignore_errors=True)
    analyser = Analyser()
    begin, busy = time.perf_counter(), time.process_time()
    engine = TantivyEngine(path, analyser)
    for number, text in enumerate(texts):
        engine.add([Stretch(number, 0, len(text), text, None)])
    engine.finish()
    indexing, busy = time.perf_counter() - begin, time.process_time() - busy
    return indexing, _median(lambda query: len(engine.search(parse(query, analyser), 10)), queries), busy


def _fts5(texts: list[str], queries: list[str]) -> tuple[float, float, float]:
    """Time to index, time of a query, and processor time to index."""
    path = WORK / "fts5.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    begin, busy = time.perf_counter(), time.process_time()
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='porter unicode61')")
    connection.executemany("INSERT INTO t (rowid, text) VALUES (?, ?)", enumerate(texts))
    connection.execute("INSERT INTO t (t) VALUES ('optimize')")
    connection.commit()
    indexing, busy = time.perf_counter() - begin, time.process_time() - busy

    def ask(query: str) -> int:
        words = " OR ".join(f'"{word}"' for word in query.split())
        return len(
            connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()
        )

    latency = _median(ask, queries)
    connection.close()
    return indexing, latency, busy


def _bm25s(lines: Path, queries: list[str]) -> tuple[float, float, float] | str:
    """In an environment of its own; where that cannot be made, the reason."""
    venv = WORK / "bm25s"
    python = venv / "bin" / "python"
    try:
        if not (venv / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True, capture_output=True)
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "bm25s", "numba"]
            subprocess.run(pip, check=True, capture_output=True, text=True)
            (venv / "done").touch()
        file = WORK / "queries.json"
        file.write_text(json.dumps(queries), encoding="utf-8")
        command = [str(python), "-c", BM25S, str(lines), str(file)]
        indexing, latency, busy = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    except subprocess.CalledProcessError as error:
        return f"not measured: {(error.stderr or str(error)).strip().splitlines()[-1][:200]}"
    return indexing, latency, busy


def _median(ask: Callable[[str], int], queries: list[str]) -> float:
    times = []
    for query in queries:
        begin = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def _words() -> list[str]:
    """Pronounceable words, all different, the short ones first."""
    consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
    syllables = [first + second for first in consonants for second in vowels]
    vocabulary: list[str] = []
    for number in range(_VOCABULARY):
        word, rest = "", number + 1
        while rest:
            rest, digit = divmod(rest, len(syllables))
            word += syllables[digit]
        vocabulary.append(word + ("n" if number % 3 else "s"))
    return vocabulary


def _ranks(chance: np.random.Generator, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Places of words, frequent ones often: Zipf's law, cut at the vocabulary's end."""
    weights = 1.0 / np.arange(2, _VOCABULARY + 2)
    return np.searchsorted(np.cumsum(weights) / weights.sum(), chance.random(count)).clip(max=_VOCABULARY - 1)


def _queries() -> list[str]:
    """Four words each, of the frequency of those that questions have."""
    chance, words = np.random.default_rng(99), _words()
    return [" ".join(words[place] for place in chance.integers(100, 20_000, 4)) for _ in range(QUERIES)]


def _sentences(chance: np.random.Generator, words: list[str], count: int) -> Iterator[str]:
    lengths = chance.integers(8, 26, count)
    places = _ranks(chance, int(lengths.sum())).tolist()
    position = 0
    for length in lengths.tolist():
        yield " ".join([words[place] for place in places[position : position + length]]).capitalize() + "."
        position += length


def generated(name: str, count: int, *, sentences: int, seed: int = 0) -> Path:
    """A file of generated documents, made once and kept out of the repository."""
    path = WORK / f"{name}.jsonl"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    chance, words = np.random.default_rng(seed), _words()
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as out:
        for begin in range(0, count, 1000):
            some = list(_sentences(chance, words, 1000 * sentences))
            for number in range(min(1000, count - begin)):
                text = " ".join(some[number * sentences : (number + 1) * sentences])
                row = {"id": f"G{seed}.{begin + number:07d}", "title": text[:40], "text": text}
                out.write(json.dumps(row) + "\n")
    part.rename(path)
    return path


if __name__ == "__main__":
    if "--million" in sys.argv:
        os.environ[_FLAG] = "1"
    for row in [*passages(), *whole(), *million()]:
        ours, peer, ratio = ("" if value is None else f"{value:.4g}" for value in row[1:4])
        print(f"{row.name:70} {ours:>10} {peer:>10} {ratio:>8}  {row.note}")
