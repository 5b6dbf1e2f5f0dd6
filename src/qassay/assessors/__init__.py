"""Automatic assessors: they write the same judgments as people, under their own name, and are examined like them.

    base        what an assessor is shown (a case), what it says (an opinion), and the rows that become of it
    patterns    regular expressions for answers, with the documents that support them (patterns.txt)
    match       the known answers (answers.jsonl), compared exactly or after normalising
    overlap     nuggets, by the words that a response shares with them
    spelling    assessors by name: `overlap(threshold=0.5)`

Judgments carry a `trace` that says how they came about. Everything in `agree`, `stability` and the rest applies to them
unchanged.
"""

from __future__ import annotations

from qassay.assessors.base import AutomaticAssessor, Case, Judged, Opinion, judge_items
from qassay.assessors.match import Match
from qassay.assessors.overlap import Overlap
from qassay.assessors.patterns import Patterns
from qassay.assessors.spelling import NAMES, open_assessor

__all__ = [
    "NAMES",
    "AutomaticAssessor",
    "Case",
    "Judged",
    "Match",
    "Opinion",
    "Overlap",
    "Patterns",
    "judge_items",
    "open_assessor",
]
