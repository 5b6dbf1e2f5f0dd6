"""What holds for every measure at once: its name, its range, its order, its source, and that better is not worse."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import qassay
import random_evaluations as evaluations
from on_disk import read
from qassay.errors import UsageError
from qassay.measures import MEASURES, Measure, measure, misspelled
from qassay.tally import AnswerCounts, Block, ItemCounts, LabelCounts, ListCounts, NuggetCounts, PairCounts
from qassay.tasks import names, task

SOURCES = {"EVAL02", "DEF03", "QA03", "SERIES05", "RTE08", "TREC 2006", "TREC RAG 2024", "today's practice"}
SINGLE = {name: kind for name, kind in MEASURES.items() if kind.needs is not None}
# What a parameter may be, and the values at which a measure keeps its declared range.
PARAMETERS = st.floats(0, 1e9, allow_nan=False).filter(lambda value: value == 0 or value > 1e-300)
DEFAULTS = {"nugget_f": {"beta": 5.0}}


def made(name: str) -> Measure:
    return MEASURES[name](**DEFAULTS.get(name, {}))


# ---------------------------------------------------------------- names, sources, documents


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_is(name: str) -> None:
    kind = MEASURES[name]
    assert kind.name == name
    assert re.fullmatch(r"[a-z][a-z_]*", name)
    assert kind.title
    assert kind.title != kind.name
    assert set(kind.source.split(", ")) <= SOURCES
    # Its own words, not those of a base class.
    assert kind.__doc__ not in (None, Measure.__doc__)
    assert len(kind.__doc__ or "") > 30


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_in_the_reference(name: str) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    assert re.search(rf"`{name}\b", text), f"{name} is not documented"


@pytest.mark.parametrize("name", MEASURES)
@given(data=st.data())
@settings(max_examples=25)
def test_the_spelling_of_a_measure_is_read_back(name: str, data: st.DataObject) -> None:
    given_values = {parameter.name: data.draw(PARAMETERS, label=parameter.name) for parameter in fields(MEASURES[name])}
    measured = MEASURES[name](**given_values)
    assert measure(str(measured)) == measured
    assert str(measure(str(measured))) == str(measured)
    # Blanks mean nothing.
    assert measure(str(measured).replace("(", " ( ").replace("=", " = ").replace(",", " , ")) == measured


@pytest.mark.parametrize("name", MEASURES)
def test_parameters_at_their_defaults_are_not_spelled(name: str) -> None:
    needed = [parameter.name for parameter in fields(MEASURES[name]) if parameter.default is MISSING]
    assert str(made(name)) == (f"{name}({', '.join(f'{parameter}=5' for parameter in needed)})" if needed else name)


def test_spellings_that_outputs_use() -> None:
    assert str(measure("nugget_f(beta=5)")) == "nugget_f(beta=5)"
    assert str(measure("nugget_f(beta=0.5, allowance=100)")) == "nugget_f(beta=0.5)"
    assert str(measure("nugget_f(allowance=1234567, beta=1)")) == "nugget_f(beta=1, allowance=1234567.0)"
    assert str(measure("pyramid_f(beta=3)")) == "pyramid_f"


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("nuget_f", "did you mean 'nugget_f'?"),
        ("nugget_f", "needs beta"),
        ("nugget_f(beta=five)", "takes a number"),
        ("nugget_f(beta=-1)", "takes a number from 0"),
        ("nugget_f(beta=nan)", "takes a number from 0"),
        ("nugget_f(beta=inf)", "takes a number from 0"),
        ("nugget_f(bta=5)", "did you mean 'beta'?"),
        ("nugget_f(5)", "'5' is not a parameter; write name=value, as in nugget_f(beta=5)"),
        ("nugget_f(beta=5, beta=3)", "beta is given twice"),
        ("nugget_f(beta=5", "cannot read"),
        ("accuracy(beta=5)", "there are none"),
        ("", "cannot read"),
    ],
)
def test_a_spelling_that_cannot_be_read_says_why(spelling: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        measure(spelling)


def test_the_tasks_name_measures_that_fit_their_questions() -> None:
    assert [problem for name in names() for problem in misspelled(task(name), file=name)] == []


# ---------------------------------------------------------------- formulas over counts


def counts(kind: type[Block], rng: np.random.Generator, runs: int, questions: int) -> Block:
    """Random counts that could have been counted."""
    shape = (runs, questions)

    def some(high: Any, size: Any = shape) -> Any:
        return rng.integers(0, np.asarray(high) + 1, size)

    if kind is ItemCounts:
        nil = rng.random(shape) < 0.3
        first = np.where(nil, 0, some(5))
        lenient = np.where(nil, 0, np.where(first > 0, np.maximum(1, some(first)), some(5)))
        return ItemCounts(first.astype(np.uint32), lenient.astype(np.uint32), nil, rng.random(questions) < 0.3)
    if kind is ListCounts:
        known = some(6, questions)
        returned = some(9)
        return ListCounts(some(np.minimum(known, returned)), returned, known)
    if kind is NuggetCounts:
        vital_known, okay_known = some(4, questions), some(4, questions)
        empty = rng.random(shape) < 0.2
        weights = rng.random((questions, 3))
        matched = rng.random((runs, questions, 3)) < 0.5
        weightless = rng.random(questions) < 0.2
        judged = rng.random(shape) < 0.8
        return NuggetCounts(
            vital=np.where(empty, 0, some(vital_known)),
            okay=np.where(empty, 0, some(okay_known)),
            vital_known=vital_known,
            length=np.where(empty, 0, some(900)),
            weight=np.where(empty, 0.0, (weights * matched).sum(axis=2)),
            weight_known=np.where(weightless, np.nan, weights.sum(axis=1)),
            content=np.where(judged, some(10), np.nan),
            organization=np.where(judged, some(10), np.nan),
        )
    if kind is PairCounts:
        rated = rng.random(shape) < 0.8
        return PairCounts(
            labels=("YES", "NO", "UNKNOWN"),
            decision=some(3) - 1,
            reference=some(3, questions) - 1,
            understandability=np.where(rated, 1 + 4 * rng.random(shape), np.nan),
            correctness=np.where(rated, 5 * rng.random(shape), np.nan),
        )
    if kind is LabelCounts:
        values = rng.choice([0.0, 0.5, 1.0, np.nan], shape)
        supported = np.where(rng.random(shape) < 0.5, 1.0, np.nan)
        return LabelCounts(values, (0.0, 1.0), {"correct": values == 1.0}, np.zeros(shape, dtype=bool), supported)
    vital, okay = some(4, questions).astype(float), some(4, questions).astype(float)
    vital_full, okay_full = some(vital.astype(int)), some(okay.astype(int))
    cited = rng.random(shape) < 0.5
    return AnswerCounts(
        vital_full=vital_full.astype(float),
        vital_partial=some(vital.astype(int) - vital_full).astype(float),
        okay_full=okay_full.astype(float),
        okay_partial=some(okay.astype(int) - okay_full).astype(float),
        vital_known=vital,
        okay_known=okay,
        citation_precision=np.where(cited, rng.random(shape), np.nan),
        citation_recall=np.where(cited, rng.random(shape), np.nan),
        length=some(900),
    )


def permuted(block: Block, order: np.ndarray) -> Block:
    """The same counts with the questions in another order."""
    moved = {
        part.name: value[..., order]
        for part in fields(block)
        if isinstance(value := getattr(block, part.name), np.ndarray)
    }
    return replace(block, **moved)


@pytest.mark.parametrize("name", SINGLE)
@given(seed=st.integers(0, 2**32 - 1), runs=st.integers(1, 4), questions=st.integers(0, 6))
@settings(max_examples=60)
def test_scores_keep_their_range_and_their_denominator(name: str, seed: int, runs: int, questions: int) -> None:
    measured = made(name)
    assert measured.needs is not None
    scores = measured.per_question(counts(measured.needs, np.random.default_rng(seed), runs, questions))
    assert scores.shape == (runs, questions)
    defined = scores[~np.isnan(scores)]
    assert (defined >= 0).all()
    assert (defined <= measured.high + 1e-12).all()
    if measured.denominator is not None:
        assert np.allclose(defined * measured.denominator, np.rint(defined * measured.denominator), atol=1e-9)


@pytest.mark.parametrize("name", SINGLE)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_a_question_is_scored_by_itself(name: str, seed: int) -> None:
    """Other questions, and their order, do not matter to a question's score; a summary that looks at order says so."""
    measured = made(name)
    assert measured.needs is not None
    rng = np.random.default_rng(seed)
    block = counts(measured.needs, rng, 3, 5)
    order = rng.permutation(5)
    scores = measured.per_question(block)
    assert np.array_equal(scores[:, order], measured.per_question(permuted(block, order)), equal_nan=True)
    alone = np.concatenate([measured.per_question(permuted(block, np.array([q]))) for q in range(5)], axis=1)
    assert np.array_equal(scores, alone, equal_nan=True)


@pytest.mark.parametrize("name", [name for name in SINGLE if name not in ("content", "organization", "holistic")])
def test_another_block_of_counts_is_refused(name: str) -> None:
    measured = made(name)
    other = ItemCounts if measured.needs is not ItemCounts else ListCounts
    with pytest.raises(UsageError, match="are needed"):
        measured.per_question(counts(other, np.random.default_rng(0), 1, 1))


@pytest.mark.parametrize("name", sorted(set(MEASURES) - set(SINGLE)))
def test_a_measure_that_combines_types_scores_no_question(name: str) -> None:
    with pytest.raises(UsageError, match="combines question types"):
        made(name).per_question(counts(ItemCounts, np.random.default_rng(0), 1, 1))


@given(
    correct=arrays.arrays(np.bool_, st.integers(1, 30)),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=50)
def test_only_cws_declares_an_order_and_has_one(correct: np.ndarray, seed: int) -> None:
    from qassay.summaries import confidence_weighted_score as cws

    assert [name for name, kind in MEASURES.items() if kind.ordered] == ["cws"]
    best, worst = np.sort(correct)[::-1], np.sort(correct)
    shuffled = np.random.default_rng(seed).permutation(correct)
    assert cws(worst) - 1e-12 <= cws(shuffled) <= cws(best) + 1e-12
    if 0 < correct.sum() < len(correct):
        assert cws(worst) < cws(best)


# ---------------------------------------------------------------- whole evaluations


def standing(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of several rows for a thing the last."""
    verdicts = {"judgment", "nuggets", "support", "content", "organization", "understandability", "correctness"}
    classes = {"answer", "distinct"}
    last = {}
    for row in rows:
        subject = json.dumps(
            {name: value for name, value in row.items() if name not in verdicts | classes}, sort_keys=True
        )
        last[subject, *sorted(verdicts.intersection(row) - {"correctness"})] = row
    return list(last.values())


def improved(
    row: dict[str, Any], rng: Random, decisions: dict[str, str], listed: dict[str, set[str]]
) -> dict[str, Any] | None:
    """The row with a better judgment of the same response, or nothing where it cannot be better."""
    question = str(row["question"])
    if "nuggets" in row:
        more = sorted(listed.get(question, set()) - set(row["nuggets"]))
        return row | {"nuggets": [*row["nuggets"], rng.choice(more)]} if more else None
    if "support" in row:
        better = {"none": "partial", "partial": "full"}
        return row | {"support": better[row["support"]]} if row["support"] in better else None
    if "content" in row:
        name = rng.choice(("content", "organization"))
        return row | {name: row[name] + 1} if row[name] < 10 else None
    if "understandability" in row:
        if row["understandability"] < 5:
            return row | {"understandability": row["understandability"] + 1}
        return row | {"correctness": row.get("correctness", 0) + 1} if row.get("correctness", 0) < 5 else None
    if row["judgment"] in ("YES", "NO", "UNKNOWN"):
        return row | {"judgment": decisions[question]} if question in decisions else None
    if row["judgment"] == "R":
        return None
    return row | {"judgment": "U" if row["judgment"] == "W" and rng.random() < 0.2 else "R"}


@pytest.mark.parametrize("name", evaluations.TASKS)
@given(seed=st.integers(0, 10**6), choice=st.randoms(use_true_random=False))
@settings(max_examples=8)
def test_a_run_does_not_fall_when_its_own_response_is_judged_better(
    name: str, seed: int, choice: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Others may fall: NIL turns wrong, known answers grow. A question that enters the scoring by it is left aside."""
    folder = evaluations.make(tmp_path_factory.mktemp("evaluation"), name, seed)
    rules: dict[str, Any] = {"unjudged": "wrong", "missing": choice.choice(("zero", "skip"))}
    sets = {path.stem: path for path in (folder / "judgments").iterdir()}
    try:
        evaluation = qassay.open(folder)
        before = evaluation.score(**rules)
    except qassay.InputError:
        return  # nothing is left to score
    key = before.key
    run = choice.choice([row.run for row in before.runs])
    table = evaluation.runs.table.filter(evaluation.runs.table["run"].cast(str) == run)
    asked = table["question"].cast(str)
    decisions = dict(zip(asked, table["decision"], strict=True)) if "decision" in table.columns else {}
    listed: dict[str, set[str]] = {}
    for question, nugget in evaluation.nugget_list(key).select("question", "nugget").iter_rows():
        listed.setdefault(question, set()).add(nugget)
    fields_judged = [name for name in ("doc", "text", "start", "length") if name in table.columns]
    returned = set(zip(asked, *(table[name] for name in fields_judged), strict=True))
    scored = before.as_json()["questions"][run]
    own = [
        row
        for row in standing(read(sets[key]))
        if scored.get(row["question"]) is not None
        and row.get("run", run) == run
        and (
            "doc" not in row
            or "sentence" in row
            or (row["question"], *(row[name] for name in fields_judged)) in returned
        )
    ]
    better = [new for row in own if (new := improved(row, choice, decisions, listed)) is not None]
    if not better:
        return
    with sets[key].open("a", encoding="utf-8") as file:
        file.write(json.dumps(choice.choice(better)) + "\n")
    after = qassay.open(folder).score(**rules)
    old = next(row.score for row in before.runs if row.run == run)
    new = next(row.score for row in after.runs if row.run == run)
    if old is not None:
        assert new is not None
        assert new >= old - 1e-12
