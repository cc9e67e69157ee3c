"""Conversion of code that needs the real package: variables, tapes, arrays, saved programs."""

import concurrent.futures

import numpy as np
import pytest
import tenon as tn
from helpers import value_of

if not hasattr(tn, "GradientTape"):
    pytest.skip("the stand-in lacks it", allow_module_level=True)


def test_tensor_array_is_written_in_a_loop():
    @tn.function
    def f(x):
        outputs = tn.TensorArray(tn.float32, 4)
        for i in tn.range(4):
            x = x * 2.0
            if x > 5.0:
                outputs = outputs.write(i, x)
            else:
                outputs = outputs.write(i, -x)
        return outputs.stack()

    assert value_of(f(tn.constant(1.0))) == [-2.0, -4.0, 8.0, 16.0]


def test_variables_are_assigned_in_branches_and_loops():
    total = tn.Variable(0.0)

    @tn.function
    def f(x):
        for i in tn.range(3):
            if x > float(i):
                total.assign_add(x)
            else:
                total.assign_sub(1.0)
        if total > 3.0:
            return total.read()
        return -total.read()

    assert value_of(f(tn.constant(2.0))) == -3.0
    assert value_of(f(tn.constant(2.0))) == 6.0
    assert f.trace_count == 1


def test_tape_computes_gradients_inside_a_converted_function():
    @tn.function
    def slope(x):
        with tn.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tn.range(2):
                if y > 1.0:
                    y = y * x
        return tape.gradient(y, x)

    assert value_of(slope(tn.constant(2.0))) == 12.0
    assert value_of(slope(tn.constant(0.5))) == 1.0


def test_dynamic_sizes_share_a_trace():
    @tn.function(input_signature=[tn.TensorSpec((None,), tn.float32)])
    def positive_sum(values):
        total = 0.0
        for value in values:
            if value < 0:
                continue
            total = total + value
        return total

    assert value_of(positive_sum(tn.constant([1.0, -2.0, 3.0]))) == 4.0
    assert value_of(positive_sum(tn.constant([5.0]))) == 5.0
    assert positive_sum.trace_count == 1


def test_converted_method_reads_variables_of_its_object():
    class Model:
        def __init__(self):
            self.weight = tn.Variable(2.0)

        @tn.function
        def __call__(self, x):
            if x > 0:
                return x * self.weight
            return x

    model = Model()
    assert value_of(model(tn.constant(3.0))) == 6.0
    assert value_of(model(tn.constant(-3.0))) == -3.0


def test_saved_function_keeps_branches_and_loops(tmp_path):
    @tn.function(input_signature=[tn.TensorSpec((), tn.float32)])
    def f(x):
        while x < 100.0:
            if x > 10.0:
                x = x * 3.0
            else:
                x = x + 4.0
        return x

    expected = value_of(f(tn.constant(1.0)))
    tn.save(str(tmp_path / "program"), {"f": f})
    loaded = tn.load(str(tmp_path / "program"))
    assert value_of(loaded["f"](tn.constant(1.0))) == expected == 117.0


def test_functions_that_run_eagerly_can_read_tensor_values():
    seen = []

    @tn.function
    def f(x):
        if x > 0:
            seen.append(float(x))
            return x * 2.0
        return x

    tn.run_functions_eagerly(True)
    try:
        assert value_of(f(tn.constant(3.0))) == 6.0
    finally:
        tn.run_functions_eagerly(False)
    assert seen == [3.0]


def test_python_decides_conditions_on_numpy_values():
    @tn.function
    def f(x):
        for row in np.eye(2, dtype=np.float32):
            if row[0] > 0:
                x = x + row
        return x

    assert value_of(f(tn.constant([0.0, 0.0]))) == [1.0, 0.0]


def test_threads_trace_concurrently():
    def body(k):
        def f(x):
            values = []
            for i in tn.range(4):
                if x > float(i):
                    values.append(x * k)
            return tn.stack(values)

        return value_of(tn.function(f)(tn.constant(2.0)))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(body, [float(k) for k in range(16)]))
    assert results == [[2.0 * k] * 2 for k in range(16)]
