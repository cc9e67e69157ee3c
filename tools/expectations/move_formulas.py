"""Formulas of ops that create or move elements without arithmetic."""

import math

import numpy as np

from formula_table import enter_all, formula

enter_all({
    "tile": lambda x, repeats: np.tile(x, repeats),
    "tril": lambda x, k: np.tril(x, k),
    "triu": lambda x, k: np.triu(x, k),
    "stack": lambda *inputs, axis: np.stack(inputs, axis),
    "eye": lambda rows, columns, k, dtype: np.eye(rows, columns if columns >= 0 else rows, k),
    "linspace": lambda start, stop, num, endpoint, dtype:
        np.linspace(start, stop, num, endpoint=endpoint),
})


@formula("one_hot")
def one_hot(indices, depth, axis, dtype):
    classes = np.arange(depth).reshape((-1,) + (1,) * indices.ndim)
    indices = indices.astype(np.int64)
    counted = np.where(indices < 0, indices + depth, indices)
    return np.moveaxis((counted == classes).astype(np.float64), 0, axis)


@formula("flatten")
def flatten(x, axis):
    axis = axis if axis >= 0 else axis + x.ndim
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@formula("repeat")
def repeat(x, repeats, axis):
    return np.repeat(x, repeats if len(repeats) > 1 else repeats[0], axis)


@formula("roll")
def roll(x, shifts, axes):
    if not axes:
        return np.roll(x, sum(shifts))
    return np.roll(x, shifts if len(shifts) > 1 else shifts * len(axes), axes)


def source_of(i, first, n, mode):
    """Returns the index in x of element i of the result, after x is cropped to n elements from
    `first` on. Returns None for an element that constant padding adds.
    """
    if first <= i < first + n:
        return i
    if mode == "constant":
        return None
    i -= first
    if mode == "edge":
        place = 0 if i < 0 else n - 1
    elif mode == "wrap":
        place = i % n
    else:
        turn = i % max(2 * (n - 1), 1)
        place = min(turn, 2 * (n - 1) - turn)
    return first + place


@formula("pad")
def pad(x, value=None, *, pads, mode, axes):
    axes = [axis % x.ndim for axis in axes] or list(range(x.ndim))
    fill = x.dtype.type(0) if value is None else value
    for k, axis in enumerate(axes):
        before, after = pads[k], pads[k + len(axes)]
        rows = np.moveaxis(x, axis, 0)
        y = np.full((before + len(rows) + after,) + rows.shape[1:], fill, x.dtype)
        first = max(-before, 0)
        left = len(rows) - first - max(-after, 0)
        for i in range(len(y)):
            source = source_of(i - before, first, left, mode)
            if source is not None:
                y[i] = rows[source]
        x = np.moveaxis(y, 0, axis)
    return x


def channel_of(i, j, c, b, channels, mode):
    """Returns the index of the input channel of depth_to_space that holds the elements (i, j) of
    all b x b blocks of output channel c. There are `channels` output channels.
    """
    return (i * b + j) * channels + c if mode == "dcr" else (c * b + i) * b + j


@formula("depth_to_space")
def depth_to_space(x, blocksize, mode):
    b, channels = blocksize, x.shape[1] // blocksize**2
    y = np.zeros((x.shape[0], channels, x.shape[2] * b, x.shape[3] * b), x.dtype)
    for c, i, j in np.ndindex(channels, b, b):
        y[:, c, i::b, j::b] = x[:, channel_of(i, j, c, b, channels, mode)]
    return y


@formula("space_to_depth")
def space_to_depth(x, blocksize, mode):
    b, channels = blocksize, x.shape[1]
    y = np.zeros((x.shape[0], channels * b * b, x.shape[2] // b, x.shape[3] // b), x.dtype)
    for c, i, j in np.ndindex(channels, b, b):
        y[:, channel_of(i, j, c, b, channels, mode)] = x[:, c, i::b, j::b]
    return y


@formula("reverse_sequence")
def reverse_sequence(x, sequence_lens, batch_axis, time_axis):
    y = np.array(x)
    to = np.moveaxis(y, (batch_axis, time_axis), (0, 1))
    source = np.moveaxis(x, (batch_axis, time_axis), (0, 1))
    for b, length in enumerate(sequence_lens):
        for t in range(max(int(length), 0)):
            to[b, t] = source[b, length - 1 - t]
    return y


@formula("meshgrid")
def meshgrid(*x, indexing):
    return tuple(np.meshgrid(*x, indexing=indexing))


def in_blocks(spatial, block_shape, pads):
    """Yields for each index of the padded axes, in row-major order: the index in the axes without
    padding, the index of its block, and the flat index within the block."""
    before = pads[:len(block_shape)] or [0] * len(block_shape)
    after = pads[len(block_shape):] or [0] * len(block_shape)
    for place in np.ndindex(*(size + b + a for size, b, a in zip(spatial, before, after))):
        inner = tuple(i - b for i, b in zip(place, before))
        block = tuple(i // n for i, n in zip(place, block_shape))
        within = 0
        for i, n in zip(place, block_shape):
            within = within * n + i % n
        yield inner, block, within


@formula("space_to_batch")
def space_to_batch(x, block_shape, pads):
    n, batch = len(block_shape), x.shape[0]
    padded = np.add(x.shape[1:n + 1], np.sum(np.reshape(pads or [0] * 2 * n, (2, n)), axis=0))
    counts = [int(size) // b for size, b in zip(padded, block_shape)]
    y = np.zeros((batch * math.prod(block_shape), *counts, *x.shape[n + 1:]), x.dtype)
    for inner, block, within in in_blocks(x.shape[1:n + 1], block_shape, pads):
        if all(0 <= i < size for i, size in zip(inner, x.shape[1:])):
            for b in range(batch):
                y[within * batch + b, *block] = x[b, *inner]
    return y


@formula("batch_to_space")
def batch_to_space(x, block_shape, pads):
    n, batch = len(block_shape), x.shape[0] // math.prod(block_shape)
    cropped = np.sum(np.reshape(pads or [0] * 2 * n, (2, n)), axis=0)
    sizes = [size * b - int(c) for size, b, c in zip(x.shape[1:], block_shape, cropped)]
    y = np.zeros((batch, *sizes, *x.shape[n + 1:]), x.dtype)
    for inner, block, within in in_blocks(sizes, block_shape, pads):
        if all(0 <= i < size for i, size in zip(inner, sizes)):
            for b in range(batch):
                y[b, *inner] = x[within * batch + b, *block]
    return y
