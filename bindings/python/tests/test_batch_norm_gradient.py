"""The gradient of batch_norm_train is one fused loop. It has the bits of separate ops."""

import numpy as np
import pytest

import tenon as tn

# Planes of a multiple of 64 elements have a kernel of their own. One shape has rows of several blocks.
SHAPES = [(4, 3, 8, 8), (3, 2, 64), (2, 2, 4, 4, 4), (5, 2, 64, 80), (3, 2, 7, 7), (6, 4)]


def variables(shape):
    draw = np.random.default_rng(7)
    channels = shape[1]
    return [tn.Variable(draw.standard_normal(shape).astype("f4")),
            tn.Variable(draw.uniform(0.5, 2, channels).astype("f4")),
            tn.Variable(draw.standard_normal(channels).astype("f4"))]


def normalise(x, scale, bias):
    channels = x.shape[1]
    return tn.batch_norm_train(x, scale, bias, tn.zeros((channels,)), tn.ones((channels,)))[0]


def plain(x, scale, bias):
    return normalise(x, scale, bias)


def with_relu(x, scale, bias):
    return tn.relu(normalise(x, scale, bias))


def with_residual(x, scale, bias):
    y = tn.relu(normalise(x, scale, bias) + tn.sin(x))
    return y * tn.exp(y) + tn.cos(y)


def gradients(shape, layer, threads):
    """Returns the gradients of several calls. The first calls run op by op, the later ones run fused loops."""
    with tn.Scope(tn.Context(threads=threads)):
        inputs = variables(shape)
        weights = tn.tensor(np.random.default_rng(8).standard_normal(shape).astype("f4"))

        def step():
            with tn.GradientTape() as tape:
                loss = tn.sum(layer(*inputs) * weights)
            return tuple(tape.gradient(loss, inputs))

        traced = tn.function(step)
        return [[x.numpy() for x in call()] for call in [step] * 4 + [traced] * 4]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layer", [plain, with_relu, with_residual])
def test_gradient_has_the_bits_of_separate_ops(shape, layer):
    found = gradients(shape, layer, 1) + gradients(shape, layer, 2)
    for others in found[1:]:
        for one, other in zip(found[0], others):
            np.testing.assert_array_equal(one.view("i4"), other.view("i4"))


def test_gradient_agrees_with_numpy():
    with tn.Scope(tn.Context(threads=1)):
        x, scale, bias = variables((4, 3, 8, 8))
        weights = np.random.default_rng(8).standard_normal((4, 3, 8, 8))

        def step():
            with tn.GradientTape() as tape:
                loss = tn.sum(with_relu(x, scale, bias) * tn.tensor(weights.astype("f4")))
            return tuple(tape.gradient(loss, [x, scale, bias]))

        call = tn.function(step)
        for _ in range(4):
            dx, dscale, dbias = (value.numpy() for value in call())
        a, w, b = (value.numpy().astype("f8") for value in (x, scale, bias))
        along = (0, 2, 3)
        inv_std = 1 / np.sqrt(a.var(along, keepdims=True) + 1e-5)
        z = (a - a.mean(along, keepdims=True)) * inv_std
        w, b = w.reshape(1, 3, 1, 1), b.reshape(1, 3, 1, 1)
        g = np.where(z * w + b > 0, weights, 0)
        dz = g * w
        expected = (dz - dz.mean(along, keepdims=True) - z * (dz * z).mean(along, keepdims=True)) * inv_std
        np.testing.assert_allclose(dx, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(dscale, (g * z).sum(along), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(dbias, g.sum(along), rtol=1e-4, atol=1e-4)
