"""The results pages: of each its study, its parameters in the address, its title, and how it is shown.

A new page is a record here, beside the study that computes it; `results.html` shows any study, and a template of its
own extends it. Page, JSON twin, tab and CSV follow from the record. In an address every word is from a list, or of a
bounded length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from typing import Annotated, Any, get_type_hints
from urllib.parse import urlencode

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, create_model

from qassay.options import Offered
from qassay.pages import QUESTIONS
from qassay.scoring import Missing, Unjudged
from qassay.studies import WHERE
from qassay.studies import study as find_study
from qassay.web.results.answers import question, run
from qassay.web.results.finding import Choice, Form, Name, Names, Study, StudyPage, StudyRequest
from qassay.web.results.units import units
from qassay.web.routing import Input

# Parameters for one request: the addresses on a page do not repeat them.
ONCE = frozenset({"fresh"})


class Parameters(Input):
    """The parameters of every results page: how runs are scored, and how the page is looked at.

    `provisional` shows results although work is open, `finished` those of finished questions alone, `fresh` asks for an
    answer from the store as it is now. They come from an address, where every value is text.
    """

    model_config = ConfigDict(strict=False)

    key: Name | None = None
    measure: Name | None = None
    component: Name | None = None
    unjudged: Unjudged = "stop"
    missing: Missing = "stop"
    provisional: bool = False
    finished: bool = False
    fresh: bool = False

    def choice(self) -> Choice:
        """How runs are scored; provisional results count unjudged items as wrong, and say so."""
        unjudged = "wrong" if self.provisional and self.unjudged == "stop" else self.unjudged
        return Choice(self.key, self.measure, self.component, unjudged, self.missing)

    def common(self) -> dict[str, Any]:
        """The parameters that go from one results page to the next."""
        early = {name: "1" for name in ("provisional", "finished") if getattr(self, name)}
        return {**self.choice().changed(), **early}

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
    """One results page.

    A heading may name a parameter, such as `{run}`. `about` describes the page to programs; the leaderboard has a view
    of its own, which does that. `checked` is set where parameters are more than the options of the study. A `slow`
    study gives way to others.
    """

    study: Study
    label: str
    heading: str
    about: str = ""
    checked: type[Parameters] | None = None
    template: str = "results.html"
    # The question that its tab asks; pages with the same one are beside each other below the tab. None: it has no tab.
    tab: str | None = None
    slow: bool = False
    # Whether it is shown while people judge: it compares judgments, and scores nothing that they might look at.
    is_open: bool = False

    @property
    def name(self) -> str:
        """The name of the page, which is that of its study."""
        if isinstance(self.study, StudyPage):
            return find_study(self.study.name).page_name or self.study.name
        return self.study.__name__

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
    def options(self) -> dict[str, Any]:
        """The options of the study with their types and defaults, as its signature names them."""
        if isinstance(self.study, StudyPage):
            offered = (option for option in find_study(self.study.name).options if option.option.on_pages)
            return {option.name: (_of_address(option), option.default) for option in offered}
        types = get_type_hints(self.study, include_extras=True)
        options = [option for option in signature(self.study).parameters.values() if option.kind is option.KEYWORD_ONLY]
        return {
            option.name: (types[option.name], ... if option.default is option.empty else option.default)
            for option in options
        }

    @property
    def windowed(self) -> bool:
        """Whether the study cuts its tables itself."""
        return "whole" in self.options

    @cached_property
    def parameters(self) -> type[Parameters]:
        """The parameters of the page: those of all pages, and the options of its study."""
        options = {name: option for name, option in self.options.items() if name != "whole"}
        return self.checked or create_model(f"{self.label}Parameters", __base__=Parameters, **options)

    @cached_property
    def table_parameters(self) -> type[Parameters]:
        """The parameters of the CSV: those of the page, and the name of the table."""
        return create_model(f"{self.label}TableParameters", __base__=self.parameters, table=(Name | None, None))

    @cached_property
    def figure_parameters(self) -> type[Parameters]:
        """The parameters of a saved figure: those of the page, the name of the figure, and the form of the file."""
        options: dict[str, Any] = {"figure": (Name | None, None), "form": (Form, "svg")}
        return create_model(f"{self.label}FigureParameters", __base__=self.parameters, **options)

    def request(
        self,
        folder: str,
        parameters: Parameters,
        *,
        whole: bool = False,
        unfinished: tuple[str, ...] = (),
        part: str | None = None,
        file: str | None = None,
        provisional: str | None = None,
    ) -> StudyRequest:
        """The page's request to the evaluation in a folder; with a `file`, the table `part` is written there."""
        options = {name: whole if name == "whole" else getattr(parameters, name) for name in sorted(self.options)}
        return StudyRequest(
            folder,
            self.study,
            parameters.choice(),
            tuple(options.items()),
            whole,
            self.slow,
            part,
            file,
            provisional,
            unfinished,
        )


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
    limited = option.least is not None or option.most is not None
    return Annotated[offered.kind, Field(ge=option.least, le=option.most)] if limited else offered.kind


def _chosen(choices: tuple[Any, ...], value: Any) -> Any:
    if value not in choices:
        raise ValueError(f"one of {', '.join(map(str, choices))}")
    return value


def view_of(name: str, *, about: str = "", template: str = "results.html") -> View:
    """The page of a study."""
    study = find_study(name)
    about = about or study.help.partition("\n\n")[0].replace("\n", " ")
    return View(
        StudyPage(name),
        study.label,
        study.heading,
        about,
        template=template,
        tab=study.tab,
        slow=study.slow,
        is_open=study.is_open,
    )


LEADERBOARD = view_of("score")


UNITS = View(
    units,
    label="Scores",
    heading="Scores on every question",
    about="Every run on every question or series.",
    template="results_units.html",
    tab=WHERE,
)

SPREAD = view_of("describe")


COMPARE = view_of("compare", about="Two runs, or all pairs.", template="results_compare.html")


SENSITIVITY = view_of("sensitivity", template="results_sensitivity.html")


STABILITY = view_of("stability", template="results_sets.html")
AGREEMENT = view_of("agree", template="results_sets.html")
TRUST = view_of("trust", template="results_trust.html")


FACTS = view_of("facts")
PEOPLE = view_of("people")


RUN = View(
    run,
    label="Run",
    heading="Run {run}",
    about="What one run got right and wrong.",
    template="results_run.html",
)


QUESTION = View(
    question,
    label="Question",
    heading="Question {question}",
    about="All answers to one question, and all judgments of them.",
)

# In the order of the tabs.
VIEWS = (
    *(LEADERBOARD, FACTS, COMPARE, UNITS, SPREAD, AGREEMENT, PEOPLE, STABILITY, TRUST, SENSITIVITY),
    *(RUN, QUESTION),
)


def tabs() -> dict[str, tuple[View, ...]]:
    """The pages of each tab, in order."""
    return {question: tuple(view for view in VIEWS if view.tab == question) for question in QUESTIONS}
