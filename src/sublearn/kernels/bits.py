"""Sets as bits of a word, and vectors of a few numbers: what LLVM has instructions for, and Numba no names.

A vector begins at a place of a one-dimensional array.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORD = 64  # bits
LANES = 8  # numbers of a vector


def _pointer(context: Any, builder: Any, signature: Any, given: Any, number: int, lanes: Any) -> Any:
    """Where the vector is that begins at given[number + 1] of array given[number]."""
    array = context.make_array(signature.args[number])(context, builder, given[number])
    return builder.bitcast(builder.gep(array.data, [given[number + 1]]), lanes.as_pointer())


def _spread(builder: Any, value: Any, lanes: Any) -> Any:
    """A vector of one number."""
    undefined, zeros = ir.Constant(lanes, ir.Undefined), ir.VectorType(ir.IntType(32), lanes.count)
    one = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(zeros, [0] * lanes.count))


@intrinsic
def count_ones(typing_context: Any, word: Any) -> Any:
    """Number of bits that are set."""
    return types.int64(types.uint64), lambda context, builder, signature, given: builder.ctpop(given[0])


@intrinsic
def first_one(typing_context: Any, word: Any) -> Any:
    """Number of the lowest bit that is set, of a word that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic
def bits_at_least(typing_context: Any, numbers: Any, place: Any, least: Any) -> Any:
    """A word whose bit i tells whether numbers[place + i] >= least; numbers: int32, one-dimensional, `WORD` of them."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        lanes = ir.VectorType(ir.IntType(32), WORD)
        vector = builder.load(_pointer(context, builder, signature, given, 0, lanes), align=4)
        above = builder.icmp_signed(">=", vector, _spread(builder, given[2], lanes))
        return builder.bitcast(above, ir.IntType(WORD))

    return types.uint64(numbers, types.int64, types.int32), generate


@intrinsic
def add_codes(typing_context: Any, sums: Any, to: Any, codes: Any, place: Any) -> Any:
    """Add `LANES` codes, int16, from `place` on to as many sums, int32, from `to` on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        wide, narrow = (ir.VectorType(ir.IntType(n), LANES) for n in (32, 16))
        target = _pointer(context, builder, signature, given, 0, wide)
        source = builder.load(_pointer(context, builder, signature, given, 2, narrow), align=2)
        builder.store(builder.add(builder.load(target, align=4), builder.sext(source, wide)), target, align=4)
        return context.get_dummy_value()

    return types.void(sums, types.int64, codes, types.int64), generate


@intrinsic
def add_where(typing_context: Any, numbers: Any, place: Any, bits: Any, amount: Any) -> Any:
    """Add an amount to those of `LANES` numbers, float64, from `place` on whose bits are set."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        lanes = ir.VectorType(ir.DoubleType(), LANES)
        target = _pointer(context, builder, signature, given, 0, lanes)
        flags = ir.VectorType(ir.IntType(1), LANES)
        is_set = builder.bitcast(builder.trunc(given[2], ir.IntType(LANES)), flags)
        amounts = builder.select(is_set, _spread(builder, given[3], lanes), ir.Constant(lanes, [0.0] * LANES))
        builder.store(builder.fadd(builder.load(target, align=8), amounts), target, align=8)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.uint64, types.float64), generate


@intrinsic
def join_words(typing_context: Any, words: Any, to: Any, a: Any, b: Any) -> Any:
    """Write to the four words from `to` on which bits are set in those from a on and in those from b on."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        lanes = ir.VectorType(ir.IntType(WORD), 4)
        array, places = given[0], given[1:]
        target, *sources = (_pointer(context, builder, signature, (array, place), 0, lanes) for place in places)
        one, other = (builder.load(source, align=8) for source in sources)
        builder.store(builder.and_(one, other), target, align=8)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64, types.int64), generate
