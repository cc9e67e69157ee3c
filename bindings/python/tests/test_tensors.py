"""Tensors: creation, operators, properties, formatting and exchange with other libraries."""

import copy
import pickle

import numpy
import pytest

import tenon as tn


@pytest.mark.parametrize("value, dtype", [
    (3, "int32"), (2**40, "int64"), (2.5, "float32"), (True, "bool"), ([1, 2], "int32"),
    ([1, 2.5], "float32"), ([[1.0], [2.0]], "float32"), ([True, False], "bool"), ([], "float32"),
    ([2**40], "int64"), (numpy.float64(1), "float64"), (numpy.arange(3), "int64"),
    (numpy.ones(2, numpy.float16), "float16"), ([numpy.float64(1)], "float64"),
])
def test_values_determine_dtypes(value, dtype, same):
    same(tn.tensor(value), value, dtype)


@pytest.mark.parametrize("name", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16",
                                  "uint32", "uint64", "float16", "float32", "float64", "bfloat16"])
def test_every_dtype_round_trips_through_numpy(name):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")  # NumPy itself has no bfloat16.
    x = tn.tensor([0, 1, 1], dtype=name)
    array = x.numpy()
    assert x.dtype is getattr(tn, name) and array.tolist() == [0, 1, 1]
    assert array.dtype.name == name and tn.tensor(array).dtype is x.dtype


def test_equal_dtypes_are_one_object():
    assert tn.DType("float32") is tn.float32 is tn.DType(numpy.float32) is tn.DType(float)
    assert pickle.loads(pickle.dumps(tn.int8)) is tn.int8
    with pytest.raises(TypeError, match="not a dtype; the dtypes are bool, int8"):
        tn.DType("complex64")


def test_lists_of_tensors_are_stacked(same):
    same(tn.tensor([tn.tensor([1.0, 2.0]), [3, 4]]), [[1, 2], [3, 4]])


def test_unsupported_values_are_type_errors():
    for value in ("text", None, {"a": 1}, object(), [1, "a"]):
        with pytest.raises(TypeError):
            tn.tensor(value)


def test_operators_take_tensors_numbers_and_arrays(same):
    x = tn.tensor([1.0, 2.0, 3.0])
    same(x + 1, [2, 3, 4])
    same(1 - x, [0, -1, -2])
    same(x * [1.0, 2, 3], [1, 4, 9])
    same(numpy.float32(2) * x, [2, 4, 6])
    same(numpy.array([1.0, 1, 1], numpy.float32) + x, [2, 3, 4])
    same(x**2, [1, 4, 9])
    same(2**x, [2, 4, 8])
    same(x @ x, 14)
    same(-x, [-1, -2, -3])
    same(abs(-x), [1, 2, 3])
    same(x % 2, [1, 0, 1])
    same(x == 2, [False, True, False])
    same(x != [1.0, 0, 3], [False, True, False])
    same(2 < x, [False, False, True])
    assert (x == None) is False and (x == "a") is False  # noqa: E711


def test_integers_divide_as_in_python(same):
    i = tn.tensor([1, 2, -3])
    same(i / 2, [0.5, 1, -1.5], "float32")
    same(3 / i, [3, 1.5, -1], "float32")
    same(i // 2, [0, 1, -2], "int32")
    same(i % 2, [1, 0, 1], "int32")
    same(i << 1, [2, 4, -6])
    same(i & 1, [1, 0, 1])
    same((i > 0) & ~(i == 2), [True, False, False])


def test_an_op_of_two_numbers_has_their_dtype(same):
    same(tn.add(1, 2), 3, "int32")
    same(tn.add(1, 2.5), 3.5, "float32")


def test_numbers_adopt_the_dtype_of_tensors():
    assert (tn.tensor([1.0], dtype="float16") + 1.5).dtype is tn.float16
    assert (tn.tensor([1], dtype="int8") * 2).dtype is tn.int8


def test_properties_describe_shape_dtype_and_device():
    x = tn.zeros((2, 3), "int8")
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == ((2, 3), 2, 6, tn.int8, "cpu:0")
    assert type(x.shape[0]) is int and len(x) == 2 and not x.is_symbolic
    assert x.T.shape == (3, 2) and x.mT.shape == (3, 2)


def test_a_tensor_of_one_element_converts_to_a_number():
    assert bool(tn.tensor([1])) is True and bool(tn.tensor(0.0)) is False
    assert int(tn.tensor(3.7)) == 3 and float(tn.tensor(2)) == 2.0
    assert [10, 20][tn.tensor(1)] == 20
    assert tn.tensor(2**63, dtype="uint64").item() == 2**63
    with pytest.raises(ValueError, match="use .any"):
        bool(tn.tensor([1, 2]))
    with pytest.raises(TypeError):
        [10, 20][tn.tensor(1.0)]


def test_iteration_yields_rows():
    assert [row.tolist() for row in tn.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        len(tn.tensor(1))
    with pytest.raises(TypeError):
        iter(tn.tensor(1))


def test_tensors_have_str_repr_format_and_html():
    assert repr(tn.tensor([1, 2])) == "<tn.Tensor: shape=(2,), dtype=int32, value=[1 2]>"
    assert repr(tn.tensor([[1.5]])) == "<tn.Tensor: shape=(1, 1), dtype=float32, value=[[1.5]]>"
    assert str(tn.tensor([[1, 2], [3, 4]])) == "[[1 2]\n [3 4]]"
    assert f"{tn.tensor(1.25):.1f}" == "1.2" and f"{tn.tensor(1)}" == "1"
    assert tn.tensor(1)._repr_html_() == "<pre>&lt;tn.Tensor: shape=(), dtype=int32, value=1&gt;</pre>"


def test_tensors_can_be_hashed_pickled_and_copied():
    x = tn.tensor([1.0, 2.0])
    assert {x: "kept"}[x] == "kept" and hash(x) == hash(x)
    assert pickle.loads(pickle.dumps(x)).tolist() == [1, 2]
    assert copy.copy(x) is x and copy.deepcopy(x) is x


def test_numpy_shares_memory_and_is_read_only():
    x = tn.tensor([1.0, 2.0])
    array = x.numpy()
    assert not array.flags.writeable and array.ctypes.data == x.numpy().ctypes.data
    del x
    assert array.tolist() == [1, 2]
    assert numpy.array(tn.tensor([1]), copy=True).flags.writeable


def test_tensor_copies_arrays_and_asarray_shares_them():
    array = numpy.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    copied, shared = tn.tensor(array), tn.asarray(array)
    turned = tn.asarray(array[::-1, ::2])
    array[0, 0] = 7
    assert copied[0, 0].item() == 1 and shared[0, 0].item() == 7
    assert turned.tolist() == [[4, 6], [7, 3]]
    with pytest.raises(ValueError):
        tn.asarray([1, 2], copy=False)


def test_memoryview_of_a_tensor_is_read_only():
    view = memoryview(tn.tensor([[1, 2], [3, 4]]))
    assert view.readonly and view.shape == (2, 2) and view.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(BufferError, match="no buffer format"):
        memoryview(tn.tensor([1], dtype="bfloat16"))


def test_dlpack_shares_memory_in_both_directions():
    x = tn.tensor([1.0, 2.0])
    array = numpy.from_dlpack(x)
    assert array.ctypes.data == x.numpy().ctypes.data and x.__dlpack_device__() == (1, 0)
    source = numpy.array([1.0, 2.0])
    shared, copied = tn.from_dlpack(source), tn.from_dlpack(source, copy=True)
    source[0] = 5
    assert shared.tolist() == [5, 2] and copied.tolist() == [1, 2]


def test_an_unversioned_dlpack_capsule_is_imported():
    class Old:
        def __dlpack__(self):
            return tn.tensor([1.0, 2.0]).__dlpack__()

    assert tn.from_dlpack(Old()).tolist() == [1, 2]


def test_an_unconsumed_dlpack_capsule_frees_its_memory():
    before = tn.memory_info()["live_bytes"]
    for _ in range(3):
        tn.zeros((1000,)).__dlpack__()
        tn.zeros((1000,)).__dlpack__(max_version=(1, 0))
    assert tn.memory_info()["live_bytes"] - before < 4000


def test_creation_functions_set_shape_and_dtype(same):
    same(tn.zeros((2,)), [0, 0], "float32")
    same(tn.ones((1, 2), "int8"), [[1, 1]], "int8")
    same(tn.full((2,), 3), [3, 3], "int32")
    same(tn.zeros_like(tn.tensor([1, 2])), [0, 0], "int32")
    same(tn.arange(5), [0, 1, 2, 3, 4], "int32")
    same(tn.arange(1, 2, 0.5), [1, 1.5], "float32")
    same(tn.constant(2.0, shape=(2,)), [2, 2])
    same(tn.constant([1, 2, 3, 4], shape=(2, 2)), [[1, 2], [3, 4]])


def test_a_donated_tensor_cannot_be_used_again():
    x = tn.zeros((100,))
    x.donate() + 1
    with pytest.raises(tn.InvalidArgumentError):
        x + 1


def test_numpy_functions_convert_tensors_to_arrays():
    array = numpy.array([1, 2], numpy.float32)
    for x in (tn.tensor([1.0, 2.0]), tn.Variable([1.0, 2.0])):
        for result in (numpy.multiply(array, x), numpy.concatenate([x, array]), numpy.mean(x, axis=0)):
            assert isinstance(result, (numpy.ndarray, numpy.generic))
        for result in (array * x, x * array, numpy.float32(2) * x, array == x, array @ x):
            assert isinstance(result, tn.Tensor)
    assert numpy.concatenate([tn.tensor([3.0]), array]).tolist() == [3, 1, 2]
