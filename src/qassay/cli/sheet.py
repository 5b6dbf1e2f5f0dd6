"""`qassay sheet`: a judging sheet for an assessor without the server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qassay.cli.inputs import FolderArgument, JsonOption
from qassay.cli.output import print_json, progress, visible
from qassay.errors import UsageError, few
from qassay.tables import plural

if TYPE_CHECKING:
    from qassay.evaluation import Evaluation
    from qassay.formats.sheets import SheetKey


def command(
    folder: FolderArgument,
    assessor: Annotated[
        str,
        typer.Option(
            "--assessor", metavar="NAME", help="Who judges; import makes it the set of this name, or that of --set."
        ),
    ],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="The file to write (default: NAME.html).")
    ] = None,
    questions: Annotated[
        str | None, typer.Option("--questions", metavar="IDS", help="Only these questions or series, by comma.")
    ] = None,
    holistic: Annotated[
        bool, typer.Option("--holistic", help="Ask also for content and organization of nugget responses.")
    ] = False,
    citations: Annotated[
        bool, typer.Option("--citations", help="Ask also whether cited documents support answers.")
    ] = False,
    documents: Annotated[
        bool, typer.Option("--documents/--no-documents", help="Put the documents of the items into the file.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Write a judging sheet for an assessor without the server.

    The sheet is one HTML file that any browser opens, without a network. It
    has the judging screens of the application and the documents of the
    answers. The browser keeps the decisions. The assessor saves them to a
    file and sends it back; import adds them to the judgment set with the
    name of the assessor.

    Such a set does not count as assigned work in the application. If the
    sheet is the work of the first assessor of its questions, import it with
    --set first: then it counts as done, and goes to adjudication.

    The sheet does not say which run an answer comes from. FOLDER/sheets
    does: do not send that folder, and keep it until the judgments are back.

    Questions whose nuggets are not written yet are left out.

    Examples

      qassay sheet my-eval --assessor ada
      qassay sheet my-eval --assessor ada --questions 1,2,3.1 --to ada-1.html
      qassay import my-eval ada-3f2a9c81d07e.jsonl
      qassay import my-eval ada-3f2a9c81d07e.jsonl --set first
    """
    from qassay.evaluation import open_evaluation
    from qassay.formats.names import file_name, name_fault
    from qassay.web.sheet.content import Wanted, make_content
    from qassay.web.sheet.page import write_page

    if fault := name_fault(assessor):
        raise UsageError(f"the assessor's name {assessor!r} {fault}: it names a judgment set")
    path = to or Path(f"{file_name(assessor)}.html")
    if path.exists():
        raise UsageError(f"{path} is there already; name another file with --to, or remove it")
    names = [name.strip() for name in (questions or "").split(",") if name.strip()]
    wanted = Wanted(assessor, names, holistic=holistic, citations=citations, documents=documents)
    evaluation = open_evaluation(folder)
    with progress("Making the sheet") as update:
        content = make_content(evaluation, wanted, seed=judging_seed(evaluation), progress=update)
    size = write_page(content, path)
    key = keep_key(evaluation, content.key)
    if as_json:
        print_json(
            {
                "sheet": content.key.sheet,
                "file": str(path),
                "key": key,
                "questions": len(content.questions),
                "items": content.items,
                "documents": len(content.texts),
                "bytes": size,
                "without_nuggets": content.waiting,
            }
        )
        return
    counts = f"{plural(len(content.questions), 'question')}, {plural(content.items, 'item')}"
    print(visible(f"{path}: {counts}, {plural(len(content.texts), 'document')}, {size / 1e6:.1f} MB"))
    if content.waiting:
        waiting = f"{plural(len(content.waiting), 'question')} ({few(content.waiting)})"
        print(visible(f"Left out, because their nuggets are not written yet: {waiting}"))
    print(visible(f"Send {path} to {assessor}. The file that comes back: qassay import {folder} FILE"))
    print(visible(f"Keep {key} until then: it says which item each number on the sheet means."))


def keep_key(evaluation: Evaluation, key: SheetKey) -> str:
    """Write the meaning of the numbers of a sheet, for the organiser alone; returns the file's name for messages."""
    from qassay.formats.sheets import write_key

    return evaluation.folder.name(write_key(evaluation.folder, key))


def judging_seed(evaluation: Evaluation) -> str:
    """The seed of numbers and orders: the store's, where there is one, so that all assessors see the same."""
    from qassay.formats.sheets import kept_seed
    from qassay.store.folder.snapshot import existing_store
    from qassay.store.pool.items import order_seed

    store = existing_store(evaluation.folder, evaluation.configuration)
    if store is None:
        return kept_seed(evaluation.folder)
    with closing(store), store.write() as connection:
        return order_seed(connection)
