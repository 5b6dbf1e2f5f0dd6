"""The parts of an item that take a verdict, and the judgment rows that verdicts become (FORMATS 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qassay.errors import InputError, Problem
from qassay.judgments import SUPPORT
from qassay.store.pool.items import Item
from qassay.store.pool.things import thing
from qassay.tasks import DECISION_LABELS, Task

# Fields of a verdict, by the kind of judgment.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "item": ("judgment",),
    "list": ("judgment", "answer"),
    "pair": ("judgment",),
    "match": ("nuggets",),
    "support": ("support",),
    "citation": ("support",),
    "holistic": ("content", "organization"),
    "rating": ("understandability", "correctness"),
}
LONGEST_NOTE = 2_000
LONGEST_CLASS = 500


@dataclass(frozen=True, slots=True)
class Part:
    """One thing of an item that takes a verdict; `row` holds the fields that say which."""

    name: str
    kind: str
    row: Mapping[str, Any]
    required: bool = True

    @property
    def thing(self) -> str:
        """The digest under which its judgments are stored."""
        return thing(self.kind, self.row)


def parts_of(item: Item, *, nuggets: Sequence[str] = (), assessor: str | None = None) -> list[Part]:
    """The parts of an item; answers have one for each nugget of the list that they are judged against."""
    named: dict[str, Any] = {"question": item.question}
    if item.run is not None:
        named["run"] = item.run
    if item.kind in ("item", "extract"):
        names = ("doc", "start", "length") if item.kind == "extract" else ("doc", "text")
        return [Part("", "item", named | {name: item.body[name] for name in names})]
    elements = item.body.get("elements", [])
    if item.kind == "list":
        return [
            Part(str(index), "list", named | {"doc": element.get("doc"), "text": element["text"]})
            for index, element in enumerate(elements)
        ]
    if item.kind == "match":
        links = [Part(str(index), "match", named | {"item": index}, required=False) for index in range(len(elements))]
        return [Part("", "match", named), *links]
    if item.kind == "support":
        return [
            *_nugget_parts(named, nuggets),
            *_citation_parts(named, elements, required=bool(item.body["citations"])),
        ]
    if item.kind == "rating":
        named["assessor"] = assessor
    return [Part("", item.kind, named)]


def row_of(part: Part, verdict: Mapping[str, Any], *, assessor: str, at: str) -> dict[str, Any]:
    """The judgment row of a verdict on a part."""
    said = {name: verdict[name] for name in (*FIELDS[part.kind], "note") if verdict.get(name) is not None}
    named = {name: value for name, value in part.row.items() if value is not None}
    return {**named, **said, "assessor": assessor, "at": at}


def verdict_of(part: Part, row: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict that a judgment row holds."""
    return {name: row[name] for name in (*FIELDS[part.kind], "note", "settled") if row.get(name) is not None}


def check_verdict(part: Part, verdict: Mapping[str, Any], task: Task, *, nuggets: Iterable[str] = ()) -> None:
    """Refuse a verdict that is none for this part; the rules are those of judgment files."""
    if strange := set(verdict) - {*FIELDS[part.kind], "note"}:
        raise _refused(part, f"a verdict of this kind has no {sorted(strange)[0]!r}")
    note = verdict.get("note")
    if note is not None and (not isinstance(note, str) or len(note) > LONGEST_NOTE):
        raise _refused(part, f"a note is a text of at most {LONGEST_NOTE} characters")
    if fault := _FAULTS[part.kind](verdict, task, set(nuggets)):
        raise _refused(part, fault)
    for value in verdict.values():
        if isinstance(value, str) and not _is_text(value):
            raise _refused(part, "a text holds half a character (a lone surrogate), which no file can; write it anew")


def _item_fault(verdict: Mapping[str, Any], task: Task, _: set[str]) -> str | None:
    return _label_fault(verdict, task.labels)


def _pair_fault(verdict: Mapping[str, Any], task: Task, _: set[str]) -> str | None:
    return _label_fault(verdict, task.labels if task.has("decision") else DECISION_LABELS)


def _list_fault(verdict: Mapping[str, Any], task: Task, _: set[str]) -> str | None:
    answer = verdict.get("answer")
    if answer is not None and (not isinstance(answer, str) or not answer.strip() or len(answer) > LONGEST_CLASS):
        return f"the class of an answer is a text of 1 to {LONGEST_CLASS} characters"
    if answer is not None and verdict.get("judgment") != "R":
        return "only a correct item (R) belongs to a class of answers"
    return _label_fault(verdict, task.labels)


def _label_fault(verdict: Mapping[str, Any], labels: Sequence[str]) -> str | None:
    label = verdict.get("judgment")
    return None if label in labels else f"{label!r} is no label; it is one of {' '.join(labels)}"


def _match_fault(verdict: Mapping[str, Any], _: Task, nuggets: set[str]) -> str | None:
    matched = verdict.get("nuggets")
    if not isinstance(matched, list) or not all(isinstance(one, str) for one in matched):
        return "nuggets are a list of ids"
    if unknown := [one for one in matched if one not in nuggets]:
        return f"the list has no nugget {unknown[0]!r}"
    return "a nugget is named twice" if len(set(matched)) < len(matched) else None


def _support_fault(verdict: Mapping[str, Any], _: Task, __: set[str]) -> str | None:
    support = verdict.get("support")
    return None if support in SUPPORT else f"{support!r} is no support; it is full, partial or none"


def _holistic_fault(verdict: Mapping[str, Any], _: Task, __: set[str]) -> str | None:
    for name in FIELDS["holistic"]:
        if not _within(verdict.get(name), 0, 10):
            return f"{name} is a whole number from 0 to 10"
    return None


def _rating_fault(verdict: Mapping[str, Any], _: Task, __: set[str]) -> str | None:
    if not _within(verdict.get("understandability"), 1, 5):
        return "understandability is a whole number from 1 to 5"
    understood, correct = int(verdict["understandability"]), verdict.get("correctness")
    if understood < 3:
        return None if correct is None else "correctness is judged only from understandability 3 up"
    return (
        None
        if _within(correct, 1, 5)
        else "correctness is a whole number from 1 to 5, asked from understandability 3 up"
    )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _within(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_FAULTS = {
    "item": _item_fault,
    "list": _list_fault,
    "pair": _pair_fault,
    "match": _match_fault,
    "support": _support_fault,
    "citation": _support_fault,
    "holistic": _holistic_fault,
    "rating": _rating_fault,
}


def _refused(part: Part, message: str) -> InputError:
    return InputError(Problem("bad-label", f"question {part.row['question']}: {message}", None, None))


def _nugget_parts(named: Mapping[str, Any], nuggets: Sequence[str]) -> list[Part]:
    return [Part(f"nugget:{nugget}", "support", {**named, "nugget": nugget}) for nugget in nuggets]


def _citation_parts(named: Mapping[str, Any], elements: Sequence[Mapping[str, Any]], *, required: bool) -> list[Part]:
    return [
        Part(f"citation:{index}:{doc}", "citation", {**named, "sentence": index, "doc": doc}, required=required)
        for index, element in enumerate(elements)
        for doc in dict.fromkeys(element.get("citations") or [])
    ]
