"""How many questions a second the reference systems answer, on the built-in evaluation."""

from __future__ import annotations

import time

from benchmarks.rows import Row
from qassay.collections import open_collection
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.systems import SYSTEMS, Asked, make_reference

# What each system is for; the others it answers with NIL or nothing, which takes no time.
ASKED = {
    "sentence-baseline": ("other",),
    "frequent-name": ("factoid",),
    "factoid": ("factoid",),
    "passages": ("factoid",),
    "list": ("list",),
    "definition": ("other",),
    "series": ("factoid", "list", "other"),
}


def systems() -> list[Row]:
    """Seconds for all questions of a system's types, asked one after the other, after one question to warm up."""
    collection = open_collection(demo_folder() / "collection")
    questions = open_evaluation(demo_folder()).questions
    rows = []
    for name in SYSTEMS:
        calls = [Asked(question) for question in questions.of_type(*ASKED[name])]
        system = make_reference(name, collection)
        system(calls[0])
        begin = time.perf_counter()
        for call in calls:
            system(call)
        seconds = time.perf_counter() - begin
        note = f"{len(calls) / seconds:,.0f} questions a second ({len(calls)} questions, {len(collection)} documents)"
        rows.append(Row(f"system {name}", seconds, None, None, note))
    return rows
