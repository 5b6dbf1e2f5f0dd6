"""The forms of runs, recognised and parsed: lines (trec4, trec7, extract, rte) and JSON lines (jsonl, rag24).

In the line forms fixed fields are separated by blanks or tabs; the answer string is everything after the last of them.
Lines end in LF or CRLF and nowhere else. In the others every line is one response.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from qassay.errors import Problem, Problems, Rule
from qassay.formats import fields, files
from qassay.runs import ITEM_COLUMNS, NIL
from qassay.tasks import ResponseForm, RunForm, Task


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a run: its number among the files, its name for messages, its stem, its form and its bytes."""

    index: int
    name: str
    stem: str
    form: str
    data: bytes


TREC4 = ("asked", "tag", "doc", "text")
TREC7 = ("asked", "q0", "doc", "rank", "score", "tag", "text")
EXTRACT = ("asked", "tag", "doc", "start", "length", "rest")


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


def parse_trec4(batch: Sequence[Source]) -> Parsed:
    """`qid tag docid answer string`; NIL is `qid tag NIL`."""
    rows, problems = _fields(batch, TREC4)
    rows, short = _apart(rows, pl.col("doc").is_not_null())
    problems += _faults(batch, short, "syntax", "a line is: qid tag docid answer string")
    nil = pl.col("doc") == NIL
    rows, with_text = _apart(rows, ~nil | pl.col("text").is_null())
    problems += _faults(batch, with_text, "nil-with-items", "NIL has no answer string")
    rows, silent = _apart(rows, nil | pl.col("text").is_not_null())
    problems += _faults(batch, silent, "syntax", "the answer string is missing after the doc-id")
    return Parsed(rows.with_columns(doc=pl.when(~nil).then(pl.col("doc"))), problems)


def parse_trec7(batch: Sequence[Source]) -> Parsed:
    """`qid Q0 docid rank score tag answer string`; ranks count from 1 without gaps."""
    rows, problems = _fields(batch, TREC7)
    rows, short = _apart(rows, pl.col("text").is_not_null() | (pl.col("doc") == NIL))
    problems += _faults(batch, short, "syntax", "a line is: qid Q0 docid rank score tag answer string")
    rows = rows.with_columns(
        place=pl.col("rank").cast(pl.UInt32, strict=False), value=pl.col("score").cast(pl.Float64, strict=False)
    )
    rows, unread = _apart(rows, pl.col("place").is_not_null() & pl.col("value").is_not_null())
    problems += _faults(batch, unread, "syntax", "rank and score are numbers")
    expected = pl.col("place").rank("ordinal").over("run", "asked")
    rows, gaps = _apart(rows, pl.col("place") == expected)
    problems += _faults(batch, gaps, "syntax", "the ranks of a question count from 1, each once and without gaps")
    nil = pl.col("doc") == NIL
    rows = rows.with_columns(doc=pl.when(~nil).then(pl.col("doc")), text=pl.when(~nil).then(pl.col("text")))
    rows = rows.drop("rank", "q0", "score", "value").rename({"place": "rank"})
    return Parsed(rows, problems)


def parse_extract(batch: Sequence[Source]) -> Parsed:
    """`qid tag docid offset length`; NIL is `qid tag NIL`."""
    rows, problems = _fields(batch, EXTRACT)
    nil = pl.col("doc") == NIL
    rows, more = _apart(rows, ~nil | pl.col("start").is_null())
    problems += _faults(batch, more, "nil-with-items", "NIL has no extract")
    whole = pl.col("length").is_not_null() & pl.col("rest").is_null()
    rows, odd = _apart(rows, nil.fill_null(value=False) | whole)
    problems += _faults(batch, odd, "syntax", "a line is: qid tag docid offset length")
    # A number with a sign or a point does not cast, and a negative one is not an offset.
    rows = rows.with_columns(
        begin=pl.col("start").cast(pl.UInt32, strict=False), size=pl.col("length").cast(pl.UInt32, strict=False)
    )
    rows, unread = _apart(rows, nil | (pl.col("begin").is_not_null() & (pl.col("size") > 0).fill_null(value=False)))
    problems += _faults(batch, unread, "syntax", "offset is a whole number from 0, length one from 1")
    rows = rows.with_columns(doc=pl.when(~nil).then(pl.col("doc"))).drop("start", "length", "rest")
    return Parsed(rows.rename({"begin": "start", "size": "length"}), problems)


def parse_rte(batch: Sequence[Source]) -> Parsed:
    """`ranked: yes|no` on the first line, then `id DECISION`; the run's tag is the file's name."""
    rows, problems = _fields(batch, ("asked", "decision", "rest"))
    head = (pl.col("asked") == "ranked:") & (pl.col("line") == 1)
    for place, source in enumerate(batch):
        first = rows.filter((pl.col("run") == place) & head)
        if first.height != 1 or first["decision"][0] not in ("yes", "no"):
            problems.append(Problem("syntax", "the first line is `ranked: no` or `ranked: yes`", source.name, 1))
    rows = rows.filter(~head)
    rows, odd = _apart(rows, pl.col("decision").is_not_null() & pl.col("rest").is_null())
    problems += _faults(batch, odd, "syntax", "a line is: id DECISION")
    stems = pl.Series([source.stem for source in batch], dtype=pl.String)
    return Parsed(rows.drop("rest").with_columns(tag=stems.gather(rows["run"])), problems, objects=True)


def _fields(batch: Sequence[Source], names: Sequence[str]) -> tuple[pl.DataFrame, Problems]:
    """The lines of all files, split into fields; the last field runs to the end of the line."""
    data = b"".join(source.data if source.data.endswith(b"\n") else source.data + b"\n" for source in batch)
    problems = Problems()
    try:
        text = pl.read_lines(data).to_series()
    except PolarsError:
        for source in batch:
            problems += files.undecodable(source.data, file=source.name)
        data = data.decode(errors="replace").encode()
        text = pl.read_lines(data).to_series()
    heights = [source.data.count(b"\n") + (not source.data.endswith(b"\n")) for source in batch]
    rows = split_fields(text.str.strip_chars_end(" \t\r"), names, tabs=b"\t" in data).with_columns(
        run=pl.Series(np.repeat(np.arange(len(batch), dtype=np.uint32), heights)),
        line=pl.Series(np.concatenate([np.arange(1, height + 1, dtype=np.uint32) for height in heights])),
    )
    if rows["asked"].null_count():
        rows = rows.filter(pl.col("asked").is_not_null())
    return rows, problems


def split_fields(text: pl.Series, names: Sequence[str], *, tabs: bool) -> pl.DataFrame:
    """Lines split into named fields, null where a line has fewer; `tabs`: there may be tabs.

    Most files have single blanks between fields, and splitting at those is five times faster. Where fields are empty
    then, or the last one begins with a blank, there were more blanks, and the lines are split the general way.
    """
    if not tabs:
        rows = text.replace("", None).str.splitn(" ", len(names)).struct.rename_fields(list(names)).struct.unnest()
        blanks = [(pl.col(name) == "").any() for name in names[:-1]] + [pl.col(names[-1]).str.starts_with(" ").any()]
        if not any(rows.select(pl.any_horizontal(blanks)).row(0)):
            return rows
    # A field and the white space before it, as often as there are fields; the last field takes the rest.
    field, gap = r"([^ \t]+)", r"[ \t]+"
    pattern = rf"^[ \t]*{field}" + "".join(rf"(?:{gap}{field}" for _ in names[2:]) + rf"(?:{gap}(.+)"
    split = text.str.extract_groups(pattern + ")?" * (len(names) - 1) + "$")
    return split.struct.rename_fields(list(names)).struct.unnest()


def _apart(rows: pl.DataFrame, good: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that pass, and those that do not (null is not passing)."""
    mask = rows.select(good.fill_null(value=False)).to_series()
    return (rows, rows.clear()) if mask.all() else (rows.filter(mask), rows.filter(~mask))


def _faults(batch: Sequence[Source], rows: pl.DataFrame, rule: Rule, message: str) -> Iterator[Problem]:
    for run, line, question in rows.select("run", "line", "asked").iter_rows():
        yield Problem(rule, f"question {question}: {message}", batch[run].name, line, question)


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
    """One line of the jsonl form; further keys are ignored."""

    run: str
    question: str | int
    items: list[Item] = []
    nil: bool = False
    confidence: float | None = None
    decision: str | None = None
    justification: str | None = None
    contexts: list[str | Passage] = []


class Sentence(msgspec.Struct):
    """One sentence of a TREC RAG answer; citations are places in the references, or documents."""

    text: str
    citations: list[int | str] = []


class RagMetadata(msgspec.Struct):
    """The metadata of a line of TREC RAG 2025; further keys are ignored."""

    run_id: str
    narrative_id: str | int


class RagAnswer(msgspec.Struct, rename={"run": "run_id", "question": "topic_id"}):
    """One line of the TREC RAG output, of 2024 or, with `metadata`, of later years; further keys are ignored."""

    answer: list[Sentence]
    run: str = ""
    question: str | int = ""
    references: list[str] = []
    metadata: RagMetadata | None = None

    def __post_init__(self) -> None:
        if self.metadata is not None:
            self.run, self.question = self.metadata.run_id, self.metadata.narrative_id
        if not self.run or self.question == "":
            raise ValueError("it has neither run_id and topic_id nor metadata with run_id and narrative_id")


Line = TypeVar("Line", Response, RagAnswer)
# What the fields of a line may be called by mistake: those that are not required, and are silently empty without it.
_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "items": (*fields.ANSWER, "answers", "text", "results"),
    "contexts": fields.CONTEXTS,
    "references": ("documents", "docs"),
    "citations": ("cites", "cited"),
    "doc": ("doc_id", "docid", "docno", "document"),
}
Row = dict[str, Any]
_ROW = {"run": pl.UInt32, "line": pl.UInt32, "tag": pl.String, "asked": pl.String}
# The question of a line that cannot be read.
_ASKED = re.compile(rb'"(?:question|topic_id|narrative_id)"\s*:\s*(?:"(?P<text>[^"\\]+)"|(?P<number>[0-9]+))')
# What items have besides, by the form of the response.
_BESIDE: tuple[tuple[str, ResponseForm], ...] = (("citations", "answer"), ("contexts", "text"))


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
        schema |= {"doc": pl.String, "text": pl.String, "nil": pl.Boolean, "confidence": pl.Float64}
        schema |= {name: ITEM_COLUMNS[name] for name, form in _BESIDE if task.has(form)}
    return _parse(batch, Response, read, schema)


def parse_rag24(batch: Sequence[Source]) -> Parsed:
    """The TREC RAG generation output: a sentence is an item, its citations are documents."""
    schema = _ROW | {"doc": pl.String, "text": pl.String, "nil": pl.Boolean, "citations": pl.List(pl.String)}
    return _parse(batch, RagAnswer, _sentences, schema)


def _parse(
    batch: Sequence[Source], kind: type[Line], read: Callable[[Line], Iterator[Row]], schema: dict[str, Any]
) -> Parsed:
    decoder = msgspec.json.Decoder(kind)
    shapes = _Shapes(kind, reads_contexts="contexts" in schema)
    rows: list[Row] = []
    problems = Problems()
    unread: set[tuple[str, str | None]] = set()
    for place, source in enumerate(batch):
        for number, line in enumerate(source.data.split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                response = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(_unread(source, number, line, error))
                asked = _ASKED.search(line)
                unread.add((source.name, asked and (asked["text"] or asked["number"]).decode(errors="replace")))
                continue
            shapes.note(place, number, line)
            question = str(response.question)
            where = {"run": place, "line": number, "tag": response.run, "asked": question}
            try:
                rows += [where | row for row in read(response)]
            except NilError as error:
                problems.append(
                    Problem("nil-with-items", f"question {question}: {error}", source.name, number, question)
                )
            except ValueError as error:
                problems.append(Problem("syntax", f"question {question}: {error}", source.name, number, question))
    warnings = Problems(shapes.warnings(batch))
    return Parsed(
        pl.DataFrame(rows, schema=schema, orient="row"), problems, objects=True, warnings=warnings, unread=unread
    )


class _Shapes:
    """The keys of lines and of their items, to find those that look like a field and are not one."""

    def __init__(self, kind: type[Response | RagAnswer], *, reads_contexts: bool) -> None:
        self._decoder = msgspec.json.Decoder(dict[str, Any])
        names = kind.__struct_encode_fields__
        part = Item if kind is Response else Sentence
        self._parts, self._known = names[names.index("items" if kind is Response else "answer")], frozenset(names)
        self._unread = frozenset() if reads_contexts else frozenset(["contexts"])
        self._known_parts = frozenset(part.__struct_fields__)
        # The number of lines of a file with these keys, and the first of them.
        self._lines: dict[tuple[int, frozenset[str], frozenset[str]], list[int]] = {}

    def note(self, place: int, number: int, line: bytes) -> None:
        """Note the keys of a line."""
        row = self._decoder.decode(line)
        self._note((place, frozenset(row), self._known), number)
        for part in row.get(self._parts) or ():
            self._note((place, frozenset(part), self._known_parts), number)

    def _note(self, shape: tuple[int, frozenset[str], frozenset[str]], number: int) -> None:
        if shape[1] <= shape[2]:
            return
        seen = self._lines.setdefault(shape, [number, 0])
        seen[1] += 1

    def warnings(self, batch: Sequence[Source]) -> Iterator[Problem]:
        """A warning for each key that looks like a field which its line does not have."""
        found: dict[tuple[int, str, str], list[int]] = {}
        for (place, keys, known), (number, count) in self._lines.items():
            absent = {name: _OTHER_NAMES.get(name, ()) for name in known - keys - self._unread}
            for key in sorted(keys - known):
                if meant := fields.resembled(key, absent):
                    first = found.setdefault((place, key, meant), [number, 0])
                    first[1] += count
        for (place, key, meant), (number, count) in found.items():
            message = f"{key!r} is not a field of a run and is not read, here and in {count - 1:,} more places"
            message = message if count > 1 else message.partition(", here")[0]
            yield Problem("syntax", f"{message}; is it meant as {meant!r}?", batch[place].name, number)


class NilError(ValueError):
    """NIL together with something."""


def _decision(response: Response) -> Iterator[Row]:
    if response.decision is None:
        raise ValueError('the line has no "decision"')
    yield {"decision": response.decision, "justification": response.justification}


def _items(response: Response) -> Iterator[Row]:
    items, nil = _without_nil(response)
    contexts = [
        {"doc": None, "text": passage} if isinstance(passage, str) else {"doc": passage.doc, "text": passage.text}
        for passage in response.contexts
    ]
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
        yield {"text": sentence.text, "nil": False, "citations": list(_cited(sentence, answer.references))}
    if not answer.answer:
        yield {"nil": False, "citations": []}


def _cited(sentence: Sentence, references: Sequence[str]) -> Iterator[str]:
    """The documents that a sentence cites."""
    for cited in sentence.citations:
        if isinstance(cited, int) and not 0 <= cited < len(references):
            raise ValueError(f"citation {cited} points outside the {len(references)} references")
        yield references[cited] if isinstance(cited, int) else cited


def _without_nil(response: Response) -> tuple[list[Item], bool]:
    """The items, and whether the response says NIL (as a key, or as an item with the doc-id NIL)."""
    items = [item for item in response.items if item.doc != NIL]
    nils = [item for item in response.items if item.doc == NIL]
    if any(item.text for item in nils):
        raise NilError("NIL has no answer string")
    nil = response.nil or bool(nils)
    if nil and (items or len(nils) > 1):
        raise NilError("NIL and items; a response has one or the other")
    return items, nil


def _unread(source: Source, number: int, line: bytes, error: Exception) -> Problem:
    if isinstance(error, UnicodeDecodeError) or "utf-8" in str(error).lower():
        for problem in files.undecodable(line, file=source.name):
            return Problem(problem.rule, problem.message, source.name, number)
    return Problem("syntax", f"this line is not a response: {error}", source.name, number)


# ---- all forms ------------------------------------------------------------------------------------------------------

_PARSERS: Mapping[str, Callable[[Sequence[Source]], Parsed]] = {
    "trec4": parse_trec4,
    "trec7": parse_trec7,
    "extract": parse_extract,
    "rte": parse_rte,
    "rag24": parse_rag24,
}


def parse(form: str, batch: Sequence[Source], task: Task) -> Parsed:
    """The rows of files of one form."""
    return parse_jsonl(batch, task) if form == "jsonl" else _PARSERS[form](batch)


def recognise(data: bytes, task: Task) -> RunForm:
    """The form of a run of this task, told from its content."""
    start = data[: 1 << 16].lstrip(files.BOM + b" \t\r\n")
    if start.startswith(b"{"):
        first = start.split(b"\n", 1)[0]
        marks = (b'"topic_id"', b'"narrative_id"')
        return "rag24" if "rag24" in task.forms and any(mark in first for mark in marks) else "jsonl"
    if "rte" in task.forms:
        return "rte"
    if "trec7" in task.forms and start.split(None, 2)[1:2] == [b"Q0"]:
        return "trec7"
    return next((form for form in task.forms if form in ("extract", "trec4")), "jsonl")
