"""Templates: what every page gets besides its own context."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import HTMLResponse

from qassay._version import __version__
from qassay.display import as_sentence

HERE = Path(__file__).parent
STATIC = HERE / "static"
# What may be served, and as what; tsconfig.json and the like are for those who work on the code.
TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
# The look that all pages share, in the order in which its files override each other.
LOOK = ("typeface", "colours", "text", "frame", "parts", "forms", "media")


@functools.cache
def static_files() -> dict[str, Path]:
    """The files of the package that are served, by their path."""
    paths = sorted(path for path in STATIC.rglob("*") if path.suffix in TYPES and path.is_file())
    return {path.relative_to(STATIC).as_posix(): path for path in paths}


@functools.cache
def static_version() -> str:
    """A name for what the static files are now: browsers keep them for good under it."""
    content = hashlib.sha256(__version__.encode())
    for name, path in static_files().items():
        content.update(name.encode() + b"\0" + path.read_bytes())
    return content.hexdigest()[:16]


def static_url(name: str) -> str:
    """The address of a static file; an error where there is none, so that a page cannot ask for a missing one."""
    if name not in static_files():
        raise LookupError(f"no static file {name}")
    return f"/static/{static_version()}/{name}"


def as_script(value: Any) -> Markup:
    """A value as JSON within a script element: nothing in it can end the element."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    escaped = text.translate({ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
    return Markup(escaped)  # noqa: S704  # escaped the line before


def day(moment: str | None) -> str:
    """A time of the store as a day and a time, for people."""
    return "" if not moment else datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(minutes: int) -> str:
    """A time for people (as in surroundings.js).

    >>> duration(0), duration(59), duration(130), duration(119), duration(1234)
    ('1 min', '59 min', '2 h 10 min', '2 h', '20 h')
    """
    if minutes < 60:
        return f"{max(1, minutes)} min"
    tens = (minutes + 5) // 10 * 10
    hours, rest = divmod(tens, 60)
    return f"{hours} h" if not rest or hours >= 10 else f"{hours} h {rest} min"


# Characters that turn text around without being seen.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# A page in pieces: elements whose text takes no mark, what is marked already, tags, and such a character in a text.
_PIECES = re.compile(
    r"<(script|style|title|textarea|option|svg)\b.*?</\1>|"
    rf'<span class="control" data-code="[^"]*">.</span>|<[^>]*>|({_TURNING.pattern})',
    re.DOTALL,
)


def marked(page: str) -> str:
    """A page in whose texts characters that turn the direction are shown as marks (as in dom.js).

    Values are escaped, so that a tag ends at the first >.

    >>> marked('<b title="\u202e">a\u202eb</b>') == '<b title="\u202e">a<span class="control">U+202E</span>b</b>'
    True
    """
    if not _TURNING.search(page):
        return page
    return _PIECES.sub(lambda piece: _mark(piece[2]) if piece[2] else piece[0], page)


def selectable(text: str) -> Markup:
    """A text with the same marks that is selected as it is written: with the characters, without the marks."""
    escaped = str(escape(text))
    return Markup(_TURNING.sub(lambda match: _mark(match[0], match[0]), escaped))  # noqa: S704  # escaped before


def _mark(character: str, kept: str = "") -> str:
    code = f"U+{ord(character):04X}"
    return f'<span class="control" data-code="{code}">{kept}</span>' if kept else f'<span class="control">{code}</span>'


def in_parts(name: str) -> Markup:
    """A name that may be broken where its parts join, such as that of a measure.

    >>> in_parts("citation_recall<")
    Markup('citation_<wbr>recall&lt;')
    """
    return Markup(str(escape(name)).replace("_", "_<wbr>"))  # noqa: S704  # escaped before


@functools.cache
def environment() -> jinja2.Environment:
    """The templates; a name that a context does not have is an error, not an empty string."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"static": static_url, "version": __version__, "look": LOOK}
    templates.filters |= {"script": as_script, "day": day, "duration": duration}
    templates.filters |= {"sentence": as_sentence, "parts": in_parts, "selectable": selectable}
    return templates


def render(
    request: Request,
    template: str,
    page: BaseModel | Mapping[str, Any],
    *,
    data: bool = False,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """A page as HTML: `page` is its context; `person`, `site` and `navigation` come with it."""
    from qassay.web.pages import navigation

    person = request.scope.get("state", {}).get("person")
    configuration = request.app.state.site.configuration
    signed_in = {"name": person.name, "role": person.role} if person else None
    text = (
        environment()
        .get_template(template)
        .render(
            page=page,
            person=person,
            site=configuration.name,
            navigation=navigation(
                person.role if person else None, request.url.path, authors=configuration.track.authors
            ),
            page_data=page if data else None,
            site_data={"account": signed_in, "shortcuts": person.preferences.get("shortcuts", {}) if person else {}},
        )
    )
    return HTMLResponse(marked(text), status, dict(headers or {}))
