"""Each construct alone has the same results traced and eagerly."""

import types

import constructs_control
import constructs_mixed
import constructs_state
import pytest
import tenon as tn
from helpers import assert_traced_equals_eager, tensor, value_of

_HELPERS = {"helper", "power"}
FUNCTIONS = [
    item
    for module in (constructs_control, constructs_state, constructs_mixed)
    for name, item in vars(module).items()
    if isinstance(item, types.FunctionType) and name not in _HELPERS
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda item: item.__name__)
def test_construct_has_the_same_result_traced_and_eagerly(function):
    if function.__name__.startswith("subscript_"):  # Without conversion, tensors are immutable.
        traced = tn.function(function)
        for x in (1.5, -2.0):
            converted = tn.autograph.convert(function)(tensor(x))
            assert value_of(traced(tensor(x))) == value_of(converted)
        return
    assert_traced_equals_eager(function, (1.0,), (-1.0,), (2.5,), (-3.0,), (5.0,))
