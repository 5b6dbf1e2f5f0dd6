"""All components on one page, to look at: what a change of the style sheet does to everything."""

from __future__ import annotations

from qassay.web.routing import ORGANISERS, Context, Router

router = Router()


class Components(Context):
    """Contents that are hard to lay out."""

    long_word: str
    both_directions: str
    hostile: str


@router.page("/components", template="components.html", roles=ORGANISERS, data=True)
def show() -> Components:
    """The page of all components."""
    return Components(
        long_word="Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
        both_directions="An answer with שלום and \u202eright-to-left marks\u202c and مرحبا in it",
        hostile="<script>alert(1)</script></script><img src=x onerror=alert(1)> & \"quotes\" 'here' \u2028",
    )
