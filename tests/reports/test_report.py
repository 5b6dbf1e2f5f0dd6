"""Reports: the answer follows from the records; every form is right for few and for odd input."""

from __future__ import annotations

import base64
import csv
import html
import json
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import qassay
from qassay.errors import InputError
from qassay.matrix import ScoreMatrix
from qassay.reports import Material, Report, build_report
from qassay.reports.answers import p_value
from qassay.reports.latex import escape
from qassay.reports.organisations import organisation_page, organisations
from qassay.runs import RunInformation
from qassay.studies.judged_answers import answers_by_run
from qassay.studies.reporting import of_evaluation, of_matrix


@cache
def material() -> Material:
    evaluation = qassay.open(qassay.demo_folder())
    return of_evaluation(evaluation, sources=["my eval"], options=["--key", "adjudicated"])


@cache
def report() -> Report:
    return build_report(material())


def of(runs: tuple[str, ...], values: np.ndarray) -> Report:
    units = tuple(f"q{unit}" for unit in range(values.shape[1]))
    matrix = ScoreMatrix(runs, units, values, unit_name=("question", "questions"))
    return build_report(of_matrix(matrix, name="trial"))


class Texts(HTMLParser):
    """The elements of a page, and the texts of some of them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.cells: list[str] = []
        self.ids: list[str] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self._open = tag == "td"
        if self._open:
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.cells[-1] += data


def parsed(page: str) -> Texts:
    texts = Texts()
    texts.feed(page)
    return texts


# The answer


def test_the_answer_is_that_of_the_analyses() -> None:
    """Compared with the analyses as a user calls them."""
    scores = qassay.open(qassay.demo_folder()).score()
    board = qassay.leaderboard(scores)
    alike = [run for run in board.pairs.runs[1:] if set(board.letters[run]) & set(board.letters["hobby"])]
    lead, significant, repeatable, judges = report().answer
    could_be_chance = f"chance alone could explain its lead over {', '.join(alike[:-1])} and {alike[-1]}"
    assert lead == f"hobby leads with 0.541, but {could_be_chance}."
    assert f"{qassay.compare_all(scores).different} of 45 pairs of runs differ significantly." in significant
    gap = qassay.sensitivity(scores, intervals=0).minimum_difference().predicted
    assert f"With 16 new series, a gap of about {gap:g} or more keeps its sign" in repeatable
    needed = qassay.compare(scores, "hobby", "egret").units_needed
    assert (
        f"A test of {needed} series would find a true difference of 0.05 with 80% probability; this one has 16"
        in repeatable
    )
    study = qassay.agreement(qassay.open(qassay.demo_folder()), resamples=0)
    assert f"agree on {study[0].raw:.1%} of {study[0].items:,} items" in judges
    assert "Compared with adjudicated, first reverses 1 and second reverses 3 of 45 pairs of runs; " in judges


def test_the_facts_are_those_of_the_answer() -> None:
    values = {fact.label: fact.value for fact in report().facts}
    assert values == {
        "First minus second": "+0.016",
        "Significant pairs": "18 of 45",
        "Repeatable gap": "about 0.07",
        "Ranking under other judgments": "τ 0.87–0.96",
        "To find 0.05": "60",
    }


def test_a_clear_lead_is_called_one() -> None:
    rng = np.random.default_rng(0)
    values = np.vstack([rng.random(60) * 0.1 + 0.9, rng.random(60) * 0.1])
    clear = of(("A", "B"), values.round(3))
    assert clear.answer[0].startswith("A leads with 0.9")
    assert clear.answer[0].endswith("chance alone does not explain its lead over any other run.")
    assert not any("would find" in paragraph for paragraph in clear.answer)


def test_numbers_that_need_no_trials_are_those_of_the_whole_study() -> None:
    """The report asks for the expected error rates alone, with one trial per size."""
    curves = material().curves
    assert curves is not None
    whole = qassay.sensitivity(qassay.open(qassay.demo_folder()), intervals=0)
    assert [curve.predicted_at_target for curve in curves.bins] == [curve.predicted_at_target for curve in whole.bins]
    sizes = {limit: both.predicted for limit, both in whole.size_needed().items()}
    assert {limit: both.predicted for limit, both in curves.size_needed().items()} == sizes


# Few and equal


def test_what_is_not_shown_is_not_called_equal() -> None:
    """People read "could be as good" as equal, and compared intervals of scores by eye."""
    values = np.zeros((2, 60))
    values[0, :26], values[1, 8:44] = 1.0, 1.0
    matrix = ScoreMatrix(("A", "B"), tuple(f"q{unit}" for unit in range(60)), values, denominator=1)
    pair = qassay.compare(matrix, "B", "A")
    assert (round(pair.difference, 3), round(pair.p, 3), pair.verdict) == (0.167, 0.052, "cannot tell")
    shown = build_report(of_matrix(matrix, name="trial"))
    assert shown.answer[0] == "B leads with 0.600, but chance alone could explain its lead over A."
    assert pair.interval is not None
    low, high = (f"{limit:+.3f}" for limit in pair.interval)
    fact = f"95% interval {low} to {high}, p = 0.052"
    assert (shown.facts[0].label, shown.facts[0].value, shown.facts[0].meaning) == (
        "First minus second",
        "+0.167",
        fact,
    )
    for text in (shown.html(), shown.markdown(), shown.latex().replace("\\%", "%").replace("$-$", "−")):
        assert f"95% interval {low} to {high}, p = 0.052" in text
        assert "chance of a reversal" in text
        assert "50% or more cannot be ruled out" in text
        assert "as good" not in text
        assert "told apart" not in text


def test_of_several_runs_the_interval_is_that_of_the_verdict() -> None:
    first, second = material().pairs.runs[:2]
    assert material().first_two is not None
    low, high = next(material().pairs.pairs()).interval or (0.0, 0.0)
    (table,) = (exhibit.table for exhibit in report().exhibits() if exhibit.name == "first-two")
    assert table.title == f"{first} and {second} in numbers"
    assert f"95% interval {low:+.3f} to {high:+.3f}, p" in str(table.rows[2][2])
    assert "corrected for all pairs" in str(table.rows[2][2])


def test_one_run_is_compared_with_nothing() -> None:
    alone = of(("A",), np.array([[1.0, 0.0, 1.0]]))
    assert alone.answer == ("The only run, A, scores 0.667; it is compared with nothing.",)
    assert [section.name for section in alone.sections] == ["best", "where"]
    assert parsed(alone.html()).tags


def test_two_questions_separate_nothing() -> None:
    two = of(("A", "B"), np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert two.answer[0] == "A leads with 0.500, but chance alone could explain its lead over B."
    assert "chance alone could explain it" in two.answer[1]
    # As in `compare` and `score`: no interval, and no number of questions, from so few.
    graded = of(("A", "B"), np.array([[0.5, 0.7], [0.2, 0.9]]))
    shown = graded.markdown()
    assert "No intervals: they need 5 questions or more, and there are 2." in shown
    assert "0.500 – 0.700" not in shown
    assert "would find" not in shown
    assert "To find 0.05" not in shown


def test_a_run_that_scores_the_same_everywhere_has_no_interval() -> None:
    values = np.vstack([np.full(20, 0.5), np.linspace(0.1, 0.9, 20), np.zeros(20)])
    shown = of(("A", "B", "C"), values).markdown()
    assert "0.500 – 0.500" not in shown
    assert "0.000 – 0.000" not in shown
    assert "No interval for A and C: the scores are the same on every question" in shown


def test_a_withheld_gap_is_no_fact() -> None:
    tied = of(("A", "B", "C"), np.full((3, 12), 0.5))
    assert "Repeatable gap" not in {fact.label for fact in tied.facts}


def test_ties_alone_give_no_ranking() -> None:
    for value in (0.0, 0.5):
        tied = of(("A", "B", "C"), np.full((3, 12), value))
        assert tied.answer[0] == f"All 3 runs score {value:.3f}: none is ahead."
        assert tied.markdown()
        assert tied.latex()
        assert "nan" not in tied.html().lower().replace("finance", "")


def test_a_pair_that_only_the_correction_leaves_unclear_is_not_called_short_of_questions() -> None:
    """Alone, the first two differ; over 45 pairs they do not. More questions than there are cannot be asked for."""
    rng = np.random.default_rng(3)
    values = rng.normal(0.3, 0.1, (10, 40))
    values[0] = values[1] + np.where(np.arange(40) < 26, 0.1, -0.1) * rng.uniform(0.5, 1, 40)
    page = of(tuple("ABCDEFGHIJ"), np.clip(values + np.arange(10, 0, -1)[:, None] * 0.05, 0, 1))
    answer = " ".join(page.answer)
    assert "chance could explain it" in answer
    assert "Compared alone, the first two would differ significantly" in answer
    assert "A test of" not in answer
    assert "To find 0.05" not in {fact.label for fact in page.facts}


def test_a_shared_first_place_is_named() -> None:
    shared = of(("A", "B", "C"), np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=float))
    assert shared.answer[0] == "A and B share first place with 0.750."


def test_runs_with_the_same_score_share_a_place_and_manual_runs_have_a_star() -> None:
    values = np.array([[1, 1, 0, 1] * 5, [1, 1, 1, 0] * 5, [1, 0, 0, 0] * 5], dtype=float)
    matrix = ScoreMatrix(("a", "b", "c"), tuple(map(str, range(20))), values, denominator=1, manual=frozenset({"b"}))
    tables = {exhibit.name: exhibit.table for exhibit in build_report(of_matrix(matrix, name="x")).exhibits()}
    assert [row[:2] for row in tables["scores"].rows] == [("1=", "a"), ("1=", "b*"), (3, "c")]
    assert "* manual run" in tables["scores"].notes
    assert {name for row in tables["pairs"].rows for name in row[:2]} == {"a", "b*", "c"}
    assert "* manual run" in tables["pairs"].notes


def test_a_report_promises_no_difference_that_the_scores_cannot_have() -> None:
    built = of(("a", "b"), np.array([[1.0, 0.0] * 3, [0.0, 1.0] * 3]))
    (section,) = (section for section in built.sections if section.name == "next")
    nothing = "These 6 questions show no difference at all with 80% probability, with 80% assurance."
    assert section.answer[-1] == nothing


def test_a_small_lead_is_not_called_none_and_its_p_not_the_line() -> None:
    values = np.zeros((2, 4000))
    values[0, :2], values[1, 2] = 1.0, 1.0
    assert "The first is 0.0003 ahead" in " ".join(of(("a", "b"), values).answer)
    assert p_value(0.0504) == "p = 0.0504"


def test_two_runs_without_any_nuggets_have_a_report(tmp_path: Path) -> None:
    """One series, 200 characters in a tag, and nobody has written nuggets: what is judged is reported."""
    folder = tmp_path / "few"
    (folder / "runs").mkdir(parents=True)
    (folder / "judgments").mkdir()
    (folder / "qassay.toml").write_text('name = "few"\ntask = "series2004"\n')
    asked = [
        {"id": "1.1", "type": "factoid", "text": "متى؟", "series": "1", "target": "جسر"},
        {"id": "1.2", "type": "other", "series": "1", "target": "جسر"},
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    label = {"question": "1.1", "doc": "D1", "text": "1901", "judgment": "R"}
    (folder / "judgments" / "first.jsonl").write_text(json.dumps(label) + "\n")
    for tag in ("t" * 200, "b"):
        (folder / "runs" / f"{tag[:9]}.txt").write_text(f"1.1 {tag} D1 1901\n1.2 {tag} D1 a bridge\n")
    evaluation = qassay.open(folder)
    with pytest.raises(InputError, match="not judged"):
        of_evaluation(evaluation)
    built = build_report(of_evaluation(evaluation, how={"component": "factoid"}))
    assert built.answer[0] == "Both runs score 1.000: none is ahead."
    assert "t" * 200 in parsed(built.html()).cells
    assert "nan" not in built.markdown().lower()


# Odd names


HOSTILE = (
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "x\x1b[2J\x00\u202egnp",
    "שלום עולם",
    "n" * 200,
    "a|b`c*_[x](javascript:1)",
    "\\input{/etc/passwd} $ % #",
)


@cache
def hostile() -> Report:
    rng = np.random.default_rng(4)
    units = tuple(f"<i>{unit}</i>|\x07" for unit in range(9))
    matrix = ScoreMatrix(HOSTILE, units, rng.random((len(HOSTILE), 9)).round(2))
    return build_report(of_matrix(matrix, name="<title>", sources=["a b;rm -rf ~", "-x"]))


def test_strings_of_strangers_stay_text_in_html() -> None:
    page = hostile().html()
    texts = parsed(page)
    assert not {"script", "img", "i", "iframe", "link"} & set(texts.tags)
    assert not [name for name, _ in texts.attributes if name.startswith("on")]
    assert not set("\x1b\x00\u202e\x07") & set(page)
    assert HOSTILE[0] in texts.cells
    assert HOSTILE[4] in texts.cells
    assert all(len(paragraph) < 1500 for paragraph in hostile().answer)


def test_strings_of_strangers_stay_text_in_markdown_and_latex() -> None:
    text = re.sub(r"(?s)```.*?```", "", hostile().markdown())
    assert not re.search(r"(?<!\\)<", text)
    assert "\\](javascript" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= set(range(3, 18))
    latex = hostile().latex()
    assert "\\input{" not in latex
    assert escape(HOSTILE[6]) in latex


def test_no_table_that_is_saved_has_a_formula() -> None:
    """Tags of runs are other people's, and spreadsheets run a text that begins as a formula does."""
    tags = ('=HYPERLINK("http://x")', "+1+1", "-1", "@SUM(A1)", "plain")
    matrix = ScoreMatrix(tags, ("=q1", "q2", "q3"), np.random.default_rng(5).random((5, 3)))
    page = build_report(of_matrix(matrix, name="scores", sources=["scores.csv"]))
    saved = [
        base64.b64decode(packed).decode()
        for packed in re.findall(r"text/csv;charset=utf-8;base64,([^\"]+)", page.html())
    ]
    saved += [exhibit.figure.csv() for exhibit in page.exhibits() if exhibit.figure is not None]
    cells = [cell for text in saved for row in csv.reader(text.splitlines()) for cell in row]
    assert "plain" in cells
    assert "'+1+1" in cells
    starts = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert not [cell for cell in starts if not re.fullmatch(r"-[\d.]+(e-\d+)?", cell)]
    assert not [cell for cell in starts if cell == "-1"]


def test_commands_are_quoted() -> None:
    commands = list(hostile().commands.values())
    assert commands[0] == "qassay compare -- 'a b;rm -rf ~' -x"


def test_names_from_right_to_left_do_not_reorder_the_sentence() -> None:
    values = np.array([[1.0, 1.0, 1.0], [0.0, 0.5, 0.5]])
    assert of(("שלום", "B"), values).answer[0].startswith("\u2068שלום\u2069 leads with 1.000")
    assert 'dir="auto">שלום<' in of(("שלום", "B"), values).html()


# The page


def test_the_page_needs_nothing_and_allows_nothing() -> None:
    page = report().html()
    texts = parsed(page)
    addresses = [value or "" for name, value in texts.attributes if name in ("href", "src", "action", "xlink:href")]
    assert all(address.startswith(("#", "data:text/csv", "data:image/svg+xml;base64,")) for address in addresses)
    saved = [base64.b64decode(address.split(",")[1]) for address in addresses if address.startswith("data:image")]
    drawn = [exhibit.figure for exhibit in report().exhibits() if exhibit.figure is not None]
    assert [ElementTree.fromstring(picture)[0].text for picture in saved] == [figure.title for figure in drawn]
    assert not {"script", "link", "img", "iframe", "object"} & set(texts.tags)
    assert "style" not in {name for name, _ in texts.attributes}
    policy = next(
        value or "" for name, value in texts.attributes if name == "content" and "default-src" in (value or "")
    )
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert len(texts.ids) == len(set(texts.ids))
    # Links of the page lead somewhere.
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(texts.ids)


def test_the_page_has_its_sections_in_the_order_of_questions() -> None:
    titles = [
        "Who is best?",
        "Is it real?",
        "Where do they differ?",
        "Do the judges agree?",
        "How many more questions?",
    ]
    assert [section.title for section in report().sections] == titles
    page = report().html()
    places = [page.index(f">{html.escape(title)}</h2>") for title in [*titles, "How was it done?", "Do it again"]]
    assert places == sorted(places)
    assert page.index("hobby leads with 0.541") < places[0]


def test_every_figure_of_the_page_has_its_table() -> None:
    for exhibit in report().exhibits():
        assert exhibit.table.rows, exhibit.name
    names = [exhibit.name for exhibit in report().exhibits()]
    assert len(names) == len(set(names))
    assert {"leaderboard", "scores", "differences", "error-rate", "pairs", "power", "ranks-by-set", "tau"} <= set(names)


def test_a_report_is_the_same_each_time() -> None:
    assert report().html() == build_report(material()).html()


def test_large_tables_are_named_and_not_shown() -> None:
    rng = np.random.default_rng(2)
    large = of(tuple(f"run{run}" for run in range(50)), rng.random((50, 300)).round(2))
    page = large.html()
    assert "300 rows, 51 columns" in page
    assert len(page) < 1_000_000


def test_methods_say_what_was_done() -> None:
    text = " ".join(report().methods)
    for part in (
        "Task: series2004",
        "10 runs on 16 series",
        "Judgments: adjudicated. Other judgments in the evaluation: first, second and third.",
        "bootstrap (BCa) at 95%, over 16 series",
        "flips, largest of all pairs",
        "20,000 permutations",
        f"Qassay {qassay.__version__}, seed 0",
    ):
        assert part in text


def test_methods_say_what_was_left_out_and_what_is_missing() -> None:
    evaluation = qassay.open(qassay.demo_folder())
    scores = evaluation.score()
    dropped = replace(scores, notes=("Left out: series 3 (withdrawn).",))
    built = build_report(replace(material(), scores=dropped))
    assert "Left out: series 3 (withdrawn)." in built.methods
    few = of(("A", "B"), np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]))
    assert "No repeatable gap: it takes 3 runs or more." in few.methods
    five = of(("A", "B", "C"), np.array([[1.0] * 5, [0.0, 0.0, 1.0, 1.0, 1.0], [0.0] * 5]))
    assert "chance alone could explain it (too few questions for a test)." in " ".join(five.answer)


def test_commands_name_sources_and_options() -> None:
    commands = report().commands
    assert commands["Scores, intervals and groups"] == "qassay score 'my eval' --key adjudicated"
    assert commands["The first two runs"] == "qassay compare 'my eval' hobby egret --key adjudicated"
    assert commands["The ranking under other judgments"] == "qassay stability 'my eval'"
    assert qassay.report(qassay.open(qassay.demo_folder())).commands == {}


def test_runs_that_lack_questions_are_compared_on_shared_ones() -> None:
    """Where gaps are skipped, table, figure and sentences are about the same units."""
    scores = qassay.open(qassay.demo_folder()).score()
    values = scores.units.values.copy()
    values[scores.tags.index("hobby"), :3] = np.nan
    gaps = replace(scores, units=replace(scores.units, values=values), missing=("skip", {"hobby": 3}))
    built = build_report(replace(of_matrix(gaps.matrix, name="gaps"), scores=gaps))
    board = next(exhibit.table for exhibit in built.exhibits() if exhibit.name == "scores")
    shared = dict(zip(gaps.matrix.runs, gaps.matrix.scores().tolist(), strict=True))
    assert {row[1]: row[2] for row in board.rows} == pytest.approx(shared)
    assert any("13 of 16 series that every run has" in note for note in built.methods)


def test_repeats_are_named_in_the_methods() -> None:
    rows = [
        {"question": f"q{q}", "system": system, "repeat": r, "score": (q * 7 + r * 3 + len(system)) % 5 / 4}
        for q in range(12)
        for system in ("A", "BB", "CCC")
        for r in range(4)
    ]
    built = qassay.report(qassay.scores(rows).matrix)
    assert any(
        "t test with repeats (new questions and running again), uncorrected p" in paragraph
        for paragraph in built.methods
    )
    assert any("by flips, largest of all pairs" in paragraph for paragraph in built.methods)


# LaTeX


def test_latex_has_the_tables_of_an_overview() -> None:
    latex = report().latex(top=3)
    first, second = latex.split(r"\end{table}")[:2]
    assert r"Submitter & Run & Score & factoid & list & other \\" in first
    assert first.count(r"\\") == 4
    assert r"team E & hobby & 0.541 & 0.714 & 0.465 & 0.256 \\" in first
    rows = re.findall(r"(?m)^(team \w) & (\w+)", second)
    scores = qassay.open(qassay.demo_folder()).score().best_per_organisation()
    assert rows == [(scores.information[row.run].organisation, row.run) for row in scores.runs[:3]]
    for rule in ("toprule", "midrule", "bottomrule"):
        assert latex.count(rule) == 3


def test_latex_of_scores_without_organisations_has_their_scores_and_the_difference() -> None:
    latex = of(("A", "B"), np.array([[1.0, 0.5], [0.0, 0.5]])).latex()
    assert latex.count(r"\begin{table}") == 2
    assert "A & 0.750" in latex
    assert "A $-$ B & 0.500" in latex


# Result pages


def test_a_result_page_shows_own_scores_the_median_and_the_best() -> None:
    scores = qassay.open(qassay.demo_folder()).score()
    page = organisation_page(scores, "team B")
    values = sorted(row.score for row in scores.runs if row.score is not None)
    middle = (values[4] + values[5]) / 2
    assert page.sentences[0] == (
        f"egret scores 0.526, rank 2 of 10; the median run scores {middle:.3f}, the best {values[-1]:.3f}."
    )
    by_unit = next(shown for shown in page.tables if shown.title == "By series")
    place = scores.units.ids.index("5")
    column = scores.units.values[:, place]
    own = [column[scores.tags.index(run)] for run in ("egret", "dunlin")]
    row = next(row for row in by_unit.rows if row[0] == "5")
    assert row[2:] == pytest.approx((*own, np.median(column), column.max()))
    kinds = {
        row[0]: row[1] for row in next(shown for shown in page.tables if shown.title == "By type of question").rows
    }
    assert kinds["factoid"] == 77
    assert sum(number for kind, number in kinds.items() if kind.startswith("factoid, target")) == 77


def test_a_result_page_says_how_each_answer_was_judged() -> None:
    """Compared with the files: every item of the run with the label of the adjudicated set."""
    evaluation = qassay.open(qassay.demo_folder())
    scores = evaluation.score()
    answers = answers_by_run(evaluation, scores, scores.tags)
    page = organisation_page(scores, "team B", answers)
    assert [shown.title for shown in page.tables[-2:]] == [
        "Answers of egret, and how they were judged",
        "Answers of dunlin, and how they were judged",
    ]
    lines = (qassay.demo_folder() / "runs" / "egret.txt").read_text(encoding="utf-8").splitlines()
    rows = page.tables[-2].rows
    assert len(rows) == len(lines)
    file = (qassay.demo_folder() / "judgments" / "adjudicated.jsonl").read_text(encoding="utf-8")
    labels = {
        (row["question"], row["doc"], row["text"]): row["judgment"]
        for row in map(json.loads, file.splitlines())
        if "judgment" in row and "run" not in row
    }
    judged = {(row[0], row[4], row[3]): row[5] for row in rows if row[1] == "factoid" and row[3] != "NIL"}
    assert judged == {item: labels[item] for item in judged}
    assert len(judged) > 50
    assert {row[5] for row in rows if row[3] == "NIL"} <= {"right: no answer is known", "wrong: there is an answer"}
    assert page.html().count("<tr>") > len(lines), "the page has all rows"


def test_organisations_without_a_name_have_no_page() -> None:
    scores = qassay.open(qassay.demo_folder()).score()
    nameless = dict.fromkeys(scores.information, RunInformation())
    assert organisations(replace(scores, information=nameless)) == []


def test_a_notebook_shows_the_answer_and_the_leaderboard() -> None:
    shown = report()._repr_html_()
    assert "hobby leads with 0.541" in shown
    assert "<table" in shown
    assert repr(report()).startswith("Report: hobby leads")
