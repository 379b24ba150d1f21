"""What "auto" stands for, in numbers and in words."""

import pytest

from sublearn._base.parameters import PARAMETERS
from sublearn.core.boosting import auto


def test_words_of_rounds_and_depth_say_what_the_numbers_do() -> None:
    rounds = PARAMETERS["n_estimators"].text
    assert f"'auto': {auto.usual_rounds(5_000)} (" in rounds
    assert f"{auto.usual_rounds(999)} with fewer than 1,000 samples" in rounds
    assert f"{auto.usual_rounds(49)} with fewer than 50" in rounds
    assert f"{auto.usual_rounds(10_000)} from 10,000 on" in rounds
    assert f"up to {auto.MOST_ROUNDS:,}." in rounds
    assert auto.usual_rounds(1_000) == auto.usual_rounds(9_999) == 500
    depth = PARAMETERS["max_depth"].text
    small, large = auto.scale_of(49_999).max_depth, auto.scale_of(50_000).max_depth
    assert f"{small}, or {large} from 50,000 samples on" in depth


@pytest.mark.parametrize(("n_outputs", "times"), [(1, 1.0), (2, 1.0), (5, 2.0), (10, 3.0)])
def test_more_outputs_take_more_rounds(n_outputs: int, times: float) -> None:
    assert auto.more_rounds(n_outputs) == times
