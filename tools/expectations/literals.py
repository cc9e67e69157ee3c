"""Compares literals with the results of formulas, and formats results as C++."""

import warnings

import numpy as np

from case_files import FLOATS, WHOLE
from formula_table import FORMULAS

LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38,
           "f64": 1.7976931348623157e308}
FRACTION_BITS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
LEAST_EXPONENT = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}

# Number of digits from which on a literal may be rounded. Literals with fewer digits are exact.
ROUNDED_FROM = 7


def compute(op, case, changed=None):
    """Returns the results of the op's formula for a case, as a tuple of arrays. `changed` overrides
    attributes."""
    inputs = [t.held() if t else None for t in case.inputs]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # The mean of no elements is NaN.
        results = FORMULAS[op.name](*inputs, **{**case.attrs, **(changed or {})})
    return results if isinstance(results, tuple) else (results,)


def ulp(values, dtype):
    """Returns the distance between adjacent numbers of the dtype at each value."""
    exponents = np.frexp(np.abs(values))[1] - 1
    exponents = np.where(values == 0, LEAST_EXPONENT[dtype], exponents)
    return np.ldexp(1.0, np.maximum(exponents, LEAST_EXPONENT[dtype]) - FRACTION_BITS[dtype])


def half_of_last_digit(number):
    """Returns half a unit in the last decimal digit of a literal, the most by which it may be
    rounded.

    Returns 0 for literals with few digits, which are exact, and for literals with all 17 digits.

    """
    mantissa, _, exponent = f"{abs(float(number))!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0")
    if not ROUNDED_FROM <= len(digits) < 15:
        return 0.0
    return 0.5 * 10.0 ** (int(exponent or 0) - len(fraction))


def overflow_to_infinity(values, dtype):
    """Replaces values that exceed the largest finite number by at least half an ulp with
    infinities."""
    limit = LARGEST[dtype]
    with np.errstate(over="ignore"):
        beyond = np.abs(values) - limit >= ulp(np.float64(limit), dtype) / 2
    return np.where(beyond, np.copysign(np.inf, values), values)


def agree_as_floats(op, literal, given):
    """Returns for each element whether the result equals the literal.

    Tolerates half a unit of the literal's last decimal digit, and half an ulp.

    """
    with np.errstate(all="ignore"):
        given = overflow_to_infinity(np.asarray(given, np.float64), literal.dtype)
        numbers = overflow_to_infinity(literal.numbers, literal.dtype)
        finite = np.isfinite(given) & np.isfinite(numbers)
        half_ulp = ulp(np.where(finite, given, 1.0), literal.dtype) / 2
        decimals = np.vectorize(half_of_last_digit, otypes=[float])(np.where(finite, numbers, 0))
        # Also tolerates the rounding error of float64: a small fraction of the largest value,
        # because sums may cancel.
        largest = np.max(np.abs(given), initial=0, where=np.isfinite(given))
        noise = 2.0**-50 * (np.abs(given) if op.elementwise else largest)
        bound = half_ulp + decimals + noise
        same_sign = (np.signbit(given) == np.signbit(numbers)) | (given != 0) | (numbers != 0)
        if op.numeric != "exact":
            same_sign = True
        close = finite & same_sign & (np.abs(given - numbers) <= bound)
        return close | (given == numbers) & same_sign | np.isnan(given) & np.isnan(numbers)


def faults(op, case, results):
    """Returns a message for each output whose literal differs from the formula's result."""
    if len(results) < len(case.expect):
        return [f"the formula gives {len(results)} outputs, the case expects {len(case.expect)}"]
    lines = []
    for i, (literal, given) in enumerate(zip(case.expect, results)):
        given = np.asarray(given)
        if given.shape != literal.shape:
            lines.append(f"output {i}: shape {list(given.shape)}, the case says "
                         f"{list(literal.shape)}")
            continue
        if literal.dtype in FLOATS:
            good = agree_as_floats(op, literal, given)
        else:
            good = given.astype(WHOLE[literal.dtype]) == literal.held()
        for place in np.argwhere(~np.atleast_1d(good)):
            at = tuple(int(k) for k in place) if given.shape else ()
            lines.append(f"output {i} {list(at)}: {literal.dtype} literal "
                         f"{float(literal.numbers[at])!r}, formula {given[at].item()!r}")
    return lines


def written(number, dtype):
    if dtype == "bool" or dtype in WHOLE:
        return str(int(number))
    number = float(number)
    if np.isnan(number):
        return "NAN"
    if np.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    text = repr(number)
    return text[:-2] if text.endswith(".0") else text


def as_cpp(array, dtype):
    """Formats a tensor as a case in C++: f32({2, 1}, {0.5, 1})."""
    array = np.asarray(array)
    numbers = ", ".join(written(v, dtype) for v in array.ravel())
    name = "boolean" if dtype == "bool" else dtype
    if array.ndim == 1:
        return f"{name}({{{numbers}}})"
    return f"{name}({{{', '.join(map(str, array.shape))}}}, {{{numbers}}})"


def expect_line(case, results, dtypes):
    """Returns the line of C++ that sets the literals of a case."""
    tensors = ", ".join(as_cpp(result, dtype) for result, dtype in zip(results, dtypes))
    return f"{case.name}: .expect = {{{tensors}}}"


def dtypes_of(case, results):
    """Returns the dtypes of the outputs: those of existing literals, or those that follow from the
    formula's arrays and the inputs."""
    if case.expect:
        return [t.dtype for t in case.expect]
    floating = next((t.dtype for t in case.inputs if t and t.dtype in FLOATS), "f32")
    by_type = {np.dtype(numpy): name for name, numpy in WHOLE.items()}
    return [by_type.get(np.asarray(result).dtype, floating) for result in results]
