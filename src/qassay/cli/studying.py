"""The command of a study: its options as flags, its record as JSON, its page as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

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
    refuse,
)
from qassay.cli.output import headline, print_json, print_tables, progress, visible, without_isolates
from qassay.options import Offered
from qassay.pages import Page
from qassay.studies import Study


def command_of(study: Study) -> Callable[..., None]:
    """The function behind the command of a study, as the parser reads it."""

    def command(*, as_json: bool, **values: Any) -> None:
        source = values.pop("sources", None) or [values.pop("folder")]
        reading = _reading(values) if study.source != "evaluation" else None
        computed = {offered.name: _value(offered, values[offered.name]) for offered in study.options}
        shown = {offered.name: _value(offered, values[offered.name]) for offered in study.shown_options}

        def answer(of: object, chosen: Mapping[str, Any]) -> Answer:
            result = _computed(study, of, chosen)
            return Answer(result.as_json(), lambda: print_page(study.page(result, **shown)))

        if reading is None or is_evaluation(source):
            from qassay.evaluation import open_evaluation

            if reading is not None:
                refuse("a folder", reading.given_options())
            given = answer(open_evaluation(Path(source[0])), computed)
            print_json(given.document) if as_json else given.show()
            return
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
        give_answers(tables, lambda matrix: answer(matrix, chosen), as_json=as_json, every_metric=reading.every_metric)

    parameters = [_argument(study)]
    for offered in (*study.options, *study.shown_options):
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
    """The answer, and the tables that are open."""
    for sentence in page.answer:
        print(visible(headline(without_isolates(sentence))))
    if page.tables:
        print()
    print_tables(page.tables)


def _computed(study: Study, source: object, values: Mapping[str, Any]) -> Any:
    if not study.reports_progress:
        return study.compute(source, **values)
    with progress(study.doing) as update:
        return study.compute(source, progress=update, **values)


def _reading(values: dict[str, Any]) -> TableOptions:
    return TableOptions(**{name: values.pop(name) for name in TableOptions.__dataclass_fields__})


def _argument(study: Study) -> inspect.Parameter:
    if study.source != "evaluation":
        argument = SourcesArgument if study.source == "scores" else JudgesArgument
        return _parameter("sources", argument, inspect.Parameter.empty)
    return _parameter("folder", FolderArgument, inspect.Parameter.empty)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(offered: Offered) -> Any:
    """The type of an option as the parser takes it, with its flag, help and limits."""
    option, kind = offered.option, offered.kind
    if option.read is not None:
        kind = str | None
    elif _is_list(kind):
        kind = list[str] | None
    names = [offered.flag, *([option.short] if option.short else [])]
    if kind is bool and offered.default is None:
        names = [f"{offered.flag}/--no-{offered.flag[2:]}"]
    flag = typer.Option(*names, help=option.help, metavar=option.metavar, min=option.least, max=option.most)
    return Annotated[kind, flag]


def _is_list(kind: Any) -> bool:
    parts = get_args(kind) if get_origin(kind) is not Sequence else (kind,)
    return any(get_origin(part) is Sequence for part in parts)


def _value(offered: Offered, value: Any) -> Any:
    """The value of an option from the words of its flag."""
    if value is not None and offered.option.read is not None:
        return offered.option.read(value)
    if value is None or not _is_list(offered.kind):
        return value
    return tuple(value) if offered.option.repeated else names_in(value)
