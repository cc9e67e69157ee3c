"""Tapes, gradients of functions and custom gradients."""

import dataclasses
import gc

import pytest

import tenon as tn


def test_a_tape_differentiates(same):
    x = tn.tensor([1.0, 2.0])
    with tn.GradientTape() as tape:
        tape.watch(x)
        y = tn.sum(x * x)
    same(tape.gradient(y, x), [2, 4])


def test_a_tape_watches_trainable_variables(same):
    w, fixed = tn.Variable(3.0), tn.Variable(2.0, trainable=False)
    with tn.GradientTape() as tape:
        y = w * fixed
    assert tape.watched_variables() == (w,) or tape.watched_variables()[0] is w
    grads = tape.gradient(y, {"w": w, "fixed": fixed})
    same(grads["w"], 2)
    assert grads["fixed"] is None


def test_an_unconnected_gradient_is_none_or_zero(same):
    x, z = tn.tensor(1.0), tn.tensor([1.0, 2.0])
    with tn.GradientTape(persistent=True) as tape:
        tape.watch((x, z))
        y = x * 2
    assert tape.gradient(y, [x, z])[1] is None
    same(tape.gradient(y, z, unconnected_gradients="zero"), [0, 0])


def test_a_tape_is_consumed_unless_it_is_persistent(same):
    x = tn.tensor(3.0)
    for persistent in (False, True):
        with tn.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x * x
        same(tape.gradient(y, x), 6)
        if persistent:
            same(tape.gradient(y, x), 6)
        else:
            with pytest.raises(tn.FailedPreconditionError):
                tape.gradient(y, x)


def test_nested_tapes_give_second_derivatives(same):
    x = tn.tensor(3.0)
    with tn.GradientTape() as outer:
        outer.watch(x)
        with tn.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    same(first, 27)
    same(outer.gradient(first, x), 18)


def test_output_gradients_weight_the_targets(same):
    x = tn.tensor([1.0, 2.0])
    with tn.GradientTape() as tape:
        tape.watch(x)
        y = x * 3
    same(tape.gradient(y, x, output_gradients=tn.tensor([1.0, 10.0])), [3, 30])


def test_jacobian_of_a_square_is_diagonal(same):
    x = tn.tensor([1.0, 2.0])
    with tn.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    same(tape.jacobian(y, x), [[2, 0], [0, 4]])


def test_stop_recording_and_reset_exclude_calls_from_a_tape(same):
    x = tn.tensor(2.0)
    with tn.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            hidden = x * 100
        y = x * x + hidden
    same(tape.gradient(y, x), 4)
    with tn.GradientTape() as tape:
        tape.watch(x)
        z = x * 5
        tape.reset()
        tape.watch(x)
        y = x * 2
    grads = tape.gradient(y, x)
    same(grads, 2)
    assert z.item() == 10


def test_a_tape_records_nothing_after_its_block():
    x = tn.tensor(2.0)
    with tn.GradientTape() as tape:
        tape.watch(x)
    y = x * x
    assert tape.gradient(y, x) is None


def test_grad_and_value_and_grad_differentiate_by_arguments(same):
    same(tn.grad(lambda x: x**3)(2.0), 12)
    same(tn.grad(tn.grad(lambda x: x**3))(2.0), 12)
    value, (a, b) = tn.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    same(value, 6)
    same(a, 3)
    same(b, 2)
    (value, aux), gradient = tn.value_and_grad(lambda x: (x * x, "aux"), has_aux=True)(3.0)
    assert aux == "aux" and value.item() == 9 and gradient.item() == 6
    x = tn.tensor(3.0)
    a, b = tn.gradients_function(lambda x, y: x * y)(x, x)
    assert a.item() == b.item() == 3
    with pytest.raises(ValueError, match="one element"):
        tn.grad(lambda x: x * 2)([1.0, 2.0])


def test_gradients_have_the_tree_structure_of_the_parameters(same):
    @dataclasses.dataclass
    class Layer:
        w: object
        b: object

    def loss(params, x):
        return tn.sum(params["layers"][0].w * x + params["layers"][0].b)

    grads = tn.grad(loss)({"layers": [Layer(tn.ones((2,)), tn.zeros((2,)))]}, tn.tensor([1.0, 2.0]))
    same(grads["layers"][0].w, [1, 2])
    same(grads["layers"][0].b, [1, 1])


def test_registered_classes_are_trees(same):
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    tn.register_pytree(Pair, lambda pair: ([pair.a, pair.b], None), lambda _, parts: Pair(*parts))
    gradient = tn.grad(lambda pair: pair.a * pair.b)(Pair(tn.tensor(2.0), tn.tensor(3.0)))
    same(gradient.a, 3)
    same(gradient.b, 2)


def test_implicit_gradients_are_computed_for_the_variables_that_are_read(same):
    w, b = tn.Variable(2.0), tn.Variable(1.0)
    pairs = tn.implicit_gradients(lambda x: w * x + b)(3.0)
    assert [variable is known for (_, variable), known in zip(pairs, (w, b))] == [True, True]
    same(pairs[0][0], 3)
    value, pairs = tn.implicit_value_and_gradients(lambda x: w * x)(3.0)
    same(value, 6)


def test_a_custom_gradient_replaces_the_derivative(same):
    @tn.custom_gradient
    def clipped(x):
        return tn.identity(x), lambda upstream: tn.clip(upstream, -1, 1)

    same(tn.grad(lambda x: tn.sum(clipped(x) * 10))(tn.tensor([1.0, 2.0])), [1, 1])
    same(tn.function(tn.grad(lambda x: tn.sum(clipped(x) * 10)))(tn.tensor([1.0, 2.0])), [1, 1])


def test_a_custom_gradient_supports_several_inputs_and_outputs(same):
    @tn.custom_gradient
    def both(x, y):
        return (x * y, x + y), lambda a, b: (a * y + b, a * x + b)

    a, b = tn.grad(lambda x, y: both(x, y)[0] + both(x, y)[1], argnums=(0, 1))(2.0, 3.0)
    same(a, 4)
    same(b, 3)


def test_a_custom_gradient_is_differentiated_again(same):
    @tn.custom_gradient
    def cube(x):
        return x**3, lambda upstream: upstream * 3 * x**2

    same(tn.grad(tn.grad(cube))(2.0), 12)
    same(tn.grad(tn.grad(tn.function(cube)))(2.0), 12)


def test_an_abandoned_tape_is_released():
    def run():
        tape = tn.GradientTape()
        tape.__enter__()
        x = tn.zeros((1000,))
        tape.watch(x)
        x * 2

    run()
    gc.collect()
    before = tn.memory_info()["live_bytes"]
    for _ in range(5):
        run()
    gc.collect()
    assert tn.memory_info()["live_bytes"] <= before
