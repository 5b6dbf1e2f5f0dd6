"""A participant's screens: submit with errors and without, replace, withdraw; a closed track; the result page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from acting import act
from qassay.demo import demo_folder
from qassay.evaluation import open_evaluation
from qassay.runs import RunInformation
from qassay.store.acts import Assessor
from qassay.store.people import add_account
from qassay.store.pool.uploads import describe_run, list_runs
from qassay.web.results.finding import find
from qassay.web.results.publishing import OrganisationsRequest, publish

Make = Callable[..., Any]
OPEN = "deadline = 2099-12-01T23:59:00-12:00\nlimit = 2\npooled = 1\n"
CLOSED = "deadline = 2020-12-01T23:59:00Z\nlimit = 2\n"
PHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture
def track(make_evaluation: Make, serve: Make) -> Callable[..., tuple[Any, Any]]:
    """`track(rules)`: the evaluation with Nina of North, who takes part, and the server."""

    def make(rules: str, *keep: str, **options: Any) -> tuple[Any, Any]:
        evaluation = make_evaluation("series", *keep, **options)
        with (evaluation.folder / "qassay.toml").open("a") as file:
            file.write(f"\n[track]\n{rules}")
        with evaluation.store.write() as connection:
            evaluation.account["Nina"] = add_account(connection, "Nina", "participant", organisation="North").id
        return evaluation, serve(evaluation.folder)

    return make


def run_of(tag: str, folder: Path) -> bytes:
    """A faultless run."""
    return (folder / "runs" / "crane.txt").read_text().replace(" crane ", f" {tag} ").encode()


def send(page: Page, *files: tuple[str, bytes]) -> None:
    page.get_by_label("Files").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": data} for name, data in files]
    )
    page.get_by_role("button", name="Check and submit").click()


def test_a_participant_submits_replaces_and_withdraws(track: Make, visit: Make, accessible: Make) -> None:
    evaluation, server = track(OPEN, "1")
    page = visit(server, evaluation, "Nina")
    page.goto(server.url)
    page.get_by_role("main").get_by_role("link", name="Submissions").click()
    expect(page.get_by_text("0 runs of at most 2")).to_be_visible()
    expect(page.get_by_text("2099-12-02 11:59 UTC (2099-12-01 23:59 UTC-12:00)")).to_be_visible()
    expect(page.get_by_text("No runs yet")).to_be_visible()
    accessible(page)
    page.locator("#priority").fill("1")
    send(page, ("bad.txt", b"1.1 n1 NO-SUCH-DOC x\n1.2 oops\n"), ("good.txt", run_of("n1", evaluation.folder)))
    reports = page.locator(".report")
    expect(reports.nth(0)).to_contain_text("NO-SUCH-DOC is not in the collection")
    expect(reports.nth(0)).to_contain_text("line 2")
    expect(reports.nth(1)).to_contain_text("added as n1")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="n1"))
    expect(row).to_contain_text("judged")
    expect(page.get_by_text("1 run of at most 2")).to_be_visible()
    accessible(page)
    send(page, ("again.txt", run_of("n1", evaluation.folder) + b"\n"))
    expect(reports.nth(0)).to_contain_text("your run n1 is here already")
    page.get_by_role("checkbox", name="replace earlier runs").check()
    send(page, ("again.txt", run_of("n1", evaluation.folder) + b"\n"))
    expect(reports.nth(0)).to_contain_text("added as n1")
    page.get_by_role("button", name="Describe n1").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Priority")).to_have_value("1")
    dialog.get_by_label("Description").fill("with <b>reranking</b>")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("with <b>reranking</b>")
    page.get_by_role("button", name="Withdraw n1").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(row).to_contain_text("withdrawn")
    expect(page.get_by_role("button", name="Restore n1")).to_be_focused()


def test_after_the_deadline_there_is_nothing_to_send(track: Make, visit: Make, accessible: Make) -> None:
    evaluation, server = track(CLOSED, "1")
    page = visit(server, evaluation, "Nina")
    page.goto(f"{server.url}/submissions")
    expect(page.locator("#closed")).to_contain_text("Submissions closed on 2020-12-01 23:59 UTC, and")
    expect(page.get_by_role("button", name="Check and submit")).to_have_count(0)
    expect(page.get_by_text("Your organisation did not submit a run")).to_be_visible()
    accessible(page)


def test_a_participants_pages_fit_a_phone(track: Make, visit: Make, accessible: Make) -> None:
    evaluation, server = track(OPEN, "1", "5", without=())
    # The runs of the built-in evaluation get owners.
    with evaluation.store.write() as connection:
        for place, run in enumerate(list_runs(connection, limit=100)):
            about = RunInformation("North" if place % 2 else "South", "a very long description " * 9, False, place)
            describe_run(act(connection), run.tag, about)
    _publish(evaluation)
    for scheme in ("light", "dark"):
        page = visit(server, evaluation, "Nina", color_scheme=scheme, **PHONE)
        for path in ("/submissions", "/organisation-results"):
            page.goto(f"{server.url}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
            accessible(page)
    page.goto(f"{server.url}/submissions")
    page.get_by_role("link", name="See your results").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Results of North")
    others = [tag for tag in _tags() if tag not in _north(evaluation)]
    shown = page.content()
    assert others
    assert not any(f">{tag}<" in shown for tag in others)


def _tags() -> list[str]:
    return sorted(path.stem for path in (demo_folder() / "runs").iterdir())


def _north(evaluation: Any) -> set[str]:
    with evaluation.store.read() as connection:
        return {run.tag for run in list_runs(connection, limit=100) if run.information.organisation == "North"}


def _publish(small: Any) -> None:
    """Publish the results as the application does, without its process that computes."""
    evaluation, scoring = open_evaluation(small.folder, store=small.store), {"unjudged": "wrong", "missing": "zero"}
    board = find("score", evaluation, {**scoring, "intervals": False})
    request = OrganisationsRequest(str(small.folder), "organisations", tuple(scoring.items()))
    pages = request.compute(evaluation, lambda *_: None).document["pages"]
    with small.store.write() as connection:
        olga = act(connection, who=Assessor(small.account["Olga"], "Olga"))
        publish(olga, board, scoring, title="Final", provisional=None, pages=pages)


def test_the_people_page_invites_a_participant(track: Make, visit: Make, accessible: Make) -> None:
    evaluation, server = track(OPEN, "1")
    page = visit(server, evaluation, "Olga", expected=("400",))
    page.goto(f"{server.url}/people")
    page.get_by_role("radio", name="participant").check()
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_role("alert")).to_contain_text("belongs to an organisation")
    page.get_by_role("combobox", name="Organisation").fill("South")
    page.get_by_role("button", name="Make a link").click()
    expect(page.get_by_role("dialog")).to_contain_text("/welcome#")
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("row").filter(has_text="participant").filter(has_text="South")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Nina North")).to_be_visible()
    accessible(page)
