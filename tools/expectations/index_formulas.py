"""Formulas of ops that gather, select, count and group elements."""

import numpy as np

from formula_table import formula


@formula("embedding")
def embedding(table, indices):
    rows = table.shape[0]
    y = np.zeros(indices.shape + table.shape[1:], table.dtype)
    for place in np.ndindex(*indices.shape):
        if -rows <= indices[place] < rows:
            y[place] = table[indices[place]]
    return y


def pad_or_truncate(found, size, fill):
    """Truncates or pads the results to `size` elements. A size of -1 returns all of them."""
    if size < 0:
        return found
    rest = np.full((max(size - len(found), 0),) + found.shape[1:], fill, found.dtype)
    return np.concatenate([found[:size], rest])


@formula("nonzero")
def nonzero(x, size, fill):
    places = [place for place in np.ndindex(*x.shape) if x[place] != 0]
    found = np.array(places, np.int64).reshape(len(places), x.ndim)
    return pad_or_truncate(found, size, fill).T, np.int64(len(places))


@formula("boolean_mask")
def boolean_mask(x, mask, axis, size, fill):
    axis %= x.ndim
    slices = x.reshape(x.shape[:axis] + (mask.size,) + x.shape[axis + mask.ndim:])
    chosen = np.moveaxis(slices, axis, 0)[mask.ravel()]
    return np.moveaxis(pad_or_truncate(chosen, size, fill), 0, axis), np.int64(len(chosen))


@formula("bincount")
def bincount(x, weights=None, *, minlength, length):
    if length < 0:
        length = max([int(element) + 1 for element in x.ravel()] + [minlength])
    y = np.zeros(length, np.int64 if weights is None else weights.dtype)
    for place in np.ndindex(*x.shape):
        if 0 <= x[place] < length:
            y[x[place]] += 1 if weights is None else weights[place]
    return y


@formula("histogram")
def histogram(x, low, high, bins):
    y = np.zeros(bins, np.int64)
    if not 0 < high - low < np.inf:
        return y
    width = (high - low) / bins
    for element in x.ravel():
        if low <= element <= high:
            y[min(int((element - low) / width), bins - 1)] += 1
    return y


@formula("segment_reduce")
def segment_reduce(x, segment_ids, num_segments, reduction):
    ids = np.where(segment_ids < 0, segment_ids + num_segments, segment_ids)
    whole = x.dtype.kind != "f"
    least = np.iinfo(x.dtype).min if whole else -np.inf
    largest = np.iinfo(x.dtype).max if whole else np.inf
    reduce = {
        "sum": lambda group: np.sum(group, axis=0, dtype=x.dtype),
        "prod": lambda group: np.prod(group, axis=0, dtype=x.dtype),
        "mean": lambda group: np.sum(group, axis=0) / np.float64(len(group)),
        "min": lambda group: np.min(group, axis=0, initial=largest),
        "max": lambda group: np.max(group, axis=0, initial=least),
    }[reduction]
    groups = [reduce(x[ids == segment]) for segment in range(num_segments)]
    return np.array(groups, x.dtype).reshape((num_segments,) + x.shape[1:])


def nan_last(element):
    return (1, 0) if np.isnan(element) else (0, element)


@formula("unique")
def unique(x, sorted, size, fill):
    elements = x.ravel()
    firsts, inverse = [], np.zeros(len(elements), np.int64)
    for i, element in enumerate(elements):
        met = [k for k, first in enumerate(firsts) if elements[first] == element]
        inverse[i] = met[0] if met else len(firsts)
        if not met:
            firsts.append(i)
    order = list(range(len(firsts)))
    if sorted:
        order.sort(key=lambda k: nan_last(elements[firsts[k]]))
    rank = {k: place for place, k in enumerate(order)}
    inverse = np.array([rank[k] for k in inverse], np.int64)
    indices = np.array([firsts[k] for k in order], np.int64)
    counts = np.array([np.sum(inverse == place) for place in range(len(order))], np.int64)
    return (pad_or_truncate(elements[indices], size, fill), pad_or_truncate(indices, size, 0), inverse,
            pad_or_truncate(counts, size, 0), np.int64(len(order)))
