"""Which gaps between runs are repeatable, and how often is a comparison wrong?

The first sentence is the answer: from about which gap on two runs keep
their order with as many new questions, in 95 of 100 repetitions. No gap
is given where no two runs differ, or where all of them may lie too
close together. Below it: how often a comparison is wrong, by the
difference seen, and the questions that smaller gaps need.

With 20 runs or more, with --fit or with a preset other than default:
also the study of the TREC papers, which draws two disjoint sets of
questions again and again, fits a curve to the error rates, and groups
the runs by its minimum difference.

Whether chance alone could explain the difference of two given runs is
another question, which qassay compare answers.

Examples

  qassay sensitivity my-eval
  qassay sensitivity my-eval --preset trec2004 --json
  qassay sensitivity scores.csv --error 0.01
  qassay sensitivity factoids.csv --series-from '^([^.]+)'
  qassay sensitivity ratings.csv --fit --intervals 0
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Unpack

from qassay import figures
from qassay.errors import UsageError
from qassay.meta.sensitivity import PRESETS, SensitivityCurves, find_preset
from qassay.meta.sensitivity import sensitivity as error_rates
from qassay.meta.sensitivity.counting import Ties
from qassay.options import Option, Scoring, Seed
from qassay.pages import Exhibit, Page
from qassay.sources import as_evaluation, as_matrix, refuse_options
from qassay.studies import MORE, Study

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.sources import ScoresLike


def sizes_between(text: str) -> range:
    """The sizes of `A-B`, or of a single `A`."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", text)
    if match is None:
        raise ValueError(f"a range such as 5-32, not {text!r}")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ValueError(f"a range such as 5-32; in {text} the first size is larger than the last")
    return range(first, last + 1)


def sensitivity(
    scores: ScoresLike | Evaluation,
    *,
    preset: Annotated[
        str, Option(f"A study to repeat: {', '.join(PRESETS)}.", "NAME", on_pages=True, choices=tuple(PRESETS))
    ] = "default",
    sizes: Annotated[
        Sequence[int] | None,
        Option("Sizes of the sets, every one from A to B (default: the preset's).", "A-B", read=sizes_between),
    ] = None,
    trials: Annotated[int | None, Option("Trials for each size (default: the preset's).", "N", least=1)] = None,
    error: Annotated[float, Option("Error rate to stay within.", on_pages=True, choices=(0.01, 0.05, 0.1))] = 0.05,
    bin_width: Annotated[
        float | None,
        Option(
            "Width of a range of differences (default: 0.01, or 1/100 of the scale of scores outside 0-1).",
            "W",
            on_pages=True,
            choices=(None, 0.01, 0.02, 0.05, 0.1, 0.2),
        ),
    ] = None,
    intervals: Annotated[
        int, Option("Bootstrap resamples of the questions for intervals; 0: none.", "N", least=0)
    ] = 100,
    ties: Annotated[
        Ties, Option("A tie is not a swap and stays, counts half a swap, or leaves the denominator.")
    ] = "stay",
    fit: Annotated[
        bool | None,
        Option("Show the study as the TREC papers did it (default: from 20 runs up, or with a preset).", on_pages=True),
    ] = None,
    floor: float | None = None,
    seed: Seed = 0,
    progress: Callable[[int, int], None] | None = None,
    lower_is_better: Collection[str] = (),
    **how: Unpack[Scoring],
) -> SensitivityCurves:
    """Which gaps between runs are repeatable, and how often is a comparison wrong?

    The answer is expected from the spread of the differences: with as many new units, a gap of about
    `repeatable_difference` or more keeps its sign in 95 of 100 repetitions (`error` 0.05). It is None, and `withheld`
    says why, where no two runs differ, or where all may lie too close together. Beside it: the study of the
    TREC papers: two disjoint sets of units are drawn again and again; a comparison is wrong where the sets prefer
    different runs. `preset` repeats one of their studies, `sizes` and `trials` replace its own, `fit` asks for their
    curves (None: from 20 runs up, or with a preset). `bin_width` is the width of a range of differences (None: 0.01, or
    1/100 of the scale of scores outside 0 to 1), `intervals` the number of bootstrap resamples (0: no intervals). A tie
    is not a swap ("stay"), counts half a swap ("half"), or is left out ("exclude"). `floor` is the largest difference
    between identical responses that were judged separately; from an evaluation it is measured. The other keyword
    arguments say how an evaluation is scored, as in `Evaluation.score`.

    >>> import qassay
    >>> scores = qassay.open(qassay.demo_folder()).score()
    >>> qassay.sensitivity(scores, intervals=0)
    SensitivityCurves: with 16 new series, a gap of about 0.07 or more keeps its sign in 95 of 100 ...
    """
    evaluation = as_evaluation(scores)
    if evaluation is None:
        refuse_options(**how)
        matrix = as_matrix(scores, lower_is_better=lower_is_better)
    else:
        implied, component = find_preset(preset).component, how.get("component")
        if implied is not None and component not in (None, implied):
            raise UsageError(f"preset {preset!r} is about {implied} questions: use it without component {component}")
        how = how | {"component": implied or component}
        matrix = evaluation.score(**how).matrix
        floor = _noise_floor(evaluation, how) if floor is None else floor
    return error_rates(
        matrix,
        preset=preset,
        sizes=sizes,
        trials=trials,
        error=error,
        bin_width=bin_width,
        intervals=intervals,
        ties=ties,
        fit=fit,
        seed=seed,
        floor=floor,
        progress=progress,
    )


def _noise_floor(evaluation: Evaluation, how: Scoring) -> float | None:
    """The largest difference between identical responses that were judged separately; None where there are none.

    For one component, or for an evaluation that asks one type of question only: the noise of a part is not that of
    a score put together from several, nor of another measure.
    """
    from qassay.studies.noise import component_noise

    component = how.get("component")
    kinds = {question.type for question in evaluation.questions} if component is None else {component}
    name = how.get("key") or evaluation.default_key()
    if name is None or len(kinds) != 1 or name not in evaluation.sets or how.get("measure") is not None:
        return None
    noise = component_noise(
        evaluation, name, kinds.pop(), unjudged=how.get("unjudged", "stop"), missing=how.get("missing", "stop")
    )
    return None if noise is None else noise.max


def page(curves: SensitivityCurves) -> Page:
    """The repeatable gap, or why none is given; then rates. The curves of a single pair say nothing (METHOD 6)."""
    tables = curves.tables()
    exhibits = []
    if curves.repeatable_difference is not None:
        exhibits.append(Exhibit("error-rate", draw=curves.figure))
    if curves.pairs > 1 and (exhibits or curves.with_fits):
        exhibits.append(Exhibit("error-curves", draw=partial(figures.error_curves, curves)))
    exhibits += [Exhibit(f"sensitivity-{number}", shown) for number, shown in enumerate(tables, 1)]
    return Page((curves.summary(),), tuple(exhibits), notes=() if tables else curves.notes)


STUDY = Study(
    name="sensitivity",
    compute=sensitivity,
    page=page,
    documents=(SensitivityCurves,),
    source="scores",
    systems=2,
    doing="trials",
    heading="Which gaps are repeatable?",
    label="Sensitivity",
    tab=MORE,
    slow=True,
)
