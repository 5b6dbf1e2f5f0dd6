"""A report as one HTML file: no scripts, no requests, and a content-security policy that allows neither."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from qassay.display import safe_text
from qassay.figures.figure import DARK, LIGHT

if TYPE_CHECKING:
    from qassay.figures import Figure
    from qassay.pages import Exhibit
    from qassay.reports.document import Report
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

    shown = [exhibit.numbers.html() for exhibit in report.exhibits() if exhibit.name == "scores"]
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
    for section in report.drawn:
        yield f'<section aria-labelledby="{section.name}"><h2 id="{section.name}">{text(section.title)}</h2>'
        yield f"<p>{text(safe_text(' '.join(section.answer)))}</p>" if section.answer else ""
        yield from (_exhibit(exhibit) for exhibit in section.exhibits)
        yield "</section>"


def _exhibit(exhibit: Exhibit) -> str:
    drawn = exhibit.figure
    shown = table_html(exhibit.numbers)
    link = _download(exhibit)
    if drawn is not None:
        inside = drawn.svg(alone=False)
        picture = figure_html(drawn, inside)
        links = link + _saved_picture(exhibit.name, drawn, inside)
        return f'<div class="card">{picture}<details><summary>Table and files</summary>{shown}{links}</details></div>'
    if exhibit.folded:
        title = text(safe_text(exhibit.numbers.title))
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
    if len(exhibit.numbers.rows) * len(exhibit.numbers.columns) > MOST_CELLS:
        return ""
    data = exhibit.numbers.csv().encode()
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
    """The attributes of a column of text; short texts stay on one line."""
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


# ---- the look: light, dark, print, and 360 pixels -------------------------------------------------------------------


_COLOURS = "".join(f"--{name}:light-dark({LIGHT[name]},{DARK[name]});" for name in LIGHT)

STYLE = (
    ":root{color-scheme:light dark;" + _COLOURS + "--paper:light-dark(#f6f8fa,#0f151b);"
    "--right:light-dark(#1a7f4b,#4cc38a);--edge:light-dark(#b4bfc9,#4c5a67)}"
    """
*{box-sizing:border-box}
html{font:16px/1.55 Inter,"Source Sans 3",system-ui,"Segoe UI","Liberation Sans",Arial,sans-serif;
font-variant-numeric:tabular-nums}
body{margin:0;background:var(--paper);color:var(--ink)}
header{padding:.75rem 2rem;background:var(--card);border-bottom:1px solid var(--line);font-weight:650}
.mark{display:inline-block;width:1.1rem;height:1.1rem;border-radius:.3rem;margin-right:.6rem;vertical-align:-.15rem;
background:linear-gradient(135deg,var(--accent),var(--right))}
main{max-width:76rem;margin:0 auto;padding:1.5rem 2rem 5rem}
h1{font-size:1.5rem;line-height:1.3;font-weight:620;letter-spacing:-.015em;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;font-weight:620;letter-spacing:-.01em;margin:3rem 0 .5rem}
h3{font-size:1rem;font-weight:600;margin:0 0 .5rem;overflow-wrap:anywhere}
p{max-width:46rem;margin:.5rem 0;overflow-wrap:anywhere}
.soft,figcaption,.note{color:var(--soft);font-size:.875rem}
.lead{font-size:1.25rem;line-height:1.45;letter-spacing:-.01em;margin:1.25rem 0 .5rem;font-weight:640}
.contents{display:flex;flex-wrap:wrap;gap:.25rem;margin:1rem 0 0;border-bottom:1px solid var(--line);padding:0}
.contents a{padding:.5rem .9rem;color:var(--soft);text-decoration:none;font-size:.9375rem}
a{color:var(--accent)}
.contents a:hover,.contents a:focus-visible{color:var(--ink);text-decoration:underline}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;margin:1.25rem 0;padding:0}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem 1.5rem;margin:1rem 0}
.facts .card{padding:.9rem 1.1rem;margin:0;display:flex;flex-direction:column}
.facts dt{color:var(--soft);font-size:.875rem}
.facts dd{margin:0}
.facts dd.value{font-size:1.5rem;letter-spacing:-.02em;font-weight:620}
figure{margin:0}
.wide{overflow-x:auto;background:
linear-gradient(to right,var(--card) 40%,transparent) left/2.5rem 100% no-repeat local,
linear-gradient(to left,var(--card) 40%,transparent) right/2.5rem 100% no-repeat local,
linear-gradient(to right,var(--edge),transparent) left/1rem 100% no-repeat scroll,
linear-gradient(to left,var(--edge),transparent) right/1rem 100% no-repeat scroll}
figure .wide{margin-inline:-1rem;padding-inline:1rem}
.wide:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
figure svg{display:block;max-width:100%;height:auto;font-family:"Liberation Sans",Arial,Helvetica,Arimo,sans-serif}
figcaption,summary,.note,li,dd{overflow-wrap:anywhere}
figcaption{margin-top:.5rem;max-width:46rem}
table{border-collapse:collapse;font-size:.9375rem;width:100%}
caption{text-align:left;font-weight:600;padding-bottom:.5rem;overflow-wrap:anywhere}
th{text-align:right;font-weight:550;color:var(--soft);font-size:.8125rem;vertical-align:bottom}
th,td{padding:.45rem .75rem;border-bottom:1px solid var(--line)}
td{text-align:right;vertical-align:top}
th.text,td.text{text-align:start;max-width:26rem;overflow-wrap:break-word;word-break:break-word;min-width:9rem}
th.short,td.short{min-width:0}td.short{white-space:nowrap}
tbody th{color:var(--ink);font-size:.9375rem}
.note{margin:.5rem 0 0}
details{margin-top:.75rem}
.card>details:first-child{margin:0}
summary{padding:.125rem 0;cursor:pointer;color:var(--accent);font-size:.875rem}
ul{padding-left:1.25rem;max-width:46rem}
li{margin:.4rem 0;overflow-wrap:anywhere}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.6rem .8rem;margin:.25rem 0 1rem;
overflow-x:auto;font:.875rem/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
@media (min-width:72rem){figure{display:grid;grid-template-columns:minmax(0,max-content) minmax(14rem,1fr);
column-gap:.75rem}figure h3{grid-column:1/-1}figure .wide{margin-right:0}figcaption{margin-top:0}}
@media (max-width:40rem){main{padding:1rem 1rem 3rem}header{padding:.75rem 1rem}.card{padding:1rem;border-radius:.6rem}
figure svg{max-width:none;zoom:.75}.facts dd.value{font-size:1.25rem;white-space:nowrap}
.lead{font-size:1.125rem}th,td{padding:.4rem .5rem}
.facts{grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.6rem}}
@media print{:root{color-scheme:light}html{font-size:11pt}body{background:none}header,.contents,.download{display:none}
main{max-width:none;padding:0}.card{border:0;padding:0;border-radius:0}.facts .card{border:1px solid var(--line);
padding:.5rem .75rem;border-radius:.4rem}figure,.facts,tr{break-inside:avoid}h2,h3,caption{break-after:avoid}
table,tbody th{font-size:.75rem}th{font-size:.7rem}th,td{padding:.25rem .4rem}.wide{overflow:visible;background:none}
details:not([open]){display:none}pre{white-space:pre-wrap}a{color:inherit;text-decoration:none}}
"""
)
