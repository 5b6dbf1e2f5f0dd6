"""The pages of all organisations, computed for the store as the results pages are."""

from __future__ import annotations

from dataclasses import asdict, replace

from qassay.evaluation import Evaluation
from qassay.studies.judged_answers import answers_by_run
from qassay.web.results.finding import Choice, Finding, Progress, pictures, scored


def organisations(evaluation: Evaluation, choice: Choice, progress: Progress) -> Finding:
    """The result page of every organisation, as `report --by organisation` has it; without tables of its own."""
    from qassay.reports.organisations import organisation_page
    from qassay.reports.organisations import organisations as organisation_names

    scores = scored(evaluation, choice)
    answers = answers_by_run(evaluation, scores, [row.run for row in scores.runs])
    pages = []
    for name in organisation_names(scores):
        page = organisation_page(scores, name, answers)
        # A picture is all that a page keeps of a figure.
        drawn = pictures(*(lambda figure=figure: figure for figure in page.figures))
        pages.append({**asdict(replace(page, figures=())), "pictures": [asdict(picture) for picture in drawn]})
    return Finding((), {"pages": pages})
