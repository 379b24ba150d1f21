"""Convex polygons cut by lines, many at a time."""

import numpy as np

from naive import Array
from sublearn.display.polygons import FRAME, Polygons, cell_of, joined, rectangles, split

NO_LINES = np.full((1, 4), FRAME)
SQUARE = rectangles(np.zeros((1, 2)), np.full((1, 2), 2.0), NO_LINES)


def corners_of(polygons: Polygons, k: int) -> Array:
    corners: Array = polygons.corners[polygons.first[k] : polygons.first[k + 1]]
    return corners


def clipped_slowly(polygon: Array, line: Array) -> Array:
    """One corner after the other, as the textbooks have it."""
    heights = polygon @ line[:2] - line[2]
    corners = []
    for i in range(len(polygon)):
        if heights[i] * heights[i - 1] < 0:
            share = heights[i] / (heights[i] - heights[i - 1])
            corners.append(polygon[i] + share * (polygon[i - 1] - polygon[i]))
        if heights[i] >= 0:
            corners.append(polygon[i])
    return np.array(corners).reshape(-1, 2)


def area_of(corners: Array) -> float:
    x, y = corners.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2) if len(corners) else 0.0


def test_a_diagonal_cuts_a_square_into_two_triangles_whose_new_edges_bear_its_number() -> None:
    cut = split(SQUARE, np.array([[1.0, 1.0, 2.0]]), np.array([7]))
    assert cut.polygons.n == 2
    assert cut.source.tolist() == [0, 0]
    assert cut.is_positive.tolist() == [True, False]
    for k, far in enumerate(([2.0, 2.0], [0.0, 0.0])):
        corners = corners_of(cut.polygons, k)
        assert sorted(corners.tolist()) == sorted([far, [0.0, 2.0], [2.0, 0.0]])
        edges = cut.polygons.edges[cut.polygons.first[k] : cut.polygons.first[k + 1]]
        assert sorted(edges.tolist()) == [FRAME, FRAME, 7]
        (begin,) = np.flatnonzero(edges == 7)
        ends = corners[[begin, (begin + 1) % 3]]
        assert (ends.sum(axis=1) == 2.0).all()  # both on the line


def test_polygons_that_a_line_does_not_cross_stay_whole() -> None:
    two = joined([SQUARE, SQUARE])
    cut = split(two, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]]), np.array([0, 1]))
    assert cut.polygons.n == 2
    assert cut.is_positive.tolist() == [True, False]  # the one touches its line from above, the other from below
    flat = split(two, np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]]), np.array([0, 1]))
    assert flat.is_positive.tolist() == [True, False]


def test_split_parts_are_those_of_the_slow_twin() -> None:
    random = np.random.default_rng(0)
    polygons = joined([SQUARE] * 40)
    for _ in range(4):
        lines = np.column_stack([random.normal(size=(polygons.n, 2)), random.normal(size=polygons.n)])
        cut = split(polygons, lines, np.arange(polygons.n))
        expected = 0
        for k in range(polygons.n):
            for sign in (1.0, -1.0):
                slow = clipped_slowly(corners_of(polygons, k), sign * lines[k])
                mine = np.flatnonzero((cut.source == k) & (cut.is_positive == (sign > 0)))
                fast = corners_of(cut.polygons, int(mine[0])) if len(mine) else np.empty((0, 2))
                np.testing.assert_allclose(area_of(fast), area_of(slow), atol=1e-9)
                expected += area_of(slow) > 1e-9
        assert cut.polygons.n == expected
        polygons = cut.polygons
    areas, middles = polygons.areas_and_middles()
    np.testing.assert_allclose(areas, [area_of(corners_of(polygons, k)) for k in range(polygons.n)], atol=1e-12)
    np.testing.assert_allclose(areas.sum(), 160.0)
    np.testing.assert_allclose(areas @ middles / 160.0, [1.0, 1.0])


def test_cell_of_a_code_is_on_the_sides_that_it_says() -> None:
    frame = corners_of(SQUARE, 0)
    lines = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 1.5]])
    assert [area_of(cell_of(frame, lines, code)) for code in range(4)] == [0.75, 2.25, 0.25, 0.75]
    assert cell_of(frame, np.array([[1.0, 0.0, 3.0]]), 1).shape == (0, 2)
