"""Qassay: judge question answering, score it, and know what the scores are worth.

The map, in the order data flows; a module imports only modules above it:

    errors        faults of the input, with place  spelling    names with parameters: nugget_f(beta=3)
    display       safe text, tables as HTML        frames      polars, pandas, Arrow
    tables        results as tables of all forms   arrays      types of numbers, ties, sums
    directions    which way a measure is better    results     what every result offers
    summaries     from unit scores to the score of a run
    matrix        runs x units: the input of every analysis
    questions     the test set                     tasks/      the rules of one kind of evaluation, as data
    runs          responses of the systems         nuggets     atomic facts
    judging/      what a judgment is: one file per kind; judgment sets, keys, pool, items, settling
    tally/        runs joined with a key           measures/   one small file per measure
    scoring/      question -> unit -> run
    meta/         the evaluation of the evaluation  figures/   results as charts
    reports/      results as documents              options    an option, declared once for every door
    pages         what a study shows, for every door
    ---- above: no files, no network, no clock, no hidden randomness; below: adapters ----
    extras        packages of the extras           plugins     entry points of other packages
    net           HTTP to one given address        child        programs in processes of their own
    cluster       parts on the nodes of Ray        formats/    files read, recognised, imported, exported
    collections/  documents, index and search      demo/       the built-in evaluation
    store/        the database of a served evaluation  evaluation/  an opened folder, and its keys
    checking      all errors of an evaluation      sources     evaluations, or scores in any form
    systems/      reference systems, the harness   client      to use a served evaluation
    assessors/    automatic assessors              studies/    one file per question that people ask
    schemas/      rows and outputs as JSON Schema  web/        the assessors' application
    cli/          one file per command

Start with `qassay.open(folder).score()`, or `qassay.scores(source)` for scores from elsewhere.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from qassay._version import __version__

if TYPE_CHECKING:
    from qassay.assessors import judge
    from qassay.demo import demo_folder
    from qassay.errors import InputError, QassayError, UsageError
    from qassay.evaluation import Evaluation
    from qassay.evaluation import open_evaluation as open  # noqa: A004  # the call reads qassay.open
    from qassay.formats.matrix import read_matrix
    from qassay.formats.scores import read_scores as scores
    from qassay.matrix import ScoreMatrix
    from qassay.measures import measure
    from qassay.scoring import Scores
    from qassay.studies.agree import agreement
    from qassay.studies.compare import compare, compare_all
    from qassay.studies.describe import describe
    from qassay.studies.facts import facts
    from qassay.studies.people import people
    from qassay.studies.plan import plan
    from qassay.studies.reporting import report
    from qassay.studies.reuse import reuse
    from qassay.studies.sample import sample
    from qassay.studies.score import leaderboard
    from qassay.studies.sensitivity import sensitivity
    from qassay.studies.stability import stability
    from qassay.studies.trust import trust

# Public names and where they live: imported when first used, so that starting stays instant.
_HOMES = {
    "Evaluation": ("qassay.evaluation", "Evaluation"),
    "InputError": ("qassay.errors", "InputError"),
    "QassayError": ("qassay.errors", "QassayError"),
    "ScoreMatrix": ("qassay.matrix", "ScoreMatrix"),
    "Scores": ("qassay.scoring", "Scores"),
    "UsageError": ("qassay.errors", "UsageError"),
    "agreement": ("qassay.studies.agree", "agreement"),
    "compare": ("qassay.studies.compare", "compare"),
    "compare_all": ("qassay.studies.compare", "compare_all"),
    "demo_folder": ("qassay.demo", "demo_folder"),
    "describe": ("qassay.studies.describe", "describe"),
    "facts": ("qassay.studies.facts", "facts"),
    "judge": ("qassay.assessors", "judge"),
    "leaderboard": ("qassay.studies.score", "leaderboard"),
    "measure": ("qassay.measures", "measure"),
    "open": ("qassay.evaluation", "open_evaluation"),
    "people": ("qassay.studies.people", "people"),
    "plan": ("qassay.studies.plan", "plan"),
    "read_matrix": ("qassay.formats.matrix", "read_matrix"),
    "report": ("qassay.studies.reporting", "report"),
    "reuse": ("qassay.studies.reuse", "reuse"),
    "sample": ("qassay.studies.sample", "sample"),
    "scores": ("qassay.formats.scores", "read_scores"),
    "sensitivity": ("qassay.studies.sensitivity", "sensitivity"),
    "stability": ("qassay.studies.stability", "stability"),
    "trust": ("qassay.studies.trust", "trust"),
}

__all__ = [
    "Evaluation",
    "InputError",
    "QassayError",
    "ScoreMatrix",
    "Scores",
    "UsageError",
    "__version__",
    "agreement",
    "compare",
    "compare_all",
    "demo_folder",
    "describe",
    "facts",
    "judge",
    "leaderboard",
    "measure",
    "open",
    "people",
    "plan",
    "read_matrix",
    "report",
    "reuse",
    "sample",
    "scores",
    "sensitivity",
    "stability",
    "trust",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'qassay' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
