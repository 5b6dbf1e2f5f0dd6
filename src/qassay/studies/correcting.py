"""Scores of a program, corrected by people's labels of a random sample: what `score` and `compare` share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack

from qassay.errors import InputError, QassayError, UsageError
from qassay.options import HowScored, Missing, Unjudged
from qassay.pages import Exhibit, Links, Page
from qassay.results import Result
from qassay.sources import need_evaluation
from qassay.studies.looking import of_labels

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.meta.correction import Correction

AboutTarget: TypeAlias = Literal["new", "these"]
Corrected = TypeVar("Corrected", bound=Result)


def correction(
    source: object,
    correct_with: str,
    *,
    pair: tuple[str, str] | None = None,
    target: AboutTarget = "new",
    sample: str | Path | None = None,
    key: str | None = None,
    **how: Unpack[HowScored],
) -> Correction:
    """The correction of an assessor's scores by the labels of people; scores alone have no judgments to correct."""
    evaluation = need_evaluation(source, "correct_with", "Scores alone have no judgments")
    return evaluation.correction(key, correct_with, pair=pair, target=target, sample=sample, **how)


def correction_of_page(
    evaluation: Evaluation,
    result_of: Callable[[Correction], Corrected],
    *,
    pair: tuple[str, str] | None = None,
    key: str | None = None,
    measure: str | None = None,
    component: str | None = None,
    unjudged: Unjudged = "stop",
    missing: Missing = "stop",
    **_: object,
) -> Corrected | str | None:
    """The result for a program's scores that people who judged its sample correct.

    Why not, where nobody judged it so far; None where no program judged, or no sample is drawn.
    """
    if key is None or key not in evaluation.automatic_sets or not evaluation.folder.samples():
        return None
    how: HowScored = {"measure": measure, "component": component, "unjudged": unjudged, "missing": missing}
    reason = "nobody has judged the sample"
    first = evaluation.default_key()
    for people in sorted(evaluation.human_sets, key=lambda name: name != first):
        try:
            return result_of(correction(evaluation, people, pair=pair, key=key, **how))
        except InputError as error:
            reason = error.problems[0].message
        except QassayError as error:
            reason = error.message if isinstance(error, UsageError) else str(error)
    return f"No corrected scores yet: {reason}."


def with_corrected(page: Page, corrected: Any) -> Page:
    """The page with the corrected result first; or why there is none yet, below its first table."""
    if corrected is None:
        return page
    if isinstance(corrected, str):
        first, *others = page.exhibits
        assert first.table is not None
        noted = replace(first, table=replace(first.table, notes=(*first.table.notes, corrected)))
        return replace(page, exhibits=(noted, *others))
    runs = tuple(row.run for row in getattr(corrected, "runs", ()))
    table = corrected.table() if runs else replace(corrected.table(), title="Corrected by people")
    links = Links("run", runs, 0) if runs else Links()
    shown = Exhibit("corrected", table, corrected.figure if runs else None, links=links)
    answer = (f"{corrected.sentence()}.", *of_labels(corrected))
    return replace(page, answer=answer, exhibits=(shown, *page.exhibits))
