"""The forms of runs in JSON lines: jsonl, which every task takes, and rag24. Every line is one response.

The responses of a batch become columns together; a response is looked at by itself only where it may break a rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl

from qassay.arrays import Integers
from qassay.errors import Problem, Problems, Rule
from qassay.formats import files
from qassay.formats.runs.lines import STRICT, CitingSentence, Passage, RagAnswer, Response, Shapes, WrittenItem
from qassay.runs import ITEM_COLUMNS, NIL
from qassay.tasks import Task


@dataclass(frozen=True, slots=True)
class RunFile:
    """One file of a run: its number among the files, its name for messages, its stem, its form and its bytes."""

    index: int
    name: str
    stem: str
    form: str
    data: bytes


@dataclass(frozen=True, eq=False, slots=True)
class Parsed:
    """Rows of a batch of files: `run` is the place of the file in the batch, `asked` the question as written.

    `unread` has the files and, where these can be seen, the questions of lines that cannot be read.
    """

    rows: pl.DataFrame
    problems: Problems
    objects: bool = False
    warnings: Problems = field(default_factory=Problems)
    unread: Set[tuple[str, str | None]] = frozenset()


Line = TypeVar("Line", Response, RagAnswer)
# The question of a line that cannot be read.
_ASKED = re.compile(rb'"(?:question|topic_id|narrative_id)"\s*:\s*(?:"(?P<text>[^"\\]+)"|(?P<number>[0-9]+))')
# Says what is wrong with an item.
ItemFault = Callable[[WrittenItem], str | None]
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def parse_jsonl(batch: Sequence[RunFile], task: Task) -> Parsed:
    """The form of every task: items, NIL or a decision with its justification."""
    beside = [name for form in task.responses for name in form.beside]
    read = _read(batch, Response, reads_contexts="contexts" in beside)
    if task.decides:
        return _decisions(read)
    if task.has_extracts:
        return _items(read, ("doc", "start", "length"), _extract_fault)
    return _items(read, ("doc", "text"), _text_fault, "confidence", *beside)


def parse_rag24(batch: Sequence[RunFile]) -> Parsed:
    """The TREC RAG generation output: a sentence is an item, its citations are documents."""
    return _items(_read(batch, RagAnswer, _sentences), ("doc", "text"), _text_fault, "citations")


def _sentences(answer: RagAnswer) -> Response:
    items = [WrittenItem(text=part.text, citations=list(_cited(part, answer.references))) for part in answer.answer]
    return Response(answer.run, answer.question, items)


def _cited(sentence: CitingSentence, references: Sequence[str]) -> Iterator[str]:
    """The documents that a sentence cites."""
    for cited in sentence.citations:
        if isinstance(cited, int) and not 0 <= cited < len(references):
            raise ValueError(f"citation {cited} points outside the {len(references)} references")
        yield references[cited] if isinstance(cited, int) else cited


@dataclass(eq=False)
class _Read:
    """The responses of a batch, their files and lines, the problems by file and line, and keys that are not read."""

    batch: Sequence[RunFile]
    shapes: Shapes
    responses: list[Response] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[tuple[int, int, Problem]] = field(default_factory=list)
    unread: set[tuple[str, str | None]] = field(default_factory=set)

    def refuse(self, place: int, line: int, question: str | int, rule: Rule, message: str) -> None:
        """Note a problem with a response."""
        problem = Problem(rule, f"question {question}: {message}", self.batch[place].name, line, str(question))
        self.problems.append((place, line, problem))

    def without(self, faults: Iterable[tuple[int, Rule, str]]) -> None:
        """Leave out the responses at these numbers, with their problems."""
        faulty = set()
        for number, rule, message in faults:
            self.refuse(self.places[number], self.lines[number], self.responses[number].question, rule, message)
            faulty.add(number)
        if faulty:
            good = [number for number in range(len(self.responses)) if number not in faulty]
            self.responses = [self.responses[number] for number in good]
            self.places, self.lines = ([listed[number] for number in good] for listed in (self.places, self.lines))

    def parsed(self, rows: Integers | None, columns: dict[str, pl.Series]) -> Parsed:
        """The table: the response of each row (None: one row for each), and the columns of the rows."""
        of_responses = {
            "run": pl.Series(self.places, dtype=pl.UInt32),
            "line": pl.Series(self.lines, dtype=pl.UInt32),
            "tag": self.column("run", pl.String),
            "asked": pl.Series(list(map(str, map(attrgetter("question"), self.responses))), dtype=pl.String),
        }
        if rows is not None:
            of_responses = {name: column.gather(rows) for name, column in of_responses.items()}
        problems = Problems(problem for *_, problem in sorted(self.problems, key=lambda noted: noted[:2]))
        warnings = Problems(self.shapes.warnings([source.name for source in self.batch]))
        return Parsed(pl.DataFrame(of_responses | columns), problems, True, warnings, self.unread)

    def column(self, name: str, kind: Any) -> pl.Series:
        """A field of all responses."""
        return pl.Series(list(map(attrgetter(name), self.responses)), dtype=kind)


def _read(
    batch: Sequence[RunFile],
    kind: type[Line],
    response_of: Callable[[Line], Response] | None = None,
    *,
    reads_contexts: bool = False,
) -> _Read:
    """Decode the lines of all files."""
    read = _Read(batch, Shapes(kind, reads_contexts=reads_contexts))
    strict: msgspec.json.Decoder[Any] = msgspec.json.Decoder(STRICT[kind])
    for place, source in enumerate(batch):
        lines, responses = _at_once(source.data, strict)
        if not lines:
            lines, responses = _one_by_one(source, kind, place, read)
        if response_of is not None:
            lines, responses = _converted(lines, responses, response_of, place, read)
        read.responses += responses
        read.lines += lines
        read.places += [place] * len(lines)
    return read


def _at_once(file: bytes, decoder: msgspec.json.Decoder[Any]) -> tuple[Sequence[int], list[Any]]:
    """The numbers of the lines of a file, and what they contain; nothing where a line is not one plain object."""
    data = file.removesuffix(b"\n")
    breaks = data.count(b"\n")
    # JSON never has an opening brace right after a closing one: where all lines break between these, objects end.
    if data.count(b"}\n{") == breaks:
        with suppress(*_UNREADABLE):
            responses = decoder.decode_lines(data)
            if len(responses) == breaks + 1:
                return range(1, breaks + 2), responses
    return (), []


def _one_by_one(source: RunFile, kind: type[Any], place: int, read: _Read) -> tuple[Sequence[int], list[Any]]:
    """The numbers of the lines that can be read, and what they contain; keys and other lines are noted."""
    numbers, responses = [], []
    decoder = msgspec.json.Decoder(dict[str, Any])
    for number, line in enumerate(source.data.split(b"\n"), 1):
        if line.strip():
            try:
                row = decoder.decode(line)
                responses.append(msgspec.convert(row, kind))
            except _UNREADABLE as error:
                read.problems.append((place, number, _unread(source, number, line, error)))
                asked = _ASKED.search(line)
                read.unread.add((source.name, asked and (asked["text"] or asked["number"]).decode(errors="replace")))
            else:
                numbers.append(number)
                read.shapes.note(place, number, row)
    return numbers, responses


def _converted(
    lines: Sequence[int], answers: Sequence[Any], response_of: Callable[[Any], Response], place: int, read: _Read
) -> tuple[list[int], list[Response]]:
    numbers, responses = [], []
    for number, answer in zip(lines, answers, strict=True):
        try:
            responses.append(response_of(answer))
        except ValueError as error:
            read.refuse(place, number, answer.question, "syntax", str(error))
        else:
            numbers.append(number)
    return numbers, responses


def _decisions(read: _Read) -> Parsed:
    lacking = [number for number, response in enumerate(read.responses) if response.decision is None]
    read.without((number, "syntax", 'the line has no "decision"') for number in lacking)
    return read.parsed(None, {name: read.column(name, pl.String) for name in ("decision", "justification")})


def _items(read: _Read, names: Sequence[str], item_fault: ItemFault, *beside: str) -> Parsed:
    """One row for each item that is not NIL, and one for each response without any."""
    items = list(chain.from_iterable(map(attrgetter("items"), read.responses)))
    has_nil = NIL in map(attrgetter("doc"), items) or True in map(attrgetter("nil"), read.responses)
    if has_nil or item_fault is _extract_fault or None in map(attrgetter("text"), items):
        faults = ((number, _response_fault(response, item_fault)) for number, response in enumerate(read.responses))
        read.without((number, *fault) for number, fault in faults if fault is not None)
        items = list(chain.from_iterable(map(attrgetter("items"), read.responses)))
    sizes = np.fromiter(map(len, map(attrgetter("items"), read.responses)), np.int64, len(read.responses))
    rows = np.repeat(np.arange(len(sizes)), sizes)
    if has_nil:
        rows = rows[[item.doc != NIL for item in items]]
        items = [item for item in items if item.doc != NIL]
    empty = np.flatnonzero(np.bincount(rows, minlength=len(sizes)) == 0)
    nothing = [None] * len(empty)
    columns = {
        name: pl.Series(list(map(attrgetter(name), items)) + nothing, dtype=ITEM_COLUMNS[name]) for name in names
    }
    is_nil = [response.nil or bool(response.items) for response in map(read.responses.__getitem__, empty.tolist())]
    columns["nil"] = pl.Series([False] * len(items) + is_nil, dtype=pl.Boolean)
    rows = np.concatenate([rows, empty])
    if "confidence" in beside:
        columns["confidence"] = read.column("confidence", pl.Float64).gather(rows)
    if "citations" in beside:
        cited = [_citations(item) for item in items] + [[] for _ in nothing]
        columns["citations"] = pl.Series(cited, dtype=ITEM_COLUMNS["citations"])
    if "contexts" in beside:
        columns["contexts"] = _contexts(read.responses).gather(rows)
    if len(empty):
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], {name: column.gather(order) for name, column in columns.items()}
    return read.parsed(rows, columns)


def _citations(item: WrittenItem) -> list[str]:
    if item.citations is not None:
        return item.citations
    return [item.doc] if item.doc else []


def _contexts(responses: Sequence[Response]) -> pl.Series:
    schema = {"contexts": ITEM_COLUMNS["contexts"]}
    if not any(map(attrgetter("contexts"), responses)):
        return pl.DataFrame({"contexts": [[]]}, schema=schema)["contexts"].new_from_index(0, len(responses))
    # As rows of a data frame: Polars makes a series of lists of records far more slowly.
    rows = [{"contexts": list(map(_context, response.contexts))} for response in responses]
    return pl.DataFrame(rows, schema=schema, orient="row")["contexts"]


def _context(passage: str | Passage) -> dict[str, str | None]:
    if isinstance(passage, str):
        return {"doc": None, "text": passage}
    return {"doc": passage.doc, "text": passage.text}


def _response_fault(response: Response, item_fault: ItemFault) -> tuple[Rule, str] | None:
    """What is wrong with a response; NIL is a key, or an item with the doc-id NIL."""
    nils = [item for item in response.items if item.doc == NIL]
    if any(item.text for item in nils):
        return "nil-with-items", "NIL has no answer string"
    if (response.nil or nils) and len(response.items) > (1 if nils else 0):
        return "nil-with-items", "NIL and items; a response has one or the other"
    return next((("syntax", fault) for fault in map(item_fault, response.items) if fault), None)


def _text_fault(item: WrittenItem) -> str | None:
    return None if item.text is not None or item.doc == NIL else 'an item has no "text"'


def _extract_fault(item: WrittenItem) -> str | None:
    if item.doc == NIL:
        return None
    if item.doc is None or item.start is None or item.length is None:
        return 'an extract has "doc", "start" and "length"'
    if item.start < 0 or item.length < 1:
        return "start is a whole number from 0, length one from 1"
    if item.start >= 1 << 32 or item.length >= 1 << 32:
        return "start and length are below 4,294,967,296: no document is longer"
    return None


def _unread(source: RunFile, number: int, line: bytes, error: Exception) -> Problem:
    if isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower():
        for problem in files.undecodable(line, file=source.name):
            return Problem(problem.rule, problem.message, source.name, number)
    return Problem("syntax", f"this line is not a response: {error}", source.name, number)
