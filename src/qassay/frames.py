"""Results as data frames: for polars, for pandas, and for everything that reads Arrow.

A tabular record builds one polars frame, with numbers at full precision; the other forms follow from it. Polars and
pandas are loaded when a frame is asked for, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from qassay.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

NO_PANDAS = "to_pandas() needs pandas, which is not installed. Install it with: pip install pandas"

# The types of columns: polars takes these for its own.
Kind = type[str] | type[int] | type[float] | type[bool]


class Framed:
    """A record that is a table of numbers too."""

    __slots__ = ()

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame, with numbers at full precision."""
        raise NotImplementedError(type(self).__name__)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame, with numbers at full precision. Needs pandas, and nothing else."""
        try:
            import pandas as pd
        except ImportError:
            raise UsageError(NO_PANDAS) from None
        # By columns, and not by polars' own way, which needs pyarrow.
        return pd.DataFrame(self.to_polars().to_dict(as_series=False))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """An Arrow stream: `pyarrow.table(result)`, DuckDB and others read the result directly."""
        return self.to_polars().__arrow_c_stream__(requested_schema)


def frame(columns: Mapping[str, Kind], rows: Iterable[Sequence[object]]) -> pl.DataFrame:
    """A polars frame of rows under typed columns; None is null.

    >>> frame({"run": str, "score": float}, [("a", 0.5), ("b", None)]).to_dicts()
    [{'run': 'a', 'score': 0.5}, {'run': 'b', 'score': None}]
    """
    import polars as pl

    cells = list(zip(*rows, strict=True)) or [()] * len(columns)
    return pl.DataFrame(dict(zip(columns, cells, strict=True)), schema=dict(columns), strict=False)


def ends(interval: Sequence[float] | None) -> tuple[float | None, float | None]:
    """Both ends of an interval as two cells."""
    return (None, None) if interval is None else (interval[0], interval[1])
