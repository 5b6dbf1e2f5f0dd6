"""From an inquiry to its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.web.results import studies
from qassay.web.results.finding import Finding, clipped, cut
from qassay.web.results.inquiry import Inquiry, Progress
from qassay.web.results.one_question import question
from qassay.web.results.one_run import run
from qassay.web.results.units import units

# Studies whose tables are windows on longer ones; they cut by themselves.
WINDOWED = ("units", "run", "question")
STUDIES: Mapping[str, Callable[..., Finding]] = {
    "leaderboard": studies.leaderboard,
    "spread": studies.spread,
    "agreement": studies.agreement,
    "stability": studies.stability,
    "sensitivity": studies.sensitivity,
    "compare": studies.compare,
    "units": units,
    "run": run,
    "question": question,
}


def investigate(evaluation: Evaluation, inquiry: Inquiry, progress: Progress) -> Finding:
    """Answer an inquiry."""
    if inquiry.study not in STUDIES:
        raise unknown("study", inquiry.study, STUDIES)
    study = STUDIES[inquiry.study]
    if inquiry.study in WINDOWED:
        study = partial(study, whole=inquiry.whole)
    found = study(evaluation, inquiry.choice, progress, **inquiry.given)
    if inquiry.whole:
        return found
    return replace(found, parts=tuple(clipped(one if one.window else cut(one)) for one in found.parts))
