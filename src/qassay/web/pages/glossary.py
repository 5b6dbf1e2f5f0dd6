"""The glossary: the terms of the field in a sentence or two each, for everybody who is signed in."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from qassay.web.routing import EVERYBODY, Context, Router

router = Router()


class TermView(Context):
    """A term and its meaning."""

    name: str
    text: str


class GroupView(Context):
    """The terms of one subject, in alphabetical order."""

    title: str
    terms: list[TermView]


class GlossaryPage(Context):
    """All terms."""

    groups: list[GroupView]


@router.page("/glossary", template="glossary.html", roles=EVERYBODY)
def show() -> GlossaryPage:
    """The terms of the field, explained."""
    return _glossary()


@cache
def _glossary() -> GlossaryPage:
    """The terms as glossary.toml has them; the documentation shows the same."""
    text = (resources.files("qassay.web") / "glossary.toml").read_text(encoding="utf-8")
    groups = [
        GroupView(
            title=group["title"],
            terms=[
                TermView(name=term["name"], text=term["text"])
                for term in sorted(group["term"], key=lambda term: str(term["name"]).lower())
            ],
        )
        for group in tomllib.loads(text)["group"]
    ]
    return GlossaryPage(groups=groups)
