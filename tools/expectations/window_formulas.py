"""Formulas of pooling, transposed convolutions and im2col. They process one window at a time."""

import math

import numpy as np

from formula_table import formula


class Windows:
    """The windows along the spatial axes of x, which is [N, C, ...]."""

    def __init__(self, sizes, kernel_shape, strides, pads, dilations, ceil_mode=False):
        n = len(sizes)
        self.sizes = tuple(sizes)
        self.kernel = tuple(kernel_shape)
        self.strides = tuple(strides or [1] * n)
        self.pads = tuple(pads or [0] * (2 * n))
        self.dilations = tuple(dilations or [1] * n)
        self.counts = tuple(self.count(axis, ceil_mode) for axis in range(n))

    def count(self, axis, ceil_mode):
        """Returns the number of windows along a spatial axis.

        With ceil_mode, this includes windows that begin before the end padding and extend beyond
        it.

        """
        before, after = self.pads[axis], self.pads[axis + len(self.sizes)]
        reach = (self.kernel[axis] - 1) * self.dilations[axis] + 1
        steps = (self.sizes[axis] + before + after - reach) / self.strides[axis]
        n = (math.ceil(steps) if ceil_mode else math.floor(steps)) + 1
        while ceil_mode and (n - 1) * self.strides[axis] >= self.sizes[axis] + before:
            n -= 1
        return n

    def place(self, window, element):
        """Returns the index in x of an element of a window. The index may be in the padding or
        beyond it."""
        return tuple(w * s + k * d - p for w, s, k, d, p in
                     zip(window, self.strides, element, self.dilations, self.pads))

    def inside(self, place):
        return all(0 <= i < size for i, size in zip(place, self.sizes))

    def on_padding_or_inside(self, place):
        after = self.pads[len(self.sizes):]
        return all(-before <= i < size + behind for i, size, before, behind in
                   zip(place, self.sizes, self.pads, after))

    def values(self, image, window):
        """Returns the elements of a window in the image of one channel, without padding."""
        places = (self.place(window, element) for element in np.ndindex(*self.kernel))
        return np.array([image[place] for place in places if self.inside(place)])

    def n_padded(self, window):
        """Returns how many elements of a window are in the image or in its padding."""
        return sum(self.on_padding_or_inside(self.place(window, element))
                   for element in np.ndindex(*self.kernel))


def pooled(x, windows, function):
    y = np.zeros(x.shape[:2] + windows.counts)
    for n, c in np.ndindex(*x.shape[:2]):
        for window in np.ndindex(*windows.counts):
            y[n, c, *window] = function(windows.values(x[n, c], window), window)
    return y


def p_norm(values, p):
    """Computes the p-norm of values divided by the largest magnitude, so that no power overflows.
    """
    largest = np.max(np.abs(values), initial=0)
    if largest == 0 or not np.isfinite(largest):
        return largest
    return largest * np.sum((np.abs(values) / largest) ** p) ** (1 / p)


@formula("avg_pool")
def avg_pool(x, kernel_shape, strides, pads, dilations, ceil_mode, count_include_pad):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads, dilations, ceil_mode)

    def mean(values, window):
        return np.sum(values) / (windows.n_padded(window) if count_include_pad else len(values))
    return pooled(x, windows, mean)


@formula("lp_pool")
def lp_pool(x, kernel_shape, strides, pads, dilations, ceil_mode, p):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads, dilations, ceil_mode)
    return pooled(x, windows, lambda values, _: p_norm(values, p))


def of_channels(x, function):
    """Replaces each channel by the number that the function returns for it. Spatial axes keep
    size 1."""
    y = np.zeros(x.shape[:2])
    for n, c in np.ndindex(*y.shape):
        y[n, c] = function(x[n, c])
    return y.reshape(x.shape[:2] + (1,) * (x.ndim - 2))


@formula("global_avg_pool")
def global_avg_pool(x):
    return of_channels(x, np.mean)


@formula("global_max_pool")
def global_max_pool(x):
    return of_channels(x, np.max)


@formula("global_lp_pool")
def global_lp_pool(x, p):
    return of_channels(x, lambda image: p_norm(image.ravel(), p))


@formula("max_pool_backward")
def max_pool_backward(dy, indices, shape):
    dx = np.zeros(math.prod(shape))
    np.add.at(dx, indices.ravel(), dy.ravel())
    return dx.reshape(shape)


@formula("im2col")
def im2col(x, kernel_shape, strides, pads, dilations):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads, dilations)
    n_elements, n_windows = math.prod(kernel_shape), math.prod(windows.counts)
    y = np.zeros((x.shape[0], x.shape[1] * n_elements, n_windows), x.dtype)
    for n, c in np.ndindex(*x.shape[:2]):
        for column, window in enumerate(np.ndindex(*windows.counts)):
            for row, element in enumerate(np.ndindex(*kernel_shape)):
                place = windows.place(window, element)
                if windows.inside(place):
                    y[n, c * n_elements + row, column] = x[n, c, *place]
    return y


@formula("col2im")
def col2im(x, image_shape, kernel_shape, strides, pads, dilations):
    windows = Windows(image_shape, kernel_shape, strides, pads, dilations)
    n_elements = math.prod(kernel_shape)
    y = np.zeros((x.shape[0], x.shape[1] // n_elements, *image_shape))
    for n, c in np.ndindex(*y.shape[:2]):
        for column, window in enumerate(np.ndindex(*windows.counts)):
            for row, element in enumerate(np.ndindex(*kernel_shape)):
                place = windows.place(window, element)
                if windows.inside(place):
                    y[n, c, *place] += x[n, c * n_elements + row, column]
    return y


@formula("window_sum")
def window_sum(x, kernel_shape, strides, pads, dilations, ceil_mode):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads, dilations, ceil_mode)
    return pooled(x, windows, lambda values, _: np.sum(values))


@formula("max_pool")
def max_pool(x, kernel_shape, strides, pads, dilations, ceil_mode):
    windows = Windows(x.shape[2:], kernel_shape, strides, pads, dilations, ceil_mode)
    places = np.arange(x.size).reshape(x.shape)
    y = pooled(x, windows, lambda values, _: np.max(values))
    indices = np.zeros(y.shape, np.int64)
    for n, c in np.ndindex(*x.shape[:2]):
        for window in np.ndindex(*windows.counts):
            first = np.argmax(windows.values(x[n, c], window))
            indices[n, c, *window] = windows.values(places[n, c], window)[first]
    return y, indices


def spread(x, lhs_dilation):
    """Inserts lhs_dilation - 1 zeros between the elements of x along each spatial axis."""
    steps = lhs_dilation or [1] * (x.ndim - 2)
    sizes = [(size - 1) * s + 1 if size else 0 for size, s in zip(x.shape[2:], steps)]
    y = np.zeros(x.shape[:2] + tuple(sizes))
    y[:, :, *(slice(None, None, s) for s in steps)] = x
    return y


@formula("conv")
def conv(x, w, b=None, *, strides, pads, dilations, group, lhs_dilation):
    return with_bias(convolution(spread(x, lhs_dilation), w, strides, pads, dilations, group), b)


@formula("conv_backward_filter")
def conv_backward_filter(x, dy, shape, strides, pads, dilations, group, lhs_dilation):
    x, dw = spread(x, lhs_dilation), np.zeros(shape)
    windows = Windows(x.shape[2:], shape[2:], strides, pads, dilations)
    channels, outputs = shape[1], shape[0] // group
    for n, o, *window in np.ndindex(*dy.shape):
        for c, *element in np.ndindex(*shape[1:]):
            place = windows.place(window, element)
            if windows.inside(place):
                dw[o, c, *element] += (x[n, o // outputs * channels + c, *place]
                                       * dy[n, o, *window])
    return dw


def convolution(x, w, strides, pads, dilations, group):
    """Returns y[n, o, p] = sum(x[n, c, p * stride + k * dilation - pad] * w[o, c, k] for c, k)."""
    windows = Windows(x.shape[2:], w.shape[2:], strides, pads, dilations)
    channels, outputs = w.shape[1], w.shape[0] // group
    y = np.zeros((x.shape[0], w.shape[0]) + windows.counts)
    for n, o in np.ndindex(*y.shape[:2]):
        for window in np.ndindex(*windows.counts):
            for c, *element in np.ndindex(*w.shape[1:]):
                place = windows.place(window, element)
                if windows.inside(place):
                    y[n, o, *window] += x[n, o // outputs * channels + c, *place] * w[o, c, *element]
    return y


def with_bias(y, b):
    return y if b is None else y + b.reshape((1, -1) + (1,) * (y.ndim - 2))


@formula("depthwise")
def depthwise(x, w, b=None, *, strides, pads, dilations):
    return with_bias(convolution(x, w, strides, pads, dilations, x.shape[1]), b)


@formula("conv_backward_input")
def conv_backward_input(dy, w, shape, strides, pads, dilations, group, lhs_dilation):
    """For each product of the forward convolution, adds dy times w to the gradient of the element
    of x."""
    spread = lhs_dilation or [1] * (len(shape) - 2)
    sizes = [(size - 1) * s + 1 if size else 0 for size, s in zip(shape[2:], spread)]
    windows = Windows(sizes, w.shape[2:], strides, pads, dilations)
    dx = np.zeros(shape)
    channels, outputs = w.shape[1], w.shape[0] // group
    for n, o, *window in np.ndindex(*dy.shape):
        for c, *element in np.ndindex(*w.shape[1:]):
            place = windows.place(window, element)
            on_elements = all(i % s == 0 for i, s in zip(place, spread))
            if windows.inside(place) and on_elements:
                at = tuple(i // s for i, s in zip(place, spread))
                dx[n, o // outputs * channels + c, *at] += dy[n, o, *window] * w[o, c, *element]
    return dx


@formula("conv_transpose")
def conv_transpose(x, w, b=None, *, strides, pads, dilations, group, output_padding, output_shape):
    """Adds the filter, scaled by each element of x, to an array without pads, and crops the array.
    """
    n_axes = x.ndim - 2
    strides, dilations = strides or [1] * n_axes, dilations or [1] * n_axes
    padding = output_padding or [0] * n_axes
    full = [(size - 1) * s + (k - 1) * d + 1 + more for size, s, k, d, more in
            zip(x.shape[2:], strides, w.shape[2:], dilations, padding)]
    canvas = np.zeros((x.shape[0], w.shape[1] * group, *full))
    inputs, outputs = x.shape[1] // group, w.shape[1]
    for n, c, *place in np.ndindex(*x.shape):
        for o, *element in np.ndindex(*w.shape[1:]):
            at = [p * s + k * d for p, s, k, d in zip(place, strides, element, dilations)]
            canvas[n, c // inputs * outputs + o, *at] += x[n, c, *place] * w[c, o, *element]
    cuts = pads or [0] * (2 * n_axes)
    if output_shape:
        over = [size - wanted for size, wanted in zip(full, output_shape)]
        cuts = [max(n, 0) - max(n, 0) // 2 for n in over]
        cuts += [n - cut for n, cut in zip(over, cuts)]
    for axis in range(n_axes):
        canvas = cut(canvas, axis + 2, cuts[axis], cuts[axis + n_axes])
    return with_bias(canvas, b)


def cut(array, axis, before, after):
    """Removes elements from both ends of an axis. Negative numbers add zeros instead."""
    widths = [(0, 0)] * array.ndim
    widths[axis] = (max(-before, 0), max(-after, 0))
    array = np.pad(array, widths)
    kept = range(max(before, 0), array.shape[axis] - max(after, 0))
    return np.take(array, kept, axis)
