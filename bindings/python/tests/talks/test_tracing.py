"""Programs from the talks on functions: tracing, variables and training."""

import warnings

import numpy as np
import pytest
import tenon as tn


def value(result):
    return result.numpy().tolist()


def test_21_eager_tensors_have_values():
    a = tn.constant([[10.0, 10.0], [11.0, 1.0]])
    x = tn.constant([[1.0, 0.0], [0.0, 1.0]])
    assert value(tn.matmul(a, x) + tn.Variable(12.0)) == [[22.0, 22.0], [23.0, 13.0]]


def test_22_executing_eagerly_is_false_while_tracing():
    seen = []

    @tn.function
    def inside():
        seen.append(tn.executing_eagerly())

    inside()
    assert seen == [False] and tn.executing_eagerly()


def test_23_python_print_runs_while_tracing_only(capfd):
    @tn.function
    def f(x):
        print("Python")
        tn.print("graph", x)
        return x

    f(tn.constant(1))
    f(tn.constant(2))
    assert capfd.readouterr().out.split() == ["Python", "graph", "1", "graph", "2"]
    assert f.trace_count == 1


def test_24_each_dtype_has_a_trace():
    @tn.function
    def f(x):
        return x + x

    assert [value(f(tn.constant(x))) for x in (1.0, 1.5, 2, 3)] == [2.0, 3.0, 4, 6]
    assert f.trace_count == 2


def test_25_each_python_value_has_a_trace():
    @tn.function
    def f(x):
        return tn.constant(0.0) + x

    assert [value(f(x)) for x in (1, 2, 1, 1.0, 2.0)] == [1.0, 2.0, 1.0, 1.0, 2.0]
    assert f.trace_count == 4


def test_26_tensors_instead_of_numbers_share_a_trace():
    @tn.function
    def f(x):
        return x * 2.0

    assert [value(f(tn.constant(float(k)))) for k in range(5)] == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert f.trace_count == 1


def test_27_many_retraces_warn_once():
    @tn.function
    def f(x):
        return tn.constant(0.0) + x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(10):
            f(k)
    assert len(caught) == 1


def test_28_one_trace_serves_all_inputs_of_the_signature():
    @tn.function(input_signature=[tn.TensorSpec((None,), tn.float32)])
    def mean(x):
        return tn.mean(x)

    assert [value(mean(tn.constant(x))) for x in ([1.0, 3.0], [5.0])] == [2.0, 5.0]
    assert mean.trace_count == 1


def test_29_variable_of_an_object_is_created_once():
    class F:
        def __init__(self):
            self.b = None

        @tn.function
        def __call__(self, x):
            if self.b is None:
                self.b = tn.Variable(12.0)
            return x + self.b

    f = F()
    assert [value(f(tn.constant(1.0))) for _ in range(3)] == [13.0, 13.0, 13.0]


def test_30_variable_keeps_its_value_between_calls():
    counter = tn.Variable(0)

    @tn.function
    def count():
        counter.assign_add(1)
        return counter.read()

    assert [value(count()) for _ in range(3)] == [1, 2, 3]
    assert count.trace_count == 1


def test_31_effects_run_in_the_order_of_the_code():
    v = tn.Variable(1.0)

    @tn.function
    def f(x):
        v.assign_add(x)
        first = v.read()
        v.assign(v * 10.0)
        return first, v.read()

    assert [value(item) for item in f(tn.constant(2.0))] == [3.0, 30.0]


def test_32_functions_call_functions():
    @tn.function
    def dense(x, w, b):
        return tn.tanh(tn.matmul(x, w) + b)

    @tn.function
    def network(x, w):
        for _ in range(3):
            x = dense(x, w, 0.0)
        return x

    x, w = tn.ones((1, 2)), tn.constant([[0.5, 0.0], [0.0, 0.25]])
    expected = np.ones((1, 2), np.float32)
    for _ in range(3):
        expected = np.tanh(expected @ w.numpy())
    assert np.allclose(network(x, w).numpy(), expected)


def test_33_gradient_of_an_if_is_that_of_the_selected_branch():
    @tn.function
    def leaky(x):
        return x if x > 0 else 0.1 * x

    slopes = []
    for point in (2.0, -2.0):
        x = tn.constant(point)
        with tn.GradientTape() as tape:
            tape.watch(x)
            y = leaky(x)
        slopes.append(value(tape.gradient(y, x)))
    assert slopes == pytest.approx([1.0, 0.1])


def test_34_loop_has_a_second_derivative():
    @tn.function
    def power(x, n):
        y = 1.0
        for _ in tn.range(n):
            y = y * x
        return y

    x, n = tn.constant(2.0), tn.constant(4)
    with tn.GradientTape() as outer:
        outer.watch(x)
        with tn.GradientTape() as inner:
            inner.watch(x)
            y = power(x, n)
        slope = inner.gradient(y, x)
    assert (value(slope), value(outer.gradient(slope, x))) == (32.0, 48.0)


def test_35_custom_gradient_clips_in_a_loop():
    @tn.custom_gradient
    def clipped(x):
        return x * 1.0, lambda dy: tn.clip(dy, -1.0, 1.0)

    @tn.function
    def f(x):
        for _ in tn.range(2):
            x = clipped(x) * 10.0
        return x

    assert value(tn.grad(f)(tn.constant(1.0))) == 1.0


def test_36_training_loop_runs_inside_a_function():
    w, b = tn.Variable(0.0), tn.Variable(0.0)

    @tn.function
    def train(xs, ys, steps):
        loss = 0.0
        for _ in tn.range(steps):
            with tn.GradientTape() as tape:
                loss = tn.mean((xs * w + b - ys) ** 2.0)
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * dw)
            b.assign_sub(0.1 * db)
        return loss

    xs = tn.constant([-1.0, 0.0, 1.0, 2.0])
    assert value(train(xs, xs * 3.0 + 2.0, tn.constant(500))) < 1e-6
    assert value(w.read()) == pytest.approx(3.0, abs=1e-3)
    assert value(b.read()) == pytest.approx(2.0, abs=1e-3)
    assert train.trace_count == 1


def test_37_training_stops_when_the_loss_is_small():
    w = tn.Variable(5.0)

    @tn.function
    def train(limit):
        steps = 0
        while True:
            with tn.GradientTape() as tape:
                loss = w * w
            if loss < limit:
                break
            w.assign_sub(0.25 * tape.gradient(loss, w))
            steps += 1
        return steps

    assert value(train(tn.constant(1.0))) == 3


def test_38_function_updates_the_variables_of_a_metric_object():
    class Mean:
        def __init__(self):
            self.total, self.count = tn.Variable(0.0), tn.Variable(0.0)

        def update(self, x):
            if x > 0:
                self.total.assign_add(x)
                self.count.assign_add(1.0)

        def result(self):
            return self.total / self.count

    mean = Mean()

    @tn.function
    def step(values):
        for x in values:
            mean.update(x)
        return mean.result()

    assert value(step(tn.constant([1.0, -5.0, 3.0]))) == 2.0


def test_39_functions_can_run_eagerly_for_debugging():
    seen = []

    @tn.function
    def f(x):
        if x > 0:
            seen.append(value(x))
            x = x + 1
        return x

    tn.run_functions_eagerly(True)
    try:
        assert value(f(tn.constant(1))) == 2
    finally:
        tn.run_functions_eagerly(False)
    assert seen == [1]


def test_40_loop_over_a_python_list_of_layers_is_unrolled():
    layers = [lambda x, k=float(k): x * k if x > 0 else x - k for k in range(1, 4)]

    @tn.function
    def network(x):
        for layer in layers:
            x = layer(x)
        return x

    assert [value(network(tn.constant(x))) for x in (1.0, -1.0)] == [6.0, -7.0]
    assert network.trace_count == 1
