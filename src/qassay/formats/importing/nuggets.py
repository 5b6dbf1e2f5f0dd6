"""Nuggets from other places: the weights of a pyramid, and the lists that nuggetizer writes. (FORMATS 7)"""

from __future__ import annotations

from qassay.formats import files, nist, rag24
from qassay.formats.importing.plan import ImportPlan, IncomingFile
from qassay.formats.importing.questions import check_types, merge
from qassay.formats.importing.rows import add_rows, nugget_lists, nugget_rows, set_of
from qassay.judging import ADJUDICATED
from qassay.tables import plural

# A nugget is vital from this weight on, where no list says whether it is.
VITAL_WEIGHT = 0.5


def import_weights(plan: ImportPlan, source: IncomingFile) -> None:
    """Nuggets with weights: `vital` stays as the list has it, else the weight decides.

    They go to the only list there is, so that a key finds it; where there is none or several, to `adjudicated`.
    """
    lists = list(nugget_lists(plan))
    name = plan.options.set_name or (lists[0] if len(lists) == 1 else ADJUDICATED)
    rows = nist.parse_weights(_text(plan, source), file=source.name)
    vital = {(str(row["question"]), str(row["nugget"])): row["vital"] for row in nugget_rows(plan, name)}
    complete = [
        (line, {**row, "vital": vital.get((row["question"], row["nugget"]), row["weight"] >= VITAL_WEIGHT)})
        for line, row in rows
    ]
    add_rows(plan, source, "nuggets", complete, name=name)


def import_nugget_lists(plan: ImportPlan, source: IncomingFile) -> None:
    """The questions and nuggets that nuggetizer made; questions of the evaluation stay."""
    lists = rag24.parse_nugget_lists(_text(plan, source), file=source.name)
    check_types(lists.questions, plan.configuration.task, source.name)
    new = merge(plan, lists.questions, source, keep=not plan.options.replace)
    if new:
        plan.report(source, plural(new, "new question"), count=new)
    add_rows(plan, source, "nuggets", lists.nuggets, name=set_of(plan, source))


def _text(plan: ImportPlan, source: IncomingFile) -> str:
    return files.decode(files.read_bytes(source.path), file=source.name, encoding=plan.options.encoding or "utf-8")
