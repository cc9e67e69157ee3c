"""Formulas of resizing. Sample positions and weights are exact fractions; axes are resized one by
one."""

import math
from fractions import Fraction

import numpy as np

from formula_table import formula

HALF = Fraction(1, 2)


def place_of(i, n, m, scale, mode):
    """Returns the input position of output element i, for an axis with n input and m output
    elements."""
    centred = (i + HALF) / scale - HALF
    if mode == "half_pixel":
        return centred
    if mode == "half_pixel_symmetric":
        return centred + (n - m / scale) / 2
    if mode == "pytorch_half_pixel":
        return centred if m > 1 else Fraction(0)
    if mode == "align_corners":
        return i * (n - 1) / (n * scale - 1) if n * scale != 1 else Fraction(0)
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_half_pixel_for_nn":
        return (i + HALF) / scale
    raise ValueError(mode)


def resized_axes(x, sizes, scales, scale_divisors, axes):
    """Yields for each axis to resize: the axis, its old size, its new size, and the scale."""
    axes = [axis % x.ndim for axis in axes] or list(range(x.ndim))
    divisors = scale_divisors or [1] * len(scales)
    for k, axis in enumerate(axes):
        n = x.shape[axis]
        if scales:
            scale = Fraction(scales[k], divisors[k])
            m = sizes[k] if sizes else math.floor(n * scale)
        else:
            m = sizes[k]
            scale = Fraction(m, n) if n and m else Fraction(1)
        yield axis, n, m, scale


ROUNDINGS = {
    "round_prefer_floor": lambda place: math.ceil(place - HALF),
    "round_prefer_ceil": lambda place: math.floor(place + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
}


@formula("resize_nearest")
def resize_nearest(x, sizes, scales, scale_divisors, axes, coordinate_transformation_mode,
                   nearest_mode):
    for axis, n, m, scale in resized_axes(x, sizes, scales, scale_divisors, axes):
        places = (place_of(i, n, m, scale, coordinate_transformation_mode) for i in range(m))
        nearest = [min(max(ROUNDINGS[nearest_mode](place), 0), n - 1) for place in places]
        x = np.take(x, np.array(nearest, np.int64), axis)
    return x


def weighted(x, sizes, scales, scale_divisors, axes, mode, antialias, exclude_outside, curve, reach):
    """Resizes by weighted sums. The weight of an element is curve(distance), which is 0 from
    `reach` on."""
    for axis, n, m, scale in resized_axes(x, sizes, scales, scale_divisors, axes):
        stretch = min(scale, Fraction(1)) if antialias else Fraction(1)
        rows = np.moveaxis(x, axis, 0)
        y = np.zeros((m,) + rows.shape[1:])
        for i in range(m):
            place = place_of(i, n, m, scale, mode)
            first, last = math.ceil(place - reach / stretch), math.floor(place + reach / stretch)
            weights = {k: curve(abs(k - place) * stretch) for k in range(first, last + 1)}
            if exclude_outside:
                weights = {k: weight for k, weight in weights.items() if 0 <= k < n}
            total = sum(weights.values())
            for k, weight in weights.items():
                if weight:
                    y[i] += float(weight / total) * rows[min(max(k, 0), n - 1)]
        x = np.moveaxis(y, 0, axis)
    return x


@formula("resize_linear")
def resize_linear(x, sizes, scales, scale_divisors, axes, coordinate_transformation_mode, antialias,
                  exclude_outside):
    return weighted(x, sizes, scales, scale_divisors, axes, coordinate_transformation_mode,
                    antialias, exclude_outside, lambda d: max(Fraction(0), 1 - d), 1)


@formula("resize_cubic")
def resize_cubic(x, sizes, scales, scale_divisors, axes, coordinate_transformation_mode, antialias,
                 exclude_outside, cubic_coeff_a):
    a = Fraction(cubic_coeff_a)

    def curve(d):
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else Fraction(0)
    return weighted(x, sizes, scales, scale_divisors, axes, coordinate_transformation_mode,
                    antialias, exclude_outside, curve, 2)
