"""A figure: a chart as plain data, with its table, and its forms for pages, notebooks and print.

Colours are names (`var(--accent)`), so that one chart follows light and dark wherever it is shown. A picture in a file
brings its own colours; a picture in a page uses those of the page.
"""

from __future__ import annotations

import copy
import html
import json
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from qassay.display import safe_text
from qassay.errors import UsageError
from qassay.frames import Framed
from qassay.tables import Table

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

# The names of the colours, light and dark: those of the report and of the application.
LIGHT: Final = {
    "ink": "#16202b",
    "soft": "#55636f",
    "line": "#dfe5ea",
    "card": "#ffffff",
    "accent": "#0b5cad",
    "wash": "#e9f2fc",
    "other": "#b35900",
}
DARK: Final = {
    "ink": "#e8edf2",
    "soft": "#9fb0bf",
    "line": "#2a3540",
    "card": "#161e26",
    "accent": "#6db3ff",
    "wash": "#16283b",
    "other": "#f0883e",
}
NO_FIGURES: Final = "a figure needs more: pip install 'qassay[figures]'"

# The typeface that a file was measured with, and those with the same widths: in others, titles and names would be cut.
FONTS: Final = "'Liberation Sans',Arial,Helvetica,Arimo,sans-serif"
# Letters of a figure have 12 pixels; those of a page have 15.
IN_PAGE: Final = 1.25

_COLOUR = re.compile(r"var\(--([a-z]+)\)")
# What remains of these after control characters became their pictures.
_NOT_XML = re.compile("[\ud800-\udfff\ufffe\uffff]")
_ISOLATES = re.compile("([\u2068\u2069])")
_SUBTITLE_WIDTH = 96
# What the drawing library writes for scripts and screen readers; the figure has one label as a whole.
_SUPERFLUOUS = re.compile(
    r' (?:class|role|aria-hidden|aria-roledescription|pointer-events|font-family)="[^"]*"'
    r'| opacity="1"| fill-opacity="1"'
)
# Shades need three digits; a heat map has thousands of them.
_SHADE = re.compile(r' fill-opacity="(0\.\d{3})\d+"')
_EMPTY = re.compile(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>')
_IN_PAGE = re.compile(
    r'<svg [^>]*aria-labelledby="([^"]*)"[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)">'
    r"(<title[^>]*>[^<]*</title><desc[^>]*>[^<]*</desc>)"
)
# The narrowest file, and the width of a letter of the caption, in units of the picture.
_LEAST_WIDTH = 420.0
_LETTER = 6.2
_ROOT = re.compile(r"<svg[^>]*?width=\"([\d.]+)\" height=\"([\d.]+)\"[^>]*>")


@dataclass(frozen=True, eq=False, repr=False)
class Figure(Framed):
    """A chart with its table.

    `name` is the name of its file, `title` what it shows, `caption` how to read it, `description` what is to be seen,
    for people who do not see it. `spec` is the Vega-Lite specification that `chart()` was made from.
    """

    name: str
    title: str
    caption: str
    description: str
    spec: dict[str, Any]
    table: Table

    def chart(self) -> alt.TopLevelMixin:
        """The Altair chart, to change or combine; in the colours of a light page."""
        try:
            import altair as alt
        except ModuleNotFoundError:
            raise UsageError(NO_FIGURES) from None
        chart: alt.TopLevelMixin = alt.Chart.from_dict(_coloured(self._titled(), LIGHT))
        return chart

    def svg(self, *, alone: bool = True) -> str:
        """The picture as SVG, without scripts.

        `alone` makes a file of its own: with title, caption and colours for light and dark. Otherwise the picture is
        part of a page, which gives the colours by the variables `--ink`, `--soft`, `--line` and so on (`LIGHT`).
        """
        drawn = _draw(self._titled() if alone else self.spec)
        return self._labelled(drawn, alone=alone)

    def png(self, *, scale: float = 2.0) -> bytes:
        """The picture as PNG, in the colours of a light page; `scale` is the number of pixels per unit."""
        import vl_convert

        return bytes(vl_convert.svg_to_png(self._printed(), scale=scale))

    def pdf(self) -> bytes:
        """The picture as PDF, in the colours of a light page."""
        import vl_convert

        return bytes(vl_convert.svg_to_pdf(self._printed()))

    def csv(self) -> str:
        """The numbers of the figure as CSV."""
        return self.table.csv()

    def to_polars(self) -> pl.DataFrame:
        """The numbers of the figure as a polars data frame."""
        return self.table.to_polars()

    def __repr__(self) -> str:
        return safe_text(f"Figure {self.name}: {self.title}")

    def _repr_html_(self) -> str:
        # Scoped by a class: a notebook shows many figures, and has colours of its own.
        names = "".join(f"--{name}:{colour};" for name, colour in LIGHT.items())
        dark = "".join(f"--{name}:{colour};" for name, colour in DARK.items())
        style = (
            f".qassay-figure{{{names}max-width:60rem}}"
            f"[data-jp-theme-light=false] .qassay-figure,.vscode-dark .qassay-figure{{{dark}}}"
            ".qassay-figure svg{max-width:100%;height:auto}"
            ".qassay-figure figcaption{font-size:.87em;opacity:.8}"
        )
        title = f"<p><strong>{_escaped(self.title)}</strong></p>"
        caption = f"<figcaption>{_escaped(self.caption)}</figcaption>"
        picture = self.svg(alone=False)
        return f'<style>{style}</style><figure class="qassay-figure">{title}{picture}{caption}</figure>'

    def _titled(self) -> dict[str, Any]:
        """The specification with title and caption inside."""
        spec = copy.deepcopy(self.spec)
        spec["title"] = {
            "text": textwrap.wrap(_safe(self.title), _SUBTITLE_WIDTH - 20) or "",
            "subtitle": textwrap.wrap(_safe(self.caption), _SUBTITLE_WIDTH),
        }
        return spec

    def _printed(self) -> str:
        """The picture in light colours, on white."""
        spec = _coloured(self._titled(), LIGHT) | {"background": LIGHT["card"]}
        return _draw(spec)

    def _labelled(self, drawn: str, *, alone: bool) -> str:
        """The picture with one label as a whole, and with its own colours where it is a file of its own."""
        match = _ROOT.match(drawn)
        assert match is not None, "the drawing library writes its size"
        width, height = map(float, match.groups())
        # The page's letters may be wider than those the picture was measured with: long names go on beyond its edge.
        scale, typeface = (1.0, f' font-family="{FONTS}"') if alone else (IN_PAGE, ' overflow="visible"')
        title, description = f"{self.name}-title", f"{self.name}-description"
        root = (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{title} {description}"{typeface} '
            f'width="{scale * width:g}" height="{scale * height:g}" viewBox="0 0 {width:g} {height:g}">'
        )
        labels = (
            f'<title id="{title}">{_escaped(self.title)}</title>'
            f'<desc id="{description}">{_escaped(self.description)}</desc>'
        )
        colours = f"{_style()}<rect width='100%' height='100%' fill='var(--card)'/>" if alone else ""
        body = _EMPTY.sub("", _SUPERFLUOUS.sub("", drawn[match.end() :]))
        body = _SHADE.sub(r' fill-opacity="\1"', body)
        return f"{root}{labels}{colours}{body}"


def figure(name: str, chart: alt.TopLevelMixin, *, title: str, caption: str, description: str, table: Table) -> Figure:
    """A figure from an Altair chart; the colours and letters of all figures are added here."""
    from qassay.figures.drawing import CONFIGURATION

    spec = chart.to_dict()
    spec.pop("$schema", None)
    # The library's own settings are those of its default theme.
    spec["config"] = CONFIGURATION
    return Figure(name, title, caption, description, spec, table)


def picture_file(picture: str, *, title: str, caption: str) -> str:
    """A picture that was part of a page (`svg(alone=False)`) as a file of its own, without drawing it again.

    Title and caption are written above it; it has colours for light and dark.
    """
    match = _IN_PAGE.match(picture)
    if match is None:
        raise UsageError("this is not a picture of a page")
    labelled, labels, width, height = match[1], match[4], float(match[2]), float(match[3])
    whole = max(width, _LEAST_WIDTH)
    letters = int(whole / _LETTER)
    lines = [('font-size="15" font-weight="600" fill="var(--ink)"', 20, text) for text in _wrapped(title, letters - 20)]
    lines += [('font-size="12" fill="var(--soft)"', 16, text) for text in _wrapped(caption, letters)]
    texts, top = [], 4
    for look, step, text in lines:
        top += step
        texts.append(f'<text x="6" y="{top}" {look}>{html.escape(text)}</text>')
    top += 10
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{labelled}" font-family="{FONTS}" '
        f'width="{whole:g}" height="{height + top:g}" viewBox="0 0 {whole:g} {height + top:g}">'
    )
    paper = f"{_style()}<rect width='100%' height='100%' fill='var(--card)'/>"
    return (
        f'{root}{labels}{paper}{"".join(texts)}<g transform="translate(0,{top})">{picture[match.end() : -6]}</g></svg>'
    )


def picture_for_print(file: str, form: Literal["png", "pdf"], *, scale: float = 2.0) -> bytes:
    """A file of `picture_file` as PNG or PDF, in the colours of a light page."""
    from qassay.figures.drawing import FONT

    try:
        import vl_convert
    except ModuleNotFoundError:
        raise UsageError(NO_FIGURES) from None

    plain = _COLOUR.sub(lambda name: LIGHT[name[1]], file.replace(_style(), "")).replace(FONTS, FONT)
    return bytes(vl_convert.svg_to_pdf(plain) if form == "pdf" else vl_convert.svg_to_png(plain, scale=scale))


def _wrapped(text: str, letters: int) -> list[str]:
    return textwrap.wrap(_safe(text), letters)


def _draw(spec: dict[str, Any]) -> str:
    """The specification as SVG."""
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise UsageError(NO_FIGURES) from None

    return str(vl_convert.vegalite_to_svg(json.dumps(_drawable(spec)), vl_version="6.1"))


def _drawable(value: Any) -> Any:
    """The specification without characters that no XML may contain: the drawing library ends the process at one."""
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, dict):
        return {key: _drawable(item) for key, item in value.items()}
    return [_drawable(item) for item in value] if isinstance(value, list) else value


def _coloured(spec: dict[str, Any], colours: dict[str, str]) -> dict[str, Any]:
    """The specification with colours in place of their names."""
    coloured: dict[str, Any] = json.loads(_COLOUR.sub(lambda name: colours[name[1]], json.dumps(spec)))
    return coloured


def _style() -> str:
    light, dark = ("".join(f"--{name}:{colour};" for name, colour in colours.items()) for colours in (LIGHT, DARK))
    return f"<style>:root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"


def _escaped(text: str) -> str:
    return html.escape(_safe(text))


def _safe(text: str) -> str:
    """Text without what XML may not contain and what reorders a line, but for the isolation of names (`called`)."""
    parts = (part if number % 2 else safe_text(part) for number, part in enumerate(_ISOLATES.split(text)))
    return _NOT_XML.sub("\ufffd", "".join(parts))
