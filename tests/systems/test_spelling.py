"""How systems are spelled."""

from __future__ import annotations

import inspect

import pytest

from qassay.errors import UsageError
from qassay.systems import SYSTEMS, load, make_reference, spelled


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("factoid", "factoid"),
        (" factoid ", "factoid"),
        ("factoid()", "factoid()"),
        ("factoid( threshold = 0.3 ,answers=5)", "factoid(threshold=0.3, answers=5)"),
        (
            "series(factoid=factoid(threshold=0.3), other=definition)",
            "series(factoid=factoid(threshold=0.3), other=definition)",
        ),
        ("my_module:make(path=a b)", "my_module:make(path=a b)"),
    ],
)
def test_spellings(text: str, same: str) -> None:
    assert str(spelled(text)) == same
    assert str(spelled(same)) == same


def test_settings_are_parameters() -> None:
    assert str(spelled("factoid", {"threshold": "0.3"})) == "factoid(threshold=0.3)"
    with pytest.raises(UsageError, match="threshold is given twice"):
        spelled("factoid(threshold=1)", {"threshold": "2"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("factiod", "did you mean 'factoid'"),
        ("factoid(treshold=1)", "unknown parameter of factoid 'treshold'; did you mean 'threshold'"),
        ("factoid(threshold=much)", "threshold takes a number from 0, not 'much'"),
        ("factoid(threshold=-1)", "takes a number from 0"),
        ("factoid(threshold=nan)", "takes a number from 0"),
        ("factoid(answers=1.5)", "takes a whole number from 0"),
        ("factoid(entities=magic)", "unknown value of entities 'magic'"),
        ("definition(fragments=yes)", "takes true or false"),
        ("factoid(threshold)", "write name=value"),
        ("factoid(threshold=)", "write name=value"),
        ("factoid(=1)", "write name=value"),
        ("series(other=list(a=1)", "brackets do not match"),
        ("series(other=list)a=1)", "brackets do not match"),
        ("series(other=nothing)", "unknown system 'nothing'"),
        ("fact oid", "cannot read the system"),
        ("", "cannot read the system"),
    ],
)
def test_unreadable_spellings(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_reference(text, [])  # type: ignore[arg-type]  # nothing is asked of the documents


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_explains_its_parameters(name: str) -> None:
    factory = load(SYSTEMS[name])
    parameters = list(inspect.signature(factory).parameters.values())
    assert parameters[0].name == "collection"
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
        for parameter in parameters[1:]
    )
    if name not in ("series", "passages"):
        assert all(
            f"`{parameter.name}`" in (factory.__doc__ or "") or "others are those" in factory.__doc__
            for parameter in parameters[1:]
        )


def test_systems_that_cannot_be_loaded() -> None:
    for place in ("no_such_module:x", "json:no_such_name"):
        with pytest.raises(UsageError):
            load(place)
