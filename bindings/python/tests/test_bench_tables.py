"""The tables of ./dev bench ops list every op, and its comparison rejects wrong results."""

import pathlib
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "benches/ops"
sys.path.insert(0, str(FOLDER))
import compare  # noqa: E402
import run  # noqa: E402
from arrays import Inputs  # noqa: E402
from cases import Op, one  # noqa: E402

import tenon as tn  # noqa: E402


def test_the_tables_list_every_op_of_the_registry():
    assert run.table().keys() | run.NO_CASE.keys() == set(tn.ops.__all__)


def test_an_op_that_no_table_lists_is_reported(monkeypatch):
    monkeypatch.setattr(run.elementwise, "OPS", run.elementwise.OPS[1:])
    with pytest.raises(SystemExit, match="no table of benches/ops lists the op neg"):
        run.table()


@pytest.mark.parametrize("check", ["values", "absolute", "moments", "flat"])
def test_a_wrong_result_differs(check):
    op = Op("neg", one(), check=check)
    inputs = Inputs(op.inputs(64), "f32", strided=False)
    right = inputs.arrays[0]
    wrong = 1.5 * right
    assert compare.difference(op, "f32", inputs, [right], [right.copy()]) is None
    assert compare.difference(op, "f32", inputs, [wrong], [right]) is not None


def test_strided_inputs_have_the_values_of_contiguous_inputs():
    operands = one()(64)
    dense, strided = (Inputs(operands, "f32", kind) for kind in (False, True))
    assert not strided.numpy()[0].flags.c_contiguous
    np.testing.assert_array_equal(strided.numpy()[0], dense.numpy()[0])
    np.testing.assert_array_equal(strided.tenon(tn)[0].numpy(), dense.numpy()[0])
