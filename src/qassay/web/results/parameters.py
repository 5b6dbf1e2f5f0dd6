"""What the address of a results page may say: every word of it from a list, or of a bounded length."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlencode

from pydantic import Field, model_validator

from qassay.meta.sensitivity import PRESETS
from qassay.scores import Missing, Unjudged
from qassay.web.results.choices import Choice
from qassay.web.results.request import StudyRequest
from qassay.web.routing import Input

Name: TypeAlias = Annotated[str, Field(max_length=200)]
Page: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
Sort: TypeAlias = Literal["order", "name", "mean", "median", "spread"]
Kind: TypeAlias = Literal["factoid", "list", "definition", "other", "pair"]
Outcome: TypeAlias = Literal["right", "partly", "wrong", "not-scored"]
Method: TypeAlias = Literal["randomised-tukey", "tukey", "holm", "bh"]
ERRORS = (0.01, 0.05, 0.1)
WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2)


class Parameters(Input):
    """What every results page takes: how runs are scored, and how the page is looked at.

    `provisional` shows results although work is open, `fresh` asks for an answer from the store as it is now.
    """

    key: Name | None = None
    measure: Name | None = None
    component: Name | None = None
    unjudged: Unjudged = "stop"
    missing: Missing = "stop"
    provisional: bool = False
    fresh: bool = False
    table: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, sent: Any) -> Any:
        """A form sends what was left empty; it is as if it had not."""
        return (
            {name: value for name, value in sent.items() if value not in ("", [""])} if isinstance(sent, dict) else sent
        )

    def choice(self) -> Choice:
        """How runs are scored; what is shown before its time counts what is not judged yet as wrong, and says so."""
        unjudged = "wrong" if self.provisional and self.unjudged == "stop" else self.unjudged
        return Choice(self.key, self.measure, self.component, unjudged, self.missing)

    def request(self, study: str, *, whole: bool = False) -> StudyRequest:
        """What is asked of the evaluation."""
        names = sorted(set(type(self).model_fields) - set(Parameters.model_fields))
        given = ((name, getattr(self, name)) for name in names)
        options = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in given)
        return StudyRequest(study, self.choice(), options, whole)

    def common(self) -> dict[str, Any]:
        """What goes from one results page to the next."""
        return {**self.choice().changed(), **({"provisional": "1"} if self.provisional else {})}

    def address(self, **changes: Any) -> str:
        """The query of this page with some changes; what is as by default is left out."""
        left_out = {"fresh", "table"}
        own = {
            name: getattr(self, name)
            for name, one in type(self).model_fields.items()
            if name not in left_out and getattr(self, name) != one.get_default(call_default_factory=True)
        }
        return query({**own, **changes})


def query(values: dict[str, Any]) -> str:
    """A query, with its question mark where there is anything to ask."""
    plain = {name: "1" if value is True else value for name, value in values.items() if value not in (None, False)}
    return "?" + urlencode(plain, doseq=True) if plain else ""


class LeaderboardParameters(Parameters):
    """The leaderboard: with intervals where they are quick, or as told; all runs, or the best of each organisation."""

    intervals: Literal["auto", "yes", "no"] = "auto"
    best: bool = False


class UnitsParameters(Parameters):
    """The score matrix: by unit or by question, some of them, in some order, a window at a time."""

    by: Literal["unit", "question"] = "unit"
    kind: Kind | None = None
    series: Name | None = None
    sort: Sort = "order"
    down: bool = False
    page: Page = 1
    across: Page = 1


class SetsParameters(Parameters):
    """Agreement: the sets to compare."""

    sets: list[Name] = Field(default_factory=list, max_length=50)


class StabilityParameters(SetsParameters):
    """Stability: the sets to compare, and the one that changes are measured from."""

    reference: Name | None = None


class SensitivityParameters(Parameters):
    """Sensitivity: the study to repeat, the error rate to stay within, the width of a bin."""

    preset: Name = "default"
    error: float = 0.05
    bin_width: float = 0.01

    @model_validator(mode="after")
    def _offered(self) -> SensitivityParameters:
        for name, value, known in (
            ("preset", self.preset, PRESETS),
            ("error", self.error, ERRORS),
            ("bin_width", self.bin_width, WIDTHS),
        ):
            if value not in known:
                raise ValueError(f"{name} is one of {', '.join(map(str, known))}")
        return self


class CompareParameters(Parameters):
    """Two runs, or all pairs under a correction."""

    a: Name | None = None
    b: Name | None = None
    method: Method = "randomised-tukey"


class RunParameters(Parameters):
    """One run: all answers, or those of an outcome or a type of question."""

    run: Name
    outcome: Outcome | None = None
    kind: Kind | None = None
    page: Page = 1


class QuestionParameters(Parameters):
    """One question."""

    question: Name
    page: Page = 1
