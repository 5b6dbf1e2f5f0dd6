"""`qassay facts`: the test set and its key in numbers."""

from __future__ import annotations

from qassay.cli.inputs import FolderArgument, JsonOption, KeyOption
from qassay.cli.output import headline, print_json, print_tables, visible


def command(folder: FolderArgument, key: KeyOption = None, as_json: JsonOption = False) -> None:
    """Show the test set and its judgments in numbers, as the overview of a shared task prints them.

    Questions by type, series and questions per series, targets by type,
    questions for which NIL ("there is no answer") is right, answers per
    list question, nuggets per list and how many of them are vital, runs,
    and how much each assessor judged. An unknown number is shown as a dash
    (null), not as 0. Questions that are left out of scoring are listed with
    the reason. No runs are needed.

    Examples

      qassay facts my-eval
      qassay facts my-eval --key first
      qassay facts my-eval --json
    """
    from qassay.analysis import facts
    from qassay.evaluation import open_evaluation

    result = facts(open_evaluation(folder), key=key)
    if as_json:
        print_json(result.as_json())
        return
    print(visible(headline(f"{result.sentence()}.")))
    print()
    print_tables(result.tables())
