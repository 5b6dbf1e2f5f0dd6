"""What stands, looked up by thing: the queries of every save, built once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Connection, String, any_, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY

from qassay.store.judging.appending import Row
from qassay.store.schema import judgment, standing


def versions(connection: Connection, set_name: str, things: Collection[str]) -> dict[str, tuple[int, bool]]:
    """Version of what stands in a set for some things, and whether it is a judgment; never judged is absent."""
    rows = connection.execute(_VERSIONS[connection.dialect.name], _asked(connection, set_name, things))
    return {named: (version, there) for named, version, there in rows}


def bodies(connection: Connection, set_name: str, things: Collection[str]) -> dict[str, tuple[int, Row | None]]:
    """Version and body of what stands in a set for some things; never judged is absent."""
    rows = connection.execute(_BODIES[connection.dialect.name], _asked(connection, set_name, things))
    return {named: (version, None if body is None else msgspec.json.decode(body)) for named, version, body in rows}


def things_after(connection: Connection, set_name: str, named: str, *, limit: int) -> list[str]:
    """The things that a set has judged, in the order of their names, from the one after this on."""
    c = standing.c
    judged = (c.set == set_name, c.body.is_not(None), c.thing > named)
    return list(connection.execute(select(c.thing).where(*judged).order_by(c.thing).limit(limit)).scalars())


def count_judgments(connection: Connection) -> int:
    """How many judgments were ever appended, by whomever."""
    return int(connection.execute(select(func.count()).select_from(judgment)).scalar_one())


def _asked(connection: Connection, set_name: str, things: Collection[str]) -> dict[str, Any]:
    """One parameter for all things, however many: databases count parameters, and building them takes time."""
    wanted = list(things)
    return {"name": set_name, "things": msgspec.json.encode(wanted).decode() if _is_sqlite(connection) else wanted}


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


_listed = func.json_each(bindparam("things", type_=String)).table_valued("value")
_AMONG: dict[str, Any] = {
    "sqlite": standing.c.thing.in_(select(_listed.c.value)),
    "postgresql": standing.c.thing == any_(bindparam("things", type_=ARRAY(String))),
}


def _statements(*columns: Any) -> dict[str, Any]:
    c = standing.c
    return {
        dialect: select(c.thing, c.version, *columns).where(c.set == bindparam("name"), among)
        for dialect, among in _AMONG.items()
    }


_VERSIONS = _statements(standing.c.body.is_not(None))
_BODIES = _statements(standing.c.body)
