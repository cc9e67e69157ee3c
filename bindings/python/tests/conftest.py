"""Fixtures that the tests share."""

import numpy
import pytest


@pytest.fixture
def same():
    """Returns a function that compares a tensor, or a tree of tensors, with numbers."""

    def compare(tensor, expected, dtype=None):
        array = numpy.asarray(tensor)
        numpy.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6)
        assert array.shape == numpy.shape(expected)
        if dtype is not None:
            assert str(tensor.dtype) == dtype

    return compare
