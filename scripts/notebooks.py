"""The tutorial notebook: its cells are run in plain Python, and what they give is stored below them.

Edit the cells in docs/notebook.ipynb, with Jupyter or by hand; `generate_docs.py` writes the outputs, and the page that
shows the notebook in the documentation.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import io
import json
import re
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent.parent / "docs" / "notebook.ipynb"
_STYLE = re.compile(r"<style>.*?</style>\n", re.DOTALL)


@functools.cache
def current(path: Path = NOTEBOOK) -> str:
    """The text of the notebook with the outputs that its cells give today."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps(run(notebook), indent=1, ensure_ascii=False) + "\n"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """A copy of a notebook with its code cells run, from top to bottom, in one namespace and an empty folder."""
    finished = copy.deepcopy(notebook)
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    with tempfile.TemporaryDirectory(prefix="qassay-notebook-") as folder, contextlib.chdir(folder):
        for cell in finished["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell["execution_count"] = count
                cell["outputs"] = _outputs("".join(cell["source"]), names, count)
    return finished


def _outputs(source: str, names: dict[str, object], count: int) -> list[dict[str, Any]]:
    """What a cell prints, and what its last line is."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def page() -> str:
    """The notebook as Markdown: texts, code, and outputs as a notebook shows them."""
    parts: list[str] = []
    styled = False
    for cell in json.loads(current())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            markup = "".join(output.get("data", {}).get("text/html", ()))
            if markup:
                # The style is needed once; Markdown takes a block of HTML up to its first empty line.
                markup = _STYLE.sub("", markup) if styled else markup
                parts.append(re.sub(r"\n\s*\n", "\n", markup))
                styled = True
            else:
                text = "".join(output.get("text") or output["data"]["text/plain"])
                parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts)
