"""The forms of runs that are JSON lines, one response a line: jsonl, and the TREC RAG 2024 output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import polars as pl

from qassay.errors import Problem
from qassay.formats import files
from qassay.formats.runs.source import Parsed, Source
from qassay.runs import ITEM_COLUMNS, NIL
from qassay.tasks import ResponseForm, Task


class Item(msgspec.Struct):
    """One item of a response as written."""

    doc: str | None = None
    text: str | None = None
    start: int | None = None
    length: int | None = None
    citations: list[str] | None = None


class Passage(msgspec.Struct):
    """A context that a free-text answer was made from."""

    text: str
    doc: str | None = None


class Response(msgspec.Struct):
    """One line of the jsonl form; further keys are passed over."""

    run: str
    question: str | int
    items: list[Item] = []
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None
    contexts: list[str | Passage] = []


class Sentence(msgspec.Struct):
    """One sentence of a TREC RAG answer; citations are places in the references."""

    text: str
    citations: list[int] = []


class RagAnswer(msgspec.Struct):
    """One line of the TREC RAG 2024 output; further keys are passed over."""

    run_id: str
    topic_id: str | int
    answer: list[Sentence]
    references: list[str] = []


Line = TypeVar("Line", Response, RagAnswer)
Row = dict[str, Any]
_ROW = {"run": pl.UInt32, "line": pl.UInt32, "tag": pl.String, "asked": pl.String}
# What items have besides, by the form of the response.
_BESIDE: tuple[tuple[str, ResponseForm], ...] = (("citations", "answer"), ("contexts", "text"))
_ITEM = {"doc": pl.String, "text": pl.String, "nil": pl.Boolean, "confidence": pl.Float64}


def parse_jsonl(batch: Sequence[Source], task: Task) -> Parsed:
    """The form of every task: items, NIL or a decision with its justification."""
    schema: dict[str, Any] = dict(_ROW)
    if task.has("decision", "justified"):
        read: Callable[[Response], Iterator[Row]] = _decision
        schema |= {"decision": pl.String, "justification": pl.String}
    elif task.has("extract"):
        read = _extracts
        schema |= {"doc": pl.String, "start": pl.UInt32, "length": pl.UInt32, "nil": pl.Boolean}
    else:
        read = _items
        schema |= _ITEM
        schema |= {name: ITEM_COLUMNS[name] for name, form in _BESIDE if task.has(form)}
    return _parse(batch, Response, read, schema)


def parse_rag24(batch: Sequence[Source], task: Task) -> Parsed:
    """The TREC RAG 2024 generation output: a sentence is an item, its citations are documents."""
    schema = _ROW | {"doc": pl.String, "text": pl.String, "nil": pl.Boolean, "citations": pl.List(pl.String)}
    return _parse(batch, RagAnswer, _sentences, schema)


def _parse(
    batch: Sequence[Source], kind: type[Line], read: Callable[[Line], Iterator[Row]], schema: dict[str, Any]
) -> Parsed:
    decoder = msgspec.json.Decoder(kind)
    rows: list[Row] = []
    problems: list[Problem] = []
    for place, source in enumerate(batch):
        for number, line in enumerate(source.data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                response = decoder.decode(line)
                tag = response.run if isinstance(response, Response) else response.run_id
                asked = str(response.question if isinstance(response, Response) else response.topic_id)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(_unread(source, number, line, error))
                continue
            where = {"run": place, "line": number, "tag": tag, "asked": asked}
            try:
                rows += [where | row for row in read(response)]
            except NilError as error:
                problems.append(Problem("nil-with-items", f"question {asked}: {error}", source.name, number, asked))
            except ValueError as error:
                problems.append(Problem("syntax", f"question {asked}: {error}", source.name, number, asked))
    return Parsed(pl.DataFrame(rows, schema=schema, orient="row"), tuple(problems), objects=True)


class NilError(ValueError):
    """NIL together with something."""


def _decision(response: Response) -> Iterator[Row]:
    if response.decision is None:
        raise ValueError('the line has no "decision"')
    yield {"decision": response.decision, "justification": response.justification}


def _items(response: Response) -> Iterator[Row]:
    items, nil = _without_nil(response)
    contexts = [_context(passage) for passage in response.contexts]
    for item in items:
        if item.text is None:
            raise ValueError('an item has no "text"')
        yield {
            "doc": item.doc,
            "text": item.text,
            "nil": False,
            "confidence": response.confidence,
            "citations": item.citations if item.citations is not None else [item.doc] if item.doc else [],
            "contexts": contexts,
        }
    if not items:
        yield {"nil": nil, "confidence": response.confidence, "citations": [], "contexts": contexts}


def _context(passage: str | Passage) -> Row:
    """A context: a text, with its document where that is named."""
    if isinstance(passage, str):
        return {"doc": None, "text": passage}
    return {"doc": passage.doc, "text": passage.text}


def _extracts(response: Response) -> Iterator[Row]:
    items, nil = _without_nil(response)
    for item in items:
        if item.doc is None or item.start is None or item.length is None:
            raise ValueError('an extract has "doc", "start" and "length"')
        if item.start < 0 or item.length < 1:
            raise ValueError("start is a whole number from 0, length one from 1")
        if item.start >= 1 << 32 or item.length >= 1 << 32:
            raise ValueError("start and length are below 4,294,967,296: no document is longer")
        yield {"doc": item.doc, "start": item.start, "length": item.length, "nil": False}
    if not items:
        yield {"nil": nil}


def _sentences(answer: RagAnswer) -> Iterator[Row]:
    for sentence in answer.answer:
        for place in sentence.citations:
            if not 0 <= place < len(answer.references):
                raise ValueError(f"citation {place} points outside the {len(answer.references)} references")
        yield {"text": sentence.text, "nil": False, "citations": [answer.references[c] for c in sentence.citations]}
    if not answer.answer:
        yield {"nil": False, "citations": []}


def _without_nil(response: Response) -> tuple[list[Item], bool]:
    """The items, and whether the response says NIL (as a key, or as an item with the doc-id NIL)."""
    items = [item for item in response.items if item.doc != NIL]
    said = [item for item in response.items if item.doc == NIL]
    if any(item.text for item in said):
        raise NilError("NIL has no answer string")
    nil = response.nil or bool(said)
    if nil and (items or len(said) > 1):
        raise NilError("NIL and items; NIL stands alone")
    return items, nil


def _unread(source: Source, number: int, line: bytes, error: Exception) -> Problem:
    if isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower():
        for problem in files.undecodable(line, file=source.name):
            return Problem(problem.rule, problem.message, source.name, number)
    return Problem("syntax", f"this line is no response: {error}", source.name, number)
