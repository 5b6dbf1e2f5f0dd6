"""The random order that people label: rounds over units, verified draws, labelled prefixes."""

from __future__ import annotations

from collections import Counter

import pytest

from qassay.errors import InputError
from qassay.meta.correction.sampling import (
    Draw,
    Sample,
    check_draw,
    labelled_prefix,
    new_sample,
    random_order,
    sample_rows,
)

QUESTIONS = [Draw(f"q{number}") for number in range(100)]


def drawn(size: int, draws: list[Draw] = QUESTIONS, units: list[str] | None = None, seed: int = 0) -> Sample:
    return new_sample("judge", draws, units, size=size, seed=seed, judge="judge", measure="label_mean")


def test_the_order_of_some_questions_does_not_depend_on_the_others() -> None:
    whole = random_order(QUESTIONS, None, seed=4)
    some = [draw for draw in QUESTIONS if int(draw.question[1:]) % 3]
    assert random_order(some, None, seed=4) == [draw for draw in whole if draw in set(some)]
    assert random_order(QUESTIONS[::-1], None, seed=4) == whole
    assert random_order(QUESTIONS, None, seed=5) != whole


def test_rounds_give_every_unit_one_label_more() -> None:
    draws = [Draw(f"t{unit}", str(nugget)) for unit in range(20) for nugget in range(1 + unit % 5)]
    units = [draw.question for draw in draws]
    order = random_order(draws, units, seed=1)
    assert sorted(order) == sorted(draws)
    for end in range(20, len(order) + 1):
        counts = Counter(draw.question for draw in order[:end])
        most = max(counts.values())
        # A unit is behind the others only where it has no more decisions, or its turn in the round is to come.
        assert all(counts[unit] >= min(most - 1, units.count(unit)) for unit in set(units))


def test_units_without_a_label_are_refused() -> None:
    draws = [Draw(f"t{unit}", str(nugget)) for unit in range(20) for nugget in range(3)]
    with pytest.raises(InputError, match="each of the 20 topics or series needs a label"):
        drawn(19, draws, [draw.question for draw in draws])
    with pytest.raises(InputError, match="only 100 questions"):
        drawn(101)


def test_a_true_draw_is_accepted_and_loses_what_is_no_longer_scored() -> None:
    sample = drawn(40)
    assert check_draw(sample, QUESTIONS, None, measure="label_mean") == sample.draws
    gone = set(sample.draws[5:8])
    left = [draw for draw in QUESTIONS if draw not in gone]
    assert check_draw(sample, left, None, measure="label_mean") == tuple(d for d in sample.draws if d not in gone)


def test_a_draw_that_was_changed_is_refused() -> None:
    sample = drawn(40)
    swapped = (sample.draws[1], sample.draws[0], *sample.draws[2:])
    other = next(draw for draw in QUESTIONS if draw not in sample.draws)
    for draws in (swapped, (*sample.draws[:-1], other), tuple(QUESTIONS[:40])):
        changed = Sample("judge", draws, 100, 0, "judge")
        with pytest.raises(InputError, match=r"picked or moved by hand|would have been drawn"):
            check_draw(changed, QUESTIONS, None, measure="label_mean")
    foreign = Sample("judge", (Draw("x1"),), 100, 0, "judge")
    with pytest.raises(InputError, match="none of its questions is scored"):
        check_draw(foreign, QUESTIONS, None, measure="label_mean")


def test_questions_that_came_later_are_named() -> None:
    more = [*QUESTIONS, *(Draw(f"late{number}") for number in range(60))]
    with pytest.raises(InputError, match=r"does not fit the questions as they are now: late\d+"):
        check_draw(drawn(60), more, None, measure="label_mean")


def test_a_sample_drawn_elsewhere_is_taken_at_its_word() -> None:
    theirs = Sample("theirs", tuple(QUESTIONS[:30]), 100, None)
    assert check_draw(theirs, QUESTIONS, None, measure="label_mean") == theirs.draws


@pytest.mark.parametrize(
    ("whole", "begun", "stops", "labelled"),
    [
        (range(10), range(10), (), 10),
        (range(4), range(4), (), 4),
        (range(4), range(5), (), 4),  # the fifth is half judged
        ([0, 1, 2, 3, 8], range(4), (), 4),  # the ninth has nothing to judge
        (range(6), range(4), (), 4),  # nor have the fifth and the sixth, and nobody is past them
        (range(6), range(4), (5, 10), 5),  # which completes a planned step
        (range(6), range(5), (5, 10), 5),
        (range(6), range(6), (5, 10), 6),
        (range(10), range(8), (5, 10), 10),
    ],
)
def test_a_prefix_counts(whole, begun, stops, labelled: int) -> None:
    sample = drawn(10)
    place = {draw: number for number, draw in enumerate(sample.draws)}
    prefix = labelled_prefix(
        sample,
        sample.draws,
        is_whole=lambda draw: place[draw] in whole,
        is_begun=lambda draw: place[draw] in begun,
        people="ada",
        stops=stops,
    )
    assert prefix.draws == sample.draws[:labelled]
    assert prefix.drawn == 10


@pytest.mark.parametrize(
    ("whole", "begun", "message"),
    [
        ([0, 1, 3, 4], [0, 1, 3, 4], "at place 5, but not completely 1 question drawn before it"),
        ([0, 5], [0, 3, 5], "not completely 4 questions drawn before it"),
        ([], [], "has judged none of its 10 questions completely"),
        ([], [0], "has judged none of its 10 questions completely"),
    ],
)
def test_a_gap_or_nothing_is_refused(whole, begun, message: str) -> None:
    sample = drawn(10)
    place = {draw: number for number, draw in enumerate(sample.draws)}
    with pytest.raises(InputError, match=message):
        labelled_prefix(
            sample,
            sample.draws,
            is_whole=lambda draw: place[draw] in whole,
            is_begun=lambda draw: place[draw] in begun,
            people="ada",
        )


def test_rows_say_how_they_were_drawn() -> None:
    rows = sample_rows(drawn(25, seed=3))
    assert [row["position"] for row in rows] == list(range(1, 26))
    assert {(row["probability"], row["seed"], row["of"], row["for"]) for row in rows} == {(0.25, 3, 100, "judge")}
