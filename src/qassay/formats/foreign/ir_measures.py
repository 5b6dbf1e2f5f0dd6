"""ir_measures and trec_eval: lines of measure, topic and value, as text or as JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from qassay.formats import files
from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows
from qassay.tables import plural

NAME = "ir_measures, trec_eval"
VERSIONS = ("0.4.3",)
FILES = "`ir_measures --by_query QRELS RUN MEASURES > RUN.tsv`, or `trec_eval -q QRELS RUN > RUN.txt`"
READS = (
    "system: the file's name, trec_eval's `runid`, or the first of four columns; question: the topic; one metric per "
    "measure; rows of means (topic `all`) are left out"
)

_REMEDY = "Write it again with ir_measures --by_query or trec_eval -q."
_ALL = "all"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)", re.IGNORECASE)
# Names of measures: those of ir_measures, `P(rel=2)@5`, and those of trec_eval, `ndcg_cut_10`.
_IR_MEASURE = re.compile(
    r"(?:AP|NumQ|NumRel|NumRet|P|Precision|R|Recall|RR|MRR|MAP|nDCG|NDCG|Rprec|Bpref|infAP|IPrec|Judged|Success|SetP|SetR|"
    r"SetF|SetAP|SetRelP|ERR|ERR_IA|nERR|RBP|RBTO|BPM|INSQ|INST|INSTQ|SDCG|Compat|Accuracy|STREC|nNRBP|NRBP|NRBP_IA|"
    r"alpha_DCG|alpha_nDCG|AP_IA|P_IA|nERR_IA|nRBP|hit_rate|RuntimeMs\w*|NERR8|NERR9|NERR10|NERR11)"
    r"(?:\([^()]*\))?(?:@\d+)?"
)
_TREC_MEASURE = re.compile(
    r"(?:map|gm_map|Rprec|Rprec_mult_[\d.]+|bpref|gm_bpref|recip_rank|11pt_avg|infAP|utility|ndcg|ndcg_rel|Rndcg|binG|G|"
    r"num_(?:q|ret|rel|rel_ret|nonrel_judged_ret)|runid|relstring\w*|set_\w+|iprec_at_recall_[\d.]+|P_\d+|recall_\d+|"
    r"relative_P_\d+|success_\d+|ndcg_cut_\d+|map_cut_\d+|prefs_\w+|P_avgjg_\d+|map_avgjg|Rprec_mult_avgjg_[\d.]+|yaap)"
)
# As many lines as are looked at.
_LOOKED_AT = 50


def looks_like(path: Path, head: bytes) -> bool:
    """Whether the first lines are measure, topic and value in an order that the names of measures give away."""
    row = _logs.first_object(head)
    if row:
        return row.keys() == {"query_id", "measure", "value"}
    lines = _fields(head.split(b"\n")[: _LOOKED_AT + 1])
    return _measure_column(lines[:_LOOKED_AT]) is not None


def _fields(lines: Sequence[bytes]) -> list[list[str]]:
    decoded = (line.decode("utf-8", "replace").split() for line in lines)
    return [fields for fields in decoded if fields]


def _measure_column(rows: Sequence[Sequence[str]]) -> int | None:
    """Which column has the measures: 0 in trec_eval's order, 1 in ir_measures', 2 with the system first; else None."""
    width = len(rows[0]) if rows else 0
    orders: dict[int, tuple[tuple[int, re.Pattern[str]], ...]] = {
        3: ((1, _IR_MEASURE), (0, _TREC_MEASURE), (1, _TREC_MEASURE), (0, _IR_MEASURE)),
        4: ((2, _IR_MEASURE), (2, _TREC_MEASURE)),
    }
    for column, pattern in orders.get(width, ()):
        fitting = sum(len(fields) == width and _fits(fields, pattern, column) for fields in rows)
        # A broken line or two are reported where the file is read.
        if fitting >= 0.8 * len(rows):
            return column
    return None


def _fits(fields: Sequence[str], pattern: re.Pattern[str], column: int) -> bool:
    return bool(pattern.fullmatch(fields[column]) and (_NUMBER.fullmatch(fields[-1]) or fields[column] == "runid"))


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every topic; means over topics are counted and left out."""
    system = _names.file_system(path)
    scores = LogScores("ir_measures or trec_eval lines", path, remedy=_REMEDY)
    means = 0
    entries = list(_json(path, content) if content.lstrip()[:1] == b"{" else _text(path, content))
    system = next((value for _, _, _, measure, value in entries if measure == "runid"), system)
    for line, own_system, topic, measure, value in entries:
        if topic == _ALL or measure in ("runid", "num_q"):
            means += measure not in ("runid", "num_q")
            continue
        cells = (own_system or system, _names.name(topic), value)
        scores.add(*cells, metric=_names.name(measure), line=line)
    if means:
        scores.note(f"{plural(means, 'mean')} over all topics (topic {_ALL!r}) left out.")
    return scores.rows()


_Entry = tuple[int, str, str, str, str]


def _json(path: Path, content: bytes) -> Iterator[_Entry]:
    for line in _logs.table_lines(content, path, _REMEDY):
        for key in ("query_id", "measure", "value"):
            if key not in line.cells:
                raise _logs.refuse(path, f"has no {key!r}. {_REMEDY}", line=line.number)
        cells = line.cells
        yield line.number, "", str(cells["query_id"]), str(cells["measure"]), str(cells["value"])


def _text(path: Path, content: bytes) -> Iterator[_Entry]:
    text = files.decode(content, file=str(path))
    column = _measure_column(_fields(content.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]))
    width = 0
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        width = width or len(fields)
        if len(fields) != width:
            raise _logs.refuse(path, f"has {len(fields)} fields, the lines above {width}. {_REMEDY}", line=number)
        if column == 2:
            yield number, _names.name(fields[0]), fields[1], fields[2], fields[3]
        elif column == 0:
            yield number, "", fields[1], fields[0], fields[2]
        else:
            yield number, "", fields[0], fields[1], fields[2]
