"""Names found by a spaCy model, where spaCy and any English model are installed; the patterns work without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from qassay.errors import UsageError
from qassay.systems.reference.quantities import Candidate

Entities = Literal["auto", "patterns", "spacy"]
_KINDS = {
    "PERSON": {"person": 1.0, "name": 0.8},
    "ORG": {"organisation": 1.0, "name": 0.8},
    "GPE": {"place": 1.0, "name": 0.8},
    "LOC": {"place": 1.0, "name": 0.8},
    "FAC": {"place": 0.8, "organisation": 0.4, "name": 0.8},
    "PRODUCT": {"name": 0.9},
    "EVENT": {"name": 0.9},
    "WORK_OF_ART": {"name": 0.9},
}


def entity_finder(entities: Entities) -> Callable[[str], Iterable[Candidate]] | None:
    """What finds further names; nothing where only patterns are wanted, or where auto finds no model."""
    if entities == "patterns":
        return None
    model = english_model()
    if model is None:
        if entities == "spacy":
            raise UsageError(
                "entities=spacy needs spaCy and an English model; install them"
                " (python -m spacy download en_core_web_sm), or use entities=patterns"
            )
        return None
    return lambda sentence: _found(model, sentence)


@lru_cache(maxsize=1)
def english_model() -> Any:
    """The first English model that is installed, or nothing."""
    if find_spec("spacy") is None:
        return None
    spacy: Any = import_module("spacy")
    installed = sorted(name for name in spacy.util.get_installed_models() if name.startswith("en"))
    return spacy.load(installed[0]) if installed else None


@lru_cache(maxsize=1 << 14)
def _found(model: Any, sentence: str) -> tuple[Candidate, ...]:
    candidates = []
    for entity in model(sentence).ents:
        if entity.label_ in _KINDS:
            text = entity.text.removeprefix("the ").removeprefix("The ").removesuffix("'s")
            start = sentence.index(text, entity.start_char)
            candidates.append(Candidate(text, start, start + len(text), _KINDS[entity.label_]))
    return tuple(candidates)
