"""Bytes and text of files: compression, encodings, whole replacement."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from qassay.cli import main
from qassay.errors import InputError, Problem
from qassay.formats import files
from qassay.formats.files import packed_suffix
from qassay.formats.foreign import read_log
from qassay.formats.scores import read_scores


def faults(data: bytes, encoding: str = "utf-8") -> list[Problem]:
    with pytest.raises(InputError) as caught:
        files.decode(data, file="f", encoding=encoding)
    return list(caught.value.problems)


@given(st.binary(max_size=300), st.sampled_from(["plain", "x.gz", "x.zst"]))
def test_reading_what_was_written(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    if packed_suffix(data):
        data = b"x" + data  # such a file is unpacked, as it should be
    path = tmp_path_factory.getbasetemp() / name
    files.write_bytes(path, data)
    assert files.read_bytes(path) == data


def test_compression_is_recognised_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    (tmp_path / "b.txt").write_bytes(zstandard.compress(b"one ") + zstandard.compress(b"two"))
    (tmp_path / "c.gz").write_bytes(b"not packed")
    assert [files.read_bytes(tmp_path / name) for name in ("a.txt", "b.txt", "c.gz")] == [
        b"one two",
        b"one two",
        b"not packed",
    ]


def test_many_members_and_padding(tmp_path: Path) -> None:
    # bgzip writes one member for every 64 kilobytes; tapes pad with zeros.
    (tmp_path / "a").write_bytes(gzip.compress(b"a") * 20_000 + b"\0" * 1000)
    (tmp_path / "b").write_bytes(zstandard.compress(b"b") * 20_000)
    (tmp_path / "c").write_bytes(gzip.compress(bytes(20 << 20)))
    assert files.read_bytes(tmp_path / "a") == b"a" * 20_000
    assert files.read_bytes(tmp_path / "b") == b"b" * 20_000
    assert files.read_bytes(tmp_path / "c") == bytes(20 << 20)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_broken_archives_are_input_errors(tmp_path: Path, pack: object) -> None:
    whole = pack(os.urandom(5000))  # type: ignore[operator]
    for data in (whole[:100], whole[: len(whole) // 2], whole[:20] + b"\xff" * 200):
        (tmp_path / "f").write_bytes(data)
        with pytest.raises(InputError, match="broken"):
            files.read_bytes(tmp_path / "f")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_archive_bombs_are_refused(tmp_path: Path, pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1 << 20)
    (tmp_path / "f").write_bytes(pack(bytes(4 << 20)))  # type: ignore[operator]
    with pytest.raises(InputError, match="unpacks to more than"):
        files.read_bytes(tmp_path / "f")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_compression_bombs_are_refused(tmp_path: Path, pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_ALWAYS_UNPACKED", 1 << 20)
    (tmp_path / "f").write_bytes(pack(bytes(4 << 20)))  # type: ignore[operator]
    with pytest.raises(InputError, match="unpacks to more than 200 times its size"):
        files.read_bytes(tmp_path / "f")
    text = b"".join(b"q%d\t%d\n" % (number, number**3) for number in range(100_000))
    (tmp_path / "f").write_bytes(pack(text))  # type: ignore[operator]
    assert files.read_bytes(tmp_path / "f") == text


def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        for read in (files.read_bytes, read_log, read_scores):
            with pytest.raises(InputError, match="is a pipe or a device"):
                read(path)


def test_every_undecodable_line_is_reported() -> None:
    problems = faults(b"a\n\xe9 b\nc\nd\xff\r\n")
    assert [(problem.rule, problem.line) for problem in problems] == [("encoding", 2), ("encoding", 4)]
    assert problems[1].message.startswith("byte 0xff at column 2 is not UTF-8; save it as UTF-8")


def test_a_byte_order_mark_is_not_text() -> None:
    assert files.decode(b"\xef\xbb\xbfabc", file="f") == "abc"


@pytest.mark.parametrize(
    ("data", "encoding", "says"),
    [
        (b"a", "klingon", "there is no encoding named 'klingon'"),
        (b"a", "hex", "there is no encoding named 'hex'"),
        ("é".encode("utf-16"), "utf-8", "it seems, UTF-16"),
        ("id,é".encode("utf-16-be"), "utf-8", "(--encoding utf-16-be)"),
        ("id,A".encode("utf-16-le"), "utf-8", "(--encoding utf-16-le)"),
        (b"\x89PNG\r\n\x1a\n\0\0\xff", "utf-8", "is not text"),
        (b"\0\xd8", "utf-16-le", "not text in UTF-16-LE"),
        (b"\\ud800", "unicode_escape", "UNICODE_ESCAPE"),
        (b"\\x", "unicode_escape", "UNICODE_ESCAPE"),
        (b"\xff" * 10, "idna", "IDNA"),
    ],
)
def test_encodings_that_do_not_fit(data: bytes, encoding: str, says: str) -> None:
    problems = faults(data, encoding)
    assert says in problems[0].message
    assert problems[0].rule == "encoding"


@given(st.binary(max_size=60), st.sampled_from(["utf-8", "latin-1", "ascii", "cp1252", "utf-16", "utf-7", "shift_jis"]))
def test_decoding_gives_text_or_an_input_error(data: bytes, encoding: str) -> None:
    try:
        text = files.decode(data, file="f", encoding=encoding)
    except InputError as error:
        text = str(error)
    text.encode("utf-8")


def test_writing_replaces_whole_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "f.txt"
    files.write_text(path, "one\r\ntwo\u2028")
    files.write_text(path, "x")
    assert path.read_bytes() == b"x"
    assert [p.name for p in path.parent.iterdir()] == ["f.txt"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_writing_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "d").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write_all({tmp_path / "a": b"new", tmp_path / "d": b"new"})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_all({tmp_path / "a": b"new", tmp_path / "b": b"new"})
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "d"]


def test_interruption_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_text(tmp_path / "a", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


def test_names_as_long_as_they_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    files.write_text(path, "x")
    assert path.read_text() == "x"


def test_a_replaced_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "judgments.jsonl"
    files.write_text(path, "one")
    path.chmod(0o600)
    files.write_text(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "form"),
    [("scores.parquet", "a Parquet file"), ("scores.XLSX", "an Excel workbook"), ("scores.feather", "an Arrow file")],
)
@pytest.mark.parametrize("data", [bytes(range(256)), b"\xe9 garbage \xff"], ids=["NUL", "no NUL"])
def test_a_file_that_is_not_what_its_name_says(
    name: str, form: str, data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for command in (["compare", str(path)], ["look", str(path)]):
        main(command)
        printed = capsys.readouterr()
        assert f"is not {form}, though its name says so" in printed.out + printed.err
    # A table that is text is read whatever its name.
    path.write_text("id,A,B\nq1,1,0\nq2,0,1\nq3,1,1\n")
    assert main(["compare", str(path)]) == 0


def test_a_file_that_does_not_exist_has_its_nearest_neighbour(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").touch()
    assert files.near_file(tmp_path / "scores.cvs") == f"; did you mean '{tmp_path / 'scores.csv'}'?"
    assert files.near_file(tmp_path / "answers.jsonl") == ""
    assert files.near_file(tmp_path / "none" / "scores.csv") == ""
    assert "save what comes through it to a file" in files.near_file(Path("-"))
