"""Compares the results of two libraries, so that the bench of the ops measures equal work.

The bench rejects wrong results of a wrong table or a wrong library. It is no test of accuracy:
conformance/ has those.
"""

import numpy as np

import arrays

# The largest difference of equal work, as a fraction of the root mean square of the result.
TOLERANCE = {"f32": 1e-3, "f64": 1e-6, "f16": 2e-2, "bf16": 1e-1}
# The fraction of elements that may differ by more. On processors without AVX-512, PyTorch rounds partial sums of bfloat16
# products, which a few small results show.
OUTLIERS = {"bf16": 1e-4}
SAMPLES = 1 << 17  # Approximate number of elements of a larger result that are compared.


def sampled(array):
    array = array.reshape(-1)
    return array[::array.size // SAMPLES | 1] if array.size > 2 * SAMPLES else array


def chosen(array, inputs):
    """Returns the elements of the first input that an index along its last axis selects."""
    x = inputs.arrays[0]
    return np.take_along_axis(x, array.reshape(*x.shape[:-1], 1).astype(np.int64), -1)


def moments(array):
    return np.array([array.mean(dtype=np.float64), array.std(dtype=np.float64)])


def difference(op, dtype, inputs, ours, theirs):
    """Returns a description of how two lists of results differ, or None if they agree."""
    for at in range(op.compare) if isinstance(op.compare, int) else op.compare:
        a, b = arrays.as_array(ours[at]), arrays.as_array(theirs[at])
        if op.check == "flat":
            a, b = a.reshape(-1), b.reshape(-1)
        if op.check == "chosen":
            a, b = chosen(a, inputs), chosen(b, inputs)
        if a.shape != b.shape:
            return f"output {at} has the shape {a.shape}, and the peer's has {b.shape}"
        if op.check == "moments":
            a, b = moments(a), moments(b)
        a, b = sampled(a).astype(np.float64), sampled(b).astype(np.float64)
        if op.check == "absolute":
            a, b = np.abs(a), np.abs(b)
        tolerance = 2e-2 if op.check == "moments" else op.tolerance * TOLERANCE.get(dtype, 1e-6)
        with np.errstate(all="ignore"):
            equal = (a == b) | (np.isnan(a) & np.isnan(b))
            finite = b[np.isfinite(b)]
            scale = np.sqrt(np.mean(np.square(finite))) if finite.size else 1.0
            wrong = ~equal & ~(np.abs(a - b) <= tolerance * (np.abs(b) + scale))
        if wrong.sum() > wrong.size * OUTLIERS.get(dtype, 0):
            first = int(np.argmax(wrong))
            return (f"output {at} differs in {wrong.sum()} of {wrong.size} elements; the first is {a[first]:.7g}, "
                    f"and the peer's is {b[first]:.7g}")
    return None
