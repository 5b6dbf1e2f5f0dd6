"""Rows of the JSONL files of an evaluation."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Text = str | None


class QuestionRow(TypedDict):
    """One question; in a pair `text` is the text and `hypothesis` what may follow from it."""

    id: str
    type: Literal["factoid", "list", "definition", "other", "pair", "qa"]
    text: str
    series: NotRequired[Text]
    target: NotRequired[Text]
    target_type: NotRequired[Text]
    series_type: NotRequired[Text]
    definition: NotRequired[Text]
    hypothesis: NotRequired[Text]
    author: NotRequired[Text]
    gold: NotRequired[list[str]]


class Item(TypedDict):
    """One item of a response: a string with its document, or an extract."""

    text: NotRequired[str]
    doc: NotRequired[Text]
    start: NotRequired[int | None]
    length: NotRequired[int | None]
    citations: NotRequired[list[str]]


class ContextText(TypedDict):
    """One text that an answer was made from."""

    text: str
    doc: NotRequired[Text]


class ItemsRow(TypedDict):
    """The response of a run to one question."""

    run: str
    question: str
    items: NotRequired[list[Item]]
    nil: NotRequired[bool]
    confidence: NotRequired[float | None]
    contexts: NotRequired[list[ContextText]]


class DecisionRow(TypedDict):
    """The decision of a run on one pair."""

    run: str
    question: str
    decision: str
    justification: NotRequired[Text]


class CitedSentence(TypedDict):
    """One sentence of an answer, with the references that it cites, counted from 0."""

    text: str
    citations: NotRequired[list[int | str]]


class RagRow(TypedDict):
    """A long answer in the form of TREC RAG 2024."""

    run_id: str
    topic_id: str | int
    answer: list[CitedSentence]
    references: NotRequired[list[str]]


class RunInformationRow(TypedDict):
    """The information that comes with a run."""

    run: str
    organisation: NotRequired[Text]
    description: NotRequired[Text]
    manual: NotRequired[bool | None]
    priority: NotRequired[int | None]


class Judged(TypedDict):
    """The optional fields of any judgment."""

    question: str
    assessor: NotRequired[Text]
    at: NotRequired[Text]
    note: NotRequired[Text]
    settled: NotRequired[Text]
    trace: NotRequired[Any]


class LabelRow(Judged):
    """The label of an answer string, an extract, a list item, a free-text answer or a pair."""

    judgment: str
    doc: NotRequired[Text]
    text: NotRequired[Text]
    start: NotRequired[int | None]
    length: NotRequired[int | None]
    run: NotRequired[Text]
    answer: NotRequired[Text]
    distinct: NotRequired[bool | None]


class MatchRow(Judged):
    """The nuggets that a response, or one item of it, contains."""

    run: str
    nuggets: list[str]
    item: NotRequired[int | None]


class SupportRow(Judged):
    """How far a response supports a nugget, a document a sentence, or the contexts an answer."""

    run: str
    support: str
    nugget: NotRequired[Text]
    sentence: NotRequired[int | None]
    doc: NotRequired[Text]


class HolisticRow(Judged):
    """A whole response, rated."""

    run: str
    content: int
    organization: int


class RatingRow(Judged):
    """A justification, rated; the correctness of one that cannot be understood is absent."""

    run: str
    understandability: int
    correctness: NotRequired[int | None]


JUDGMENTS = (LabelRow, MatchRow, SupportRow, HolisticRow, RatingRow)


class AnswerRow(TypedDict):
    """An answer that is known to be right."""

    question: str
    answer: str
    doc: NotRequired[Text]
    withdrawn: NotRequired[bool | None]
    assessor: NotRequired[Text]


class NuggetRow(TypedDict):
    """One nugget of a question."""

    question: str
    nugget: str
    text: str
    vital: bool
    weight: NotRequired[float | None]
    trace: NotRequired[Any]


# A name of the row is a word of the language.
SampleRow = TypedDict(
    "SampleRow",
    {
        "position": int,
        "question": str,
        "nugget": NotRequired[Text],
        "probability": float,
        "seed": NotRequired[int | None],
        "of": NotRequired[int | None],
        "for": NotRequired[Text],
        "measure": NotRequired[Text],
        "pair": NotRequired[list[str] | None],
    },
)
SampleRow.__doc__ = "One draw of a sample: any first part of the order, judged completely, corrects an assessor."
