"""What the library tells whoever calls a command, told to whoever looks at a page: its choices in place of options."""

from __future__ import annotations

import re

# An option named in passing says what the choices of the page say anyway.
_ASIDE = re.compile(r" \(--[a-z-]+(?: [a-z]+)?\)")
# From what a command's user has to do to what there is to do here.
_WAYS = {
    "score with --unjudged wrong (or --unjudged drop for whole questions)": "choose above how unjudged items count",
    "score with --missing zero or --missing skip": "choose above what questions without a response count",
    # A run that is sent to the application has to be complete.
    " (to score it all the same: qassay score --missing zero or skip)": "",
    "leave the set out with --sets": "choose the other sets above",
    "name any two with --sets": "choose any two sets above",
    "name them with --sets": "choose them above",
    "choose one with --key": "choose the key above",
    "try --key two-way": "choose the key two-way above",
    "--json lists all of them": "the JSON below lists all of them",
    "add them with: qassay import FOLDER JUDGMENTS": "they come from assessors, see the page Assignments",
    "add them with: qassay import FOLDER RUN...": "add them on the page Runs",
    "has no questions.*; add them with: qassay import FOLDER QUESTIONS": (
        "has no questions; write and publish them on the page Questions"
    ),
}
_PUBLISHED = re.compile(r"(on the page Questions) of: qassay serve .*", re.DOTALL)


def on_page(text: str) -> str:
    """A sentence of the library in words of the page.

    >>> on_page("Unjudged: 12 counted as wrong (--unjudged wrong).")
    'Unjudged: 12 counted as wrong.'
    >>> on_page("there are no runs; add them with: qassay import FOLDER RUN...")
    'there are no runs; add them on the page Runs'
    """
    for command, page in _WAYS.items():
        text = text.replace(command, page)
    return _PUBLISHED.sub(r"\1", _ASIDE.sub("", text))
