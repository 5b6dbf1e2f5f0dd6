"""Damage to valid inputs. Everything follows from the generator that is given: the same one does the same damage."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

# Pieces that readers have stumbled over somewhere, in any program.
PIECES = [
    *(b"", b"\0", b"\n", b"\r\n", b"\r", b"\t", b" ", b",", b";", b'"', b"'", b"\\", b"/", b"..", b"\xff", b"\xc3"),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1f\x8b", b"PK\x03\x04", b"PAR1"),
    *(b"null", b"true", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1e-400", b"0x10", b"1_000", b"-0"),
    *(b"9" * 25, b"9" * 400, b"2147483648", b"9223372036854775808", b"18446744073709551616", b"-1", b"0.1e1e1"),
    *(b"[]", b"{}", b"[" * 2_000, b'{"a":' * 2_000, b'""', b'"\\ud800"', b'"\\u0000"', b"\\N", b"%00", b"%s", b"{0}"),
    *("\u202e".encode(), "\u2028".encode(), "\u0085".encode(), "\ufeff".encode(), "e\u0301".encode(), "😀".encode()),
    *(b"NIL", b"Q0", b"<top>", b"</top>", b"<!DOCTYPE x>", b"&amp;", b"&nope;", b"&#0;", b"<![CDATA[", b"<?xml?>"),
    *(b"=1+1", b"'; DROP TABLE account; --", b"$(id)", b"(a+)+$", b"(?P<x", b"*" * 50, b"a" * 70_000, b"\n" * 5_000),
    *(b"9" * 5_000, b"a." * 3_000, b"(a|aa)+$", b"\xc2\x9b31m", b"\x1b]0;x\x07", b"=HYPERLINK(1)"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 2**64, 10**30, -(2**63) - 1, 0.5, -0.0, 1e308, 1e13, -1e13),
    *("", " ", "x", "0", "1e400", "NIL", "nan", "\0", "\u202e", "a" * 5_000, "../../x", "\ud83d\ude00", "1.1", "é"),
    *([], {}, [[]], [None], {"": None}, ["a", 1, None], {"a": {"b": {"c": []}}}, [[[[[[]]]]]]),
]


def damaged(data: bytes, chance: Random) -> bytes:
    """The bytes after one to four kinds of damage."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        data = chance.choice(_KINDS)(data, chance)
    if chance.random() < 0.02:
        data = gzip.compress(data, mtime=0)
        if chance.random() < 0.5:
            data = _flipped(data, chance)
    return data


def _place(data: bytes, chance: Random) -> int:
    return chance.randrange(len(data) + 1)


def _flipped(data: bytes, chance: Random) -> bytes:
    """Some bytes are others."""
    damaged_data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if damaged_data:
            damaged_data[chance.randrange(len(damaged_data))] = chance.randrange(256)
    return bytes(damaged_data)


def _cut(data: bytes, chance: Random) -> bytes:
    """A stretch is missing, or everything from a place on."""
    start = _place(data, chance)
    end = len(data) if chance.random() < 0.3 else start + chance.choice((1, 2, 8, 64, 512))
    return data[:start] + data[end:]


def _repeated(data: bytes, chance: Random) -> bytes:
    """A stretch is there several times."""
    start = _place(data, chance)
    stretch = data[start : start + chance.choice((1, 8, 64, 512))]
    return data[:start] + stretch * chance.choice((2, 3, 20)) + data[start + len(stretch) :]


def _inserted(data: bytes, chance: Random) -> bytes:
    """Something stands between two bytes, or in place of some."""
    start = _place(data, chance)
    return data[:start] + chance.choice(PIECES) + data[start + chance.choice((0, 0, 1, 4)) :]


def _lines(data: bytes, chance: Random) -> bytes:
    """Lines are missing, doubled, exchanged or joined."""
    lines = data.split(b"\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        del lines[first]
    elif kind == 1:
        lines.insert(second, lines[first])
    elif kind == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        return (
            b"\n".join(lines[:first])
            + b"\n" * bool(first)
            + b"".join(lines[first : first + 2])
            + b"\n".join([b"", *lines[first + 2 :]])
        )
    return b"\n".join(lines)


def _fields(data: bytes, chance: Random) -> bytes:
    """A field of a line is another one, or missing."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    separator = chance.choice((b",", b"\t", b" ", b";"))
    fields = lines[place].split(separator)
    at = chance.randrange(len(fields))
    kind = chance.randrange(3)
    if kind == 0:
        fields[at] = chance.choice(PIECES)
    elif kind == 1:
        fields[at] = chance.choice(fields)
    else:
        del fields[at]
    lines[place] = separator.join(fields)
    return b"\n".join(lines)


def _json(data: bytes, chance: Random) -> bytes:
    """A value of a JSON document, or of one of its lines, is another one."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    for text, whole in ((lines[place], False), (data, True)):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        changed = json.dumps(_changed(value, chance), ensure_ascii=chance.random() < 0.5).encode(errors="replace")
        if whole:
            return changed
        lines[place] = changed
        return b"\n".join(lines)
    return _flipped(data, chance)


def _changed(value: Any, chance: Random, depth: int = 0) -> Any:
    """The value with one change somewhere inside."""
    if isinstance(value, dict) and value and (depth == 0 or chance.random() < 0.8):
        name = chance.choice(list(value))
        kind = chance.randrange(6)
        if kind == 0:
            return {key: item for key, item in value.items() if key != name}
        if kind == 1:
            renamed = chance.choice(["", "x", name.upper(), f"{name} ", *value])
            return {renamed if key == name else key: item for key, item in value.items()}
        if kind == 2:
            return {**value, chance.choice(["", "x", "run", "question", "id", "score"]): chance.choice(VALUES)}
        return {**value, name: _changed(value[name], chance, depth + 1)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        place = chance.randrange(len(value))
        kind = chance.randrange(4)
        if kind == 0:
            return value[:place] + value[place + 1 :]
        if kind == 1:
            return value[:place] + [value[place]] * 3 + value[place:]
        return [*value[:place], _changed(value[place], chance, depth + 1), *value[place + 1 :]]
    return chance.choice(VALUES)


def _archive(data: bytes, chance: Random) -> bytes:
    """A member of an archive is damaged, and the archive is packed again."""
    if not data.startswith(b"PK"):
        return _flipped(data, chance)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {member.filename: archive.read(member) for member in archive.infolist()}
    except Exception:  # noqa: BLE001  # damaged before, or packed in a way that this module does not know
        return _flipped(data, chance)
    if not members:
        return data
    name = chance.choice(list(members))
    kind = chance.randrange(6)
    if kind == 0:
        del members[name]
    elif kind == 1:
        members[chance.choice(("../x", "/x", "a" * 300, "", name.upper()))] = members.pop(name)
    else:
        members[name] = chance.choice((_flipped, _cut, _inserted, _json))(members[name], chance)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as made:
        for member, content in members.items():
            made.writestr(member or "x", content)
    return out.getvalue()


_KINDS: list[Callable[[bytes, Random], bytes]] = [
    *(_flipped, _cut, _repeated, _inserted, _inserted, _lines, _fields, _fields, _json, _json, _json, _archive),
]
