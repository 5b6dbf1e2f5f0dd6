"""What is judged, by a short name: a digest of the fields that make two judgments judgments of the same thing.

An imported row and one made in the application name the same thing by the same digest, so that each is the other's
history. Digests keep keys short where answer strings are long.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from qassay.judgments import IDENTITY, JUDGMENT_COLUMNS

_WHOLE = {name for name, kind in JUDGMENT_COLUMNS.items() if kind == JUDGMENT_COLUMNS["start"]}


def thing(kind: str, row: Mapping[str, Any]) -> str:
    """The digest of what a judgment row of this kind judges.

    A whole number stands for its digits where a field is a string, as when the row is read for scoring:

    >>> thing("pair", {"question": 75}) == thing("pair", {"question": "75", "judgment": "YES"})
    True
    """
    return digest(kind, *(_plain(name, row.get(name)) for name in IDENTITY[kind]))


def digest(*parts: Any) -> str:
    """A short name for some values: 32 hexadecimal digits."""
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()


def _plain(name: str, value: Any) -> Any:
    return value if value is None or name in _WHOLE else str(value)
