"""The document of `demo`, which has those of several studies."""

from __future__ import annotations

from typing import Any, TypedDict

from qassay.schemas.scores import Score


class Story(TypedDict):
    """The demonstration, part by part."""

    evaluation: dict[str, Any]
    score: Score
    agree: dict[str, Any]
    stability: dict[str, Any]
    sensitivity: dict[str, Any]
    compare: dict[str, Any]
