"""The examples of docs/python.md and README.md."""

import pathlib
import re

import numpy
import pytest

import tenon as tn


def test_readme_example_prints_its_output(capsys):
    readme = pathlib.Path(__file__).parents[1] / "README.md"
    exec(re.search(r"```python\n(.*?)```", readme.read_text(), re.DOTALL).group(1), {})
    assert capsys.readouterr().out == "[2. 4. 6.]\n"


def test_example_of_tensors_runs():
    x = tn.tensor([[1, 2.5], [3, 4]])  # float32; a list of ints gives int32
    y = x[:, 0] + numpy.array([10, 20], numpy.float32)  # arrays are taken wherever tensors are
    z = x.at[0].set(0.0)  # a copy: tensors never change
    assert repr(y) == "<tn.Tensor: shape=(2,), dtype=float32, value=[11. 23.]>"
    assert z.numpy().tolist() == [[0, 0], [3, 4]]


def test_example_of_ops_runs():
    x = tn.tensor([3.0, 1.0, 2.0])
    total = x.sum(axes=[0], keepdims=True)  # the same as tn.sum(x, axes=[0], keepdims=True)
    values, indices = tn.top_k(x, k=2)
    assert total.tolist() == [6] and values.tolist() == [3, 2] and indices.tolist() == [0, 2]


def test_example_of_sharing_memory_runs():
    x = tn.ones((2, 2))
    array = x.numpy()  # shares x's memory, read-only
    shared = tn.from_dlpack(array)  # no copy: also of PyTorch and JAX
    copied = tn.tensor(array)
    assert shared.tolist() == copied.tolist() == [[1, 1], [1, 1]]


def test_example_of_gradients_runs():
    w, x = tn.Variable(3.0), tn.tensor(2.0)
    with tn.GradientTape() as tape:
        loss = w * w * x
    gradient = tape.gradient(loss, w)
    assert gradient.item() == 12

    value, (dx, dw) = tn.value_and_grad(lambda x, w: x * w, argnums=(0, 1))(2.0, 3.0)
    assert (value.item(), dx.item(), dw.item()) == (6, 3, 2)


def test_example_of_functions_runs():
    @tn.function
    def collatz(n):
        steps = tn.tensor(0)
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    steps = collatz(tn.tensor(27))  # traced once; Python's loop runs in the graph
    assert steps.item() == 111 and collatz.trace_count == 1


def test_example_of_signatures_runs():
    @tn.function(input_signature=[tn.TensorSpec([None, 2], name="rows")])
    def center(x):
        return x - tn.mean(x, axes=[0])

    assert center(tn.ones((3, 2))).shape == (3, 2) and center.trace_count == 1


def test_example_of_control_flow_runs():
    x = tn.tensor(-2.0)
    size = tn.cond(x > 0, lambda: x, lambda: -x)
    last = tn.while_loop(lambda v: v < 100, lambda v: (v * 2,), (size,))[0]
    total, partial = tn.scan(lambda s, x: (s + x, s + x), 0.0, tn.tensor([1.0, 2.0]))
    assert last.item() == 128 and total.item() == 3 and partial.tolist() == [1, 3]


def test_example_of_programs_runs(tmp_path):
    w = tn.Variable([1.0, 2.0], name="w")
    score = tn.function(lambda x: tn.sum(x * w, axes=[1]))
    folder = tmp_path / "scorer"
    tn.save(folder, {"score": score.trace(tn.TensorSpec([None, 2], name="x"))})
    program = tn.load(folder)
    assert program.score(tn.ones((3, 2))).tolist() == [3, 3, 3]


def test_example_of_devices_runs():
    with tn.device("cpu:0"):
        x = tn.zeros((2,))
    print(x.device, tn.memory_info("cpu:0")["live_bytes"])
    with tn.profile() as profiler:
        x + 1
    print(profiler.table())


def test_example_of_errors_runs():
    with pytest.raises(tn.InvalidArgumentError) as caught:
        tn.softmax([1.0, 2.0], axis=5)
    error = caught.value
    assert (error.op, error.rule) == ("softmax", "C2")
