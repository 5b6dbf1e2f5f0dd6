"""The application's scripts as one script: every screen goes in, and what does not fit is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qassay.web.rendering import static_files
from qassay.web.sheet.page import as_function, bundle, inline


def test_every_screen_can_be_put_into_a_sheet() -> None:
    screens = [Path(name).stem for name in static_files() if name.startswith("js/screens/")]
    script = bundle(screens)
    assert len(screens) == 10
    assert not re.search(r"(?m)^(import|export)\b", script)
    for name in ("address.js", "api.js", "outbox.js"):
        assert f'"sheet/{name}": (' in script


@pytest.mark.parametrize(
    "source",
    [
        'import all from "./a.js";',
        'import * as all from "./a.js";',
        'import "./a.js";',
        "export default 5;",
        "export let a = 5;",
        'export * from "./a.js";',
        "await 5;",
        "const a = import.meta.url;",
    ],
)
def test_scripts_that_no_sheet_can_contain_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="cannot be put into a sheet"):
        as_function("a.js", source)


def test_a_script_cannot_end_its_element() -> None:
    for text in ("x</script>", "</STYLE", "<!-- ", "a\rb"):
        with pytest.raises(ValueError, match="cannot be put into a page"):
            inline(text)
