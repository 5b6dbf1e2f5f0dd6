"""Nugget matches: which nuggets of the list occur in a response to a definition or other question (METHOD 4, step 2).

A nugget counts once per response. A row says which nuggets the response has; further rows, one for each string
(`item`), say where they occur. Assessors are compared by the whole response, not by the strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from qassay.judging.kind import Draft, Item, Kind, Lookup, Part, Row, Verdict, Wanted, responses
from qassay.nuggets import known_by_text
from qassay.tasks import Task


class NuggetMatch(Kind):
    """The nuggets of one response, as a whole and string by string."""

    name = "match"
    nouns = ("nugget match", "nugget matches")
    counted = "responses, for nuggets"
    shown = "responses, for nuggets"
    compared = "nugget matches"
    screen = "matches"
    title = "2. Match nuggets"
    identity = ("question", "run", "item")
    identified = (("run",),)
    pooled = ("question", "run")
    fields = {"nuggets": pl.List(pl.String)}
    marks = ("nuggets",)
    blank = {"nuggets": None}
    by_nuggets = True
    linked = True
    options = ("holistic",)

    def fault(self, verdict: Verdict, task: Task) -> str | None:
        """A list of ids, each once."""
        matched = verdict.get("nuggets")
        if not isinstance(matched, list) or not all(isinstance(nugget, str) for nugget in matched):
            return "nuggets are a list of ids"
        return "a nugget is named twice" if len(set(matched)) < len(matched) else None

    def unreadable(self, verdict: Verdict, task: Task) -> str | None:
        """Nothing: a nugget that is named twice counts once."""
        return None

    def nuggets_named(self, row: Mapping[str, Any]) -> Sequence[str]:
        """All of them."""
        return matched_nuggets(row)

    def levels(self, row: Mapping[str, Any]) -> dict[str, str]:
        """A matched nugget counts as fully supported."""
        return dict.fromkeys(matched_nuggets(row), "full")

    def says(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Which nuggets, in whatever order."""
        return tuple(sorted(set(row["nuggets"])))

    def found_words(self, answer: Mapping[str, Any], lookup: Lookup) -> str | None:
        """The nuggets of a string; those of the response as a whole are named at its first string."""
        place = answer["rank"] - 1
        if place < 0:
            return None
        response = {name: answer[name] for name in self.pooled}
        if not lookup.has_response(self.name, answer["question"], answer["run"]):
            return None
        whole, own = (lookup.row(self.name, response | {"item": item}) for item in (None, place))
        nuggets = matched_nuggets(own or {})
        if place == 0:
            nuggets += [nugget for nugget in matched_nuggets(whole or {}) if nugget not in nuggets]
        words = f"nuggets {', '.join(nuggets)}" if nuggets else "none"
        return words if nuggets or whole is None or place == 0 else None

    def combined(self, own: Row | None, links: Sequence[Row]) -> Row | None:
        """The row of the response with all nuggets of its strings.

        A file may name the nuggets of the strings alone (FORMATS 4): then the response counts as judged.
        """
        if own is None and not links:
            return None
        nuggets = dict.fromkeys(nugget for row in (own, *links) if row is not None for nugget in row["nuggets"])
        first = own if own is not None else {name: value for name, value in links[0].items() if name != "item"}
        return {**first, "nuggets": list(nuggets)}

    def drafts(self, rows: pl.DataFrame, wanted: Wanted) -> Iterator[Draft]:
        """One item for each response; with holistic scores a second one for these."""
        for question, run, elements in responses(rows):
            yield Draft(self.name, question, run, {"elements": elements})
            if wanted.holistic:
                yield Draft("holistic", question, run, {"elements": elements})

    def parts(self, item: Item, nuggets: object, assessor: str | None) -> list[Part]:
        """The response takes a verdict; each of its strings may have one."""
        shared = self.subject_of(item)
        strings = range(len(item.body.get("elements", [])))
        links = [Part(str(place), self.name, shared | {"item": place}, required=False) for place in strings]
        return [Part("", self.name, shared), *links]

    def labels_of(self, table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
        """For each judged response and each nugget of its question's list, whether the nugget was found in it.

        A nugget is known by its text: the lists of two assessors need not be the same, and what they share is what can
        be compared.
        """
        pairs = (
            table.select("question", "run")
            .unique(maintain_order=True)
            .join(known_by_text(nuggets), on="question", maintain_order="left")
        )
        hits = table.select("question", "run", nugget="nuggets").explode("nugget").drop_nulls().unique()
        return pairs.join(
            hits.with_columns(label=pl.lit("yes")), on=["question", "run", "nugget"], how="left", maintain_order="left"
        ).select(
            "question", pl.concat_str("run", "text", separator="\t").alias("item"), pl.col("label").fill_null("no")
        )

    def labels_by_person(self, table: pl.DataFrame, nuggets: pl.DataFrame) -> pl.DataFrame:
        """The same, person by person: a response has a label for each nugget, not one for each row."""
        return pl.concat(
            self.labels_of(rows, nuggets).with_columns(person=pl.lit(person))
            for (person,), rows in table.partition_by("assessor", as_dict=True).items()
        )


def matched_nuggets(row: Mapping[str, Any]) -> list[str]:
    """The nuggets that a row of matches names."""
    return [nugget for nugget in row.get("nuggets") or () if nugget is not None]


def relinked(
    rows: Iterable[tuple[int, Mapping[str, Any]]], removed: str, into: str | None
) -> Iterator[tuple[int, Row]]:
    """The rows (with their versions) that name a removed nugget, without it or with the nugget it was merged `into`.

    A nugget counts once per response: where a response has the other nugget already, the removed one is left out.
    """
    matches = list(rows)
    having = {row.get("run") for _, row in matches if into in row["nuggets"]}
    for version, row in matches:
        if removed not in row["nuggets"]:
            continue
        left = [nugget for nugget in row["nuggets"] if nugget != removed]
        if into is not None and row.get("run") not in having:
            left = [into if nugget == removed else nugget for nugget in row["nuggets"]]
            having.add(row.get("run"))
        yield version, {**row, "nuggets": left}
