"""The file of a judging sheet: everything inline, under a policy that lets nothing in or out."""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from qassay.errors import UsageError
from qassay.formats import files
from qassay.web.rendering import LOOK, as_script, environment, static_files
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
        "font-src data:",
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
    """The application's page of a screen; questions are filled in by the screen itself."""
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
        "job": {"done": 0, "total": 0},
        "sheet": True,
    }
    template = environment().get_template("judge.html")
    return template.blocks["content"](template.new_context({"page": page}))


def _own(text: str) -> Markup:
    """Text of our own: scripts and styles that end no element (`inline`), and what templates have escaped."""
    return Markup(text)  # noqa: S704


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# ---- the application's scripts as one script that needs no server ----------------------------------------------------
#
# Every module becomes a function that gets its imports by name and returns its exports, so that the whole fits into one
# script element whose hash the page's policy names: nothing else may run. The modules that talk to the server are
# replaced by those of `static/js/sheet/`, which answer out of the file.

MAIN = "sheet/main.js"
# Replacements for modules that talk to the server; the modules of a sheet see the originals.
REPLACED = {name: f"sheet/{name}" for name in ("address.js", "api.js", "outbox.js", "remembered.js")}

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_LISTED = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$|\bimport\.meta\b|^await\b", re.MULTILINE)


def bundle(screens: Iterable[str]) -> str:
    """One script with these screens and everything they use, which starts the sheet."""
    modules: dict[str, str] = {}
    waiting = [MAIN, "base.js", *(f"screens/{screen}.js" for screen in screens)]
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules[name], used = as_function(name, _source(f"js/{name}"))
            waiting += used
    parts = ",\n".join(f'"{name}": {text}' for name, text in sorted(modules.items()))
    return inline(
        '"use strict";\n(() => {\n'
        f"const modules = {{\n{parts}\n}};\n"
        "const loaded = new Map();\n"
        "const $module = (name) => {\n"
        "  if (!loaded.has(name)) loaded.set(name, modules[name]($module));\n"
        "  return loaded.get(name);\n"
        "};\n"
        f'$module("{MAIN}").main((name) => void modules[name]($module));\n'
        "})();\n"
    )


def as_function(name: str, source: str) -> tuple[str, list[str]]:
    """A module as a function of the loader that returns its exports, and the names of the modules that it uses."""
    used: list[str] = []
    exported: list[str] = []

    def taken(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
        if not name.startswith("sheet/"):
            path = REPLACED.get(path, path)
        used.append(path)
        return f'const {{{match[1].replace(" as ", ": ")}}} = $module("{path}");'

    def declared(match: re.Match[str]) -> str:
        exported.append(match[2])
        return match[1]

    def listed(match: re.Match[str]) -> str:
        exported.extend(part.strip() for part in match[1].split(",") if part.strip())
        return ""

    body = _LISTED.sub(listed, _DECLARED.sub(declared, _IMPORT.sub(taken, source)))
    if (other := _OTHER.search(body)) is not None:
        raise ValueError(f"{name}: {other[0]!r} cannot be put into a sheet; write plain named imports and exports")
    return f"($module) => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}}", used


def styles() -> str:
    """The look of the judging screens."""
    screens = (f"screens/{name}" for name in ("responses", "choices", "lists", "nuggets"))
    names = [*(f"look/{name}" for name in LOOK if name != "typeface"), "judge", *screens, "sheet"]
    return inline("\n".join([_typeface(), *(_source(f"css/{name}.css") for name in names)]))


def _typeface() -> str:
    """The Latin letters of the typeface, within the file; others are the system's: the file has to stay small."""
    face = next(face for face in _source("css/look/typeface.css").split("@font-face") if "inter-latin.woff2" in face)
    data = base64.b64encode(static_files()["fonts/inter-latin.woff2"].read_bytes()).decode()
    return "@font-face" + re.sub(r'url\("[^"]*"\)', f'url("data:font/woff2;base64,{data}")', face)


def theme() -> str:
    """The script that sets the theme before anything is painted."""
    return inline(_source("js/theme.js"))


def icon() -> bytes:
    """The page's icon."""
    return static_files()["icon.svg"].read_bytes()


def inline(text: str) -> str:
    """A text that may be inside a script or style element; an error where it would end it."""
    if re.search(r"</(?:script|style)|<!--|\r|\0", text, re.IGNORECASE):
        raise ValueError("a script or style of the application cannot be put into a page: it holds the end of one")
    return text


def _source(name: str) -> str:
    return static_files()[name].read_text(encoding="utf-8")
