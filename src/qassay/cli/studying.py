"""The command of a study: its options as flags, its record as JSON, its page as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

import typer

from qassay.cli.by_metric import MetricAnswer, give_answer_on, give_answers
from qassay.cli.inputs import (
    SOURCES,
    FolderArgument,
    JsonOption,
    JudgesArgument,
    SourcesArgument,
    TableOptions,
    is_evaluation,
    names_in,
    need_two_systems,
    refuse,
    refuse_measure,
)
from qassay.cli.output import (
    fold,
    headline,
    print_answer,
    print_json,
    print_tables,
    progress,
    visible,
    without_isolates,
)
from qassay.errors import UsageError
from qassay.options import Offered, options_of
from qassay.pages import Page
from qassay.studies import Study

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.formats.scores import ScoreTables


@dataclass(frozen=True)
class Own:
    """What only the command of a study has, such as files that it writes; its fields are the options."""

    def named(self, arguments: Sequence[str], chosen: dict[str, Any], reading: TableOptions | None) -> list[str]:
        """The sources among the arguments; others are names, and are put among what is chosen."""
        return list(arguments)

    def read(self, tables: ScoreTables, sources: Sequence[str], chosen: dict[str, Any]) -> None:
        """What the tables that were read add to what is chosen."""

    def check(self, chosen: Mapping[str, Any]) -> None:
        """Stop at options that do not go together."""

    def prints(self, result: Any) -> bool:
        """Whether it prints the result itself."""
        return False

    def beside(self, results: Sequence[Any]) -> Mapping[str, object]:
        """Further keys of the document, of one result or of those of all metrics."""
        return {}

    def first(self, results: Sequence[Any]) -> str:
        """A line above the page."""
        return ""

    def status(self, results: Sequence[Any]) -> int:
        """The exit status."""
        return 0


def command_of(
    study: Study, own: type[Own] = Own, *, then: Callable[..., Any] | None = None, **fixed: Any
) -> Callable[..., None]:
    """The function behind the command of a study, as the parser reads it.

    `then` does more with the record, and gives it back: it takes the record, its source, and options of its own.
    `fixed` are arguments of the study that nobody chooses.
    """
    further = [] if then is None else options_of(then)
    offered = {option.name: option for option in (*study.options, *further, *study.shown_options)}

    def command(*, as_json: bool, **values: Any) -> None:
        extra = own(**{name: values.pop(name) for name in own.__dataclass_fields__})
        arguments = [values.pop("folder")] if "folder" in values else values.pop("sources")
        reading = _reading(values) if study.source != "evaluation" else None
        every = {name: _value(option, values.get(name, option.default)) for name, option in offered.items()}
        chosen = {option.name: every[option.name] for option in study.options}
        shown = {option.name: every[option.name] for option in study.shown_options}
        added = {option.name: every[option.name] for option in further}
        sources = extra.named(arguments, chosen, reading) if arguments else []

        def result_of(source: Any) -> Any:
            result = _computed(study, source, {**chosen, **fixed})
            return result if then is None else then(result, source, **added)

        def answer(result: Any) -> MetricAnswer:
            def show() -> None:
                if first := extra.first([result]):
                    print_answer(first)
                page = study.page(result, **shown)
                print_page(page)
                details = offered.get("details")
                if details is not None and any(exhibit.folded for exhibit in page.exhibits):
                    print(f"With {details.flag}: {details.option.help[:1].lower()}{details.option.help[1:]}")

            return MetricAnswer({**result.as_json(), **extra.beside([result])}, show)

        if reading is None or not sources or is_evaluation(sources):
            if reading is not None:
                refuse("a folder" if sources else "a command without scores", reading.given_options())
            extra.check(chosen)
            result = result_of(_opened(sources))
            if not extra.prints(result):
                given = answer(result)
                print_json(given.document) if as_json else given.show()
            _end(extra.status([result]))
            return
        refuse_measure(chosen.get("measure") or chosen.get("measures"))
        of_evaluation = [option for option in study.options if option.option.of_evaluation]
        refuse("a table of scores", {o.flag: chosen.pop(o.name) != o.default for o in of_evaluation})
        missing, pair = chosen.pop("missing"), chosen.get("a") and (chosen["a"], chosen["b"])
        if study.source == "judges":
            from qassay.formats.sources import named_sources

            refuse("scores of several judges", {"--metric all": reading.every_metric})
            by_judge = {name: reading.read_tables([path], missing) for name, path in named_sources(sources).items()}
            give_answer_on(by_judge, answer(result_of(by_judge)), as_json=as_json)
            return
        tables = reading.read_tables(sources, missing, pair)
        if study.systems > 1:
            for _, matrix in tables:
                need_two_systems(matrix, sources)
        extra.read(tables, sources, chosen)
        extra.check(chosen)
        together: dict[str, object] = {}
        if study.together and reading.every_metric:
            whole = _computed(study, tables, {**chosen, "metric": "all"})
            results = dict(whole.metrics)
            together["correction"] = whole.correction
        else:
            results = {name: result_of(matrix) for name, matrix in tables}
        several = list(results.values())
        together |= extra.beside(several)
        give_answers(
            tables,
            lambda matrix: answer(results[matrix.measure]),
            as_json=as_json,
            every_metric=reading.every_metric,
            together=together,
            first=extra.first(several) if len(several) > 1 else "",
        )
        _end(extra.status(several))

    parameters = [_argument(study)]
    for option in offered.values():
        if not option.option.positional:
            parameters.append(_parameter(option.name, _annotation(option), option.default))
    types = get_type_hints(own, include_extras=True)
    parameters += [_parameter(field.name, types[field.name], field.default) for field in fields(own)]
    if study.source != "evaluation":
        parameters += inspect.signature(TableOptions, eval_str=True).parameters.values()
    parameters.append(_parameter("as_json", JsonOption, False))
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    command.__doc__ = study.help
    return command


def _end(status: int) -> None:
    if status:
        raise typer.Exit(status)


def print_page(page: Page) -> None:
    """The answer with its notes, what to do next, and the tables that are open."""
    for sentence in page.answer:
        print(visible(headline(without_isolates(sentence))))
    for note in page.notes:
        print(visible(fold(note)))
    if page.steps:
        print()
    for step in page.steps:
        print(visible(step))
    if page.tables and page.answer:
        print()
    print_tables(page.tables)


def _computed(study: Study, source: object, values: Mapping[str, Any]) -> Any:
    if not study.reports_progress:
        return study.compute(source, **values)
    with progress(study.doing) as update:
        return study.compute(source, progress=update, **values)


def _opened(source: Sequence[str | Path] | None) -> Evaluation | None:
    if not source:
        return None
    from qassay.evaluation import open_evaluation

    return open_evaluation(Path(source[0]))


def _reading(values: dict[str, Any]) -> TableOptions:
    return TableOptions(**{name: values.pop(name) for name in TableOptions.__dataclass_fields__})


def _argument(study: Study) -> inspect.Parameter:
    if any(offered.option.positional for offered in study.options):
        names = typer.Argument(metavar="SOURCE... [A B]", help=f"{SOURCES} Then two systems, or none.")
        return _parameter("sources", Annotated[list[str], names], inspect.Parameter.empty)
    if study.source != "evaluation":
        # A study that can do without scores has a default for them.
        default = next(iter(inspect.signature(study.compute).parameters.values())).default
        kind, about = get_args(SourcesArgument if study.source == "scores" else JudgesArgument)
        return _parameter("sources", Annotated[kind | None if default is None else kind, about], default)
    return _parameter("folder", FolderArgument, inspect.Parameter.empty)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(offered: Offered) -> Any:
    """The type of an option as the parser takes it, with its flag, help and limits."""
    option, kind = offered.option, offered.kind
    if (item := _repeated(offered)) is not None:
        kind = list[item] | None  # type: ignore[valid-type]  # the type of an item
    elif option.read is not None:
        kind = str | None
    names = [offered.flag, *([option.short] if option.short else [])]
    if kind == bool | None:
        names = [f"{offered.flag}/--no-{offered.flag[2:]}"]
    flag = typer.Option(*names, help=option.help, metavar=option.metavar, min=option.least, max=option.most)
    return Annotated[kind, flag]


def _repeated(offered: Offered) -> type | None:
    """The type of one value of a flag that may be repeated; None for a flag of one value, such as a range."""
    for part in (offered.kind, *get_args(offered.kind)):
        if get_origin(part) is Mapping:
            return str
        if get_origin(part) is Sequence and offered.option.read is None:
            item: type = get_args(part)[0]
            return item
    return None


def _value(offered: Offered, value: Any) -> Any:
    """The value of an option from the words of its flag."""
    if value is None:
        return None
    if offered.option.read is not None:
        try:
            return offered.option.read(value)
        except ValueError as error:
            raise UsageError(f"{offered.flag} takes {error}") from None
    if offered.option.repeated:
        return tuple(value)
    return names_in(value) if _repeated(offered) is str else value
