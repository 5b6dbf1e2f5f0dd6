"""From a request to its finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from qassay.errors import unknown
from qassay.evaluation import Evaluation
from qassay.web.results import studies
from qassay.web.results.finding import Finding, clipped, cut
from qassay.web.results.one_question import question
from qassay.web.results.one_run import run
from qassay.web.results.request import Progress, StudyRequest
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


def compute(evaluation: Evaluation, request: StudyRequest, progress: Progress) -> Finding:
    """Answer a request."""
    if request.study not in STUDIES:
        raise unknown("study", request.study, STUDIES)
    study = STUDIES[request.study]
    if request.study in WINDOWED:
        study = partial(study, whole=request.whole)
    found = study(evaluation, request.choice, progress, **request.given)
    if request.whole:
        return found
    return replace(found, parts=tuple(clipped(one if one.window else cut(one)) for one in found.parts))
