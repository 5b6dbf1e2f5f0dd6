"""The form of a record's document, from the types of its fields and reported properties."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, cached_property, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

import numpy as np

from qassay.results import inline_of, keys_of


@cache
def document_of(record: type | str) -> type:
    """The type of the document of a record, or of the record of that name: every key with its type in JSON."""
    if isinstance(record, str):
        module, _, name = record.rpartition(".")
        record = getattr(importlib.import_module(module), name)
    assert isinstance(record, type)
    if "as_json" in vars(record):
        return dict[str, Any]
    hints: dict[str, Any] = {}
    for base in reversed(record.__mro__):
        if is_dataclass(base):
            hints |= get_type_hints(base)
    keys = {key: json_type(hints.get(name) or _returned(record, name)) for key, name in keys_of(record).items()}
    for name in inline_of(record):
        keys |= get_type_hints(document_of(hints[name]), include_extras=True)
    if "measure" in keys:
        keys = {name: kind for name, kind in keys.items() if name != "direction"}
        keys |= {"higher_is_better": bool, "direction_assumed": bool}
    document = TypedDict(record.__name__, keys)  # type: ignore[misc]  # its keys are those of the record
    document.__doc__ = inspect.cleandoc(record.__doc__ or "")
    document.__module__ = record.__module__
    return document


def json_type(kind: Any) -> Any:
    """The type that a value of this type has in JSON.

    >>> json_type(tuple[float, float] | None), json_type(Mapping[str, tuple[str, ...]])
    (list[float] | None, dict[str, list[str]])
    """
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return document_of(kind) if isinstance(kind, type) else kind
    if kind is object:
        return Any
    if kind is np.ndarray or origin is np.ndarray:
        return list[float | None]
    if origin in (Union, UnionType):
        return reduce(or_, (NoneType if part is NoneType else json_type(part) for part in parts))
    if origin is Literal or origin is None:
        return list if kind is tuple else kind
    if issubclass(origin, Mapping):
        return dict[str, json_type(parts[1])]  # type: ignore[misc]  # a type that is computed
    if issubclass(origin, (tuple, Sequence, frozenset)):
        items = {json_type(part) for part in parts if part is not Ellipsis}
        return list[reduce(or_, items)]  # type: ignore[misc]
    return kind


def _returned(record: type, name: str) -> Any:
    """The type that a property gives."""
    attribute = next(vars(base)[name] for base in record.__mro__ if name in vars(base))
    getter = attribute.func if isinstance(attribute, cached_property) else attribute.fget
    return get_type_hints(getter, vars(sys.modules[getter.__module__]))["return"]
