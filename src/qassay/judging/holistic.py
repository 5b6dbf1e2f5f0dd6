"""Holistic scores of a whole response: content and organization, whole numbers from 0 to 10 each [DEF03]."""

from __future__ import annotations

import polars as pl

from qassay.judging.kind import Kind, Verdict, is_whole
from qassay.tasks import Task

HIGHEST = 10


class HolisticScore(Kind):
    """Content and organization of one response; its items come with those of nugget matches."""

    name = "holistic"
    nouns = ("holistic score", "holistic scores")
    shown = "responses, for holistic scores"
    screen = "holistic"
    title = "Content and organization"
    identity = ("question", "run")
    identified = (("run",),)
    pooled = identity
    fields = {"content": pl.Int64, "organization": pl.Int64}
    marks = ("content", "organization")
    blank = {"content": None, "organization": None}

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """Both are whole numbers from 0 to 10."""
        for name in self.fields:
            if not is_whole(verdict.get(name), 0, HIGHEST):
                return f"{name} is a whole number from 0 to {HIGHEST}"
        return None

    def unreadable(self, verdict: Verdict, task: Task) -> str | None:
        """Only values beyond the scale: one of the two may be missing."""
        scores = {name: value for name, value in verdict.items() if value is not None}
        return self.fault(dict.fromkeys(self.fields, 0) | scores, task)
