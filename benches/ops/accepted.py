"""The cases that may be slower than 0.7 of their fastest peer, and the reason of each.

run.py fails if another case is. The list has at most 15 cases.
"""

LIMIT = 15

VIEW = ("the case measures the fixed cost of a call: Tenon's binding reads named attributes, where NumPy has a method "
        "with positional arguments")
SUM_ORDER = ("the sum has the order of the row-major index for every layout, so transposed elements are moved first; "
             "the peers add in the order of the memory")
NO_INDICES = "onnxruntime computes no indices of the maxima, which are Tenon's second output"

ACCEPTED = {
    "reshape/f32/contiguous/cache": VIEW,
    "transpose/f32/contiguous/cache": VIEW,
    "squeeze/f32/contiguous/cache": VIEW,
    "slice/f32/contiguous/cache": VIEW,
    "bitcast/f32/contiguous/cache": VIEW,
    "identity/f32/contiguous/cache": VIEW,
    "swapaxes/f32/contiguous/cache": VIEW,
    "max_pool/f32/contiguous/cache": NO_INDICES,
    "max_pool/f16/contiguous/cache": NO_INDICES,
    "max_pool/f32/contiguous/memory": NO_INDICES,
    "mse/f32/strided/cache": SUM_ORDER,
    "mse/f64/strided/cache": SUM_ORDER,
    "mse/f32/strided/memory": SUM_ORDER,
    "mae/f32/strided/cache": SUM_ORDER,
    "mae/f64/strided/cache": SUM_ORDER,
}
