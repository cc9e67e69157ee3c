"""Kernels may keep packed forms of operands between calls. Results must follow the operands."""

import numpy
import pytest
import tenon as tn

random = numpy.random.default_rng(46)


def normal(*shape):
    return random.standard_normal(shape).astype("f4")


# Shapes of the input and the filter, the padding, and the number of groups.
CONVOLUTIONS = [
    ((1, 20, 33, 33), (40, 20, 1, 1), [0, 0, 0, 0], 1),
    ((2, 32, 14, 14), (64, 32, 3, 3), [1, 1, 1, 1], 1),
    ((1, 40, 6, 40), (20, 40, 3, 3), [1, 1, 1, 1], 1),
    ((1, 460, 7, 7), (45, 460, 3, 3), [1, 1, 1, 1], 1),
    ((1, 64, 9, 8), (64, 16, 3, 3), [1, 1, 1, 1], 4),
]
# Convolutions that the numeric policy `fast` computes by Winograd's algorithm.
FILTERS_3X3 = [
    ((1, 16, 16, 16), (24, 16, 3, 3), [1, 1, 1, 1]),
    ((2, 33, 15, 18), (40, 33, 3, 3), [1, 1, 1, 1]),
    ((1, 270, 13, 11), (70, 270, 3, 3), [1, 1, 1, 1]),
    ((1, 17, 30, 21), (33, 17, 3, 3), [0, 2, 1, 0]),
    ((3, 20, 20, 19), (26, 20, 3, 3), [-1, -2, 0, 3]),
    ((1, 16, 9, 70), (32, 16, 3, 3), [2, 2, 2, 2]),
]


def fresh_conv(x, w, b, pads, group=1):
    """Computes a convolution in a new context, which has kept nothing."""
    with tn.Scope(tn.Context()):
        return tn.conv(tn.tensor(x), tn.tensor(w), tn.tensor(b), pads=pads, group=group).numpy()


@pytest.mark.parametrize(("x_shape", "w_shape", "pads", "group"), CONVOLUTIONS)
def test_convolutions_repeat_their_bits(x_shape, w_shape, pads, group):
    x, w, b = normal(*x_shape), normal(*w_shape), normal(w_shape[0])
    expected = fresh_conv(x, w, b, pads, group)
    with tn.Scope(tn.Context()):
        operands = tn.tensor(x), tn.tensor(w), tn.tensor(b)
        for _ in range(4):
            assert numpy.array_equal(tn.conv(*operands, pads=pads, group=group).numpy(), expected)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 7, 64])
def test_products_repeat_their_bits(rows, transpose_b):
    a, b = normal(2, rows, 300), normal(*((70, 300) if transpose_b else (300, 70)))
    with tn.Scope(tn.Context()):
        # A new tensor in each call, so nothing is kept.
        expected = tn.matmul(tn.tensor(a), tn.tensor(b), transpose_b=transpose_b).numpy()
        operands = tn.tensor(a), tn.tensor(b)
        for _ in range(4):
            assert numpy.array_equal(tn.matmul(*operands, transpose_b=transpose_b).numpy(), expected)


@pytest.mark.parametrize("traced", [False, True])
def test_results_follow_an_assigned_variable(traced):
    x, w, b = normal(1, 32, 14, 14), normal(64, 32, 3, 3), normal(64)
    pads = [1, 1, 1, 1]
    with tn.Scope(tn.Context()):
        filters, image, bias = tn.Variable(w), tn.tensor(x), tn.tensor(b)

        def halve():
            filters.assign(filters * 0.5)

        def conv():
            return tn.conv(image, filters, bias, pads=pads)

        def conv_and_halve():
            y = tn.conv(image, filters, bias, pads=pads)
            filters.assign(filters * 0.5)
            return y

        if traced:
            halve, conv, conv_and_halve = tn.function(halve), tn.function(conv), tn.function(conv_and_halve)
        for _ in range(4):
            for _ in range(3):
                assert numpy.array_equal(conv().numpy(), fresh_conv(x, w, b, pads))
            halve()
            w = w * numpy.float32(0.5)
            for _ in range(3):
                assert numpy.array_equal(conv_and_halve().numpy(), fresh_conv(x, w, b, pads))
                w = w * numpy.float32(0.5)


@pytest.mark.parametrize(("x_shape", "w_shape", "pads"), FILTERS_3X3)
def test_fast_convolutions_are_close_to_strict_ones(x_shape, w_shape, pads):
    x, w, b = normal(*x_shape), normal(*w_shape), normal(w_shape[0])
    expected = fresh_conv(x, w, b, pads)
    with tn.Scope(tn.Context(numeric_policy="fast")):
        # The axes of the input are in another order in memory.
        image = tn.transpose(tn.tensor(numpy.ascontiguousarray(x.transpose(0, 2, 3, 1))), [0, 3, 1, 2])
        filters, bias = tn.tensor(w), tn.tensor(b)
        results = [tn.conv(image, filters, bias, pads=pads).numpy() for _ in range(4)]
    assert all(numpy.abs(y - expected).max() < 3e-5 * numpy.abs(expected).max() for y in results)
    assert not numpy.array_equal(results[-1], expected)  # Winograd's algorithm rounds differently.
    assert numpy.array_equal(results[-1], results[-2])


def test_deterministic_results_repeat_in_fast_contexts():
    x_shape, w_shape, pads = FILTERS_3X3[0]
    with tn.Scope(tn.Context(numeric_policy="fast", deterministic=True)):
        operands = tn.tensor(normal(*x_shape)), tn.tensor(normal(*w_shape))
        first, *later = [tn.conv(*operands, pads=pads).numpy() for _ in range(4)]
    assert all(numpy.array_equal(y, first) for y in later)
