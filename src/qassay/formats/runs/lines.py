"""The line forms of runs: trec4, trec7, extract, rte.

Fixed fields are separated by blanks or tabs; the answer string is everything after the last of them. Lines end in LF
or CRLF and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from qassay.errors import Problem, Rule
from qassay.formats import files
from qassay.formats.runs.source import Parsed, Source
from qassay.runs import NIL

TREC4 = ("asked", "tag", "doc", "text")
TREC7 = ("asked", "q0", "doc", "rank", "score", "tag", "text")
EXTRACT = ("asked", "tag", "doc", "start", "length", "rest")


def parse_trec4(batch: Sequence[Source]) -> Parsed:
    """`qid tag docid answer string`; NIL is `qid tag NIL`."""
    rows, problems = _fields(batch, TREC4)
    rows, short = _apart(rows, pl.col("doc").is_not_null())
    problems += _tell(batch, short, "syntax", "a line is: qid tag docid answer string")
    nil = pl.col("doc") == NIL
    rows, spoken = _apart(rows, ~nil | pl.col("text").is_null())
    problems += _tell(batch, spoken, "nil-with-items", "NIL has no answer string")
    rows, silent = _apart(rows, nil | pl.col("text").is_not_null())
    problems += _tell(batch, silent, "syntax", "the answer string is missing after the doc-id")
    return Parsed(rows.with_columns(doc=pl.when(~nil).then(pl.col("doc"))), tuple(problems))


def parse_trec7(batch: Sequence[Source]) -> Parsed:
    """`qid Q0 docid rank score tag answer string`; ranks count from 1 without gaps."""
    rows, problems = _fields(batch, TREC7)
    rows, short = _apart(rows, pl.col("text").is_not_null() | (pl.col("doc") == NIL))
    problems += _tell(batch, short, "syntax", "a line is: qid Q0 docid rank score tag answer string")
    rows = rows.with_columns(
        place=pl.col("rank").cast(pl.UInt32, strict=False), value=pl.col("score").cast(pl.Float64, strict=False)
    )
    rows, unread = _apart(rows, pl.col("place").is_not_null() & pl.col("value").is_not_null())
    problems += _tell(batch, unread, "syntax", "rank and score are numbers")
    expected = pl.col("place").rank("ordinal").over("run", "asked")
    rows, gaps = _apart(rows, pl.col("place") == expected)
    problems += _tell(batch, gaps, "syntax", "the ranks of a question count from 1, each once and without gaps")
    nil = pl.col("doc") == NIL
    rows = rows.with_columns(doc=pl.when(~nil).then(pl.col("doc")), text=pl.when(~nil).then(pl.col("text")))
    rows = rows.drop("rank", "q0", "score", "value").rename({"place": "rank"})
    return Parsed(rows, tuple(problems))


def parse_extract(batch: Sequence[Source]) -> Parsed:
    """`qid tag docid offset length`; NIL is `qid tag NIL`."""
    rows, problems = _fields(batch, EXTRACT)
    nil = pl.col("doc") == NIL
    rows, more = _apart(rows, ~nil | pl.col("start").is_null())
    problems += _tell(batch, more, "nil-with-items", "NIL has no extract")
    whole = pl.col("length").is_not_null() & pl.col("rest").is_null()
    rows, odd = _apart(rows, nil.fill_null(value=False) | whole)
    problems += _tell(batch, odd, "syntax", "a line is: qid tag docid offset length")
    # A number with a sign or a point does not cast, and a negative one is no offset.
    rows = rows.with_columns(
        begin=pl.col("start").cast(pl.UInt32, strict=False), size=pl.col("length").cast(pl.UInt32, strict=False)
    )
    rows, unread = _apart(rows, nil | (pl.col("begin").is_not_null() & (pl.col("size") > 0).fill_null(value=False)))
    problems += _tell(batch, unread, "syntax", "offset is a whole number from 0, length one from 1")
    rows = rows.with_columns(doc=pl.when(~nil).then(pl.col("doc"))).drop("start", "length", "rest")
    return Parsed(rows.rename({"begin": "start", "size": "length"}), tuple(problems))


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
    problems += _tell(batch, odd, "syntax", "a line is: id DECISION")
    stems = pl.Series([source.stem for source in batch], dtype=pl.String)
    return Parsed(rows.drop("rest").with_columns(tag=stems.gather(rows["run"])), tuple(problems), objects=True)


def _fields(batch: Sequence[Source], names: Sequence[str]) -> tuple[pl.DataFrame, list[Problem]]:
    """The lines of all files, split into fields; the last field runs to the end of the line."""
    data = b"".join(source.data if source.data.endswith(b"\n") else source.data + b"\n" for source in batch)
    problems: list[Problem] = []
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
    """Lines split into named fields, null where a line has fewer; `tabs` tells that there may be tabs.

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


def _tell(batch: Sequence[Source], rows: pl.DataFrame, rule: Rule, what: str) -> Iterator[Problem]:
    for run, line, asked in rows.select("run", "line", "asked").iter_rows():
        yield Problem(rule, f"question {asked}: {what}", batch[run].name, line, asked)
