"""Automatic assessors: they write the same judgments as people, under their own name, and are examined like them.

    patterns    regular expressions for answers, with the documents that support them (patterns.txt)
    match       the known answers (answers.jsonl), compared exactly or after normalising

Each says what it thinks of a part of an item, or nothing where it cannot tell; `judge_items` makes judgment rows of it,
with a `trace` that says how it came about. Everything in `agree`, `stability` and the rest applies to them unchanged.
"""

from __future__ import annotations

from qassay.assessors.judging import judge_items
from qassay.assessors.match import Match
from qassay.assessors.patterns import Patterns
from qassay.assessors.records import AutomaticAssessor, Opinion
from qassay.assessors.spelling import NAMES, open_assessor

__all__ = ["NAMES", "AutomaticAssessor", "Match", "Opinion", "Patterns", "judge_items", "open_assessor"]
