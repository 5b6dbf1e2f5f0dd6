"""The glossary in the documentation: its page, and links to it where a page first uses a term.

The terms are those of src/qassay/web/glossary.toml. `mkdocs` calls `on_page_markdown` for every page it builds (see
`hooks` in mkdocs.yml), so that pages need no links of their own and a new page has them at once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src" / "qassay" / "web" / "glossary.toml"
PAGE = "glossary.md"
# Parts of a page that get no links: front matter, code, generated parts, tags, links, headings and captions of blocks.
APART = re.compile(
    r"""(?msx)
    ^```.*?^```$ | <!--\ generated:.*?<!--\ end\ --> | <!--.*?--> | <[^>\n]+> | `[^`\n]*` | !?\[[^\]]*\]\([^)]*\)
    | ^\#.*?$ | ^::: .*?$ | https?://\S+
    """
)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the glossary, and the words that pages use for it."""

    name: str
    text: str
    forms: re.Pattern[str]

    @property
    def anchor(self) -> str:
        """The anchor of its heading on the page."""
        return re.sub(r"[^\w-]+", "", self.name.lower().replace(" ", "-"))


def groups() -> dict[str, list[Term]]:
    """The terms by group, in the order of the page."""
    listed = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["group"]
    return {group["title"]: [_term(entry) for entry in group["term"]] for group in listed}


def _term(entry: dict[str, str]) -> Term:
    words = entry.get("forms", rf"{re.escape(entry['name'])}s?")
    return Term(entry["name"], entry["text"], re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE))


def terms() -> Iterator[Term]:
    """All terms, longer names first: `gold answer` is found before a part of it."""
    yield from sorted((term for group in groups().values() for term in group), key=lambda term: -len(term.name))


def page() -> str:
    """The terms as Markdown, for docs/glossary.md."""
    parts = []
    for title, group in groups().items():
        parts.append(f"## {title}")
        parts += [f"### {term.name}\n\n{term.text}" for term in sorted(group, key=lambda term: term.name.lower())]
    return "\n\n".join(parts)


def linked(markdown: str, address: str) -> str:
    """A page whose first use of each term is a link to the glossary at this address."""
    for term in terms():
        if place := first_use(markdown, term):
            start, end = place
            link = f"[{markdown[start:end]}]({address}#{term.anchor})"
            markdown = markdown[:start] + link + markdown[end:]
    return markdown


def first_use(markdown: str, term: Term) -> tuple[int, int] | None:
    """Where a page first uses a term in its prose, outside links; None where it does not."""
    prose = APART.sub(lambda apart: " \0" + " " * (len(apart[0]) - 2), markdown)
    match = term.forms.search(prose)
    return None if match is None else match.span()


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by mkdocs: the page with its links."""
    source = page.file.src_uri
    if source == PAGE:
        return markdown
    return linked(markdown, "../" * source.count("/") + PAGE)
