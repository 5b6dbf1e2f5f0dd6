"""Machine code for large jobs; the same results as array code. Importing it, or a module of it, imports numba.

`python -m benchmarks compiled`: `qassay sensitivity` without it takes 1.5 times the processor time for 100 x 400
scores, 2.1 times for 500 x 2,000. For 12 x 301 it is not loaded.

scoring      deals the units and scores subsets of them
counting     counts swaps without visiting the pairs: trials in, counts out
predicting   the closed form over very many pairs
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.core import config
from numba.extending import intrinsic

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

ONE = np.uint64(1)


def compiled(function: Kernel, signature: str | None = None) -> Kernel:
    """Compile on first use, or at once for a signature; other threads may run while the function does.

    The machine code is kept on disk. Where there is no place for it, it is compiled again in every process.
    """
    try:
        return cast(Kernel, njit(signature, cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(Kernel, njit(signature, nogil=True, error_model="numpy")(function))


def compiled_wide(function: Kernel, signature: str) -> Kernel:
    """Compile at once, with the pass that joins equal operations on neighbours into one wide operation.

    numba leaves that pass out unless its configuration says otherwise when a function is compiled.
    """
    flag = "SLP_VECTORIZE"
    before = getattr(config, flag)
    setattr(config, flag, 1)
    try:
        return compiled(function, signature)
    finally:
        setattr(config, flag, before)


def _popcount(context: Any, word: Any) -> Any:
    """The number of ones in a 64-bit word, by the processor's own instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


popcount = cast(Callable[[Any], int], intrinsic(_popcount))
