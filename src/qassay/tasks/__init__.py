"""Tasks: the rules of one kind of evaluation, as data.

A task says which types of question it has, what a response to each may be, how it is judged, and how question
scores become the score of a run. The built-in ones are the TOML files beside this one; a user writes another in
the same form, or changes single keys in `qassay.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from typing import Any, Literal, get_args

from qassay.errors import InputError, Problem, Problems, unknown
from qassay.questions import TYPES
from qassay.tasks.responses import RESPONSE_FORMS, ResponseForm

Unit = Literal["question", "series"]
RunForm = Literal["trec4", "trec7", "extract", "rte", "jsonl", "rag24"]

LONGEST_LABEL = 60
# Beyond this, a label's value or a weight is a slip, and sums of such numbers have no digits left for scores.
LARGEST_VALUE = 1e12
# Keys that judging screens and sheets have a use for themselves: note, undo, next, help, save, overview.
SCREEN_KEYS = frozenset("mzn?so")
# Reports a fault of a definition: the key it is in, and what is wrong with it.
Fault = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class QuestionRules:
    """The rules of a task for one type of question: the response, its score, its weight in the run's score."""

    response: str
    score: str
    weight: float = 1.0
    nil: bool = False
    max_items: int | None = None
    max_length: int | None = None

    @property
    def form(self) -> ResponseForm:
        """What a response may be."""
        return RESPONSE_FORMS[self.response]

    @property
    def may_be_empty(self) -> bool:
        """Whether a system may give nothing."""
        return self.form.empty == "always" or (self.nil and self.form.empty == "nil")


@dataclass(frozen=True)
class Task:
    """One kind of evaluation. `without` has the weights to use where a series lacks a type.

    Labels are those of the method (R X U W, YES NO UNKNOWN), or the task's own with their `values` and, where it sets
    them, `keys`. `series_types` are the kinds that a series may be of. `support` asks whether the contexts of
    a free-text answer support it.
    """

    name: str
    title: str
    source: str
    measure: str
    types: Mapping[str, QuestionRules]
    forms: tuple[RunForm, ...]
    labels: tuple[str, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = "question"
    unit_name: tuple[str, str] | None = None
    series_types: tuple[str, ...] = ()
    assessors: int = 1
    ordered: bool = False
    support: bool = False
    components: tuple[str, ...] = ()
    without: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each question type."""
        return {kind: rules.weight for kind, rules in self.types.items()}

    def definition(self) -> dict[str, Any]:
        """The keys of its TOML file; those that are not set are left out."""

        def bare(value: Any) -> Any:
            if isinstance(value, Mapping):
                return {name: bare(part) for name, part in value.items() if part is not None}
            return list(value) if isinstance(value, tuple) else value

        keys = {name: bare(value) for name, value in asdict(self).items() if value not in (None, {}, ())}
        if self.values:
            del keys["values"]
            keys["labels"] = {name: {"value": value} for name, value in self.values.items()}
            for name, key in keys.pop("keys", {}).items():
                keys["labels"][name]["key"] = key
        return keys

    @property
    def responses(self) -> tuple[ResponseForm, ...]:
        """What responses to its questions may be, each form once."""
        return tuple(dict.fromkeys(rules.form for rules in self.types.values()))

    @property
    def decides(self) -> bool:
        """Whether responses to some questions are labels: decisions on pairs."""
        return any(form.decides for form in self.responses)

    @property
    def has_decisions(self) -> bool:
        """Whether responses to some questions are labels and nothing else."""
        return any(form.is_decision for form in self.responses)

    @property
    def is_rated(self) -> bool:
        """Whether people rate the texts that explain decisions."""
        return any(form.is_rated for form in self.responses)

    @property
    def is_free_text(self) -> bool:
        """Whether responses to some questions are free text."""
        return any(form.is_free_text for form in self.responses)

    @property
    def has_extracts(self) -> bool:
        """Whether responses to some questions are places in documents."""
        return any(form.is_extract for form in self.responses)

    @property
    def has_sentences(self) -> bool:
        """Whether responses to some questions are long answers."""
        return any(form.has_sentences for form in self.responses)


def names() -> list[str]:
    """Names of the built-in tasks."""
    folder = resources.files(__name__)
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def definition(name: str) -> dict[str, Any]:
    """The built-in definition, as in its TOML file."""
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
    problems = Problems()

    def fault(key: str, message: str) -> None:
        problems.append(Problem("configuration", f"{key}: {message}", file))

    known = _check_table("", keys, _TASK_KEYS, fault)
    for key in ("name", "title", "measure", "types", "forms"):
        if key not in keys:
            fault(key, "is missing; a task needs it")
    _check_values(known, fault)
    if problems:
        raise InputError(problems)
    values, letters = _valued_labels(keys.get("labels"))
    unit_name = keys.get("unit_name")
    return Task(
        name=keys["name"],
        title=keys["title"],
        source=keys.get("source", ""),
        measure=keys["measure"],
        types={kind: QuestionRules(**rules) for kind, rules in keys["types"].items()},
        forms=tuple(keys["forms"]),
        labels=tuple(keys.get("labels", ())),
        values=values,
        keys=letters,
        unit=keys.get("unit", "question"),
        unit_name=None if unit_name is None else (unit_name[0], unit_name[1]),
        series_types=tuple(keys.get("series_types", ())),
        assessors=keys.get("assessors", 1),
        ordered=keys.get("ordered", False),
        support=keys.get("support", False),
        components=tuple(keys.get("components", ())),
        without=keys.get("without", {}),
    )


# The keys of a task and of its question types with the types of their values; a float may be a whole number too.
_TASK_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "name": str,
    "title": str,
    "source": str,
    "measure": str,
    "types": dict,
    "forms": list,
    "labels": (list, dict),
    "unit": str,
    "unit_name": list,
    "series_types": list,
    "assessors": int,
    "ordered": bool,
    "support": bool,
    "components": list,
    "without": dict,
}
_RULE_KEYS: Mapping[str, type | tuple[type, ...]] = {
    "response": str,
    "score": str,
    "weight": float,
    "nil": bool,
    "max_items": int,
    "max_length": int,
}
_DESCRIBED: Mapping[type | tuple[type, ...], str] = {
    (list, dict): "a list, or a table of labels with their values",
    str: "a string",
    dict: "a table",
    list: "a list",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def _fits(value: object, kind: type | tuple[type, ...]) -> bool:
    """Whether a value is of this type. To Python true is the number 1; to a reader it is not."""
    if isinstance(kind, tuple):
        return any(_fits(value, each) for each in kind)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


def _check_table(
    prefix: str, table: Mapping[str, Any], keys: Mapping[str, type | tuple[type, ...]], fault: Fault
) -> dict[str, Any]:
    """Check the keys of a table and the types of their values; returns those that are right so far."""
    for key in table:
        if key not in keys:
            fault(f"{prefix}{key}", str(unknown("key", key, keys)))
    known = {key: table[key] for key in keys if key in table}
    for key, value in known.items():
        if not _fits(value, keys[key]):
            fault(f"{prefix}{key}", f"is {value!r}; it takes {_DESCRIBED[keys[key]]}")
    return {key: value for key, value in known.items() if _fits(value, keys[key])}


def _check_values(keys: Mapping[str, Any], fault: Fault) -> None:
    """Check the values of a task's keys."""
    types = keys.get("types", {})
    for kind, rules in types.items():
        _check_rules(kind, rules, fault)
    for form in keys.get("forms", ()):
        if form not in get_args(RunForm):
            fault("forms", f"{form!r} is not a run form; it is one of {', '.join(get_args(RunForm))}")
    if keys.get("unit", "question") not in get_args(Unit):
        fault("unit", f"is {keys['unit']!r}; it is question or series")
    for key in ("labels", "components", "unit_name", "series_types"):
        if not all(isinstance(value, str) for value in keys.get(key, ())):
            fault(key, f"is {keys[key]!r}; it takes a list of strings")
    if len(keys.get("unit_name", ("", ""))) != 2:
        fault("unit_name", f'is {keys["unit_name"]!r}; it takes singular and plural, such as ["topic", "topics"]')
    _check_labels(keys.get("labels", ()), types, fault)
    for missing, weights in keys.get("without", {}).items():
        _check_without(missing, weights, set(types), fault)


def _check_labels(labels: Any, types: Mapping[str, Any], fault: Fault) -> None:
    """Labels of items and of decisions are those of the method, whose meaning the measures know; free-text answers have
    labels with values.
    """
    names = [rules.get("response") for rules in types.values() if isinstance(rules, dict)]
    forms = [form for name, form in RESPONSE_FORMS.items() if name in names]
    for scored in dict.fromkeys(form.labels for form in forms if form.labels):
        unscored = [label for label in labels if isinstance(label, str) and label not in scored]
        if unscored:
            fault("labels", f"{unscored[0]!r} is not a label that can be scored; they are among {' '.join(scored)}")
    if any(form.is_free_text for form in forms) and (not isinstance(labels, dict) or len(labels) < 2):
        fault("labels", "free-text answers need two or more labels with values, such as {correct = 1, incorrect = 0}")
    if isinstance(labels, dict):
        _check_valued_labels(labels, fault)


def _check_valued_labels(labels: Mapping[str, Any], fault: Fault) -> None:
    """A label has a value, and a key of one character that no other label has."""
    for label, value in labels.items():
        table = value if isinstance(value, dict) else {"value": value}
        if not label.strip() or any(not character.isprintable() for character in label) or len(label) > LONGEST_LABEL:
            fault("labels", f"{label!r} is not a name of a label: 1 to {LONGEST_LABEL} printable characters")
        for name in sorted(set(table) - {"value", "key"}):
            fault(f"labels.{label}.{name}", "is unknown; a label has a value and a key")
        if not _fits(table.get("value"), float) or not abs(table["value"]) <= LARGEST_VALUE:
            fault(
                f"labels.{label}",
                f"is {value!r}; it takes a number up to {LARGEST_VALUE:g}, or a table such as {{value = 1, key = 'c'}}",
            )
        if "key" in table and (not isinstance(table["key"], str) or len(table["key"]) != 1 or table["key"].isspace()):
            fault(f"labels.{label}.key", f"is {table['key']!r}; a key is one character")
    keys = [
        str(value["key"]).lower() if isinstance(value, dict) and "key" in value else str(place)
        for place, value in enumerate(labels.values(), 1)
    ]
    if len(set(keys)) < len(keys):
        fault(
            "labels", f"two labels have the same key ({' '.join(keys)}, where a number is a place); give each its own"
        )
    for key in sorted(set(keys) & SCREEN_KEYS):
        fault("labels", f"the key {key!r} is one of the screen's own; choose another")


def _valued_labels(labels: object) -> tuple[dict[str, float], dict[str, str]]:
    """Values and keys of labels that are given as a table."""
    if not isinstance(labels, dict):
        return {}, {}
    tables = {name: value if isinstance(value, dict) else {"value": value} for name, value in labels.items()}
    return (
        {name: float(table["value"]) for name, table in tables.items()},
        {name: table["key"] for name, table in tables.items() if "key" in table},
    )


def _check_rules(kind: str, rules: object, fault: Fault) -> None:
    """Check the table of one question type."""
    where = f"types.{kind}"
    if kind not in TYPES:
        fault(where, f"is not a question type; the types are {', '.join(TYPES)}")
    if not isinstance(rules, dict):
        fault(where, f"is {rules!r}; it takes a table")
        return
    known = _check_table(f"{where}.", rules, _RULE_KEYS, fault)
    for key in ("response", "score"):
        if key not in rules:
            fault(f"{where}.{key}", "is missing; every question type needs it")
    if known.get("response", "one") not in RESPONSE_FORMS:
        fault(f"{where}.response", f"is {known['response']!r}; it is one of {', '.join(RESPONSE_FORMS)}")
    if not 0 < known.get("weight", 1) <= LARGEST_VALUE:
        most = f", up to {LARGEST_VALUE:g}" if known["weight"] > LARGEST_VALUE else ""
        fault(f"{where}.weight", f"is {known['weight']}; a weight is a number above 0{most}")
    for key in ("max_items", "max_length"):
        if known.get(key, 1) < 1:
            fault(f"{where}.{key}", f"is {known[key]}; it takes a whole number from 1")


def _check_without(missing: str, weights: object, types: set[str], fault: Fault) -> None:
    """Weights for series that lack a type: a number for each of the other types."""
    where = f"without.{missing}"
    if not isinstance(weights, dict):
        fault(where, f"is {weights!r}; it takes a table")
        return
    for kind in sorted({missing, *weights} - types):
        fault(where, f"{kind!r} is not a question type of this task")
    for kind in sorted(types - {missing}):
        weight: Any = weights.get(kind)
        if not _fits(weight, float) or not 0 <= weight <= LARGEST_VALUE:
            fault(f"{where}.{kind}", f"is {weight!r}; it takes the weight of {kind} where {missing} is missing")
