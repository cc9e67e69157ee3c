"""Shared helpers of the tests."""

import numpy
import pytest


@pytest.fixture
def same():
    """Compares a tensor, or a tree of tensors, with numbers."""

    def compare(tensor, expected, dtype=None):
        array = numpy.asarray(tensor)
        numpy.testing.assert_allclose(array, expected, rtol=1e-6, atol=1e-6)
        assert array.shape == numpy.shape(expected)
        if dtype is not None:
            assert str(tensor.dtype) == dtype

    return compare
