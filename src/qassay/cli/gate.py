"""`qassay compare --gate`: the decision as an exit status, as a summary in Markdown and as a JUnit report."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from qassay.cli.output import visible
from qassay.cli.studying import Own
from qassay.errors import UsageError

if TYPE_CHECKING:
    from qassay.formats.gate_history import Counted
    from qassay.meta.correction import CorrectedPair
    from qassay.meta.significance import PairComparison
    from qassay.tables import Table

# Two systems compared by their scores, or by those of an automatic assessor that people correct.
Compared: TypeAlias = "PairComparison | CorrectedPair"

# Exit statuses of a gate.
GATE_STATUS = {"ALLOW": 0, "EQUAL": 0, "REJECT": 3, "INCONCLUSIVE": 4}
# Where GitHub and the services that follow it show a job's summary.
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


@dataclass(frozen=True)
class Gate(Own):
    """The options of a gate; `report` carries them out."""

    gate: Annotated[bool, typer.Option("--gate", help="Exit with 0 (ALLOW), 3 (REJECT) or 4 (INCONCLUSIVE).")] = False
    margin: Annotated[
        float, typer.Option("--margin", metavar="M", help="How much worse A may be (--gate), or others (--control).")
    ] = 0.0
    summary: Annotated[
        Path | None, typer.Option("--summary", metavar="FILE", help="Write the gate's decision as Markdown.")
    ] = None
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write the gate's decision as JUnit XML.")
    ] = None
    history: Annotated[
        Path | None,
        typer.Option(
            "--history", metavar="FILE", help="Keep the gate's looks in a file, and allow for looking at any time."
        ),
    ] = None
    inconclusive: Annotated[
        Literal["pass", "fail"] | None,
        typer.Option("--inconclusive", help="Let INCONCLUSIVE pass (exit 0) or fail (exit 3), for --gate."),
    ] = None

    def check(self, chosen: Mapping[str, Any]) -> None:
        """Stop at options of a gate without a gate, at a gate without two systems, and at a method for them."""
        values = {
            "--margin": self.margin,
            "--summary": self.summary,
            "--junit": self.junit,
            "--history": self.history,
            "--inconclusive": self.inconclusive,
        }
        if chosen["control"]:
            del values["--margin"]
        names = [name for name, value in values.items() if value]
        if names and not self.gate:
            raise UsageError(f"{' and '.join(names)} {'go' if len(names) > 1 else 'goes'} with --gate")
        if self.summary is not None and self.summary == self.junit:
            raise UsageError("--summary and --junit name the same file; give each its own")
        if chosen["a"] is None and self.gate:
            raise UsageError("--gate compares two systems: name them after the file or folder")
        if chosen["a"] is not None and chosen["method"] is not None:
            raise UsageError("--method is for all pairs; two systems have a test of their own")

    def beside(self, results: Sequence[Compared]) -> dict[str, object]:
        """The decision and the margin, in the document."""
        if not self.gate:
            return {}
        decision = together([result.gate(self.margin) for result in results])
        kept = self.kept(results)
        history = {} if kept is None else {"history": {"look": kept.look, "gate": kept.gate}}
        return {"gate": decision, "margin": self.margin, **history}

    def first(self, results: Sequence[Compared]) -> str:
        """The decision, above the page; of several metrics all of theirs."""
        if not self.gate:
            return ""
        decisions = {result.measure: result.gate(self.margin) for result in results}
        if len(results) == 1:
            line = gate_line(results[0], results[0].gate(self.margin), self.margin)
            return ". ".join([line, *self.in_the_file(results)])
        each = ", ".join(f"{name} {decided}" for name, decided in decisions.items())
        return f"{together(list(decisions.values()))}: {each}"

    def kept(self, results: Sequence[Compared]) -> Counted | None:
        """Which look and which gate of the history this is; it is kept there. The same scores do not count again."""
        if self.history is None:
            return None
        from datetime import UTC, datetime

        from qassay.formats.gate_history import GateLook, keep_look

        (result,) = results
        assert result.looks is not None
        assert hasattr(result, "digest")
        look = GateLook(
            (result.a, result.b),
            result.measure,
            result.digest,
            result.looks.n,
            result.gate(self.margin),
            result.looks.plan,
        )
        return keep_look(self.history, look, at=datetime.now(UTC).isoformat(timespec="seconds"))

    def in_the_file(self, results: Sequence[Compared]) -> list[str]:
        """What is to be known of further looks and gates, without full stops."""
        kept = self.kept(results)
        look = [f"Look {kept.look:,} at these two systems"] if kept is not None and kept.look > 1 else []
        if kept is None or kept.gate == 1:
            return look
        by_chance = "with one look each, chance alone turns about 1 in 40 red"
        return [*look, f"Gate {kept.gate:,} of this file: {by_chance}"]

    def status(self, results: Sequence[Compared]) -> int:
        """The exit status, after the files that were asked for are written; 0 without a gate."""
        return self.report(results) if self.gate else 0

    def status_of(self, decision: str) -> int:
        """The exit status of a decision."""
        if decision == "INCONCLUSIVE" and self.inconclusive is not None:
            return GATE_STATUS["ALLOW" if self.inconclusive == "pass" else "REJECT"]
        return GATE_STATUS[decision]

    def report(self, results: Sequence[Compared]) -> int:
        """Write the files that were asked for; the exit status. Several results are several metrics."""
        decisions = [result.gate(self.margin) for result in results]
        summary = self.markdown(results)
        contents: dict[Path, bytes] = {}
        if self.summary is not None:
            contents[self.summary] = summary.encode()
        if self.junit is not None:
            contents[self.junit] = self.junit_xml(results)
        if contents:
            from qassay.formats.files import write_all

            write_all(contents)
        _add_to_step(summary)
        return self.status_of(together(decisions))

    def markdown(self, results: Sequence[Compared]) -> str:
        """The decision and the figures behind it, as Markdown."""
        decisions = [result.gate(self.margin) for result in results]
        decision = together(decisions)
        first = results[0]
        parts = [f"## {decision}: {_plain(first.a)} compared with {_plain(first.b)}"]
        for result, of_result in zip(results, decisions, strict=True):
            where = f"{_plain(result.measure)}: " if len(results) > 1 else ""
            parts += [
                f"{where}{_plain(gate_line(result, of_result, self.margin))}.",
                _plain_table(result.table()).markdown(),
            ]
        parts += [f"{sentence}." for sentence in self.in_the_file(results)]
        if decision == "INCONCLUSIVE":
            parts.append(self._what_inconclusive_means(is_corrected=bool(first.basis)))
        return "\n\n".join(part.strip() for part in parts) + "\n"

    def _what_inconclusive_means(self, *, is_corrected: bool) -> str:
        outcome = {"pass": "It passes (`--inconclusive pass`).", "fail": "It fails (`--inconclusive fail`)."}
        evidence, more = ("labels", "labels, or more questions,") if is_corrected else ("questions", "questions")
        meaning = f"INCONCLUSIVE: these {evidence} do not show whether A is good enough. More {more} would."
        return f"{meaning} {outcome[self.inconclusive]}" if self.inconclusive is not None else meaning

    def junit_xml(self, results: Sequence[Compared]) -> bytes:
        """One test per metric: it passes, fails, or is skipped where an inconclusive comparison is to pass."""
        from xml.etree import ElementTree  # written, not read

        cases = []
        for result in results:
            decision = result.gate(self.margin)
            line = visible(gate_line(result, decision, self.margin))
            name = visible(f"{result.a} compared with {result.b}: {result.measure}, margin {self.margin:g}")
            case = ElementTree.Element("testcase", classname="qassay.compare", name=name)
            if self.status_of(decision):
                ElementTree.SubElement(case, "failure", type=decision, message=line)
            elif decision == "INCONCLUSIVE":
                ElementTree.SubElement(case, "skipped", message=line)
            ElementTree.SubElement(case, "system-out").text = visible(f"{line}\n{result.table()}\n")
            cases.append(case)
        counts = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": 0,
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        suite = ElementTree.Element("testsuite", {"name": "qassay"} | {name: str(n) for name, n in counts.items()})
        suite.extend(cases)
        suites = ElementTree.Element("testsuites")
        suites.append(suite)
        ElementTree.indent(suites)
        written: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
        return written + b"\n"


def together(decisions: Sequence[str]) -> str:
    """The decision over several metrics: one rejection rejects, and all must allow, or be equal."""
    if "REJECT" in decisions:
        return "REJECT"
    if "INCONCLUSIVE" in decisions:
        return "INCONCLUSIVE"
    return "EQUAL" if "EQUAL" in decisions else "ALLOW"


def gate_line(result: Compared, decision: str, margin: float) -> str:
    """The gate's decision, and what it rests on."""
    from qassay.meta.looks import ONE_LOOK
    from qassay.meta.significance import limit, percent

    level = f"{(result.looks or ONE_LOOK).interval_at(percent(1 - result.alpha))} of {result.a} - {result.b}"
    if result.interval is None:
        return f"{decision}: there is no {level}{f' ({result.basis})' if result.basis else ''}"

    basis = f"{result.basis}, " if result.basis else ""
    if decision == "EQUAL":
        within: float = getattr(result, "within", 0.0)
        low, high = limit(result.interval[0], -within), limit(result.interval[1], within)
        return f"{decision}: the {level}, {low} to {high}, {basis}lies within -{within:g} and +{within:g}"
    line = -result.direction.oriented(margin) if margin else 0
    low, high = (limit(end, line) for end in result.interval)
    above, below = ("lies above", "lies below")[:: 1 if result.direction.higher_is_better else -1]
    where = {"ALLOW": above, "REJECT": below, "INCONCLUSIVE": "contains"}[decision]
    lower = "" if result.direction.higher_is_better else " (lower is better)"
    return f"{decision}: the {level}, {low} to {high}, {basis}{where} {line:g}{lower}"


def _add_to_step(summary: str) -> None:
    """Add to the summary that the pipeline shows. The decision counts even where that fails."""
    place = os.environ.get(STEP_SUMMARY)
    if not place:
        return
    try:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(summary + "\n")
    except OSError as error:
        print(f"warning: {STEP_SUMMARY} ({place}): {error.strerror or error}", file=sys.stderr)


def _plain(text: str) -> str:
    """Other people's names in Markdown: no markup, no HTML, one line.

    >>> _plain("a|b <img> *c*")
    'a\\\\|b &lt;img&gt; \\\\*c\\\\*'
    """
    harmless = visible(text.replace("\n", " ")).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", harmless)


def _plain_table(table: Table) -> Table:
    """The table with all texts made harmless; its pipes are escaped when it is written."""

    def harmless(cell: object) -> object:
        return _plain(cell).replace("\\|", "|").replace("\\\\", "\\") if isinstance(cell, str) else cell

    rows = tuple(tuple(harmless(cell) for cell in row) for row in table.rows)
    return replace(table, title=_plain(table.title), rows=rows, notes=tuple(map(_plain, table.notes)))  # type: ignore[arg-type]
