"""A report as one HTML file: no scripts, no requests, and a content-security policy that allows neither."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qassay.display import safe_text
from qassay.reports.style import STYLE

if TYPE_CHECKING:
    from qassay.figures import Figure
    from qassay.reports.document import Exhibit, Report
    from qassay.tables import Table

# A page shows this many rows of a table, and no table with more cells than this; the CSV folder has everything.
MOST_ROWS = 200
MOST_CELLS = 6_000
# A table or picture of more bytes than this has no link of its own for download.
MOST_LINKED = 60_000
# Cells of text up to this many characters do not break.
SHORT = 24


def report_page(report: Report) -> str:
    """The whole page."""
    contents = [(section.name, section.title) for section in report.sections]
    contents += [("methods", "How was it done?")] + ([("again", "Do it again")] if report.commands else [])
    lead, *rest = report.answer
    body = [
        f"<h1>{text(report.title)}</h1>",
        f'<p class="soft">{text(report.subtitle)}</p>',
        f'<p class="lead">{text(lead)}</p>',
        *(f"<p>{text(sentence)}</p>" for sentence in rest),
        _facts(report),
        '<nav class="contents" aria-label="Contents">',
        *(f'<a href="#{name}">{text(title)}</a>' for name, title in contents),
        "</nav>",
        *_sections(report),
        '<section aria-labelledby="methods"><h2 id="methods">How was it done?</h2><ul>',
        *(f"<li>{text(paragraph)}</li>" for paragraph in report.methods),
        "</ul></section>",
        *_commands(report),
    ]
    return whole_page(report.title, body)


def notebook_block(report: Report) -> str:
    """The answer and the leaderboard, for a notebook."""
    from qassay.display import html_block

    shown = [exhibit.table.html() for exhibit in report.exhibits() if exhibit.name == "scores"]
    return html_block(shown, lead=" ".join(report.answer))


def whole_page(title: str, body: Iterable[str]) -> str:
    """A page around its body: style, policy and header."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{text(title)}</title>",
            f"<style>{STYLE}</style></head><body>",
            '<header><span class="mark" aria-hidden="true"></span>Qassay</header><main>',
            *body,
            "</main></body></html>",
            "",
        ]
    )


def text(sentence: str) -> str:
    """A sentence of ours as HTML; names in it are safe already (`words.called`)."""
    return html.escape(sentence)


def _facts(report: Report) -> str:
    cards = (
        f'<div class="card"><dt>{text(fact.label)}</dt><dd class="value">{text(fact.value)}</dd>'
        f'<dd class="soft">{text(fact.meaning)}</dd></div>'
        for fact in report.facts
    )
    return f'<dl class="facts">{"".join(cards)}</dl>' if report.facts else ""


def _sections(report: Report) -> Iterable[str]:
    for section in report.sections:
        yield f'<section aria-labelledby="{section.name}"><h2 id="{section.name}">{text(section.title)}</h2>'
        yield f"<p>{text(' '.join(section.sentences))}</p>" if section.sentences else ""
        yield from (_exhibit(exhibit) for exhibit in section.exhibits)
        yield "</section>"


def _exhibit(exhibit: Exhibit) -> str:
    drawn = exhibit.figure
    shown = table_html(exhibit.table)
    link = _download(exhibit)
    if drawn is not None:
        inside = drawn.svg(alone=False)
        picture = figure_html(drawn, inside)
        links = link + _saved_picture(exhibit.name, drawn, inside)
        return f'<div class="card">{picture}<details><summary>Table and files</summary>{shown}{links}</details></div>'
    if exhibit.folded:
        title = text(safe_text(exhibit.table.title))
        return f'<div class="card"><details><summary>{title}</summary>{shown}{link}</details></div>'
    return f'<div class="card">{shown}{link}</div>'


def figure_html(drawn: Figure, inside: str) -> str:
    """A figure with its title and caption; `inside` is its picture."""
    return (
        f'<figure><h3>{text(drawn.title)}</h3><div class="wide" tabindex="0" role="group" '
        f'aria-label="{text(drawn.title)}">{inside}</div>'
        f"<figcaption>{text(drawn.caption)}</figcaption></figure>"
    )


def _download(exhibit: Exhibit) -> str:
    """A link that saves the table as CSV, out of the page itself."""
    if len(exhibit.table.rows) * len(exhibit.table.columns) > MOST_CELLS:
        return ""
    data = exhibit.table.to_polars().write_csv().encode()
    if len(data) > MOST_LINKED:
        return ""
    return _link(f"{exhibit.name}.csv", "CSV", "text/csv;charset=utf-8", data)


def _saved_picture(name: str, drawn: Figure, inside: str) -> str:
    """A link that saves the picture as SVG, out of the page itself."""
    from qassay.figures.figure import picture_file

    data = picture_file(inside, title=drawn.title, caption=drawn.caption).encode()
    return _link(f"{name}.svg", "SVG", "image/svg+xml", data) if len(data) <= MOST_LINKED else ""


def _link(name: str, form: str, kind: str, data: bytes) -> str:
    packed = base64.b64encode(data).decode()
    address = f"data:{kind};base64,{packed}"
    return f'<p class="note download"><a download="{name}" href="{address}">Save as {form}: {name}</a></p>'


def table_html(table: Table, *, most: int = MOST_ROWS) -> str:
    """A table with its caption and notes, and `most` rows; one that is too wide for a page is named and not shown."""
    if len(table.rows[:MOST_ROWS]) * len(table.columns) > MOST_CELLS:
        size = f"{len(table.rows):,} rows, {len(table.columns):,} columns"
        return f'<p class="note">{text(safe_text(table.title))}: {size}. `report --format csv` writes all of it.</p>'
    rows = replace(table, rows=table.rows[:most]).cells()
    kinds = [_kind([row[place] for row in rows]) if column.left else "" for place, column in enumerate(table.columns)]
    head = "".join(
        f'<th scope="col"{kind}>{text(safe_text(column.header))}</th>' if column.header else f"<td{kind}></td>"
        for column, kind in zip(table.columns, kinds, strict=True)
    )
    body = "\n".join(_row(row, kinds) for row in rows)
    left = len(table.rows) - len(rows)
    notes = [f"{left:,} more rows: report --format csv writes all of them."] if left else []
    notes += [safe_text(note) for note in table.notes]
    below = "".join(f'<p class="note">{text(note)}</p>' for note in notes)
    caption = f"<caption>{text(safe_text(table.title))}</caption>" if table.title else ""
    label = text(safe_text(table.title)) or "Table"
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{label}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{below}"
    )


def _kind(cells: Sequence[str]) -> str:
    """The attributes of a column of text; what is short stays on one line."""
    short = max(map(len, cells), default=0) <= SHORT
    return f' class="text{" short" if short else ""}" dir="auto"'


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    shown = (f"<td{kind}>{text(safe_text(cell))}</td>" for cell, kind in zip(cells, kinds, strict=True))
    return f"<tr>{''.join(shown)}</tr>"


def _commands(report: Report) -> Iterable[str]:
    if not report.commands:
        return
    yield '<section aria-labelledby="again"><h2 id="again">Do it again</h2>'
    yield "<p>These commands print the numbers of this report.</p>"
    for purpose, command in report.commands.items():
        yield f"<p>{text(purpose)}</p><pre><code>{text(safe_text(command))}</code></pre>"
    yield "</section>"
