"""Errors: they name the thing and the place, and say what to do."""

from __future__ import annotations

import pytest

import qassay
from qassay.errors import InputError, Problem, QassayError, UsageError, unknown


def test_a_problem_reads_like_a_compiler_message() -> None:
    problem = Problem("one-answer", "question 1894 has 2 answers; a factoid takes one", "runs/lcc.txt", 17, "1894")
    assert str(problem) == "runs/lcc.txt:17: question 1894 has 2 answers; a factoid takes one"
    assert str(Problem("syntax", "is empty", "a.txt")) == "a.txt: is empty"
    assert str(Problem("unjudged", "3 items are not judged")) == "3 items are not judged"


def test_a_problem_as_json_has_every_key() -> None:
    assert Problem("syntax", "is empty", "a.txt").as_json() == {
        "file": "a.txt",
        "line": None,
        "question": None,
        "rule": "syntax",
        "message": "is empty",
    }


def test_an_input_error_holds_all_problems() -> None:
    first, second = Problem("syntax", "x", "a", 1), Problem("encoding", "y", "b", 2)
    assert InputError(first).problems == (first,)
    error = InputError(iter([first, second]))
    assert error.problems == (first, second)
    assert str(error) == "a:1: x\nb:2: y"


def test_the_tree() -> None:
    assert issubclass(InputError, QassayError)
    assert issubclass(UsageError, QassayError)
    assert not issubclass(UsageError, InputError)
    assert (qassay.InputError, qassay.UsageError, qassay.QassayError) == (InputError, UsageError, QassayError)


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("nuget_f", ["nugget_f", "list_f"], "unknown measure 'nuget_f'; did you mean 'nugget_f'?"),
        ("xyz", ["b", "a"], "unknown measure 'xyz'; there are a, b"),
        ("factoid", ["qaciad", "ranked5"], "unknown measure 'factoid'; there are qaciad, ranked5"),
        ("xyz", ["a"], "unknown measure 'xyz'; there is only 'a'"),
        ("xyz", [], "unknown measure 'xyz'; there are none"),
        (
            "xyz",
            list("abcdefghijklmnopqrstu"),
            f"unknown measure 'xyz'; there are {', '.join('abcdefghijklmnopqrst')}, ...",
        ),
    ],
)
def test_unknown_names(name: str, known: list[str], message: str) -> None:
    error = unknown("measure", name, known)
    assert isinstance(error, UsageError)
    assert str(error) == message


def test_the_public_names() -> None:
    for name in qassay.__all__:
        assert getattr(qassay, name) is not None
    assert dir(qassay) == qassay.__all__
    with pytest.raises(AttributeError, match="no attribute 'opn'"):
        qassay.opn  # noqa: B018  # the access is the test
