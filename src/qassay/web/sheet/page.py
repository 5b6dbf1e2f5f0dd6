"""The file of a judging sheet: everything inline, under a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from qassay.errors import UsageError
from qassay.formats import files
from qassay.web.rendering import as_script, environment
from qassay.web.sheet.bundle import bundle, icon, styles, theme
from qassay.web.sheet.content import Content

# Browsers open more, but slowly; and it has to go through somebody's mail.
LARGEST = 100 << 20
_MARK = "<!-- data -->"


def write_page(content: Content, path: Path, *, largest: int = LARGEST) -> int:
    """Write the file of a sheet; returns its size in bytes."""
    before, after = _shell(content).split(_MARK)
    pieces = [before.encode()]
    size = len(pieces[0]) + len(after.encode())
    for block in _blocks(content):
        pieces.append(block.encode())
        size += len(pieces[-1])
        if size > largest:
            raise UsageError(
                f"the sheet would be larger than {largest >> 20} MB; make several with --questions, or leave the "
                "documents out with --no-documents"
            )
    files.write_bytes(path, b"".join([*pieces, after.encode()]))
    return size


def _shell(content: Content) -> str:
    script, early, style = bundle(content.screens), theme(), styles()
    policy = [
        "default-src 'none'",
        f"script-src {_hash(script)} {_hash(early)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return (
        environment()
        .get_template("sheet.html")
        .render(
            assessor=content.data["assessor"],
            site=content.data["evaluation"],
            policy="; ".join(policy),
            icon=base64.b64encode(icon()).decode(),
            style=_own(style),
            theme=_own(early),
            script=_own(script),
            screens=[(screen, _own("".join(_screen(screen, content.data["labels"])))) for screen in content.screens],
            data=_own(_MARK),
        )
    )


def _blocks(content: Content) -> Iterator[str]:
    """The data: one element for each question and each text, read by the page when it is needed."""
    yield _block("sheet-data", content.data)
    yield from _numbered("question", content.questions)
    yield from _numbered("text", content.texts)


def _numbered(name: str, values: Iterable[Any]) -> Iterator[str]:
    return (_block(f"{name}-{number}", value) for number, value in enumerate(values, 1))


def _block(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{as_script(value)}</script>\n'


def _screen(screen: str, labels: list[str]) -> Iterator[str]:
    """What the application's page of a screen shows; questions are filled in by the screen itself."""
    question = dict.fromkeys(("text", "target", "definition"), "") | {"id": " ", "type": ""}
    page = {
        "screen": screen,
        "question": question,
        "labels": labels,
        "stages": [],
        "assignment": 0,
        "total": 0,
        "done": 0,
        "locked": False,
    }
    template = environment().get_template("judge.html")
    return template.blocks["content"](template.new_context({"page": page}))


def _own(text: str) -> Markup:
    """Text of our own: scripts and styles that end no element (`inline`), and what templates have escaped."""
    return Markup(text)  # noqa: S704


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
