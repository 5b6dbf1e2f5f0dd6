"""promptfoo: the JSON of `promptfoo eval --output`, with all providers and prompts in one file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from qassay.formats.foreign import _logs, _names
from qassay.formats.foreign._scores import LogScores
from qassay.formats.score_rows import ScoreRows
from qassay.tables import plural

NAME = "promptfoo"
VERSIONS = ("0.123.1",)
FILES = "`promptfoo eval --output results.json`, or `promptfoo export eval ID --output results.json`"
READS = (
    "system: the provider's label or id, with the prompt where there are several; question: the test's description, or "
    "its variables; repeat: `--repeat`; metrics: `score`, used where no other is chosen, and each named score; "
    "a call that failed is a missing score"
)

_REMEDY = "Export the results again: promptfoo export eval ID --output results.json."
# The version of the form of results, as they name it.
_FORM_VERSION = 3
# Why a test failed: an assertion (1), or an error of the provider (2), whose score of 0 says nothing of the answer.
_ERROR = 2


class _Provider(msgspec.Struct):
    id: str = ""
    label: str | None = None


class _Prompt(msgspec.Struct):
    raw: str = ""
    label: str | None = None


class _TestCase(msgspec.Struct):
    description: str | None = None
    assertions: Any = msgspec.field(name="assert", default=None)


class _Result(msgspec.Struct):
    score: Any
    provider: _Provider | str
    vars: dict[str, Any]
    test: _TestCase = msgspec.field(name="testCase", default_factory=_TestCase)
    description: str | None = None
    prompt: _Prompt = msgspec.field(default_factory=_Prompt)
    prompt_place: int = msgspec.field(name="promptIdx", default=0)
    place: int = msgspec.field(name="testIdx", default=0)
    named_scores: dict[str, Any] | None = msgspec.field(name="namedScores", default=None)
    failure: int = msgspec.field(name="failureReason", default=0)


class _Results(msgspec.Struct):
    results: list[_Result]
    version: int = 0


class _File(msgspec.Struct):
    results: _Results


def looks_like(path: Path, head: bytes) -> bool:
    """Whether this is an export: an object with the id of an evaluation and its results."""
    keys = _logs.top_keys(head)
    return "evalId" in keys[:3] and "results" in keys


def read(path: Path, content: bytes) -> ScoreRows:
    """The scores of every test, provider and repeat."""
    file = _logs.decode(content, _File, path, _REMEDY).results
    results = sorted(file.results, key=lambda result: result.place)
    scores = LogScores("promptfoo results", path, remedy=_REMEDY)
    systems = _systems(results)
    questions = _questions(results)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    errors = 0
    for result, system, question in zip(results, systems, questions, strict=True):
        seen[system, question] += 1
        repeat = str(seen[system, question])
        if result.failure == _ERROR:
            errors += 1
            scores.failed(system, question, repeat=repeat)
            continue
        scores.add(system, question, result.score, metric="score", repeat=repeat)
        for metric, value in (result.named_scores or {}).items():
            scores.add(system, question, value, metric=_names.name(metric), repeat=repeat)
    if errors:
        message = f"{plural(errors, 'call')} of a provider failed; the scores are missing, not 0."
        scores.warn(_logs.warning(path, f"{message} To call again: promptfoo retry ID."))
    if file.version != _FORM_VERSION:
        message = f"has version {file.version} of promptfoo's results; tried was version {_FORM_VERSION}."
        scores.warn(_logs.warning(path, f"{message} Compare a few scores with what promptfoo shows."))
    return scores.rows(default="score")


def _systems(results: Sequence[_Result]) -> list[str]:
    """The system of each result: its provider, and its prompt where a provider has several."""
    providers = [_provider(result.provider) for result in results]
    prompts = [result.prompt.label or result.prompt.raw or f"prompt {result.prompt_place + 1}" for result in results]
    of_provider: dict[str, set[str]] = defaultdict(set)
    for provider, prompt in zip(providers, prompts, strict=True):
        of_provider[provider].add(prompt)
    several = any(len(used) > 1 for used in of_provider.values())
    pairs = zip(providers, prompts, strict=True)
    return [_names.name(f"{provider}, {prompt}" if several else provider) for provider, prompt in pairs]


def _provider(provider: _Provider | str) -> str:
    return provider if isinstance(provider, str) else provider.label or provider.id or "provider"


def _questions(results: Sequence[_Result]) -> list[str]:
    """The question of each result: the description of its test, or its variables; both where one is not enough."""
    tests = [
        (result.test.description or result.description or "", _names.question_name(result.vars), _checks(result))
        for result in results
    ]
    variables: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for test in tests:
        variables[_names.name(test[0] or test[1])].add(test)
    name_of: dict[tuple[str, str, str], str] = {}
    used: dict[str, int] = defaultdict(int)
    for test in tests:
        if test not in name_of:
            label = _names.name(test[0] or test[1])
            if len(variables[label]) > 1 and test[0]:
                label = _names.name(f"{test[0]}: {test[1]}")
            used[label] += 1
            name_of[test] = label if used[label] == 1 else f"{label} ({used[label]})"
    return [name_of[test] for test in tests]


def _checks(result: _Result) -> str:
    """The part that distinguishes two tests with the same variables."""
    return _names.name(result.test.assertions)
