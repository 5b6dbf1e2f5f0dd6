"""Text for people: what strangers wrote, shown safely; names in sentences; tables as HTML for notebooks."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

# Control characters as their pictures, and marks that make a text read otherwise than it is as their codes.
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"}
_PICTURES |= {127: 0x2421} | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
_PICTURES |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
# Halves of characters, as in the names of files that are not UTF-8, which no output takes.
_PICTURES |= {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}

# A longer name would drown the sentence that it is in; tables have it whole.
_LONGEST_NAME = 48
_START_OF_NAME = 20
# A name with more letters than this is shortened in figures and heads of columns.
NAME_LETTERS = 31
_NAME_START = 11
# Letters shown before the first one in which long names differ.
_BEFORE_DIFFERENCE = 4
# A list with a name longer than this in it has fewer of them.
_LONG_IN_LIST = 28
_MOST_LONG = 3
# Characters that keep a name written from right to left from reordering the sentence around it.
_ISOLATE, _END = "\u2068", "\u2069"

# Text of more characters than this may break its lines.
_UNBROKEN = 40

# Colours are those of the notebook around it, light or dark. Notebooks have rules of their own for tables, which
# `!important` overrides where ours would lose.
_STYLE = """
.qassay {color: inherit; line-height: 1.4; max-width: 100%}
.qassay p {margin: 0.4em 0; max-width: 90ch; overflow-wrap: anywhere}
.qassay .qassay-wide {overflow-x: auto; margin: 0.3em 0 0.6em 0}
.qassay table.qassay-table {
  border: 0; border-collapse: collapse; margin: 0; width: auto; color: inherit; font-size: 0.93em;
}
.qassay .qassay-title {margin: 0.9em 0 0 0; font-weight: 600}
.qassay .qassay-table tr {background: none !important}
.qassay .qassay-table tr > * {
  border: 0; border-bottom: 1px solid rgb(128 128 128 / 35%); padding: 0.2em 0.7em; color: inherit;
  text-align: right !important; vertical-align: top; white-space: nowrap; max-width: none;
  font-variant-numeric: tabular-nums;
}
.qassay .qassay-table tr > .qassay-text, .qassay .qassay-table tr > .qassay-prose {text-align: left !important}
.qassay .qassay-table tr > .qassay-prose {
  white-space: normal; min-width: 18em; max-width: 40em; overflow-wrap: anywhere;
}
.qassay .qassay-table thead th {border-bottom-width: 2px; vertical-align: bottom; white-space: normal; font-weight: 600}
.qassay .qassay-note {font-size: 0.87em; opacity: 0.8}
""".strip()


def safe_text(text: str) -> str:
    """The text without characters that move the cursor of a terminal or change the order of a line.

    >>> safe_text("a\\x1bb\\u202ec")
    'a␛b\\\\u202ec'
    """
    return text.translate(_PICTURES)


def called(name: str) -> str:
    """A stranger's name for use in a sentence: without control characters, not too long, isolated where it must be.

    >>> called("run1"), called("a" * 60) == "a" * 20 + "…" + "a" * 27
    ('run1', True)
    """
    text = shortened(safe_text(name).replace("\n", " "), _LONGEST_NAME, start=_START_OF_NAME)
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return f"{_ISOLATE}{text}{_END}"
    return text


def titled(name: str, titles: Mapping[str, str], called: Callable[[str], str] = called) -> str:
    """A name, and what it is about where it has a title.

    >>> titled("6", {"6": "UNICEF"}), titled("6", {})
    ('6 “UNICEF”', '6')
    """
    return f"{called(name)} “{called(titles[name])}”" if name in titles else called(name)


def shortened(name: str, letters: int, *, start: int) -> str:
    """A name in this many letters: a long one without its middle, since names of one group often begin alike.

    >>> shortened("bm25", 8, start=3), shortened("university-bm25-top5", 12, start=4)
    ('bm25', 'univ…25-top5')
    """
    return name if len(name) <= letters else f"{name[:start]}…{name[start + 1 - letters :]}"


def distinctive_part(names: Iterable[str], letters: int, *, start: int) -> int | None:
    """Where the distinctive part of long names begins, if they differ in their middle alone; else None.

    Without their middle such names would look alike. Of each, `letters` are shown, from shortly before they differ.

    >>> names = [f"university-of-somewhere_group-{number}_with-a-reranker" for number in (7, 8)]
    >>> distinctive_part(names, 20, start=8), [name[26:44] for name in names]
    (26, ['oup-7_with-a-reran', 'oup-8_with-a-reran'])
    >>> distinctive_part(["university-bm25-top5", "university-bm25-top8"], 12, start=4)
    """
    long_names = {name for name in names if len(name) > letters}
    ends = {shortened(name, letters, start=start) for name in long_names}
    if len(ends) == len(long_names):
        return None
    first, last = min(long_names), max(long_names)  # what these two share, all share
    alike = next((place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), 0)
    begin = max(0, alike - _BEFORE_DIFFERENCE)
    parts = {name[begin : begin + letters - 2] for name in long_names}
    return begin if len(parts) > len(ends) else None


def short_name(name: str, among: Sequence[str] = ()) -> str:
    """A name for a figure or the head of a column: of a long one both ends, or the part that differs `among` its like.

    >>> short_name("bm25"), short_name("university-of-somewhere_llama_colbert_top8_rerank")
    ('bm25', 'university-…colbert_top8_rerank')
    >>> groups = [f"university-of-somewhere_group-{number}_hybrid-retriever_rerank" for number in (1, 2)]
    >>> [short_name(name, groups) for name in groups]
    ['…oup-1_hybrid-retriever_rerank', '…oup-2_hybrid-retriever_rerank']
    """
    begin = distinctive_part(among, NAME_LETTERS, start=_NAME_START)
    if begin is None or len(name) <= NAME_LETTERS:
        return shortened(name, NAME_LETTERS, start=_NAME_START)
    end = begin + NAME_LETTERS - 2
    return f"…{name[begin:end]}{'…' if len(name) > end else ''}"


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names as a list in a sentence; of long names a few are enough.

    >>> listed(["a", "b", "c"]), listed("abcdefgh", 3), listed(["a"])
    ('a, b and c', 'a, b, c and 5 more', 'a')
    """
    shown = [called(name) for name in names]
    has_long = any(len(name) > _LONG_IN_LIST for name in shown[:most])
    return enumerated(shown, min(most, _MOST_LONG) if has_long else most)


def enumerated(texts: Iterable[str], most: int = 6) -> str:
    """Texts as a list in a sentence, as they are: the terminal shows names whole and escapes them itself.

    >>> enumerated(["a", "b", "c"]), enumerated("abcdefgh", 3)
    ('a, b and c', 'a, b, c and 5 more')
    """
    every = list(texts)
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else "".join(every)


def as_sentence(words: str) -> str:
    """A result's answer as a sentence: with a capital and a full stop. Not for answers that begin with a run's name.

    >>> as_sentence("no two runs change places"), as_sentence("It is so."), as_sentence("")
    ('No two runs change places.', 'It is so.', '')
    """
    text = f"{words[:1].upper()}{words[1:]}"
    return text if not text or text.endswith(".") else f"{text}."


def html_block(parts: Iterable[str], lead: str | None = None) -> str:
    """HTML of one output of a notebook, with the style that it needs; `lead` is the sentence above the tables."""
    first = [] if lead is None else [f"<p><strong>{_escaped(lead)}</strong></p>"]
    return "\n".join([f"<style>\n{_STYLE}\n</style>", '<div class="qassay">', *first, *parts, "</div>"])


def html_table(
    title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], notes: Iterable[str], *, left: Sequence[bool]
) -> str:
    """A table with its title above and its notes below; `left` says which columns are text."""
    classes = [
        "" if not is_text else "prose" if any(len(row[place]) > _UNBROKEN for row in rows) else "text"
        for place, is_text in enumerate(left)
    ]
    # Above the table, and not its caption: a caption is no wider than its table.
    above = [f'<p class="qassay-title">{_escaped(title)}</p>'] if title else []
    head = _row("th", headers, classes)
    body = "\n".join(_row("td", row, classes) for row in rows)
    table = (
        f'<table class="qassay-table" aria-label="{_escaped(title)}"><thead>{head}</thead><tbody>{body}</tbody></table>'
    )
    below = (f'<p class="qassay-note">{_escaped(note)}</p>' for note in notes)
    return "\n".join([*above, f'<div class="qassay-wide">{table}</div>', *below])


def _row(tag: str, texts: Sequence[str], classes: Sequence[str]) -> str:
    cells = (
        f'<{tag} class="qassay-{kind}">{_escaped(text)}</{tag}>' if kind else f"<{tag}>{_escaped(text)}</{tag}>"
        for text, kind in zip(texts, classes, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def _escaped(text: str) -> str:
    return html.escape(safe_text(text))


def one_line(text: str) -> str:
    """The text with every run of white space, line breaks among them, as one blank."""
    return " ".join(text.split())
