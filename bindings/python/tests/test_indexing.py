"""Indexing of tensors has the same results as in NumPy."""

import numpy
import pytest

import tenon as tn

X = numpy.arange(24).reshape(2, 3, 4)
MASK = X[:, :, 0] > 4
INDICES = [
    0, -1, (1, 2), (1, -1, 3), slice(None, None, -1), (slice(None), slice(2, None, -2)),
    (..., 1), (0, ...), (None, 0), (..., None), (slice(1, 5), None, 1), (slice(5, 1),),
    (slice(None), slice(-2, None)), (slice(None, None, 2), ..., slice(3, 0, -2)), (), ...,
    [0, 1, 1], ([1, 0], [2, 0]), (slice(None), [2, 0]), (slice(None), slice(None), [[3], [0]]),
    ([0, 1], slice(None), [1, 2]), (1, [0, 2]), (slice(None), 1, [0, 3]), ([[0], [1]], [0, 2]),
    (slice(None), [0, 1], [2, 3]), (None, [1, 0]), numpy.array([-1, 0]), numpy.array([True, False]),
    MASK, X > 10, (MASK, 1), (MASK, slice(None, None, 2)), (0, [True, False, True]),
    (slice(None), numpy.array([True, False, True])), numpy.int64(1), numpy.array([], int),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_an_index_selects_as_in_numpy(index):
    expected = X[index]
    found = tn.tensor(X)[index]
    assert found.shape == expected.shape and numpy.array_equal(found.numpy(), expected)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_at_set_replaces_the_elements_that_indexing_reads(index):
    expected = X.copy()
    expected[index] = -1
    assert numpy.array_equal(tn.tensor(X).at[index].set(-1).numpy(), expected)


def test_tensors_can_be_indices():
    x = tn.tensor(X)
    assert x[tn.tensor(1)].tolist() == X[1].tolist()
    assert x[tn.tensor([1, 0])].tolist() == X[[1, 0]].tolist()
    assert x[x > 20].tolist() == X[X > 20].tolist()


def test_at_methods_combine_values_with_elements():
    x = tn.tensor([1, 2, 3])
    assert x.at[[0, 0, 2]].add([1, 1, 5]).tolist() == [3, 2, 8]
    assert x.at[1:].multiply([2, 3]).tolist() == [1, 4, 9]
    assert x.at[0].max(5).tolist() == [5, 2, 3] and x.at[2].min(0).tolist() == [1, 2, 0]
    assert x.at[1].set(2.9).dtype is tn.int32 and x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("index", [2, -3, (0, 3), (0, 0, 0, 0), (slice(None), 0, -5)])
def test_an_index_out_of_range_is_an_error(index):
    with pytest.raises(IndexError):
        tn.tensor(X)[index]


@pytest.mark.parametrize("index", [1.5, "a", (..., ...), ([0.5],)])
def test_indices_of_unsupported_types_are_errors(index):
    with pytest.raises(IndexError):
        tn.tensor(X)[index]


def test_a_mask_whose_shape_differs_from_the_tensor_is_an_error():
    with pytest.raises(IndexError, match="mask of shape"):
        tn.tensor(X)[numpy.ones((2, 2), bool)]
    with pytest.raises(IndexError, match="mask of shape"):
        tn.zeros((0, 0))[numpy.ones((0, 1), bool)]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0)])
def test_a_mask_without_elements_selects_nothing(shape):
    assert tn.tensor(X)[numpy.zeros(shape, bool)].shape == (0, *X.shape[len(shape):])


def test_a_step_of_zero_is_an_error():
    with pytest.raises(ValueError):
        tn.tensor(X)[::0]


def test_indexing_is_differentiable(same):
    x = tn.tensor([1.0, 2.0, 3.0])
    same(tn.grad(lambda x: x[::-1][0] * 2 + x[[1, 1]].sum())(x), [0, 2, 2])
    same(tn.grad(lambda x: tn.sum(x.at[1].set(5.0) * x))(x), [2, 5, 6])


def test_indexing_in_functions_equals_numpy():
    @tn.function
    def pick(x, i):
        return x[i], x[1:, -1], x.at[i].set(0)

    row, part, changed = pick(tn.tensor(X), tn.tensor(1))
    assert row.tolist() == X[1].tolist() and part.tolist() == X[1:, -1].tolist()
    assert changed[1].tolist() == numpy.zeros((3, 4)).tolist()
