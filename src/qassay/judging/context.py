"""Support by the contexts: is a system's answer supported by the passages it was made from? (FORMATS 7)

It is a second judgment of a free-text answer, one per question and run, asked where the task says `support = true`.
"""

from __future__ import annotations

import polars as pl

from qassay.judging.kind import Kind, Label, Verdict
from qassay.tasks import Task

SUPPORTED = "supported"
LABELS = (
    Label(SUPPORTED, "Supported", "1", "the contexts say so", tone="good"),
    Label("unsupported", "Unsupported", "2", "the contexts do not say so", tone="bad"),
)


class ContextSupport(Kind):
    """Whether the contexts of one run support its answer; the items come with those of the answers."""

    name = "context"
    nouns = ("judgment of support by contexts", "judgments of support by contexts")
    counted = "answers, for support by their contexts"
    shown = counted
    compared = "context judgments"
    screen = "contexts"
    title = "Support by the contexts"
    identity = ("question", "run")
    identified = (("run",),)
    pooled = identity
    fields = {"support": pl.String}
    marks_alone = ("support",)
    blank = {"support": ""}

    def labels(self, task: Task) -> tuple[Label, ...]:
        """Supported or unsupported."""
        return LABELS

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """Supported or unsupported."""
        level = verdict.get("support")
        if any(level == label.label for label in LABELS):
            return None
        return f"{level!r} is not a judgment of support by contexts; use supported or unsupported"
