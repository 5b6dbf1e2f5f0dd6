"""Nuggets judged by people's decisions elsewhere: on other questions, or on other runs.

A logistic model over features of a response and a nugget, most of them relative to the other responses of the pool,
is fitted to people's judgments. It never sees the judgments of the question it judges: where there are many questions
they are judged in folds, each by a model of the others. A nugget counts as supported from the probability on from
which the model calls as many nuggets of those other questions supported as people do.

With `hits`, for a new run on questions that people judged for other runs, two features of the same question are added:
the hit rate of the nugget among the judged responses (Nuggeteer, Marton and Radul 2006) and how typical the words of
the response are of those that have the nugget (naive Bayes). Then the judgments of the run itself are never seen.

With an `Embedder` (the assessor `embedding`), three features are added: the largest cosine of the nugget and a sentence
of the response, its mean in the pool, and the place of the response by it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from qassay.arrays import Floats
from qassay.assessors.embeddings import Embedder
from qassay.assessors.logistic import Logistic, fit
from qassay.assessors.overlap import JUDGED, Overlap, places_of, text_of
from qassay.errors import UsageError
from qassay.judging import Item

# The share of the nugget's words, those close together, the mean share in the pool, the response's place among the
# others by share, and how much of what the responses to the question have in common it covers.
FEATURES = ("share", "close", "mean_share", "share_rank", "coverage")
COSINES = ("cosine", "mean_cosine", "cosine_rank")
HITS = ("hit_rate", "typical_words", "hit_rate_share", "hit_rate_rank")
RIDGE = 20.0
# Each question is judged by a model of all others where there are few of them.
MOST_FOLDS = 25
FOLDS = 10
# A word of the pool that this share of a question's responses has belongs to what they cover.
COMMON = 0.2
# Naive Bayes: the words that tell most, of those that enough responses have.
TELLING_WORDS = 15
LEAST_RESPONSES = 4
# Sentences of a response that are embedded.
MOST_SENTENCES = 400
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

# Question, run and nugget.
Subject = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class QuestionPool:
    """The responses to one question, and their features beside each nugget: nuggets x responses x features."""

    question: str
    runs: tuple[str, ...]
    nuggets: tuple[str, ...]
    features: Floats
    # Which response has which of the words that enough responses have: responses x words.
    has_word: np.ndarray
    # Which responses are text; a list of words supports nothing.
    is_text: tuple[bool, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return FEATURES if self.features.shape[2] == len(FEATURES) else (*FEATURES, *COSINES)

    def labels(self, judged: Mapping[Subject, bool]) -> Floats:
        """People's decisions, nuggets x responses; NaN where they have not judged."""
        return np.array(
            [
                [float(judged.get((self.question, run, nugget), math.nan)) for run in self.runs]
                for nugget in self.nuggets
            ]
        ).reshape(len(self.nuggets), len(self.runs))

    def with_hits(self, labels: Floats) -> Floats:
        """The features with hit rates and typical words, each response's own labels left out."""
        tables = [_with_hits(rows, marks, self.has_word) for rows, marks in zip(self.features, labels, strict=True)]
        return np.stack(tables) if tables else np.empty((0, len(self.runs), len(self.names) + len(HITS)))


@dataclass(frozen=True)
class NuggetOpinion:
    """The model's opinion on a nugget in a response."""

    probability: float
    threshold: float
    is_text: bool = True

    @property
    def supported(self) -> bool:
        """Whether the nugget counts as supported."""
        return self.is_text and self.probability >= self.threshold


@dataclass(frozen=True, eq=False)
class LearnedNuggets:
    """Decisions on all nuggets of all responses of a pool."""

    pools: tuple[QuestionPool, ...]
    judged: Mapping[Subject, bool]
    hits: bool = False
    _decisions: dict[str, dict[tuple[str, str], NuggetOpinion]] = field(default_factory=dict, repr=False)

    def decide(self, question: str, run: str | None, nugget: str) -> NuggetOpinion | None:
        """The decision on one nugget of one response; None where the response or the nugget is not in the pool."""
        if question not in self._decisions:
            self._decide(question)
        return self._decisions[question].get((str(run), nugget))

    def _decide(self, question: str) -> None:
        place = self._places.get(question)
        if place is None:
            self._decisions[question] = {}
            return
        pool, labels = self.pools[place], self._labels[place]
        by_hits = self.hits and bool(np.isfinite(labels).any())
        rows = pool.with_hits(labels) if by_hits else pool.features
        decisions: dict[tuple[str, str], NuggetOpinion] = {}
        for column, run in enumerate(pool.runs):
            model, threshold = self._model_of_run(run) if by_hits else self._model_of_fold(self._folds[question])
            chances = model.probabilities(rows[:, column]).tolist()
            for nugget, chance in zip(pool.nuggets, chances, strict=True):
                decisions[run, nugget] = NuggetOpinion(chance, threshold, pool.is_text[column])
        self._decisions[question] = decisions

    @cached_property
    def _places(self) -> dict[str, int]:
        return {pool.question: place for place, pool in enumerate(self.pools)}

    @cached_property
    def _labels(self) -> list[Floats]:
        return [pool.labels(self.judged) for pool in self.pools]

    @cached_property
    def _folds(self) -> dict[str, int]:
        """The fold of each question: its own where there are few questions."""
        several = len(self.pools) > MOST_FOLDS
        return {pool.question: place % FOLDS if several else place for place, pool in enumerate(self.pools)}

    @cached_property
    def _models(self) -> dict[int | str, tuple[Logistic, float]]:
        return {}

    def _model_of_fold(self, fold: int) -> tuple[Logistic, float]:
        """The model of the questions outside a fold, and its threshold."""
        if fold not in self._models:
            others = [
                place
                for pool, place in zip(self.pools, range(len(self.pools)), strict=True)
                if self._folds[pool.question] != fold
            ]
            rows = [self.pools[place].features for place in others]
            labels = [self._labels[place] for place in others]
            self._models[fold] = _fitted(self.pools[0].names, rows, labels, "other questions")
        return self._models[fold]

    def _model_of_run(self, run: str) -> tuple[Logistic, float]:
        """The model of the judgments of all other runs, and its threshold."""
        if run not in self._models:
            rows, labels = [], []
            for place, pool in enumerate(self.pools):
                others = np.array([other != run for other in pool.runs], dtype=bool)
                rows.append(self._hit_rows[place][:, others])
                labels.append(self._labels[place][:, others])
            self._models[run] = _fitted((*self.pools[0].names, *HITS), rows, labels, "other runs")
        return self._models[run]

    @cached_property
    def _hit_rows(self) -> list[Floats]:
        return [pool.with_hits(labels) for pool, labels in zip(self.pools, self._labels, strict=True)]


def learned_nuggets(
    items: Iterable[Item],
    nuggets: Mapping[str, Sequence[Mapping[str, object]]],
    judged: Mapping[Subject, bool],
    *,
    hits: bool = False,
    embedder: Embedder | None = None,
) -> LearnedNuggets:
    """The assessor of the responses in the pool; `judged` are people's decisions."""
    pool = [item for item in items if item.kind in JUDGED and item.run is not None]
    overlap = Overlap.from_items(pool)
    responses: dict[str, dict[str, str]] = {}
    for item in pool:
        responses.setdefault(item.question, {})[str(item.run)] = text_of(item)
    pools = tuple(
        _pool(question, texts, nuggets[question], overlap, embedder)
        for question, texts in responses.items()
        if nuggets.get(question)
    )
    return LearnedNuggets(pools, judged, hits)


def _fitted(
    names: Sequence[str], rows: Sequence[Floats], labels: Sequence[Floats], subject: str
) -> tuple[Logistic, float]:
    """A model of the judged responses, and the probability that splits them in the same shares as people did."""
    table = np.concatenate([part.reshape(-1, len(names)) for part in rows]) if rows else np.empty((0, len(names)))
    judged = np.concatenate([part.reshape(-1) for part in labels]) if labels else np.empty(0)
    known = np.isfinite(judged)
    table, judged = table[known], judged[known]
    if len(judged) < 2 * len(names) or judged.min() == judged.max():
        message = f"learned needs judgments of nuggets on {subject}, some supported and some not"
        raise UsageError(f"{message}; judge more, or use overlap, which needs none")
    model = fit(names, table, judged, ridge=RIDGE)
    return model, float(np.quantile(model.probabilities(table), 1 - judged.mean()))


def _pool(
    question: str,
    responses: Mapping[str, str],
    nuggets: Sequence[Mapping[str, object]],
    overlap: Overlap,
    embedder: Embedder | None,
) -> QuestionPool:
    runs = tuple(responses)
    places = [places_of(text) for text in responses.values()]
    in_question = Counter(word for words in places for word in words)
    common = {word: overlap.weight(word) for word, count in in_question.items() if count >= COMMON * len(runs)}
    total = sum(common.values()) or 1.0
    coverage = np.array([sum(weight for word, weight in common.items() if word in words) / total for words in places])
    texts = [str(nugget.get("text") or "") for nugget in nuggets]
    tables = [_features(text, places, overlap, coverage - coverage.mean()) for text in texts]
    if embedder is not None:
        near = _cosines(texts, list(responses.values()), embedder)
        tables = [np.column_stack([rows, nearness]) for rows, nearness in zip(tables, near, strict=True)]
    shared = [word for word, count in in_question.items() if count >= LEAST_RESPONSES]
    return QuestionPool(
        question,
        runs,
        tuple(str(nugget["nugget"]) for nugget in nuggets),
        np.stack(tables),
        np.array([[word in words for word in shared] for words in places], dtype=bool).reshape(len(runs), len(shared)),
        tuple(overlap.fluency.is_text(text) for text in responses.values()),
    )


def _features(nugget: str, places: Sequence[Mapping[str, Sequence[int]]], overlap: Overlap, coverage: Floats) -> Floats:
    """Responses x features of one nugget."""
    shares = [overlap.shares(nugget, response) for response in places]
    anywhere = np.array([share.anywhere for share in shares])
    close = np.array([share.close for share in shares])
    return np.column_stack([anywhere, close, np.full(len(shares), anywhere.mean()), _ranks(anywhere), coverage])


def _cosines(nuggets: Sequence[str], responses: Sequence[str], embedder: Embedder) -> list[Floats]:
    """For each nugget, responses x `COSINES`."""
    sentences = [sentences_of(text) for text in responses]
    vectors = embedder.vectors([sentence for of_text in sentences for sentence in of_text])
    cosines = embedder.contrast(embedder.vectors(nuggets) @ vectors.T)
    ends = np.cumsum([len(of_text) for of_text in sentences])[:-1]
    largest = np.column_stack([part.max(axis=1) for part in np.split(cosines, ends, axis=1)])
    return [np.column_stack([row, np.full(len(row), row.mean()), _ranks(row)]) for row in largest]


def sentences_of(text: str) -> list[str]:
    """The sentences of a response, at least one.

    >>> sentences_of("It rained. Nobody came!\\nWhy?")
    ['It rained.', 'Nobody came!', 'Why?']
    """
    return [part for part in _SENTENCE.split(text.strip()) if part][:MOST_SENTENCES] or [text]


def _ranks(values: Floats) -> Floats:
    """The share of values below each, half of those equal to it counted."""
    below = (values[None, :] < values[:, None]).mean(axis=1)
    return np.asarray(below + (values[None, :] == values[:, None]).mean(axis=1) / 2)


def _with_hits(rows: Floats, labels: Floats, has_word: np.ndarray) -> Floats:
    """The features of one nugget with hit rate and typical words, by the labels of the other responses."""
    known = np.isfinite(labels)
    right, wrong = known & (labels == 1), known & (labels == 0)
    others_right = right.sum() - right
    others_wrong = wrong.sum() - wrong
    rate = (others_right + 0.5) / (others_right + others_wrong + 1)
    hit_rate = np.log(rate / (1 - rate))
    typical = _typical(has_word, right, wrong, others_right, others_wrong)
    share, rank = rows[:, FEATURES.index("share")], rows[:, FEATURES.index("share_rank")]
    return np.column_stack([rows, hit_rate, typical, hit_rate * share, hit_rate * rank])


def _typical(
    has_word: np.ndarray, right: np.ndarray, wrong: np.ndarray, others_right: np.ndarray, others_wrong: np.ndarray
) -> Floats:
    """Mean log odds of the words that tell most between responses with and without the nugget; 0 without either."""
    words = has_word.astype(np.float64)
    of_right = (words[right].sum(axis=0)[None, :] - words * right[:, None] + 0.5) / (others_right[:, None] + 1)
    of_wrong = (words[wrong].sum(axis=0)[None, :] - words * wrong[:, None] + 0.5) / (others_wrong[:, None] + 1)
    odds = np.where(has_word, np.log(of_right / of_wrong), np.log((1 - of_right) / (1 - of_wrong)))
    count = min(TELLING_WORDS, has_word.shape[1])
    if not count:
        return np.zeros(len(has_word))
    word_order = np.argsort(-np.abs(of_right - of_wrong), axis=1, kind="stable")[:, :count]
    means = np.take_along_axis(odds, word_order, axis=1).sum(axis=1) / TELLING_WORDS
    return np.where((others_right > 0) & (others_wrong > 0), means, 0.0)
