"""Counts for free-text answers: the labels that answers were given, and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from qassay.judging.context import SUPPORTED
from qassay.judging.keys import Key
from qassay.judging.label import label_values
from qassay.matrix import Floats
from qassay.tally.rows import Rows, look_up, placed, unjudged_items, valued
from qassay.tasks import Task


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """The value of each answer's label, by run and question; NaN where it is not judged.

    `scale` has the lowest and the highest value of a label. `given` says for each label where it was given. An empty
    response has no label and the lowest value. `supported` is 1 or 0 where the support by the contexts is judged, else
    NaN.
    """

    value: Floats
    scale: tuple[float, float]
    given: Mapping[str, NDArray[np.bool_]]
    supported: Floats


def count_labels(rows: Rows, key: Key, task: Task) -> tuple[LabelCounts, NDArray[np.bool_], pl.DataFrame]:
    """Look up the labels of the answers; every returned answer without a judgment is unjudged."""
    is_item = rows.is_item()
    labels = look_up(rows.table, key.judgments.kind("label"), ["question", "text"], "judgment")
    scale = (min(task.values.values()), max(task.values.values()))
    value = np.full(rows.shape, np.nan)
    values = label_values(labels, task.values).to_numpy()
    value[rows.run[is_item], rows.column[is_item]] = values[is_item]
    value[rows.run[~is_item], rows.column[~is_item]] = scale[0]
    given = {label: rows.count((labels == label).fill_null(value=False).to_numpy()) > 0 for label in task.labels}
    contexts = placed(key.judgments.kind("context"), rows).with_columns(supported=pl.col("support") == SUPPORTED)
    supported = valued(contexts, rows, "supported")
    unjudged = unjudged_items(rows, is_item & labels.is_null().to_numpy(), pooled=True)
    counts = LabelCounts(value, scale, given, supported)
    return counts, np.ones(len(rows.questions), dtype=bool), unjudged
