"""The forms in which NIST gives out judgments and keys, read and written. (FORMATS 4)

    parse_factoid   qid docid judgment string
    parse_list      qid tag docid judgment distinct string
    parse_other     qid tag item docid string, then qid tag item nugget
    parse_nuggets   qid nugget<TAB>vital|okay<TAB>text, under `Qid ...` headings
    parse_answers   # qid, Q:..., one answer a line
    parse_patterns  qid regex, or qid regex docid docid ...

Every `parse_*` gives the rows that the JSON lines would hold, with their line numbers, so that everything downstream
sees one form; every `format_*` gives the text for such rows.
"""

from qassay.formats.nist.judgments import (
    format_factoid,
    format_list,
    format_other,
    parse_factoid,
    parse_list,
    parse_other,
)
from qassay.formats.nist.keys import format_answers, format_nuggets, parse_answers, parse_nuggets
from qassay.formats.nist.patterns import format_patterns, looks_like_doc, parse_patterns

__all__ = [
    "format_answers",
    "format_factoid",
    "format_list",
    "format_nuggets",
    "format_other",
    "format_patterns",
    "looks_like_doc",
    "parse_answers",
    "parse_factoid",
    "parse_list",
    "parse_nuggets",
    "parse_other",
    "parse_patterns",
]
