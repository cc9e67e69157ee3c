"""Functions: traces, static arguments, signatures, methods and retracing."""

import gc
import warnings
import weakref

import pytest

import tenon as tn


def test_a_function_is_traced_once_for_each_signature(same):
    traced = []

    @tn.function
    def double(x):
        traced.append(x.dtype)
        assert tn.is_tracing() and tn.is_symbolic(x) and not tn.executing_eagerly()
        return x * 2

    same(double(tn.tensor([1.0, 2.0])), [2, 4])
    same(double(tn.tensor([3.0, 4.0])), [6, 8])
    same(double(tn.tensor(1)), 2, "int32")
    assert traced == [tn.float32, tn.int32] and double.trace_count == 2
    assert double.__name__ == "double" and double.python_function.__name__ == "double"
    assert "mul" in double.traces[0].text


def test_python_values_are_static(same):
    @tn.function
    def scale(x, by=2, mode="mul", flip=False, none=None):
        return -x * by if flip else x * by

    x = tn.tensor([1.0])
    same(scale(x), [2])
    same(scale(x, 3), [3])
    same(scale(x, by=3), [3])
    same(scale(x, 3.0), [3])
    same(scale(x, flip=True), [-2])
    assert scale.trace_count == 4


def test_functions_return_trees():
    @tn.function
    def many(x):
        return {"a": x, "b": [x + 1, None, "text"]}, 3

    tree, three = many(tn.tensor(1.0))
    assert tree["a"].item() == 1 and tree["b"][0].item() == 2
    assert tree["b"][1:] == [None, "text"] and three.item() == 3


def test_functions_take_trees(same):
    @tn.function
    def total(batch, *rest, **named):
        return batch["x"] + batch["y"][0] + rest[0] + named["z"]

    x = tn.tensor(1.0)
    same(total({"x": x, "y": [x]}, x, z=x), 4)
    same(total({"y": [x], "x": x}, x, z=x), 4)
    assert total.trace_count == 1


def test_the_structure_of_the_result_may_depend_on_the_dtype():
    @tn.function
    def kind(x):
        return (x, x) if x.dtype.is_integer else {"x": x}

    for _ in range(2):
        assert isinstance(kind(tn.tensor(1)), tuple)
        assert isinstance(kind(tn.tensor(1.0)), dict)


def test_array_arguments_become_tensors(same):
    import numpy

    double = tn.function(lambda x: x * 2)
    same(double(numpy.ones(2)), [2, 2], "float64")
    same(double(numpy.zeros(2)), [0, 0])
    assert double.trace_count == 1


def test_an_input_signature_serves_all_sizes(same):
    @tn.function(input_signature=[tn.TensorSpec([None, 2])])
    def total(x):
        assert x.shape == (None, 2)
        return tn.sum(x, axes=0)

    same(total([[1, 2], [3, 4]]), [4, 6])
    same(total(x=tn.ones((5, 2))), [5, 5])
    assert total.trace_count == 1
    with pytest.raises(tn.InvalidArgumentError, match="must be"):
        total(tn.ones((2, 3)))
    with pytest.raises(TypeError):
        total(tn.ones((2, 2)), 1)
    assert "total(x)" in total.pretty_printed_signature()
    assert "TensorSpec(shape=(None, 2), dtype=float32)" in total.pretty_printed_signature()


def test_sizes_that_change_become_dynamic():
    relaxed = tn.function(lambda x: x * 2)
    fixed = tn.function(lambda x: x * 2, reduce_retracing=False)
    for n in range(1, 5):
        relaxed(tn.ones((n,)))
        fixed(tn.ones((n,)))
    assert relaxed.trace_count < 4 == fixed.trace_count


def test_retracing_warns_once_with_the_argument():
    @tn.function
    def scale(x, by):
        return x * by

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for by in range(9):
            scale(tn.tensor(1.0), by)
    assert len(caught) == 1 and "'by' changed from 4 to 5" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_trace_traces_for_specs_instead_of_tensors(same):
    @tn.function
    def add(x, y, by=1):
        return x + y * by

    trace = add.trace(tn.TensorSpec(["n"]), tn.TensorSpec(["n"]), by=2)
    assert trace.n_inputs == 2 and trace.n_outputs == 1 and "x: f32[n]" in trace.text
    same(trace(tn.tensor([1.0, 2.0]), tn.tensor([1.0, 1.0])), [3, 4])
    assert add.trace_count == 1 and repr(add) == "<tn.function add>"
    assert add.explain()


def test_a_function_updates_a_captured_variable_in_each_call(same):
    w = tn.Variable(1.0, name="w")

    @tn.function
    def step(x):
        w.assign_add(x)
        return w.read()

    same(step(tn.tensor(2.0)), 3)
    same(step(tn.tensor(2.0)), 5)
    assert step.traces[0].variables[0] is w


def test_a_variable_is_created_in_the_first_call(same):
    class Model:
        w = None

        @tn.function
        def __call__(self, x):
            if self.w is None:
                self.w = tn.Variable(3.0)
            return self.w * x

    model = Model()
    same(model(tn.tensor(2.0)), 6)
    same(model(tn.tensor(4.0)), 12)


def test_a_method_has_a_cache_for_each_object(same):
    class Model:
        def __init__(self, w):
            self.w = tn.Variable(w)

        @tn.function
        def apply(self, x):
            return self.w * x

    a, b = Model(2.0), Model(3.0)
    same(a.apply(tn.tensor(1.0)), 2)
    same(b.apply(tn.tensor(1.0)), 3)
    assert a.apply.trace_count == 1 and a.apply is a.apply
    alive = weakref.ref(a)
    del a
    gc.collect()
    assert alive() is None


def test_gradients_flow_through_functions(same):
    w = tn.Variable(2.0)
    square = tn.function(lambda x: w * x * x)
    x = tn.tensor(3.0)
    with tn.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    for gradient, expected in zip(tape.gradient(y, [x, w]), (12, 9)):
        same(gradient, expected)
    same(tn.grad(tn.grad(square))(x), 4)
    same(tn.function(tn.grad(square))(x), 12)


def test_a_memory_budget_does_not_change_gradients(same):
    deep = tn.function(lambda x: tn.sum(tn.exp(tn.sin(x))), memory_budget=0)
    plain = tn.grad(lambda x: tn.sum(tn.exp(tn.sin(x))))
    x = tn.tensor([1.0, 2.0])
    same(tn.grad(deep)(x), plain(x).numpy())


def test_functions_call_functions(same):
    inner = tn.function(lambda x: x + 1)
    outer = tn.function(lambda x: inner(x) * 2)
    same(outer(tn.tensor(1.0)), 4)


def test_functions_can_run_eagerly(same):
    runs = []

    @tn.function
    def add(x):
        runs.append(x.item())
        return x + 1

    tn.run_functions_eagerly(True)
    try:
        same(add(tn.tensor(1.0)), 2)
        same(add(tn.tensor(1.0)), 2)
        assert tn.functions_run_eagerly()
    finally:
        tn.run_functions_eagerly(False)
    assert runs == [1, 1]


def test_a_released_function_frees_what_it_captured():
    def run():
        kept = tn.zeros((10000,))
        tn.function(lambda x: x + kept)(tn.tensor(1.0))

    run()
    gc.collect()
    before = tn.memory_info()["live_bytes"]
    for _ in range(3):
        run()
    gc.collect()
    assert tn.memory_info()["live_bytes"] - before < 40000
