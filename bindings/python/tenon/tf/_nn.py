"""Neural network functions."""

from .. import _convert, _native

_ops = _native.ops

ACTIVATIONS = {
    "relu": "relu", "relu6": "relu6", "elu": "elu", "selu": "selu", "silu": "silu", "swish": "silu",
    "softplus": "softplus", "softsign": "softsign", "sigmoid": "sigmoid", "tanh": "tanh",
    "log_sigmoid": "log_sigmoid",
}


def _activation(title, op):
    def function(features, name=None):
        return op(features)

    function.__doc__ = f"The op {op.__name__}."
    function.__name__ = function.__qualname__ = title
    return function


globals().update({title: _activation(title, _ops[op]) for title, op in ACTIVATIONS.items()})


def gelu(features, approximate=False, name=None):
    """Applies the Gaussian error linear unit."""
    return _ops["gelu"](features, approximate)


def leaky_relu(features, alpha=0.2, name=None):
    """Multiplies negative values by `alpha`."""
    return _ops["leaky_relu"](features, alpha)


def softmax(logits, axis=-1, name=None):
    """Returns exponentials that are normalised to the sum 1 along an axis."""
    return _ops["softmax"](logits, axis)


def log_softmax(logits, axis=-1, name=None):
    """Returns the logarithm of softmax()."""
    return _ops["log_softmax"](logits, axis)


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """Returns the loss of each example. The labels are probabilities."""
    labels = _convert.asarray(labels)
    return -_ops["sum"](labels * _ops["log_softmax"](logits, axis), axes=axis)


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """Returns the loss of each example. The labels are class indices."""
    logits, labels = _convert.asarray(logits), _convert.asarray(labels)
    rows = _ops["reshape"](logits, (-1, logits.shape[-1]))
    loss = _ops["sparse_softmax_cross_entropy"](rows, _ops["reshape"](labels, (-1,)), "none")[0]
    return _ops["reshape"](loss, labels.shape)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """Returns the loss of each element. The labels are probabilities."""
    return _ops["bce_with_logits"](logits, labels, "none")


def dropout(x, rate, seed=None, name=None):
    """Sets elements to 0 with probability `rate`, and divides the others by 1 - `rate`."""
    from . import random

    return random.generator_for(seed).dropout(x, ratio=float(rate))[0]


def bias_add(value, bias, data_format=None, name=None):
    """Adds a vector along the last axis."""
    return _convert.asarray(value) + bias


def l2_loss(t, name=None):
    """Returns half the sum of the squares."""
    return _ops["sum_square"](t) / 2


def l2_normalize(x, axis=-1, epsilon=1e-12, name=None):
    """Scales a tensor to the L2 norm 1 along an axis."""
    return _ops["l2_normalize"](x, axis, epsilon)


def moments(x, axes, shift=None, keepdims=False, name=None):
    """Returns the mean and the variance."""
    return tuple(_ops["moments"](x, axes, keepdims))


def embedding_lookup(params, ids, max_norm=None, name=None):
    """Returns the rows of a table at some indices."""
    return _ops["embedding"](params, ids)


__all__ = [title for title, value in list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
