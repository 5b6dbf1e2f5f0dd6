"""The command of a study: its options as flags, its record as JSON, its page as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

from qassay.cli.by_metric import Answer, give_answer_on, give_answers
from qassay.cli.inputs import (
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
from qassay.cli.output import fold, headline, print_json, print_tables, progress, visible, without_isolates
from qassay.errors import UsageError
from qassay.matrix import ScoreMatrix
from qassay.options import Offered, options_of
from qassay.pages import Page
from qassay.studies import Study

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation


def command_of(study: Study, then: Callable[..., Any] | None = None, **fixed: Any) -> Callable[..., None]:
    """The function behind the command of a study, as the parser reads it.

    `then` does more with the record, and gives it back: it takes the record, its source, and options of its own.
    `fixed` are arguments of the study that nobody chooses.
    """
    further = [] if then is None else options_of(then)

    def command(*, as_json: bool, **values: Any) -> None:
        source = [values.pop("folder")] if "folder" in values else values.pop("sources")
        reading = _reading(values) if study.source != "evaluation" else None
        computed = {offered.name: _value(offered, values[offered.name]) for offered in study.options}
        shown = {offered.name: _value(offered, values[offered.name]) for offered in study.shown_options}

        added = {offered.name: _value(offered, values[offered.name]) for offered in further}

        def answer(of: Any, chosen: Mapping[str, Any]) -> Answer:
            result = _computed(study, of, {**chosen, **fixed})
            result = result if then is None else then(result, of, **added)
            return Answer(result.as_json(), lambda: print_page(study.page(result, **shown)))

        if reading is None or not source or is_evaluation(source):
            if reading is not None:
                refuse("a folder" if source else "a command without scores", reading.given_options())
            given = answer(_opened(source), computed)
            print_json(given.document) if as_json else given.show()
            return
        refuse_measure(computed.get("measure") or computed.get("measures"))
        of_evaluation = [offered for offered in study.options if offered.option.of_evaluation]
        refuse("a table of scores", {o.flag: computed.pop(o.name) != o.default for o in of_evaluation})
        chosen = {name: value for name, value in computed.items() if name != "missing"}
        if study.source == "judges":
            from qassay.formats.sources import named_sources

            refuse("scores of several judges", {"--metric all": reading.every_metric})
            by_judge = {
                name: reading.read_tables([path], values["missing"]) for name, path in named_sources(source).items()
            }
            give_answer_on(by_judge, answer(by_judge, chosen), as_json=as_json)
            return
        tables = reading.read_tables(source, values["missing"])

        def answer_of(matrix: ScoreMatrix) -> Answer:
            if study.systems > 1:
                need_two_systems(matrix, source)
            return answer(matrix, chosen)

        give_answers(tables, answer_of, as_json=as_json, every_metric=reading.every_metric)

    parameters = [_argument(study)]
    for offered in (*study.options, *further, *study.shown_options):
        parameters.append(_parameter(offered.name, _annotation(offered), offered.default))
    if study.source != "evaluation":
        parameters += inspect.signature(TableOptions, eval_str=True).parameters.values()
    parameters.append(_parameter("as_json", JsonOption, False))
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    command.__doc__ = study.help
    return command


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
    if page.tables:
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
