"""Agreement by person: against plain loops, against the coefficients of two sets, and on simulated crowds."""

from __future__ import annotations

import itertools
import statistics

import numpy as np
import polars as pl
import pytest
from scipy import stats

from qassay.errors import UsageError
from qassay.meta.agreement import agreement
from qassay.meta.agreement.by_person import by_person, time_per_judgment
from qassay.meta.agreement.nugget_lists import compare_lists
from qassay.meta.agreement.people import Person

Rows = list[tuple[str, str, str]]  # item, person, label


def frame(rows: Rows) -> pl.DataFrame:
    """An item `3.1` is one of question 3, an item `3` its only one."""
    columns = {"item": [r[0] for r in rows], "person": [r[1] for r in rows], "label": [r[2] for r in rows]}
    questions = [f"q{r[0].partition('.')[0]}" for r in rows]
    return pl.DataFrame({"question": questions, **columns}, schema_overrides={"label": pl.String})


def reading(people: str, questions: int, each: int, seed: int, *, misread: dict[str, float] | None = None) -> Rows:
    """Everybody misreads some questions (one in eight, unless said), and judges all answers to them the wrong way."""
    rng = np.random.default_rng(seed)
    rows: Rows = []
    for question in range(questions):
        truth = rng.random(each) < 0.5
        for person in people:
            wrong = rng.random() < (misread or {}).get(person, 0.125)
            rows += [(f"{question}.{place}", person, "YN"[int(right != wrong)]) for place, right in enumerate(truth)]
    return rows


def crowd(accuracy: dict[str, float], items: int, each: int, seed: int, labels: str = "RWX") -> Rows:
    rng = np.random.default_rng(seed)
    rows: Rows = []
    for item in range(items):
        truth = labels[rng.integers(len(labels))]
        for person in rng.choice(sorted(accuracy), size=each, replace=False).tolist():
            wrong = [label for label in labels if label != truth]
            label = truth if rng.random() < accuracy[person] else wrong[rng.integers(len(wrong))]
            rows.append((f"{item}", person, label))
    return rows


def agreement_of(rows: Rows, person: str) -> Person:
    return next(compared for compared in by_person(frame(rows), resamples=0).people if compared.person == person)


def test_every_figure_against_plain_loops() -> None:
    rows = crowd({"ana": 0.9, "bo": 0.8, "cy": 0.4, "dee": 0.9}, 40, 3, 1)
    given = {(item, person): label for item, person, label in rows}
    for name in ("ana", "bo", "cy", "dee"):
        own = [(item, label) for item, person, label in rows if person == name]
        others = {i: [lab for (item, p), lab in given.items() if item == i and p != name] for i, _ in own}
        agreed = sum(sum(o == label for o in others[i]) / len(others[i]) for i, label in own) / len(own)
        person = agreement_of(rows, name)
        assert (person.items, person.common) == (len(own), len(own))
        assert person.agreement == pytest.approx(agreed)
        # Kappa against the rest: chance from the shares of both sides.
        mine = {c: sum(label == c for _, label in own) / len(own) for c in "RWX"}
        theirs = {c: sum(others[i].count(c) / len(others[i]) for i, _ in own) / len(own) for c in "RWX"}
        chance = sum(mine[c] * theirs[c] for c in "RWX")
        assert person.kappa == pytest.approx((agreed - chance) / (1 - chance))
        assert person.labels == pytest.approx({c: share for c, share in mine.items() if share})
        assert person.others_labels == pytest.approx({c: share for c, share in theirs.items() if share})
        pairs = [sum(a == b for a, b in itertools.combinations(others[i], 2)) for i, _ in own]
        assert person.others_agreement == pytest.approx(sum(pairs) / len(pairs))  # two others each: one pair
        low, high = person.interval  # type: ignore[misc]
        assert low < agreed < high


def test_two_people_are_the_two_sets() -> None:
    """With two people on every item: Cohen's kappa and Krippendorff's alpha of the two sets; neither is out of line."""
    rows = crowd({"ana": 0.9, "bo": 0.7}, 60, 2, 3)
    sides = {who: [label for _, person, label in rows if person == who] for who in ("ana", "bo")}
    # Rows of one item follow each other, in any order of people.
    ordered = {who: {item: label for item, person, label in rows if person == who} for who in sides}
    items = sorted(ordered["ana"])
    sets = {who: [ordered[who][item] for item in items] for who in sides}
    both = agreement(sets, resamples=0)
    result = by_person(frame(rows), resamples=0)
    assert [person.kappa for person in result.people] == pytest.approx([both.pairs[0].cohen_kappa] * 2)
    assert [person.agreement for person in result.people] == pytest.approx([both.raw] * 2)
    assert result.krippendorff_alpha == pytest.approx(both.krippendorff_alpha)
    assert result.out_of_line == ()
    assert "two people, ana and bo, agree on" in result.sentence()


def test_alpha_of_a_crowd_against_its_definition() -> None:
    """Items with different numbers of labels; observed and expected disagreement by plain loops."""
    rows = [*crowd(dict.fromkeys("abcdefgh", 0.8), 30, 3, 5), ("x", "a", "R"), ("y", "b", "W"), ("y", "c", "R")]
    per_item: dict[str, list[str]] = {}
    for item, _, label in rows:
        per_item.setdefault(item, []).append(label)
    paired = [labels for labels in per_item.values() if len(labels) > 1]
    values = [label for labels in paired for label in labels]
    observed = sum(
        sum(a != b for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1) for labels in paired
    ) / len(values)
    expected = sum(a != b for a, b in itertools.permutations(values, 2)) / (len(values) * (len(values) - 1))
    result = by_person(frame(rows), resamples=200)
    assert result.krippendorff_alpha == pytest.approx(1 - observed / expected)
    low, high = result.interval  # type: ignore[misc]
    assert low < result.krippendorff_alpha < high  # type: ignore[operator]
    assert result.items == len(paired)


def test_who_is_out_of_line_and_on_what() -> None:
    """One of six calls R what the others call X; nobody else is out of line."""
    rows = crowd(dict.fromkeys("abcdef", 0.92), 200, 3, 8)
    rows = [(item, who, "R" if who == "c" and label == "X" else label) for item, who, label in rows]
    result = by_person(frame(rows), resamples=0)
    assert result.out_of_line == ("c",)
    first = result.people[0]
    assert (first.person, first.differs[0].own, first.differs[0].others) == ("c", "R", "X")
    assert first.differs[0].share > 0.5
    assert result.sentence().startswith("out of line: c, who agrees with the others on ")
    assert "most often R where the others say X" in result.sentence()
    assert result.tables()[0].rows[0][0] == "c"


def test_who_is_out_of_line_against_all_deals() -> None:
    """Six questions of three answers, judged by three of four people: every way to deal, by plain loops."""
    rng = np.random.default_rng(5)
    rows: Rows = []
    for question in range(6):
        team = "abc" if question % 2 else "bcd"
        truth = "YN"[question % 2]
        for place in range(3):
            rows += [
                (f"{question}.{place}", who, truth if rng.random() < (0.2 if who == "c" else 0.8) else "?")
                for who in team
            ]
    given = {(item, person): label for item, person, label in rows}
    blocks = []
    for question in range(6):
        team = "abc" if question % 2 else "bcd"
        values = []
        for person in team:
            one, two = (other for other in team if other != person)
            value = 0.0
            for place in range(3):
                own, first, second = (given[f"{question}.{place}", who] for who in (person, one, two))
                value += ((own == first) + (own == second)) / 2 - (first == second)
            values.append(value)
        blocks.append((team, values))
    spread = dict.fromkeys("abcd", 0.0)
    for team, values in blocks:
        for person in team:
            spread[person] += statistics.pvariance(values)

    def z_values(dealt: list[tuple[float, ...]]) -> dict[str, float]:
        sums = dict.fromkeys("abcd", 0.0)
        for (team, _), values in zip(blocks, dealt, strict=True):
            for person, value in zip(team, values, strict=True):
                sums[person] += value
        return {person: sums[person] / spread[person] ** 0.5 for person in "abcd"}

    seen = z_values([tuple(values) for _, values in blocks])
    ways = itertools.product(*(list(itertools.permutations(values)) for _, values in blocks))
    smallest = np.array([min(z_values(list(way)).values()) for way in itertools.islice(ways, 0, None, 7)])
    for person in by_person(frame(rows), resamples=0).people:
        assert person.p == pytest.approx((smallest <= seen[person.person] + 1e-9).mean(), abs=0.05)


def test_the_interval_of_a_person_is_about_questions() -> None:
    rows = reading("abc", 30, 4, 2)
    for person in by_person(frame(rows), resamples=0).people:
        given = {(item, who): label for item, who, label in rows}
        sums = []
        for question in range(30):
            others = [who for who in "abc" if who != person.person]
            own = [given[f"{question}.{place}", person.person] for place in range(4)]
            theirs = [[given[f"{question}.{place}", who] for who in others] for place in range(4)]
            sums.append(sum(labels.count(label) / 2 for label, labels in zip(own, theirs, strict=True)))
        share = sum(sums) / 120
        se2 = 30 / 29 * sum((value - 4 * share) ** 2 for value in sums) / 120**2
        number = min(max(share * (1 - share) / se2, 15), 120)
        t = stats.t.ppf(0.975, 29)
        centre = (share + t * t / (2 * number)) / (1 + t * t / number)
        half = t * (share * (1 - share) / number + (t / (2 * number)) ** 2) ** 0.5 / (1 + t * t / number)
        assert person.interval == pytest.approx((centre - half, centre + half))


def test_what_shows_nobody_out_of_line() -> None:
    """It takes three people on the same items, and six questions; two people never show it."""
    note = "Who is out of line shows only where 3 people or more judge the same items, of 6 questions or more."
    bad = {"c": 1.0}
    few = by_person(frame(reading("abc", 5, 10, 1, misread=bad)), resamples=10)
    assert [person.p for person in few.people] == [None] * 3
    assert note in few.notes
    assert "5 questions are too few to show how agreement varies between questions." in few.notes
    assert few.interval is None
    assert few.sentence().startswith("who is out of line cannot be seen: 3 people agree with the others on ")
    assert by_person(frame(reading("abcd", 12, 10, 1, misread=bad)), resamples=0).out_of_line == ("c",)
    # Every item has two of the three: who of them is out of line does not show.
    pairs = [row for row in reading("abc", 30, 4, 1, misread=bad) if "abc"[int(row[0].partition(".")[0]) % 3] != row[1]]
    apart = by_person(frame(pairs), resamples=0)
    assert apart.out_of_line == ()
    assert [(person.compared, person.others_agreement) for person in apart.people] == [(0, None)] * 3
    assert note in apart.notes


@pytest.mark.slow
def test_people_who_misread_whole_questions() -> None:
    """Equal people are called out of line in one evaluation of twenty; one who misreads more is found."""
    false = dict.fromkeys((3, 5), 0)
    found, covered = 0, []
    for seed in range(200):
        for size in false:
            rows = reading("abcde"[:size], 40, 6, seed)
            result = by_person(frame(rows), resamples=0, seed=seed)
            false[size] += bool(result.out_of_line)
            # Two people agree where both misread, or none.
            covered += [low <= 1 - 2 * 0.125 * 0.875 <= high for low, high in map(limits, result.people)]
        found += "a" in by_person(frame(reading("abcde", 40, 6, seed, misread={"a": 0.32})), resamples=0).out_of_line
    assert all(number <= 0.09 * 200 for number in false.values())
    assert found >= 0.3 * 200
    assert np.mean(covered) >= 0.93


def limits(person: Person) -> tuple[float, float]:
    assert person.interval is not None
    return person.interval


def test_even_people_of_a_crowd_are_rarely_called_out_of_line() -> None:
    """A crowd of many with few items each names hardly anyone."""
    many = crowd({f"w{n}": 0.8 for n in range(60)}, 300, 5, 1, labels="YN")
    result = by_person(frame(many), resamples=0)
    assert len(result.out_of_line) <= 1
    assert len(result.people) == 60
    assert "The first 40 of 60 people." in result.table().notes


def test_a_person_with_one_item_and_one_alone() -> None:
    rows = [*crowd(dict.fromkeys("abc", 0.9), 30, 3, 2), ("0", "new", "R"), ("lonely", "other", "R")]
    new, alone = agreement_of(rows, "new"), agreement_of(rows, "other")
    assert (new.items, new.common, new.out_of_line) == (1, 1, False)
    assert new.interval is None, "one question does not show how questions vary"
    assert (alone.items, alone.common, alone.agreement, alone.interval, alone.kappa) == (1, 0, None, None, None)
    result = by_person(frame(rows), resamples=0)
    assert result.people[-1].person == "other"
    assert "Without any item that another person judged: 1 person." in result.notes


def test_nobody_shares_an_item() -> None:
    result = by_person(frame([("1", "a", "R"), ("2", "b", "W")]))
    assert result.krippendorff_alpha is None
    assert result.sentence() == "no items were judged by two people: nobody can be compared"
    assert "Without any item that another person judged: 2 people." in result.notes
    assert len(result.tables()) == 1


def test_all_labels_alike_leave_kappa_undefined() -> None:
    result = by_person(frame([(str(n), who, "R") for n in range(9) for who in "abc"]))
    assert [person.kappa for person in result.people] == [None] * 3
    assert result.krippendorff_alpha is None
    assert (
        result.sentence()
        == "nobody is out of line: 3 people agree with the others on 100.0% to 100.0% of their common items"
    )


def test_two_labels_of_one_person_are_refused() -> None:
    with pytest.raises(UsageError, match="two labels for one item"):
        by_person(frame([("1", "a", "R"), ("1", "a", "W")]))


def test_by_type_of_question() -> None:
    rows = [(str(n), who, "R" if who != "c" or n < 10 else "W") for n in range(20) for who in "abc"]
    types = {f"q{n}": "factoid" if n < 10 else "list" for n in range(20)}
    result = by_person(frame(rows), types=types, resamples=0)
    assert result.people[0].by_type == {"factoid": 1.0, "list": 0.0}


def test_time_per_judgment() -> None:
    # Five gaps of 10 seconds and a night between; three judgments saved at once share their time.
    assert time_per_judgment([0, 10, 20, 30, 40, 50, 90_000, 90_010]) == 10
    assert time_per_judgment([0, 30, 30, 30, 60, 60]) == 10
    assert time_per_judgment([0, 10, 20, 30]) is None
    assert time_per_judgment([]) is None


def test_nugget_lists_side_by_side() -> None:
    def nuggets(*rows: tuple[str, str, bool, str]) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=["question", "nugget", "vital", "text"], orient="row")

    first = nuggets(("1", "1", True, "born in 1867"), ("1", "2", False, "two prizes"), ("2", "1", True, "x"))
    other = nuggets(("1", "1", True, "Born in  1867"), ("1", "2", True, "two prizes"), ("1", "3", False, "new"))
    (pair,) = compare_lists({"first": first, "second": other})
    # Question 2 is on one list only.
    assert (pair.questions, pair.nuggets, pair.vital, pair.okay) == (1, (2, 3), (1, 2), (1, 1))
    assert (pair.both, pair.same_mark) == (2, 1)
    assert compare_lists({"first": first}) == ()


def test_a_third_who_decides_makes_nobody_look_out_of_line() -> None:
    """Two people of equal care, a third only where they differ: without a guard both would be called out of line."""
    for seed in range(5):
        two = crowd({"a": 0.85, "b": 0.85}, 300, 2, seed, labels="YN")
        labels: dict[str, dict[str, str]] = {}
        for item, person, label in two:
            labels.setdefault(item, {})[person] = label
        rng = np.random.default_rng(seed)
        third = [(i, "c", "YN"[rng.integers(2)]) for i, own in labels.items() if own["a"] != own["b"]]
        result = by_person(frame([*two, *third]), resamples=0)
        assert result.out_of_line == ()
        assert result.sentence().startswith("who is out of line cannot be seen")
        # The same labels, had the third judged everything with care, say what they say.
        whole = [*two, *((i, "c", own["a"]) for i, own in labels.items())]
        assert by_person(frame(whole), resamples=0).out_of_line == ("b",)
