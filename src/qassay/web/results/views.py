"""The results pages: of each the study that it shows, its parameters in the address, and its template.

A new page is a name here, beside the study; `results.html` shows any study, and a template of its own extends it. Page,
JSON twin, tab and CSV follow from the study. In an address every word is from a list, or of a bounded length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import Parameter
from typing import Annotated, Any
from urllib.parse import urlencode

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model

from qassay.options import UNCHOSEN, Missing, Offered, Unjudged
from qassay.pages import QUESTIONS
from qassay.studies import Study, study
from qassay.web.results.finding import Form, Name, Names, Number, StudyRequest
from qassay.web.routing import Input

# Parameters for one request: the addresses on a page do not repeat them.
ONCE = frozenset({"fresh"})


class Parameters(Input):
    """The parameters of every results page: how runs are scored, and how the page is looked at.

    `page` and `across` are the parts of long tables and of many columns; `provisional` shows results although work is
    open, `finished` those of finished questions alone, `fresh` asks for an answer from the store as it is now. They
    come from an address, where every value is text.
    """

    model_config = ConfigDict(strict=False)

    key: Name | None = None
    measure: Name | None = None
    component: Name | None = None
    unjudged: Unjudged = "stop"
    missing: Missing = "stop"
    page: Number = 1
    across: Number = 1
    provisional: bool = False
    finished: bool = False
    fresh: bool = False

    def scoring(self) -> dict[str, Any]:
        """How runs are scored; provisional results count unjudged items as wrong, and say so."""
        chosen = {name: getattr(self, name) for name in UNCHOSEN}
        return chosen | ({"unjudged": "wrong"} if self.provisional and self.unjudged == "stop" else {})

    def changed(self) -> dict[str, str]:
        """How runs are scored, where that differs from what is usual, for an address."""
        return {name: value for name, value in self.scoring().items() if value != UNCHOSEN[name]}

    def common(self) -> dict[str, Any]:
        """The parameters that go from one results page to the next."""
        early = {name: "1" for name in ("provisional", "finished") if getattr(self, name)}
        return {**self.changed(), **early}

    def address(self, **changes: Any) -> str:
        """The query of this page with some changes, without defaults."""
        changed = {
            name: "no" if getattr(self, name) is False else getattr(self, name)
            for name, field in type(self).model_fields.items()
            if name not in ONCE and getattr(self, name) != field.get_default(call_default_factory=True)
        }
        return query({**changed, **changes})


def query(values: dict[str, Any]) -> str:
    """A query with its question mark; empty where there is no value."""
    plain = {name: "1" if value is True else value for name, value in values.items() if value not in (None, False)}
    return "?" + urlencode(plain, doseq=True) if plain else ""


@dataclass(frozen=True)
class View:
    """The results page of a study.

    A heading may name a parameter, such as `{run}`.
    """

    study_name: str
    template: str = "results.html"

    @cached_property
    def study(self) -> Study:
        """The study that it shows."""
        return study(self.study_name)

    @property
    def name(self) -> str:
        """The name of the page."""
        return self.study.page_name or self.study.name

    @property
    def path(self) -> str:
        """The address of the page."""
        return "/results" if self.name == "leaderboard" else f"/results/{self.name}"

    @property
    def csv(self) -> str:
        """The address of the CSV of its tables."""
        return f"/results/{self.name}.csv"

    @property
    def figure(self) -> str:
        """The address from which its figures are saved."""
        return f"/results/{self.name}/figure"

    @cached_property
    def options(self) -> list[Offered]:
        """What can be chosen beside how runs are scored: of its record, and of what is shown of it."""
        return [o for o in (*self.study.options, *self.study.shown_options) if o.option.on_pages]

    @cached_property
    def parameters(self) -> type[Parameters]:
        """The parameters of the page: those of all pages, and the options of its study."""
        options: dict[str, Any] = {
            o.name: (_of_address(o), ... if o.default is Parameter.empty else o.default) for o in self.options
        }
        return create_model(f"{self.study.label}Parameters", __base__=Parameters, **options)

    @cached_property
    def table_parameters(self) -> type[Parameters]:
        """The parameters of the CSV: those of the page, and the name of the table."""
        return create_model(f"{self.study.label}TableParameters", __base__=self.parameters, table=(Name | None, None))

    @cached_property
    def figure_parameters(self) -> type[Parameters]:
        """The parameters of a saved figure: those of the page, the name of the figure, and the form of the file."""
        options: dict[str, Any] = {"figure": (Name | None, None), "form": (Form, "svg")}
        return create_model(f"{self.study.label}FigureParameters", __base__=self.parameters, **options)

    def request(self, folder: str, parameters: Parameters, **more: Any) -> StudyRequest:
        """The page's request to the evaluation in a folder; `more` are further fields of it."""
        scoring = parameters.scoring()
        # A study may take several measures.
        scoring["measures"] = () if parameters.measure is None else (parameters.measure,)
        options = scoring | {option.name: getattr(parameters, option.name) for option in self.options}
        here = {"page": parameters.page, "across": parameters.across, "slow": self.study.slow}
        return StudyRequest(folder, self.study.name, tuple(sorted(options.items())), **{**here, **more})


def _of_address(offered: Offered) -> Any:
    """The type of an option in an address, where texts and lists have a bounded length and numbers limits."""
    if offered.kind == str | None:
        return Name | None
    if offered.kind == Sequence[str] | None:
        return Names
    if offered.kind == bool | None:
        return Annotated[bool | None, BeforeValidator(lambda value: None if value == "auto" else value)]
    option = offered.option
    if option.choices:
        return Annotated[offered.kind, AfterValidator(partial(_chosen, option.choices))]
    if offered.kind is str:
        return Name
    limited = option.least is not None or option.most is not None
    return Annotated[offered.kind, Field(ge=option.least, le=option.most)] if limited else offered.kind


def _chosen(choices: tuple[Any, ...], value: Any) -> Any:
    if value not in choices:
        raise ValueError(f"one of {', '.join(map(str, choices))}")
    return value


LEADERBOARD = View("score")
COMPARE = View("compare", "results_compare.html")
TRUST = View("trust", "results_trust.html")
# In the order of the tabs.
VIEWS = (
    LEADERBOARD,
    View("facts"),
    COMPARE,
    View("units", "results_units.html"),
    View("describe"),
    View("agree", "results_sets.html"),
    View("people"),
    View("stability", "results_sets.html"),
    TRUST,
    View("plan"),
    View("sensitivity", "results_sensitivity.html"),
    View("one_run", "results_run.html"),
    View("one_question"),
)


def tabs() -> dict[str, tuple[View, ...]]:
    """The pages of each tab, in order."""
    return {question: tuple(view for view in VIEWS if view.study.tab == question) for question in QUESTIONS}
