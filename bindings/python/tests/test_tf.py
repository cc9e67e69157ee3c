"""tenon.tf: TensorFlow's names, parameters and conventions."""

import math

import numpy
import pytest

import tenon as tn
from tenon import tf

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
N = numpy.array(X)

# Pairs of an expression of `tf` and `x`, and its value in NumPy.
VALUES = [
    ("tf.reduce_sum(x)", 21),
    ("tf.reduce_sum(x, 0)", N.sum(0)),
    ("tf.reduce_mean(x, axis=[1], keepdims=True)", N.mean(1, keepdims=True)),
    ("tf.reduce_mean([1, 2, 4])", 2),
    ("tf.reduce_max(x, axis=-1)", [3, 6]),
    ("tf.reduce_std(x)", N.std()),
    ("tf.reduce_sum(x, axis=[])", X),
    ("tf.reduce_any([True, False])", True),
    ("tf.argmax(x, axis=1)", [2, 2]),
    ("tf.math.argmin(x)", [0, 0, 0]),
    ("tf.cumsum(x, axis=1, reverse=True)", [[6, 5, 3], [15, 11, 6]]),
    ("tf.matmul(x, x, transpose_b=True)", N @ N.T),
    ("tf.tensordot(x, x, 2)", (N * N).sum()),
    ("tf.einsum('ij,ik->jk', x, x)", N.T @ N),
    ("tf.norm(x)", math.sqrt((N * N).sum())),
    ("tf.linalg.trace(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]))", 0.75),
    ("tf.add(x, [[1, 1, 1]])", N + 1),
    ("tf.maximum(2.5, [1, 4])", [2.5, 4]),
    ("tf.divide(3, 2)", 1.5),
    ("tf.pow(x, 2)", N**2),
    ("tf.clip_by_value(x, 2, 3)", N.clip(2, 3)),
    ("tf.clip_by_norm([3.0, 4.0], 1.0)", [0.6, 0.8]),
    ("tf.clip_by_norm([0.3, 0.4], 1.0)", [0.3, 0.4]),
    ("tf.clip_by_global_norm([tf.constant(3.0), tf.constant(4.0)], 1.0)[1]", 5),
    ("tf.transpose(x, [1, 0])", N.T),
    ("tf.reshape(x, tf.constant([3, 2]))", N.reshape(3, 2)),
    ("tf.concat([x, x], axis=1)", numpy.concatenate([N, N], 1)),
    ("tf.stack([x, x], axis=-1)", numpy.stack([N, N], -1)),
    ("tf.split(x, [1, 2], axis=1)[1]", N[:, 1:]),
    ("tf.split(x, 3, axis=1)[2]", N[:, 2:]),
    ("tf.pad(x, [[1, 0], [0, 2]], constant_values=9)",
     numpy.pad(N, [[1, 0], [0, 2]], constant_values=9)),
    ("tf.slice(x, begin=[0, 1], size=[-1, 2])", N[:, 1:]),
    ("tf.gather(x, [2, 0], axis=1)", N[:, [2, 0]]),
    ("tf.gather_nd(x, [[0, 1], [1, 2]])", [2, 6]),
    ("tf.scatter_nd([[1], [1]], [3, 4], [3])", [0, 7, 0]),
    ("tf.tensor_scatter_nd_sub([5, 5], [[0]], [2])", [3, 5]),
    ("tf.where(x > 3, x, 0.0)", numpy.where(N > 3, N, 0)),
    ("tf.where([False, True])", [[1]]),
    ("tf.boolean_mask(x, [False, True])", N[1:]),
    ("tf.reverse(x, [1])", N[:, ::-1]),
    ("tf.sort([3, 1, 2], direction='DESCENDING')", [3, 2, 1]),
    ("tf.one_hot([1, 0], 2, on_value=5, off_value=1)", [[1, 5], [5, 1]]),
    ("tf.range(1, 7, 2)", [1, 3, 5]),
    ("tf.linspace(0, 1, 3)", [0, 0.5, 1]),
    ("tf.eye(2, batch_shape=[2])", [numpy.eye(2)] * 2),
    ("tf.repeat([[1, 2]], 2)", [1, 1, 2, 2]),
    ("tf.size(x)", 6),
    ("tf.rank(x)", 2),
    ("tf.shape(x)", [2, 3]),
    ("tf.map_fn(lambda row: row * 2, x)", N * 2),
    ("tf.foldl(lambda total, row: total + row, x)", N.sum(0)),
    ("tf.scan(lambda total, row: total + row, x)", N.cumsum(0)),
    ("tf.scan(lambda total, row: total + row, x, reverse=True)", N[::-1].cumsum(0)[::-1]),
    ("tf.nn.softmax(x[0])", numpy.exp(N[0]) / numpy.exp(N[0]).sum()),
    ("tf.nn.leaky_relu([-1.0, 1.0])", [-0.2, 1]),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[0.0, 0.0], [0.0, 0.0]])",
     [math.log(2)] * 2),
    ("tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=[0.0])", [math.log(2)]),
    ("tf.cond(tf.constant(True), lambda: 1, lambda: 2)", 1),
    ("tf.case([(tf.constant(False), lambda: 1), (tf.constant(True), lambda: 2)], lambda: 3)", 2),
    ("tf.switch_case(tf.constant(7), [lambda: 1, lambda: 2], default=lambda: 3)", 3),
    ("tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)], maximum_iterations=4)[0]", 4),
    ("tf.strings.to_number(tf.strings.split(tf.constant('1 10')))", [1, 10]),
    ("tf.nest.map_structure(lambda v: v + 1, {'a': tf.constant(1)})['a']", 2),
    ("tf.cast(2.9, tf.int32)", 2),
]


@pytest.mark.parametrize("expression, expected", VALUES, ids=[text for text, _ in VALUES])
def test_expression_has_the_expected_value(expression, expected):
    value = eval(expression, {"tf": tf, "x": tf.constant(X)})
    numpy.testing.assert_allclose(numpy.asarray(value), expected, rtol=1e-6)


def test_every_public_name_exists_and_is_documented():
    for module in (tf, tf.math, tf.nn, tf.linalg, tf.random, tf.data, tf.config, tf.errors,
                   tf.strings, tf.nest, tf.saved_model, tf.debugging, tf.dtypes):
        names = [name for name in dir(module) if not name.startswith("_")]
        assert set(getattr(module, "__all__", [])) <= set(names)
        assert [name for name in names if callable(getattr(module, name))
                and not getattr(module, name).__doc__] == []


def test_tape_ignores_integers_and_computes_batch_jacobians():
    x = tf.constant(10)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    rows = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        y = rows**2
    diagonals = tape.batch_jacobian(y, rows)
    numpy.testing.assert_allclose(diagonals, [numpy.diag(2 * row) for row in N])


def test_concrete_function_checks_the_values_of_its_trace():
    power = tf.function(lambda a, b: a**b)
    square = power.get_concrete_function(tf.TensorSpec([], tf.float32), 2)
    assert square(tf.constant(3.0)) == 9 and square(tf.constant(3.0), b=2) == 9
    with pytest.raises(TypeError, match="the argument 'b' is 2 in this trace, but 3"):
        square(tf.constant(3.0), b=3)
    assert [node.op for node in square.graph.as_graph_def().node] == ["pow"]


def test_argument_that_violates_the_signature_is_a_type_error():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def double(x):
        return x * 2

    assert double(tf.constant([1, 2])).tolist() == [2, 4]
    with pytest.raises(TypeError, match="the argument has dtype float32"):
        double(tf.constant([1.0]))


def test_functions_passed_to_control_flow_are_converted():
    @tf.function
    def signs(x):
        def sign(v):
            if v > 0:
                return 1
            return -1

        return tf.map_fn(sign, x)

    assert signs(tf.constant([3.0, -2.0])).tolist() == [1, -1]


def test_module_finds_variables_and_saves(tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [tf.Variable(2.0), {"b": tf.Variable(1.0, trainable=False)}]

        @tf.function
        def __call__(self, x):
            return x * self.parts[0] + self.parts[1]["b"]

    class Outer(tf.Module):
        def __init__(self):
            super().__init__("outer")
            self.inner = Scale()

    outer = Outer()
    scale = outer.inner
    assert outer.submodules == (scale,) and (outer.name, scale.name) == ("outer", "scale")
    assert len(outer.variables) == 2 and outer.trainable_variables == (scale.parts[0],)
    with pytest.raises(ValueError, match="no function that was traced"):
        tf.saved_model.save(scale, tmp_path / "scale")
    assert scale(tf.constant(3.0)) == 7
    tf.saved_model.save(scale, tmp_path / "scale")
    assert tf.saved_model.load(tmp_path / "scale")(tf.constant(4.0)) == 9


def test_init_scope_runs_eagerly_inside_a_trace():
    count = tf.Variable(0)

    @tf.function
    def step(x):
        with tf.init_scope():
            count.assign_add(1)
        return x

    step(tf.constant(1.0))
    step(tf.constant(2.0))
    assert count.numpy() == 1


def test_datasets_batch_shuffle_map_and_filter():
    pairs = tf.data.Dataset.from_tensor_slices((tf.range(5), tf.range(5) * 10))
    assert [[int(x), int(y)] for x, y in pairs.take(2)] == [[0, 0], [1, 10]]
    assert [x.tolist() for x, _ in pairs.batch(2)] == [[0, 1], [2, 3], [4]]
    assert [x.tolist() for x, _ in pairs.batch(2, drop_remainder=True)] == [[0, 1], [2, 3]]
    shuffled = [int(x) for x, _ in pairs.shuffle(3, seed=1)]
    assert sorted(shuffled) == list(range(5))
    chain = tf.data.Dataset.range(3).map(lambda x: x * x).filter(lambda x: x > 0).repeat(2)
    assert [int(x) for x in chain] == [1, 4, 1, 4]

    @tf.function
    def next_of(iterator):
        return next(iterator)

    iterator = iter(tf.data.Dataset.from_tensor_slices([1, 2, 3]))
    assert [int(next_of(iterator)) for _ in range(3)] == [1, 2, 3]
    assert next_of.trace_count == 1


def test_random_numbers_repeat_with_a_seed():
    for draw in (lambda: tf.random.normal([3], seed=5), lambda: tf.random.uniform([3], seed=5),
                 lambda: tf.random.stateless_normal([3], seed=[1, 2]),
                 lambda: tf.random.shuffle(tf.range(9), seed=3)):
        assert draw().tolist() == draw().tolist()
    tf.random.set_seed(1)
    first = tf.random.normal([4]).tolist()
    assert first != tf.random.normal([4]).tolist()
    tf.random.set_seed(1)
    assert first == tf.random.normal([4]).tolist()
    integers = tf.random.uniform([100], maxval=3, dtype=tf.int32, seed=1)
    assert set(integers.tolist()) == {0, 1, 2}


def test_unknown_options_and_modes_are_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'jit'"):
        tf.function(lambda x: x, jit=True)
    with pytest.raises(ValueError, match="mode must be 'CONSTANT' or 'REFLECT'"):
        tf.pad([1.0], [[1, 1]], "EDGE")
    with pytest.raises(ValueError, match="7 elements along axis 0 cannot be split into 2"):
        tf.split(tf.range(7), 2)
    with pytest.raises(ValueError, match="the number of axes cannot be unknown"):
        tf.TensorSpec(None)


def test_py_function_runs_python_in_the_graph():
    calls = []

    @tf.py_function(Tout=tf.float32)
    def plus(x, y):
        calls.append(1)
        return x + y

    graph = tf.function(lambda x, y: plus(x, y))
    assert graph(tf.constant(1.0), tf.constant(2.0)) == 3 and graph(tn.tensor(1.0), tn.tensor(4.0)) == 5
    assert len(calls) == 2
