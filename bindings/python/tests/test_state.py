"""Variables, generators, devices, contexts, profiler, files, programs and custom ops."""

import copy
import json
import pickle

import numpy
import pytest

import tenon as tn


def test_variables_are_assigned(same):
    w = tn.Variable([1.0, 2.0], name="w")
    before = w.read()
    same(w.assign([3, 4]), [3, 4])
    same(w.assign_add(1.0).assign_sub(tn.tensor([1.0, 2.0])), [3, 3])
    same(before, [1, 2])
    assert (w.shape, w.dtype, w.name, w.trainable, w.device) == ((2,), tn.float32, "w", True, "cpu:0")
    with pytest.raises(tn.InvalidArgumentError):
        w.assign([1.0])
    w.trainable = False
    assert not w.trainable


def test_variables_act_as_tensors(same):
    w = tn.Variable([1.0, 2.0])
    same(w + 1, [2, 3])
    same(2 * w @ w, 10)
    same(-w, [-1, -2])
    same(w.sum(), 3)
    same(w[0], 1)
    same(tn.stack([w, w]), [[1, 2], [1, 2]])
    same(w == [1.0, 0.0], [True, False])
    assert len(w) == 2 and {w: 1}[w] == 1 and numpy.asarray(w).tolist() == [1, 2]
    assert repr(w) == "<tn.Variable: shape=(2,), dtype=float32, value=[1. 2.]>"
    assert pickle.loads(pickle.dumps(w)).numpy().tolist() == [1, 2]
    copied = copy.deepcopy(w)
    copied.assign([0.0, 0.0])
    same(w, [1, 2])


def test_generators_with_the_same_seed_draw_the_same_numbers(same):
    a, b = tn.Generator(7), tn.Generator(7)
    same(a.uniform((3,)), b.uniform((3,)).numpy())
    state = a.state
    first = a.normal((2,), mean=5.0)
    a.state = state
    same(a.normal((2,), mean=5.0), first.numpy())
    assert sorted(a.random_permutation(n=3).tolist()) == [0, 1, 2]
    y, mask = a.dropout(tn.ones((100,)), ratio=0.5, training=True)
    assert 0 < mask.count_nonzero().item() < 100 and y.shape == (100,)
    a.seed(7)
    b.seed(7)
    same(a.random_uniform(shape=(2,)), b.random_uniform(shape=(2,)).numpy())


def test_a_generator_advances_in_a_function():
    generator = tn.Generator(1)
    draw = tn.function(lambda: generator.uniform(()))
    assert draw().item() != draw().item()


def test_device_block_sets_the_current_device():
    names = [each["name"] for each in tn.list_devices()]
    assert names[0] == "cpu:0" and tn.current_device() == "cpu:0"
    with tn.device("cpu"):
        assert tn.zeros((1,)).device == "cpu:0"
    with pytest.raises(tn.NotFoundError):
        with tn.device("nowhere"):
            pass
    assert tn.tensor([1], device="cpu:0").device == "cpu:0"
    assert any(plugin["name"] == "cpu" for plugin in tn.list_plugins())
    assert tn.passes()[0][0] == "verify"
    tn.synchronize()


def test_memory_statistics_count_live_bytes():
    before = tn.memory_info()["live_bytes"]
    x = tn.zeros((1000,))
    assert tn.memory_info()["live_bytes"] - before >= 4000
    tn.reset_peak_memory()
    del x
    assert tn.memory_info()["live_bytes"] <= before + 100 and tn.trim_memory() >= 0


def test_a_context_has_its_own_devices(same):
    context = tn.Context(threads=1, memory_limit_bytes=10000, fallback_policy="strict")
    outside = tn.ones((2,))
    with tn.Scope(context):
        x = tn.ones((2,))
        same(x + 1, [2, 2])
        with pytest.raises(tn.OutOfMemoryError):
            tn.zeros((10000,))
        with pytest.raises(tn.InvalidArgumentError):
            x + outside
    same(outside + 1, [2, 2])


def test_the_profiler_counts_calls(tmp_path):
    x = tn.ones((4,))
    with tn.profile() as profiler:
        x + x
        x + x
    (row,) = [row for row in profiler.rows if row["name"] == "add"]
    assert row["count"] == 2 and "add" in profiler.table() and profiler.dropped_events == 0
    profiler.write_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())


def test_safetensors_files_are_saved_and_loaded(tmp_path, same):
    path = tmp_path / "x.safetensors"
    tn.save_safetensors(path, {"a": [1.0, 2.0], "b": tn.Variable(3)}, {"by": "test"})
    loaded = tn.load_safetensors(path)
    same(loaded["a"], [1, 2])
    same(loaded["b"], 3, "int32")
    file = tn.SafetensorsFile(path.read_bytes())
    assert list(file) == sorted(file, key=list(file).index) and file.metadata == {"by": "test"}
    assert file.specs["a"] == tn.TensorSpec((2,)) and len(file) == 2
    assert tn.load_safetensors(tn.dump_safetensors({"a": loaded["a"]}))["a"].tolist() == [1, 2]
    with pytest.raises(tn.NotFoundError):
        file["c"]


def test_programs_are_saved_and_opened(tmp_path, same):
    w = tn.Variable([2.0, 3.0], name="w")

    @tn.function(input_signature=[tn.TensorSpec([None, 2], name="rows")])
    def predict(x):
        while tn.sum(x) < 100.0:
            x = x * w
        return x

    @tn.function
    def train(x):
        w.assign_add(x)
        return w.read()

    train(tn.tensor([1.0, 1.0]))
    w.assign([2.0, 3.0])
    expected = predict(tn.ones((3, 2))).numpy()
    tn.save(tmp_path / "program", {"predict": predict, "train": train.traces[0]})
    program = tn.load(tmp_path / "program")
    same(program.predict(tn.ones((3, 2))), expected)
    same(program["train"](tn.tensor([1.0, 1.0])), [3, 4])
    assert sorted(program.names) == ["predict", "train"] and program.variables[0].name == "w"
    (signature,) = program.predict.signatures
    assert signature["inputs"][0].name == "rows" and signature["inputs"][0].shape == (None, 2)
    assert {each["name"] for each in program.describe()["functions"]} == {"predict", "train"}
    trace = program.predict.trace(tn.TensorSpec((2, 2), name="rows"))
    assert trace(tn.ones((2, 2))).shape == (2, 2)
    model = tn.load(tmp_path / "program" / "predict.onnx")
    outputs = model[model.names[0]](tn.ones((3, 2)))
    same(outputs, expected)
    with pytest.raises(AttributeError, match="no function 'other'"):
        program.other


def test_a_loaded_function_is_differentiated(tmp_path, same):
    square = tn.function(lambda x: x * x)
    tn.save(tmp_path / "p", {"square": square.trace(tn.TensorSpec((2,)))})
    same(tn.load(tmp_path / "p").square.gradient()(tn.tensor([1.0, 3.0])), [2, 6])


def test_custom_ops_compute_with_numpy(same):
    cap = tn.custom_op("test.cap", infer=lambda x, at=1.0: x,
                       compute=lambda x, at=1.0: numpy.minimum(x, at),
                       backward=lambda inputs, outputs, cotangents, at=1.0:
                       cotangents[0] * tn.cast(inputs[0] < at, to="float32"))
    x = tn.tensor([0.5, 2.0])
    same(cap(x), [0.5, 1])
    same(cap(x, at=1.5), [0.5, 1.5])
    same(tn.grad(lambda x: cap(x).sum())(x), [1, 0])
    same(tn.function(lambda x: cap(x, at=0.25) + 1)(x), [1.25, 1.25])


def test_custom_ops_decompose_and_have_several_outputs(same):
    pair = tn.custom_op("test.pair", infer=lambda x: (x, x), n_outputs=2,
                        decompose=lambda x: (x * 2, x * 3))
    a, b = pair(tn.tensor([1.0]))
    same(a, [2])
    same(b, [3])
    same(tn.grad(lambda x: pair(x)[1].sum())(tn.tensor([1.0])), [3])


def test_a_custom_op_reports_its_exception():
    def fail(x):
        raise ValueError("no such x")

    op = tn.custom_op("test.fail", infer=fail, compute=fail)
    with pytest.raises(ValueError, match="no such x"):
        op(tn.tensor([1.0]))


def test_every_op_has_documentation_and_a_signature():
    import inspect

    for name in tn.ops.__all__:
        function = getattr(tn.ops, name)
        assert function.__doc__ and "Returns:" in function.__doc__, name
        assert inspect.signature(function) is not None, name
    assert str(inspect.signature(tn.softmax)) == "(x, axis=-1)"
    assert str(inspect.signature(tn.Tensor.softmax)) == "(self, /, axis=-1)"


def test_ops_take_attributes_and_optional_inputs(same):
    x = tn.tensor([[3.0, 1.0], [2.0, 4.0]])
    same(tn.sum(x, 0), [5, 5])
    same(x.sum(axes=[1], keepdims=True), [[4], [6]])
    values, indices = tn.top_k(x, k=1)
    same(values, [[3], [4]])
    assert tn.top_k(x, k=1)._fields == ("values", "indices")
    same(tn.gemm(x, x, None, alpha=2.0), 2 * (x @ x).numpy())
    assert [part.shape for part in tn.split(x, axis=1, num_outputs=2)] == [(2, 1), (2, 1)]
    assert len(tn.meshgrid([tn.arange(2), tn.arange(3)])) == 2
    same(tn.einsum([x, x], equation="ij,jk->ik"), (x @ x).numpy())
    assert x.cast(to=tn.int8).dtype is tn.int8 and x.cast(to=int).dtype is tn.int32


def test_assigned_nested_lists_adopt_the_dtype_of_the_variable():
    v = tn.Variable([1.0, 2.0])
    assert v.assign([3, 4]).assign_add([1, 1]).assign_sub([0, 2]).numpy().tolist() == [4, 3]


def test_specs_need_a_known_number_of_axes():
    with pytest.raises(ValueError, match="the number of axes cannot be unknown"):
        tn.TensorSpec(None)
