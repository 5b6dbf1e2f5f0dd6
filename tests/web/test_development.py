"""Question development: drafts, warnings, search, publication; all changes through the API."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from sqlalchemy import event

from qassay.collections import open_collection
from qassay.formats.folder import open_folder
from qassay.questions import Question
from qassay.store.development import test_set as stored_questions
from qassay.store.development.answers import KnownAnswer
from qassay.store.folder.importing import import_folder
from qassay.web.pages.documents import hit_view
from qassay.web.pages.question_draft import _gold
from qassay.web.questions import question_warnings, same_questions, series_warnings


@pytest.fixture
def organiser(site: Any) -> Any:
    """The organiser of the demo, whose files are in the store."""
    import_folder(site.store, open_folder(site.folder))
    return site.client("organiser")


def made(answer: Any) -> Any:
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def begin(client: Any, target: str = "Hudson Bay Company") -> str:
    return str(made(client.post("/api/development/series", json={"target": target}))["series"])


def ask(client: Any, series: str, text: str, **more: Any) -> str:
    body = {"series": series, "type": "factoid", "text": text, **more}
    return str(made(client.post("/api/development/questions", json=body))["question"])


def drafts(client: Any) -> list[dict[str, Any]]:
    groups: list[dict[str, Any]] = made(client.get("/api/development?show=drafts"))["groups"]
    return groups


def test_a_series_is_written_with_warnings_and_published(organiser: Any) -> None:
    series = begin(organiser)
    [group] = drafts(organiser)
    assert (group["number"], group["whole"], group["cautions"]) == ("17", True, ["The series has no factoid question."])
    ask(organiser, series, "Was it founded in London?", answer="yes", doc="demo-curie-1")
    later = ask(organiser, series, "Where was its office?", answer="LONDON")
    [group] = drafts(organiser)
    assert [(question["number"], question["type"]) for question in group["questions"]] == [
        ("17.1", "factoid"),
        ("17.2", "factoid"),
        ("17.3", "other"),
    ]
    assert group["cautions"] == []
    assert group["questions"][1]["cautions"] == [
        "The text of question 17.1 gives the answer “LONDON” away.",
        "The answer “LONDON” has no document.",
    ]
    answer = organiser.post("/api/development/questions/move", json={"id": later, "places": -1})
    assert answer.status_code == 200
    assert drafts(organiser)[0]["questions"][0]["text"] == "Where was its office?"
    names = made(organiser.post("/api/development/publish", json={"groups": [series]}))["questions"]
    assert names == ["17.1", "17.2", "17.3"]
    assert drafts(organiser) == []
    page = organiser.get("/development/question?id=17.1")
    assert page.status_code == 200
    assert "Where was its office?" in page.text


def test_pages_show_hostile_texts_as_texts(organiser: Any) -> None:
    odd = "<script>alert(1)</script>‮\u0000x".replace("\u0000", "")
    series = begin(organiser, odd)
    number = ask(organiser, series, odd, answer=odd, doc=odd)
    for address in (
        "/development?show=drafts",
        f"/development/question?id={number}",
        "/development/search?q=%3Cscript",
    ):
        page = organiser.get(address)
        assert page.status_code == 200
        assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in organiser.get(f"/development/question?id={number}").text


def test_two_authors_do_not_overwrite_each_other(organiser: Any) -> None:
    number = ask(organiser, begin(organiser), "Who?")
    body = {"id": number, "version": 1, "text": "Who was it?"}
    assert made(organiser.put("/api/development/question", json=body))["version"] == 2
    answer = organiser.put("/api/development/question", json=body | {"text": "Whom?"})
    assert (answer.status_code, answer.json()["stands"], answer.json()["version"]) == (409, "Who was it?", 2)


def test_a_question_with_judgments_keeps_its_type_and_stays(organiser: Any) -> None:
    page = made(organiser.get("/api/development/question?id=1.1"))
    assert page["fixed"].startswith("question 1.1 has judgments")
    body = {"id": "1.1", "version": page["version"], "text": "Where was she born?"}
    answer = organiser.put("/api/development/question", json=body | {"type": "list"})
    assert (answer.status_code, "its type stays" in answer.json()["message"]) == (400, True)
    assert organiser.post("/api/development/question/remove", json={"id": "1.1"}).status_code == 400
    made(organiser.put("/api/development/question", json=body))
    assert organiser.put("/api/development/question", json=body | {"version": 2, "text": ""}).status_code == 400
    assert made(organiser.get("/api/development/question?id=1.1"))["question"]["text"] == "Where was she born?"


def test_an_answer_is_withdrawn_with_a_reason_and_restored(organiser: Any) -> None:
    page = made(organiser.get("/api/development/question?id=1.1"))
    first = page["question"]["answers"][0]
    body = {"id": "1.1", "answer": first["answer"], "doc": first["doc"]}
    answer = organiser.post("/api/development/question/answers/withdraw", json=body)
    assert (answer.status_code, "say why" in answer.json()["message"]) == (400, True)
    made(organiser.post("/api/development/question/answers/withdraw", json=body | {"reason": "<b>no</b>"}))
    assert "&lt;b&gt;no" in organiser.get("/development/question?id=1.1").text
    made(organiser.post("/api/development/question/answers", json=body))
    assert made(organiser.get("/api/development/question?id=1.1"))["question"]["answers"][0]["withdrawn"] is False


def test_a_document_of_blanks_is_none(organiser: Any) -> None:
    body = {"id": "1.1", "answer": "somebody", "doc": " "}
    made(organiser.post("/api/development/question/answers", json=body))
    made(organiser.post("/api/development/question/answers/withdraw", json=body | {"reason": "no"}))
    answers = made(organiser.get("/api/development/question?id=1.1"))["question"]["answers"]
    noted = [(answer["doc"], answer["withdrawn"]) for answer in answers if answer["answer"] == "somebody"]
    assert noted == [(None, True)]


def test_the_author_notes_nuggets_and_a_definition(organiser: Any) -> None:
    series = begin(organiser)
    number = drafts(organiser)[0]["questions"][0]["id"]
    fact = made(
        organiser.post("/api/development/question/nuggets", json={"id": number, "text": " a  fact ", "vital": True})
    )
    assert (fact["text"], fact["vital"], fact["version"]) == ("a fact", True, 1)
    change = {"id": number, "nugget": fact["nugget"], "version": 1, "text": "another fact"}
    assert made(organiser.post("/api/development/question/nuggets", json=change))["vital"] is False
    answer = organiser.post("/api/development/question/nuggets", json=change)
    assert answer.status_code == 409
    assert answer.json()["standing"] == {"text": "another fact", "vital": False, "version": 2}
    gone = {"id": number, "nugget": fact["nugget"], "version": 1}
    assert organiser.post("/api/development/question/nuggets/remove", json=gone).status_code == 409
    for nothing in ("", " \t\n", "\u2003"):
        blank = {"id": number, "text": nothing}
        assert organiser.post("/api/development/question/nuggets", json=blank).status_code == 422
    body = {"id": number, "version": 1, "definition": "what the author thinks"}
    made(organiser.put("/api/development/question", json=body))
    made(organiser.post("/api/development/publish", json={"groups": [series]}))
    page = made(organiser.get("/api/development/question?id=17.1"))
    assert page["definition"] == "what the author thinks"
    assert [nugget["text"] for nugget in page["nuggets"]] == ["another fact"]
    gone = {"id": "17.1", "nugget": fact["nugget"], "version": 2}
    made(organiser.post("/api/development/question/nuggets/remove", json=gone))
    assert made(organiser.get("/api/development/question?id=17.1"))["nuggets"] == []
    assert organiser.post("/api/development/question/nuggets", json={"id": "1.1", "text": "x"}).status_code == 400


def test_all_obstacles_to_a_publication_are_reported(organiser: Any) -> None:
    series = begin(organiser)
    ask(organiser, series, "")
    ask(organiser, series, "  ")
    answer = organiser.post("/api/development/publish", json={"groups": [series]})
    assert answer.status_code == 422
    assert [problem["message"][:14] for problem in answer.json()["problems"]] == ["question 17.1 ", "question 17.2 "]
    assert len(drafts(organiser)[0]["questions"]) == 3


def test_documents_are_searched_with_marks(organiser: Any) -> None:
    page = made(organiser.get("/api/development/search", params={"q": "Curie Sorbonne"}))
    assert page["state"] == "ready"
    hit = page["hits"][0]
    marked = {hit["text"][start:end].casefold() for start, end in hit["marks"]}
    assert {"curie", "sorbonne"} & marked
    html = organiser.get("/development/search", params={"q": "Curie Sorbonne"}).text
    assert "<mark>" in html
    document = organiser.get("/development/document", params={"id": hit["doc"], "find": hit["text"]})
    assert document.status_code == 200
    assert "<mark>" in document.text
    assert organiser.get("/development/document", params={"id": "nobody"}).status_code == 404
    assert organiser.get("/api/development/search", params={"q": "x", "limit": 7}).status_code == 422
    assert organiser.get("/api/development/search", params={"q": "x", "question": "nobody"}).status_code == 404


def test_a_page_does_not_wait_for_the_index(organiser: Any, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from qassay.web.pages import documents

    go = threading.Event()
    monkeypatch.setattr(documents, "PATIENCE", 0.01)
    opened = documents.collection_of

    def slowly(where: Any) -> Any:
        go.wait(20)
        return opened(where)

    monkeypatch.setattr(documents, "collection_of", slowly)
    page = organiser.get("/development/search?q=curie")
    assert page.status_code == 200
    assert "being read" in page.text
    assert made(organiser.get("/api/development/search/state"))["state"] == "making"
    go.set()
    assert site.app.state.site.memory["job index"].ended.wait(20)
    assert made(organiser.get("/api/development/search?q=curie"))["hits"]


def test_an_evaluation_without_documents_says_so(organiser: Any, site: Any) -> None:
    shutil.rmtree(site.folder / "collection")
    assert made(organiser.get("/api/development/search?q=x"))["state"] == "none"
    assert "no documents" in organiser.get("/development/search?q=x").text


def test_marks_of_marked_up_documents_are_where_a_reader_sees_them(tmp_path: Any) -> None:
    text = "<html><body><p>The <b>Hudson</b> Bay &amp; its <i>company</i>.</p></body></html>"
    (tmp_path / "a.html").write_text(text)
    with open_collection(tmp_path) as documents:
        view = hit_view(documents.search("hudson company")[0])
    assert [view.text[start:end] for start, end in view.marks] == ["Hudson", "company"]
    assert "<b>" not in view.text


def test_warnings_are_about_the_current_text() -> None:
    first = Question("1", "factoid", "Who founded it?", "s", "club")
    second = Question("2", "list", "Who led it?", "s", "club")
    answers = {
        "1": [KnownAnswer("1", "Ann Lee, Boston", "D1"), KnownAnswer("1", "Bob", "D1", withdrawn=True)],
        "2": [KnownAnswer("2", "ann lee", "D1"), KnownAnswer("2", "Bob", "D1"), KnownAnswer("2", "?", "D1")],
    }
    warnings = question_warnings(second, [first], answers, (), {"1": "4.1"}, draft=True)
    assert warnings == ["The answer “ann lee” is in an answer of the earlier question 4.1."]
    assert question_warnings(first, [], {}, ("1", "9"), {}, draft=False) == ["Question 9 asks the same."]
    assert "NIL would be right" in question_warnings(first, [], {}, (), {}, draft=True)[0]
    assert series_warnings([second], ("factoid", "list")) == ["The series has no factoid question."]
    assert series_warnings([second], ("list",)) == []
    same = same_questions([first, Question("3", "factoid", "who FOUNDED it", "t", "Club"), Question("4", "other")])
    assert list(same.values()) == [["1", "3"]]


def test_a_task_without_series_has_a_list_of_questions(prepared: Any, tmp_path: Any, site: Any) -> None:
    (site.folder / "qassay.toml").write_text('name = "Pairs"\ntask = "entailment3"\n')
    client = site.with_settings().client("organiser")
    body = {"type": "pair", "text": "It rains.", "hypothesis": "It is wet."}
    number = made(client.post("/api/development/questions", json=body))["question"]
    assert made(client.post("/api/development/questions", json={"type": "pair", "text": "x"}))
    page = made(client.get("/api/development"))
    assert [(group["questions"][0]["number"], group["id"]) for group in page["groups"]] == [("1", ""), ("2", "")]
    assert client.get("/development").status_code == 200
    assert client.get(f"/development/question?id={number}").status_code == 200
    assert client.post("/api/development/publish", json={"groups": [number]}).json()["questions"] == ["1"]
    answer = client.post("/api/development/questions", json={"type": "factoid", "text": "x"})
    assert (answer.status_code, "unknown question type" in answer.json()["message"]) == (400, True)


def test_gold_answers_are_written_one_per_line_and_published(site: Any) -> None:
    (site.folder / "qassay.toml").write_text('name = "Free text"\ntask = "qa"\n')
    client = site.with_settings().client("organiser")
    body = {"type": "qa", "text": "Who wrote it?"}
    number = made(client.post("/api/development/questions", json=body))["question"]
    address = f"/development/question?id={number}"
    change = {"id": number, "version": 1, "text": "Who wrote it?", "gold": " Mikhail Bulgakov \n\nBulgakov\nBulgakov"}
    made(client.put("/api/development/question", json=change))
    assert made(client.get(f"/api{address}"))["gold"] == ["Mikhail Bulgakov", "Bulgakov"]
    assert "Mikhail Bulgakov\nBulgakov</textarea>" in client.get(address).text
    assert made(client.post("/api/development/publish", json={"groups": [number]}))["questions"] == ["1"]
    with site.store.read() as connection:
        assert stored_questions(connection).by_id["1"].gold == ("Mikhail Bulgakov", "Bulgakov")


def test_gold_answers_of_several_lines_stay_whole() -> None:
    before = ("in two\nlines", "short")
    assert _gold("in two\nlines\nshort", before) == before
    assert _gold("in two\nshort", before) == ("in two", "short")


def test_the_kinds_of_series_are_the_tasks(site: Any) -> None:
    (site.folder / "qassay.toml").write_text('task = "qaciad"\n')
    client = site.with_settings().client("organiser")
    assert made(client.get("/api/development"))["series_types"] == ["gathering", "browsing"]
    assert made(client.post("/api/development/series", json={"target": "x", "series_type": "browsing"}))
    refused = client.post("/api/development/series", json={"target": "x", "series_type": "other"})
    assert (refused.status_code, "unknown kind of series 'other'" in refused.json()["message"]) == (400, True)


def test_many_questions_cost_no_more_queries_than_few(organiser: Any, site: Any) -> None:
    def queries() -> int:
        seen: list[str] = []
        count = lambda *given: seen.append(given[2])  # noqa: E731
        event.listen(site.store.engine, "before_cursor_execute", count)
        assert organiser.get("/development").status_code == 200
        event.remove(site.store.engine, "before_cursor_execute", count)
        return len(seen)

    queries()
    few = queries()
    (site.folder / "questions.jsonl").write_text(
        "".join(
            json.dumps({"id": f"{s}.{n}", "type": "factoid", "text": f"Q {s} {n}?", "series": str(s), "target": "t"})
            + "\n"
            for s in range(100, 300)
            for n in range(1, 6)
        )
    )
    import_folder(site.store, open_folder(site.folder))
    queries()
    assert queries() == few
    page = made(organiser.get("/api/development?page=3"))
    assert (page["published"], page["pages"], len(page["groups"])) == (1109, 11, 20)


def test_the_search_for_an_answer_names_the_target(site: Any) -> None:
    import_folder(site.store, open_folder(site.folder))
    organiser = site.client("organiser")
    for question, search in (
        ("1.2", "Marie Curie In what year did she move to Paris?"),
        ("1.1", "In what city was Marie Curie born?"),
    ):
        page = organiser.get("/api/development/question", params={"id": question}).json()
        assert page["search"] == search
        assert f'value="{search}"' in organiser.get("/development/question", params={"id": question}).text
