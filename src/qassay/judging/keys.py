"""Keys: what scoring uses (METHOD 4).

A key is a judgment set together with what follows from it: the questions where NIL is right and the known answers of
list questions are derived here, never typed in. Some keys are derived from several sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.errors import Problem
from qassay.judging import ROW_KINDS, SETTLED_SETS
from qassay.judging.roles import BY_ROLE
from qassay.judging.sets import JudgmentSet
from qassay.judging.voting import OF, RULES
from qassay.nuggets import NUGGET_COLUMNS, pyramid_weights
from qassay.questions import TestSet

ANSWER_COLUMNS: Mapping[str, Any] = {
    "question": pl.String,
    "answer": pl.String,
    "doc": pl.String,
    "withdrawn": pl.Boolean,
    "assessor": pl.String,  # who noted it while judging; null: from question development, or accepted since
}
# Between the names of the sets of a key: people's judgments where there are any, a program's elsewhere.
MIXED = "+"
# Keys that entailment tasks derive from their sets.
TWO_WAY = "two-way"
DISAGREEMENT_UNKNOWN = "disagreement-unknown"


def public_name(key: str) -> str:
    """The name of a key for readers who may not know who judged: sets are often called after people.

    >>> public_name("adjudicated"), public_name("majority:ann,bob"), public_name("ann"), public_name("ann+llm")
    ('adjudicated', 'majority', 'one set', 'several sets')
    """
    rule = key.partition(OF)[0]
    if rule in (*RULES, *SETTLED_SETS, *BY_ROLE, TWO_WAY, DISAGREEMENT_UNKNOWN):
        return rule
    return "several sets" if MIXED in key else "one set"


@dataclass(frozen=True, eq=False)
class Key:
    """The basis of scores: judgments, and the nuggets and known answers that belong to them."""

    judgments: JudgmentSet
    nuggets: pl.DataFrame
    answers: pl.DataFrame
    # Ratings of justifications are read from all sets together; the judge is the assessor, or the set's name.
    ratings: pl.DataFrame | None = None
    # Labels of pairs where they are not those of the set itself (folded, or derived from several sets).
    pairs: Mapping[str, str] | None = None
    # Whether decisions are compared after folding UNKNOWN into NO.
    two_way: bool = False
    # Where programs judged too: the judgments of people, from which alone known answers and NIL follow.
    people: JudgmentSet | None = None

    @property
    def name(self) -> str:
        """Name of the key."""
        return self.judgments.name

    def pair_labels(self) -> Mapping[str, str]:
        """Reference answer of every labelled pair."""
        return self.judgments.pair_labels() if self.pairs is None else self.pairs

    def developed_answers(self) -> pl.DataFrame:
        """The answers known from question development that are not withdrawn.

        An answer that an assessor noted while judging counts under that assessor's judgments of the question alone,
        until somebody accepts it: one person must not change the scores under every set.
        """
        known = self.answers.filter(~pl.col("withdrawn").fill_null(value=False))
        if self.name in SETTLED_SETS:
            return known.filter(pl.col("assessor").is_null()).select("question", "answer")
        judged = [rows.select("question", "assessor") for rows in self.judgments.kinds.values()]
        pairs = pl.concat([no_answers().select("question", "assessor"), *judged]).drop_nulls().unique()
        known = known.join(
            pairs.with_columns(own=pl.lit(value=True)), on=["question", "assessor"], how="left", maintain_order="left"
        )
        is_own = pl.col("own").is_not_null() | (pl.col("assessor") == self.name)
        return known.filter(pl.col("assessor").is_null() | is_own).select("question", "answer")

    def nil_is_right(self, questions: TestSet) -> NDArray[np.bool_]:
        """For each question, whether it has no known answer: none from development, no item judged R."""
        right = (self.people or self.judgments).kind("item").filter(pl.col("judgment") == "R")["question"]
        answered = {*right, *self.developed_answers()["question"]}
        return np.array([question.id not in answered for question in questions])

    def answer_classes(self) -> pl.DataFrame:
        """The known answers, each class once: those from development, and those of the R items of all runs."""
        right = right_list_items(self.people or self.judgments)
        classes = right.drop_nulls("class").select("question", answer="class")
        return pl.concat([self.developed_answers(), classes]).unique(maintain_order=True)

    def known_answers(self, questions: TestSet) -> NDArray[np.int64]:
        """S of each question: the number of its answer classes."""
        sizes = dict(self.answer_classes().group_by("question").len().iter_rows())
        return np.array([sizes.get(question.id, 0) for question in questions], dtype=np.int64)

    def right_list_items(self) -> pl.DataFrame:
        """R items of lists with their `class`: as named, else the string; null where only `distinct` is known."""
        return right_list_items(self.judgments)


def right_list_items(judgments: JudgmentSet) -> pl.DataFrame:
    """The same for a judgment set."""
    answer_class = pl.col("answer").fill_null(pl.when(pl.col("distinct").is_null()).then(pl.col("text")))
    return judgments.kind("list").filter(pl.col("judgment") == "R").with_columns(answer_class.alias("class"))


def mixed_key(name: str, base: Key, people: JudgmentSet, programs: Sequence[JudgmentSet]) -> Key:
    """A key for runs that people did not judge: their rows where there are any, those of programs elsewhere (METHOD 7).

    Nuggets, known answers and NIL come from people alone, and an item of a list that a program calls right counts as
    distinct only where its class is known: so runs that people judged entirely keep their scores. A class that the
    program names is known where people have it; else that of the same string, where they judged it right.
    """
    known = replace(base, judgments=people).answer_classes()
    right = right_list_items(people).drop_nulls("class").select("question", "text", "class")
    by_string = {(question, text): name for question, text, name in right.iter_rows()}
    checked = [_of_known_classes(judged, known, by_string) for judged in programs]
    return replace(base, judgments=merged(name, [people, *checked]), people=people)


def merged(name: str, sets: Sequence[JudgmentSet]) -> JudgmentSet:
    """One judgment set of several: of each subject the row of the first set that judges it."""
    kinds: dict[str, pl.DataFrame] = {}
    for judged in sets:
        for kind, rows in judged.kinds.items():
            # A response whose nuggets anyone has matched, as a whole or item by item, is judged.
            subject = ["question", "run"] if kind == "match" else list(ROW_KINDS[kind].identity)
            before = kinds.get(kind, rows.clear())
            new = rows.join(before, on=subject, how="anti", nulls_equal=True, maintain_order="left")
            kinds[kind] = pl.concat([before, new.select(before.columns)])
    return JudgmentSet(name, kinds)


def _of_known_classes(
    judged: JudgmentSet, known: pl.DataFrame, by_string: Mapping[tuple[str, str], str]
) -> JudgmentSet:
    """The judgments of a program, its right list items marked as not distinct where their class is not known."""
    rows = judged.kind("list")
    if not rows.height:
        return judged
    classes = {(question, answer) for question, answer in known.iter_rows()}
    names: list[str | None] = []
    for question, text, answer, label in rows.select("question", "text", "answer", "judgment").iter_rows():
        answer_class = answer if answer is not None else text
        name = answer_class if (question, answer_class) in classes else by_string.get((question, text))
        names.append(name if label == "R" else None)
    classed = pl.Series("answer", names, dtype=pl.String)
    unnamed = rows.with_columns(
        answer=classed,
        distinct=pl.when((pl.col("judgment") == "R") & classed.is_null())
        .then(pl.lit(value=False))
        .otherwise("distinct"),
    )
    return JudgmentSet(judged.name, {**judged.kinds, "list": unnamed})


def current_answers(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of `answers.jsonl` that count: of a question, answer and document the last, and of each assessor.

    A row without an assessor settles what assessors noted: it accepts the answer, or withdraws it.
    """
    same = ("question", "answer", "doc")
    settled = pl.col("assessor").is_null().any().over(*same)
    return rows.filter(~settled | pl.col("assessor").is_null()).unique(
        [*same, "assessor"], keep="last", maintain_order=True
    )


def default_key(sets: Sequence[str]) -> str | None:
    """The key that is used where none is named: adjudicated, else reference, else the only set.

    `sets` are those that people judged: a program's set is never a key unless it is named (METHOD 7).

    >>> default_key(["first", "reference"]), default_key(["first"]), default_key(["first", "second"])
    ('reference', 'first', None)
    """
    settled = [name for name in SETTLED_SETS if name in sets]
    if settled:
        return settled[0]
    return sets[0] if len(sets) == 1 else None


def check_known_answers(key: Key, *, file: str) -> Iterator[Problem]:
    """List questions whose judgments say only `distinct`, without a list of known answers to count against."""
    unnamed = key.right_list_items().filter(pl.col("class").is_null())["question"].unique(maintain_order=True)
    developed = set(key.developed_answers()["question"])
    for question in unnamed:
        if question not in developed:
            message = f"question {question} is judged without answer classes and answers.jsonl has no answers for it"
            yield Problem("missing-question", message, file, None, question)


def two_way_key(base: Key) -> Key:
    """The key of entailment in which UNKNOWN is NO."""
    return replace(base, judgments=JudgmentSet(TWO_WAY, {}), pairs=folded(base.pair_labels()), two_way=True)


def disagreement_key(assessors: Iterable[JudgmentSet], two_way: Iterable[JudgmentSet]) -> Key:
    """The key of entailment in which what assessors disagree on is UNKNOWN."""
    pairs = disagreement_unknown(
        [judged.pair_labels() for judged in assessors], [judged.pair_labels() for judged in two_way]
    )
    return Key(JudgmentSet(DISAGREEMENT_UNKNOWN, {}), no_nuggets(), no_answers(), pairs=pairs)


def voted(key: Key, lists: Mapping[str, pl.DataFrame]) -> Key:
    """The key with the votes of these nugget lists as weights, in the questions that any of them votes on."""
    weights = pyramid_weights(lists)
    joined = key.nuggets.drop("weight").join(weights, on=["question", "nugget"], how="left", maintain_order="left")
    has_votes = pl.col("weight").is_not_null().any().over("question")
    return replace(key, nuggets=joined.with_columns(weight=pl.when(has_votes).then(pl.col("weight").fill_null(0.0))))


def folded(labels: Mapping[str, str]) -> dict[str, str]:
    """Three-way labels as two-way ones: UNKNOWN becomes NO."""
    return {question: "NO" if label == "UNKNOWN" else label for question, label in labels.items()}


def disagreement_unknown(
    assessors: Iterable[Mapping[str, str]], two_way: Iterable[Mapping[str, str]] = ()
) -> dict[str, str]:
    """A label counts only where every assessor gave it and no two-way key contradicts it; else UNKNOWN [RTE08].

    >>> disagreement_unknown([{"1": "YES", "2": "NO"}, {"1": "YES", "2": "YES"}])
    {'1': 'YES', '2': 'UNKNOWN'}
    """
    sets, keys = list(assessors), list(two_way)
    pairs = dict.fromkeys(question for labels in sets for question in labels)
    return {question: _agreed(question, sets, keys) for question in pairs}


def _agreed(question: str, sets: list[Mapping[str, str]], keys: list[Mapping[str, str]]) -> str:
    labels_given = {labels.get(question) for labels in sets}
    label = labels_given.pop() if len(labels_given) == 1 else None
    if label in ("YES", "NO") and all(key.get(question, label) == label for key in keys):
        return label
    return "UNKNOWN"


def no_nuggets() -> pl.DataFrame:
    """An empty nugget list."""
    return pl.DataFrame(schema=dict(NUGGET_COLUMNS))


def no_answers() -> pl.DataFrame:
    """An empty list of known answers."""
    return pl.DataFrame(schema=dict(ANSWER_COLUMNS))
