"""Tasks: the rules of one kind of evaluation, as data.

A task says which types of question it has, what a response to each may be, how it is judged, and how question
scores become the score of a run. The built-in ones are the TOML files beside this one; a user writes another in
the same form, or changes single keys in `qassay.toml`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from typing import Any, Literal, get_args

from qassay.errors import InputError, Problem, unknown
from qassay.questions import TYPES

ResponseForm = Literal["ranked", "one", "extract", "set", "decision", "justified", "answer"]
Unit = Literal["question", "series"]
RunForm = Literal["trec4", "trec7", "extract", "rte", "jsonl", "rag24"]

# What every response form means, for error messages and documentation.
RESPONSE_FORMS: Mapping[str, str] = {
    "ranked": "up to `max_items` ranked [doc, string] items",
    "one": "exactly one [doc, string] item, or NIL",
    "extract": "one extract of a document of at most `max_length` characters, or NIL",
    "set": "any number of [doc, string] items",
    "decision": "one of the task's labels",
    "justified": "one of the task's labels, with a text that explains it",
    "answer": "one long answer: sentences with citations",
}


# What assessors may say of items and of pairs; a task uses some of them.
ITEM_LABELS = ("R", "X", "U", "W")
DECISION_LABELS = ("YES", "NO", "UNKNOWN")
ITEM_FORMS = ("ranked", "one", "extract")
DECISION_FORMS = ("decision", "justified")


@dataclass(frozen=True, slots=True)
class QuestionRules:
    """What a task asks of one type of question: the response, its score, its weight in the run's score."""

    response: ResponseForm
    score: str
    weight: float = 1.0
    nil: bool = False
    max_items: int | None = None
    max_length: int | None = None


@dataclass(frozen=True)
class Task:
    """One kind of evaluation. `without` holds the weights to use where a series lacks a type."""

    name: str
    title: str
    source: str
    measure: str
    types: Mapping[str, QuestionRules]
    forms: tuple[RunForm, ...]
    labels: tuple[str, ...] = ()
    unit: Unit = "question"
    assessors: int = 1
    ordered: bool = False
    components: tuple[str, ...] = ()
    without: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each question type."""
        return {kind: rules.weight for kind, rules in self.types.items()}

    def has(self, *forms: ResponseForm) -> bool:
        """Whether any question type takes one of these response forms."""
        return any(rules.response in forms for rules in self.types.values())


def names() -> list[str]:
    """Names of the built-in tasks."""
    here = resources.files(__name__)
    return sorted(entry.name.removesuffix(".toml") for entry in here.iterdir() if entry.name.endswith(".toml"))


def definition(name: str) -> dict[str, Any]:
    """The built-in definition as it stands in its TOML file."""
    if name not in names():
        raise unknown("task", name, names())
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


def task(name: str) -> Task:
    """A built-in task.

    >>> task("series2004").types["other"].score
    'nugget_f(beta=3)'
    """
    return from_definition(definition(name), file=f"{name}.toml")


def from_definition(keys: Mapping[str, Any], *, file: str) -> Task:
    """Check a definition and make a task of it; every fault is reported with the key it is in."""
    problems: list[Problem] = []

    def fault(key: str, message: str) -> None:
        problems.append(Problem("configuration", f"{key}: {message}", file))

    _check_keys("", keys, {f.name for f in fields(Task)}, fault)
    for key, kind in _KINDS.items():
        if key in keys and not _fits(keys[key], kind):
            fault(key, f"is {keys[key]!r}; it takes {_described(kind)}")
    for key in ("name", "title", "measure", "types", "forms"):
        if key not in keys:
            fault(key, "is missing; a task needs it")
    _check_values({key: value for key, value in keys.items() if key in _KINDS and _fits(value, _KINDS[key])}, fault)
    if problems:
        raise InputError(problems)
    return Task(
        name=keys["name"],
        title=keys["title"],
        source=keys.get("source", ""),
        measure=keys["measure"],
        types={kind: QuestionRules(**rules) for kind, rules in keys["types"].items()},
        forms=tuple(keys["forms"]),
        labels=tuple(keys.get("labels", ())),
        unit=keys.get("unit", "question"),
        assessors=keys.get("assessors", 1),
        ordered=keys.get("ordered", False),
        components=tuple(keys.get("components", ())),
        without=keys.get("without", {}),
    )


_KINDS: Mapping[str, type] = {
    "name": str,
    "title": str,
    "source": str,
    "measure": str,
    "types": dict,
    "forms": list,
    "labels": list,
    "unit": str,
    "assessors": int,
    "ordered": bool,
    "components": list,
    "without": dict,
}
_RULE_KINDS: Mapping[str, tuple[type, ...]] = {
    "response": (str,),
    "score": (str,),
    "weight": (int, float),
    "nil": (bool,),
    "max_items": (int,),
    "max_length": (int,),
}


def _fits(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _check_values(keys: Mapping[str, Any], fault: Any) -> None:
    """Check what the keys of the right kind hold."""
    types = keys.get("types", {})
    for kind, rules in types.items():
        _check_rules(kind, rules, fault)
    for form in keys.get("forms", ()):
        if form not in get_args(RunForm):
            fault("forms", f"{form!r} is no run form; it is one of {', '.join(get_args(RunForm))}")
    if keys.get("unit", "question") not in get_args(Unit):
        fault("unit", f"is {keys['unit']!r}; it is question or series")
    for key in ("labels", "components"):
        if not all(isinstance(one, str) for one in keys.get(key, ())):
            fault(key, f"is {keys[key]!r}; it takes a list of strings")
    _check_labels(keys.get("labels", ()), types, fault)
    for missing, weights in keys.get("without", {}).items():
        _check_without(missing, weights, set(types), fault)


def _check_labels(labels: Any, types: Mapping[str, Any], fault: Any) -> None:
    """Labels of items and of decisions are those of the method: measures know what they mean, and no others."""
    forms = {rules.get("response") for rules in types.values() if isinstance(rules, dict)}
    for given, known in ((forms & set(ITEM_FORMS), ITEM_LABELS), (forms & set(DECISION_FORMS), DECISION_LABELS)):
        strange = [label for label in labels if isinstance(label, str) and label not in known]
        if given and strange:
            fault("labels", f"{strange[0]!r} is no label that can be scored; they are among {' '.join(known)}")


def _check_keys(prefix: str, keys: Mapping[str, Any], known: set[str], fault: Any) -> None:
    for key in keys:
        if key not in known:
            fault(f"{prefix}{key}", str(unknown("key", key, known)))


def _check_rules(kind: str, rules: Any, fault: Any) -> None:
    where = f"types.{kind}"
    if kind not in TYPES:
        fault(where, f"is no question type; the types are {', '.join(TYPES)}")
    if not isinstance(rules, dict):
        fault(where, f"is {rules!r}; it takes a table")
        return
    _check_keys(f"{where}.", rules, set(_RULE_KINDS), fault)
    for key, kinds in _RULE_KINDS.items():
        if key in rules and (not isinstance(rules[key], kinds) or (bool not in kinds and isinstance(rules[key], bool))):
            fault(f"{where}.{key}", f"is {rules[key]!r}; it takes {_described(kinds[0])}")
    for key in ("response", "score"):
        if key not in rules:
            fault(f"{where}.{key}", "is missing; every question type needs it")
    response = rules.get("response")
    if isinstance(response, str) and response not in RESPONSE_FORMS:
        fault(f"{where}.response", f"is {response!r}; it is one of {', '.join(RESPONSE_FORMS)}")
    if isinstance(rules.get("weight"), int | float) and not 0 < rules["weight"] < math.inf:
        fault(f"{where}.weight", f"is {rules['weight']}; a weight is a number above 0")
    for key in ("max_items", "max_length"):
        if isinstance(rules.get(key), int) and rules[key] < 1:
            fault(f"{where}.{key}", f"is {rules[key]}; it takes a whole number from 1")


def _check_without(missing: str, weights: Any, types: set[str], fault: Any) -> None:
    """Weights for series that lack a type: a number for each of the other types."""
    where = f"without.{missing}"
    if not isinstance(weights, dict):
        fault(where, f"is {weights!r}; it takes a table")
        return
    for kind in sorted({missing, *weights} - types):
        fault(where, f"{kind!r} is no question type of this task")
    for kind in sorted(types - {missing}):
        weight = weights.get(kind)
        if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight < math.inf:
            fault(f"{where}.{kind}", f"is {weight!r}; it takes the weight of {kind} where {missing} is missing")


def _described(kind: type) -> str:
    return {str: "a string", dict: "a table", list: "a list", int: "a whole number", bool: "true or false"}.get(
        kind, "a number"
    )
