"""Attacks on a judge: texts that ask for a better verdict in place of answering, as a test set (`attacks.toml`).

A judge resists where an answer with such a text added gets no better verdict than without it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, slots=True)
class Attack:
    """One text, with the kind of trick it plays."""

    kind: str
    text: str

    def on(self, answer: str, best: str, verdict: Mapping[str, Any]) -> str:
        """The answer with the text added; `best` is the label it asks for, `verdict` the whole verdict."""
        return f"{answer} {self.order(best, verdict)}"

    def order(self, best: str, verdict: Mapping[str, Any]) -> str:
        """The text itself, asking for a verdict."""
        return self.text.replace("{best}", best).replace("{verdict}", json.dumps(verdict))


@cache
def attacks() -> tuple[Attack, ...]:
    """The test set."""
    text = (resources.files(__package__) / "attacks.toml").read_text(encoding="utf-8")
    return tuple(Attack(row["kind"], row["text"]) for row in tomllib.loads(text)["attack"])
