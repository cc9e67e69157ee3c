"""Formulas that quantise real numbers to small integers, and dequantise them."""

import numpy as np

from case_files import WHOLE
from formula_table import formula


def along(parameter, x, axis):
    """Reshapes a parameter so that it broadcasts over x. It is a scalar, or has one element per
    index along `axis`."""
    if parameter is None or parameter.ndim == 0:
        return parameter
    return parameter.reshape([-1 if i == axis % x.ndim else 1 for i in range(x.ndim)])


@formula("quantize_linear")
def quantize_linear(x, scale, zero_point=None, *, axis, output_dtype):
    if output_dtype != "none":
        dtype = np.dtype(WHOLE[output_dtype])
    else:
        dtype = np.dtype(np.uint8) if zero_point is None else zero_point.dtype
    zero = 0 if zero_point is None else along(zero_point, x, axis).astype(np.float64)
    limits = np.iinfo(dtype)
    steps = np.round(x / along(scale, x, axis)) + zero
    return np.nan_to_num(np.clip(steps, limits.min, limits.max), nan=0).astype(dtype)


@formula("dequantize_linear")
def dequantize_linear(x, scale, zero_point=None, *, axis):
    zero = 0 if zero_point is None else along(zero_point, x, axis).astype(np.float64)
    return (x.astype(np.float64) - zero) * along(scale, x, axis)


@formula("fake_quantize")
def fake_quantize(x, scale, zero_point=None, *, quant_min, quant_max, axis):
    scale = along(scale, x, axis)
    zero = 0 if zero_point is None else along(zero_point, x, axis).astype(np.float64)
    steps = np.clip(np.round(x / scale) + zero, quant_min, quant_max)
    return (steps - zero) * scale
