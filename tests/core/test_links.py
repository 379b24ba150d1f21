"""Links: sums, extremes and rows of partitions put together, whatever their number."""

from typing import Any

import numpy as np
import pytest

from sublearn.core.links import ALONE, SHORT, Links, LostError, side_by_side
from sublearn.kernels.layout import Array


@pytest.mark.parametrize("n_partitions", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [1, 5, SHORT + 3])
def test_partitions_find_together_what_all_rows_say(n_partitions: int, size: int) -> None:
    numbers = np.random.default_rng(size).integers(-(2**40), 2**40, (n_partitions, size))

    def find(links: Links) -> tuple[Array, Array, Array]:
        own = numbers[links.number]
        return links.add(own), links.least(own), links.most(own)

    for total, least, most in side_by_side(find, n_partitions):
        assert (total == numbers.sum(axis=0)).all()
        assert (least == numbers.min(axis=0)).all()
        assert (most == numbers.max(axis=0)).all()


@pytest.mark.parametrize("n_partitions", [1, 2, 3])
@pytest.mark.parametrize("size", [4, SHORT + 3])
def test_sums_of_short_numbers_are_long_and_leave_what_each_gave(n_partitions: int, size: int) -> None:
    def add(links: Links) -> tuple[Array, Array]:
        own = np.full(size, 2**31 - 1, np.int32)
        return links.add(own), own

    for total, own in side_by_side(add, n_partitions):
        assert (total == n_partitions * (2**31 - 1)).all()
        assert (own == 2**31 - 1).all()


def test_gathered_rows_come_in_the_order_of_partitions_and_may_be_none() -> None:
    def gather(links: Links) -> list[int]:
        return np.concatenate(links.gather(np.arange(links.number) + 10 * links.number)).tolist()  # type: ignore[no-any-return]

    assert side_by_side(gather, 4) == [[10, 20, 21, 30, 31, 32]] * 4


def test_small_things_are_told() -> None:
    assert side_by_side(lambda links: links.tell(("a", links.number)), 3) == [[("a", 0), ("a", 1), ("a", 2)]] * 3


def test_when_one_partition_fails_the_others_stop_and_its_error_is_raised() -> None:
    def fail(links: Links) -> None:
        links.add(np.ones(1, np.int64))
        if links.number == 1:
            raise ValueError("not these rows")
        links.add(np.ones(1, np.int64))

    with pytest.raises(ValueError, match="not these rows"):
        side_by_side(fail, 3)


def test_alone_all_is_as_it_is() -> None:
    numbers = np.arange(3)
    assert ALONE.add(numbers) is ALONE.least(numbers) is ALONE.most(numbers) is numbers
    assert ALONE.gather(numbers)[0] is numbers
    assert ALONE.tell("x") == ["x"]
    assert issubclass(LostError, Exception)


def test_what_one_partition_raises_all_raise_with_its_name() -> None:
    raised: list[str] = []

    def check(links: Links) -> None:
        try:
            with links.all_well():
                if links.number in (1, 2):
                    raise TypeError(f"not these {links.number}")
        except TypeError as error:
            raised.append(str(error))
        links.add(np.ones(1, np.int64))  # partitions are still in step

    side_by_side(check, 4)
    assert raised == ["In partition 1: not these 1"] * 4


def test_partitions_may_have_names() -> None:
    def check(links: Links) -> None:
        links.names = ["blocks 0 to 4", "block 5"]
        with links.all_well():
            if links.number == 1:
                raise ValueError("not these")

    with pytest.raises(ValueError, match=r"^In block 5: not these$"):
        side_by_side(check, 2)


def test_what_all_partitions_raise_is_of_none_of_them() -> None:
    def check(links: Links) -> None:
        with links.all_well():
            raise ValueError("not so")

    with pytest.raises(ValueError, match=r"^not so$"):
        side_by_side(check, 3)


class OwnError(ValueError):
    """An error that other processes do not know."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


@pytest.mark.parametrize(
    ("error", "kind"), [(OwnError(1, 2), ValueError), (UnicodeDecodeError("ascii", b"x", 0, 1, "no"), UnicodeError)]
)
def test_errors_that_a_text_does_not_make_come_as_what_they_derive_from(error: Exception, kind: Any) -> None:
    def check(links: Links) -> None:
        with links.all_well():
            if links.number == 0:
                raise error

    with pytest.raises(kind) as caught:
        side_by_side(check, 2)
    assert type(caught.value) is kind
    assert str(caught.value) == f"In partition 0: {error}"


def test_alone_errors_are_raised_as_they_are() -> None:
    error = OwnError(1, 2)
    with pytest.raises(OwnError) as caught, ALONE.all_well():
        raise error
    assert caught.value is error
