"""The forms of responses: what a response to a question may be, and what follows from it.

A task names a form for each type of question. Everything that depends on the form asks its record here: how files are
read and checked, how people judge, what measures count, and what systems are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

# The labels whose meaning the measures know: of items, and of pairs.
ITEM_LABELS = ("R", "X", "U", "W")
DECISION_LABELS = ("YES", "NO", "UNKNOWN")
_ITEMS = '{"items": [{"doc": "the document\'s id", "text": "..."}]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseForm:
    """What a response may be.

    `meaning` says so in error messages and in the documentation, `asked` to a language model. `kind` is the kind of
    judgment. `item` has the fields of an item in a file, none where the response is one of the task's labels, and
    `beside` the further ones. `empty` says whether a response may be empty: only where the task has NIL, or in any
    task. `labels` are those that a measure can score.
    """

    name: str
    meaning: str
    asked: str
    kind: str
    item: tuple[str, ...] = ("doc", "text")
    beside: tuple[str, ...] = ()
    most_items: int | None = None
    empty: Literal["never", "nil", "always"] = "always"
    labels: tuple[str, ...] = ()
    # Items are in an order, the best first; items of all runs are judged once.
    is_ranked: bool = False
    is_pooled: bool = False
    # People judge a response of one run as a whole, or as a text of sentences.
    is_judged_whole: bool = False
    has_sentences: bool = False
    # The answer is in free text, which the labels of the task value; people rate the text beside a decision.
    is_free_text: bool = False
    is_rated: bool = False

    @property
    def decides(self) -> bool:
        """Whether the response is one of the task's labels."""
        return not self.item

    @property
    def is_extract(self) -> bool:
        """Whether it is a place in a document, whose text the document has."""
        return "start" in self.item

    @property
    def is_decision(self) -> bool:
        """Whether it is a label and nothing else."""
        return self.decides and not self.is_rated


RESPONSE_FORMS: Final[Mapping[str, ResponseForm]] = {
    form.name: form
    for form in (
        ResponseForm(
            name="ranked",
            meaning="up to `max_items` ranked [doc, string] items",
            asked=f"up to {{most}} answers, the best first: {_ITEMS}",
            kind="item",
            empty="never",
            labels=ITEM_LABELS,
            is_ranked=True,
            is_pooled=True,
        ),
        ResponseForm(
            name="one",
            meaning="exactly one [doc, string] item, or NIL",
            asked=f'the answer and nothing else: {_ITEMS} with one item; {{"nil": true}} where there is no answer',
            kind="item",
            most_items=1,
            empty="nil",
            labels=ITEM_LABELS,
            is_pooled=True,
        ),
        ResponseForm(
            name="extract",
            meaning="one extract of a document of at most `max_length` characters, or NIL",
            asked='{"items": [{"doc": "id", "start": first character, "length": at most 250}]} or {"nil": true}',
            kind="extract",
            item=("doc", "start", "length"),
            most_items=1,
            empty="nil",
            labels=ITEM_LABELS,
            is_pooled=True,
        ),
        ResponseForm(
            name="set",
            meaning="any number of [doc, string] items",
            asked=f'every answer as an item of its own: {_ITEMS}; {{"items": []}} where there is none',
            kind="match",
            is_judged_whole=True,
        ),
        ResponseForm(
            name="decision",
            meaning="one of the task's labels",
            asked='{"decision": "..."} with one of: {labels}',
            kind="pair",
            item=(),
            empty="never",
            labels=DECISION_LABELS,
        ),
        ResponseForm(
            name="justified",
            meaning="one of the task's labels, with a text that explains it",
            asked='{"decision": "...", "justification": "why"} with one of: {labels}',
            kind="rating",
            item=(),
            empty="never",
            labels=DECISION_LABELS,
            is_rated=True,
        ),
        ResponseForm(
            name="answer",
            meaning="one long answer: sentences with citations",
            asked='{"items": [{"text": "a sentence", "citations": ["ids of documents that support it"]}]}',
            kind="support",
            beside=("citations",),
            is_judged_whole=True,
            has_sentences=True,
        ),
        ResponseForm(
            name="text",
            meaning="one answer in free text, with the contexts it was made from",
            asked='{"items": [{"text": "the answer"}]} with one item; {"items": []} where there is no answer',
            kind="label",
            beside=("contexts",),
            most_items=1,
            is_free_text=True,
        ),
    )
}
