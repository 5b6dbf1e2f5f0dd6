"""`qassay schema`: the JSON Schema of a row or of an output."""

from __future__ import annotations

from typing import Annotated

import typer

from qassay.cli.inputs import JsonOption
from qassay.cli.output import print_json, print_tables


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A row or a command; none lists all.")] = None,
    as_json: JsonOption = False,
) -> None:
    """The JSON Schema of a JSONL row, or of what a command prints.

    Without a name: all names. A schema is JSON, with --json or without.

    Examples

      qassay schema
      qassay schema judgment-row
      qassay schema compare > compare.schema.json
      qassay schema --json
    """
    from qassay.schemas import OUTPUTS, ROWS, schema
    from qassay.tables import table

    if name is not None:
        print_json(schema(name))
    elif as_json:
        kinds = {"rows": ROWS, "outputs": OUTPUTS}
        print_json({kind: {key: title for key, (title, _) in schemas.items()} for kind, schemas in kinds.items()})
    else:
        listed = [(key, title) for key, (title, _) in {**ROWS, **OUTPUTS}.items()]
        print_tables([table("Schemas", ["name", "what it describes"], listed)])
