"""The forms of runs, recognised, and those of lines parsed: trec4, trec7, extract, rte.

In the line forms fixed fields are separated by blanks or tabs; the answer string is everything after the last of them.
Lines end in LF or CRLF and nowhere else. `json_lines` has the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from qassay.errors import Problem, Problems, Rule
from qassay.formats import files
from qassay.formats.runs.json_lines import Parsed, RunFile, parse_jsonl, parse_rag24
from qassay.runs import NIL
from qassay.tasks import RunForm, Task

TREC4 = ("asked", "tag", "doc", "text")
TREC7 = ("asked", "q0", "doc", "rank", "score", "tag", "text")
EXTRACT = ("asked", "tag", "doc", "start", "length", "rest")


def parse_trec4(batch: Sequence[RunFile]) -> Parsed:
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


def parse_trec7(batch: Sequence[RunFile]) -> Parsed:
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


def parse_extract(batch: Sequence[RunFile]) -> Parsed:
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


def parse_rte(batch: Sequence[RunFile]) -> Parsed:
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


def _fields(batch: Sequence[RunFile], names: Sequence[str]) -> tuple[pl.DataFrame, Problems]:
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


def _faults(batch: Sequence[RunFile], rows: pl.DataFrame, rule: Rule, message: str) -> Iterator[Problem]:
    for run, line, question in rows.select("run", "line", "asked").iter_rows():
        yield Problem(rule, f"question {question}: {message}", batch[run].name, line, question)


# ---- all forms ------------------------------------------------------------------------------------------------------

_PARSERS: Mapping[str, Callable[[Sequence[RunFile]], Parsed]] = {
    "trec4": parse_trec4,
    "trec7": parse_trec7,
    "extract": parse_extract,
    "rte": parse_rte,
    "rag24": parse_rag24,
}


def parse(form: str, batch: Sequence[RunFile], task: Task) -> Parsed:
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
