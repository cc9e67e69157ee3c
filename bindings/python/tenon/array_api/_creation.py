"""Creation of tensors."""

from .. import _convert, _creation, _dtypes, _native

__all__ = ["arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
           "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"]

_ops = _native.ops


def _placed(x, device):
    return x if device is None or x.device == device else x.copy_to(device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Returns the numbers from `start` (default: 0) up to, but not including, `stop`."""
    return _placed(_creation.arange(start, stop, step, dtype), device)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """Converts a number, a nested sequence, an array or a tensor to a tensor."""
    if isinstance(obj, complex):
        raise TypeError("asarray: Tenon has no complex numbers")
    x = _convert.asarray(obj, dtype, copy)
    if copy and x is obj:
        x = _ops["copy"](x)
    if copy is False and device is not None and x.device != device:
        raise ValueError(f"asarray: copying from {x.device} to {device} is not allowed with copy=False")
    return _placed(x, device)


def from_dlpack(x, /, *, device=None, copy=None):
    """Creates a tensor from an object with `__dlpack__`."""
    return _convert.from_dlpack(x, device=device, copy=copy)


def full(shape, fill_value, *, dtype=None, device=None):
    """Returns a tensor whose elements all have the same value."""
    return _placed(_creation.full(shape, fill_value, dtype), device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """Returns a tensor of one value, with the shape, dtype and device of another tensor."""
    return _placed(_creation.full(x.shape, fill_value, dtype or x.dtype), device or x.device)


def zeros(shape, *, dtype=None, device=None):
    """Returns a tensor of zeros."""
    return full(shape, 0, dtype=dtype or _dtypes.float32, device=device)


def ones(shape, *, dtype=None, device=None):
    """Returns a tensor of ones."""
    return full(shape, 1, dtype=dtype or _dtypes.float32, device=device)


def empty(shape, *, dtype=None, device=None):
    """Returns a tensor of zeros, because memory is never left uninitialised."""
    return zeros(shape, dtype=dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """Returns zeros with the shape, dtype and device of another tensor."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """Returns ones with the shape, dtype and device of another tensor."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """Returns zeros with the shape, dtype and device of another tensor, like zeros_like()."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Returns a matrix with ones on a diagonal and zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    k = max(-n_rows, min(k, columns))
    return _placed(_ops["eye"](n_rows, columns, k, dtype or _dtypes.float32), device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """Returns `num` equally spaced numbers from `start` to `stop`."""
    dtype = _dtypes.DType(dtype or _dtypes.float32)
    # Compute in float64, so that large integers are exact.
    bounds = [_convert.tensor(float(bound), _dtypes.float64) for bound in (start, stop)]
    return _placed(_ops["cast"](_ops["linspace"](*bounds, num, endpoint), to=dtype), device)


def meshgrid(*arrays, indexing="xy"):
    """Returns the coordinates of a grid, from one vector for each axis."""
    return list(_ops["meshgrid"](list(arrays), indexing)) if arrays else []


def tril(x, /, *, k=0):
    """Keeps the elements on and below a diagonal, and replaces the others with zeros."""
    return _ops["tril"](x, _diagonal(x, k))


def triu(x, /, *, k=0):
    """Keeps the elements on and above a diagonal, and replaces the others with zeros."""
    return _ops["triu"](x, _diagonal(x, k))


def _diagonal(x, k):
    """Clamps `k`, so that a diagonal outside the matrix becomes the nearest one outside it."""
    rows, columns = x.shape[-2:]
    return max(-rows, min(k, columns))
