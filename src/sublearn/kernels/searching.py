"""Steps 1 to 3 for one node, by one thread: features are ranked, candidates drawn, and tested; large nodes race.

In a race, all candidates are tested on some of the samples, and the best of them on all.
"""

import numpy as np

from sublearn.kernels.compilation import inner, section
from sublearn.kernels.criterion import ROUNDING, SECOND_ORDER, count_of, describe_node
from sublearn.kernels.discriminant import Projections, is_whole, test_projections
from sublearn.kernels.fitting import add_products, solve_pairs
from sublearn.kernels.layout import NO, NOUGHT, Node
from sublearn.kernels.projection import draw_vectors
from sublearn.kernels.racing import keep_finalists, take_evenly
from sublearn.kernels.references import refer
from sublearn.kernels.subspace import choose_subspace, take_axis_tests


@section
def projections_of(candidates, i, columns):
    """The candidates of node i, whose features a block has in `columns`."""
    return refer(
        Projections(
            features=candidates.subspace[i],
            columns=columns,
            coefficients=candidates.coefficients[i],
            decrease=candidates.decrease[i],
            threshold=candidates.threshold[i],
            ranges=candidates.ranges[i],
        )
    )


@inner
def rank_features(samples, node, test, tools):
    """Test features alone, a tile at a time; returns whether the block has the node, and all features, afterwards."""
    work = tools.work
    ranking = tools.ranking
    features = tools.ranks.columns
    tile = work.units.shape[0]
    for at in range(0, features.size, tile):
        end = min(at + tile, features.size)
        projections = refer(
            Projections(
                features=features[at:end],
                columns=work.columns,
                coefficients=work.units,
                decrease=ranking.decrease[at:end],
                threshold=ranking.threshold[at:end],
                ranges=ranking.ranges[at:end],
            )
        )
        test_projections(samples, node, test, projections, NOUGHT, end - at, NO, NO, work)
    return is_whole(node, work.block) and features.size <= tile


@inner
def is_solved(best, loss, test):
    """Whether a basis vector leaves nothing of a node's loss, so that no other can be better."""
    return test.criterion != SECOND_ORDER and best >= loss * (1.0 - ROUNDING)


@inner
def find_candidates(rules, samples, node, test, key, kinds, count, loss, i, candidates, tools):
    """Rank features, draw the candidates of node i of a batch, and test them on the samples of `node`.

    These are all of the node's or some of them; `count` is of all. Returns whether the block has them afterwards, with
    the features of the subspace in the columns that tools.spare tells.
    """
    work = tools.work
    ranks = tools.ranks
    spare = tools.spare
    fit = tools.fit
    subspace = candidates.subspace[i]
    columns = spare.columns
    loaded = rank_features(samples, node, test, tools)
    choose_subspace(key, samples.views, rules.probabilities, tools.ranking, ranks, spare.urn, subspace)
    solved = is_solved(take_axis_tests(rules.n_axis, tools.ranking, candidates, i), loss, test)
    for d in range(columns.size):
        columns[d] = subspace[d] if loaded else d
    runs = node.runs
    n_fitted = np.int64(0)
    if fit.vectors.shape[0] > 0 and not solved:
        add_products(
            samples,
            node.order,
            runs,
            node.totals,
            kinds,
            key,
            runs[0],
            runs[-1],
            subspace,
            columns,
            loaded,
            work.block,
            fit,
        )
        n_fitted = solve_pairs(ranks.varies, rules.height, fit)
    vectors = candidates.coefficients[i]
    n = draw_vectors(key, count, rules, solved, fit.vectors, n_fitted, ranks, spare, vectors)
    candidates.sizes[i] = n
    projections = projections_of(candidates, i, columns)
    test_projections(samples, node, test, projections, rules.n_axis, n, NO, loaded, work)
    return loaded or (n > rules.n_axis and is_whole(node, work.block))


@inner
def race(job, samples, node, key, kinds, count, i, candidates, tools):
    """Leave the finalists of node i, by a race on samples of it; returns how many, or 0 where all candidates stay."""
    _, loss, _ = describe_node(samples, node.order, node.runs, job.test, node.totals)
    find_candidates(job.rules, samples, node, job.loose, key, kinds, count, loss, i, candidates, tools)
    n = keep_finalists(
        job.rules.n_finalists,
        candidates.sizes[i],
        candidates.coefficients[i],
        candidates.decrease[i],
        candidates.ranges[i],
        tools.spare.chosen,
    )
    if n > 0:
        candidates.sizes[i] = n
    return n


@inner
def is_raced(rules, n):
    """Whether candidates race on a node of n samples."""
    return rules.racing_samples > 0 and n >= 2 * rules.racing_samples


@inner
def search_node(job, node, key, kinds, loss, i, candidates, tools):
    """Steps 1 to 3 for node i of a batch, all of whose samples are here. Returns as `find_candidates` does."""
    samples = job.samples
    rules = job.rules
    runs = node.runs
    count = count_of(node.totals, kinds.size)
    if not is_raced(rules, runs[-1] - runs[0]):
        return find_candidates(rules, samples, node, job.test, key, kinds, count, loss, i, candidates, tools)
    racers = tools.racers
    own_runs = racers.runs[: runs.size]
    take_evenly(key, node.order, runs, rules.racing_samples, racers.order, NOUGHT, own_runs)
    some = refer(Node(racers.order, own_runs, racers.totals[: node.totals.size]))
    n_finalists = race(job, samples, some, key, kinds, count, i, candidates, tools)
    columns = tools.spare.columns
    for d in range(columns.size):
        columns[d] = d
    projections = projections_of(candidates, i, columns)
    test_projections(samples, node, job.test, projections, NOUGHT, candidates.sizes[i], n_finalists > 0, NO, tools.work)
    return candidates.sizes[i] > 0 and is_whole(node, tools.work.block)
