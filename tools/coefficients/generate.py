#!/usr/bin/env python3
"""Computes the polynomial coefficients of core/ops/expansions, and those that the plugin cpu
shares.

Each polynomial is the weighted minimax approximation of a smooth function. Remez' exchange
algorithm finds it on a dense Chebyshev grid with 40 digits, and rounds it to the dtype. The weight
is the polynomial's relative contribution to the final result. Thus the deviation in the comment of
each row is the relative error that the approximation causes in the result.

Requires Python with mpmath. Writes both files:

    python3 tools/coefficients/generate.py
"""

import math
import struct
import sys
from dataclasses import dataclass
from typing import Callable

from mpmath import mp, mpf

mp.dps = 40


@dataclass
class Fit:
    """The specification of one polynomial: its function, its interval and its number of
    coefficients."""

    name: str
    doc: str
    function: Callable
    weight: Callable
    interval: tuple
    terms: dict  # dtype -> number of coefficients
    high: dict = None  # dtype -> upper end of the interval, if it depends on the dtype


def odd(f):
    """For an odd f, returns p in f(x) = x + x z p(z) with z = x^2, and the weight x^3 / f(x) of p.
    """

    def tail(z):
        x = mp.sqrt(z)
        return (f(x) - x) / (x * z)

    def share(z):
        x = mp.sqrt(z)
        return x * z / f(x)

    return tail, share


def atanh_series(s):
    return mp.log((1 + s) / (1 - s))


def from_one_to_four(t):
    """Maps t = (a - 2) / (a + 2) in [-1/3, 1/3] to the argument a of the gamma functions."""
    return 2 * (1 + t) / (1 - t)


def from_four(u):
    """Maps u = 1 / a^2 to the argument a, which is infinite at u = 0."""
    return 1 / mp.sqrt(u)


def scaled_erfc(t):
    """Returns erfc(x) exp(x^2) (x + 4) / 4, which is between 0.14 and 1, for t = (x - 4) / (x + 4).
    """
    x = 4 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (x + 4) / 4


# End points of the intervals for the gamma functions, as values of t and u.
THIRD = mpf(1) / 3
SIXTEENTH = mpf(1) / 16
ROOT_OF_DIGAMMA = mp.findroot(mp.digamma, mpf("1.46"))


def gamma_fits():
    def of_lgamma(t):
        a = from_one_to_four(t)
        return mp.loggamma(a) / ((a - 1) * (a - 2))

    def of_stirling(u):
        a = from_four(u)
        known = (a - mpf("0.5")) * (mp.log(a) - 1) + (mp.log(2 * mp.pi) - 1) / 2
        return (mp.loggamma(a) - known) * a

    def of_digamma(t):
        a = from_one_to_four(t)
        return mp.digamma(a) / (a - ROOT_OF_DIGAMMA)

    def of_digamma_tail(u):
        a = from_four(u)
        return (mp.log(a) - 1 / (2 * a) - mp.digamma(a)) / u

    def of_trigamma(t):
        a = from_one_to_four(t)
        return mp.psi(1, a) * a

    def of_trigamma_tail(u):
        a = from_four(u)
        return ((mp.psi(1, a) * a - 1) * a - mpf("0.5")) * a

    return [
        Fit("kLgamma",
            "lgamma(a) = (a - 1) (a - 2) p(t), t = (a - 2) / (a + 2), 1 <= a <= 4",
            of_lgamma, lambda t: 1 / of_lgamma(t), (-THIRD, THIRD), {"float": 10, "double": 22}),
        Fit("kStirling",
            "lgamma(a) = (a - 1/2) (log(a) - 1) + (log(2 pi) - 1) / 2 + p(u) / a, u = 1 / a^2, "
            "a >= 4",
            of_stirling, lambda u: 1 / (from_four(u) * mp.loggamma(from_four(u))),
            (mpf(0), SIXTEENTH), {"float": 3, "double": 8}),
        Fit("kDigamma",
            "digamma(a) = (a - its root) p(t), t = (a - 2) / (a + 2), 1 <= a <= 4",
            of_digamma, lambda t: 1 / of_digamma(t), (-THIRD, THIRD), {"float": 11, "double": 23}),
        Fit("kDigammaTail", "digamma(a) = log(a) - 1 / (2 a) - u p(u), u = 1 / a^2, a >= 4",
            of_digamma_tail, lambda u: u / mp.digamma(from_four(u)),
            (mpf(0), SIXTEENTH), {"float": 3, "double": 9}),
        Fit("kTrigamma", "trigamma(a) = p(t) / a, t = (a - 2) / (a + 2), 1 <= a <= 4",
            of_trigamma, lambda t: 1 / of_trigamma(t), (-THIRD, THIRD),
            {"float": 11, "double": 23}),
        Fit("kTrigammaTail", "trigamma(a) = (1 + (1/2 + p(u) / a) / a) / a, u = 1 / a^2, a >= 4",
            of_trigamma_tail, lambda u: u / (from_four(u) * mp.psi(1, from_four(u))),
            (mpf(0), SIXTEENTH), {"float": 3, "double": 10}),
        Fit("kSinPi", "sin(pi r) / pi = r + r z p(z), z = r^2, |r| <= 1/2",
            *odd(lambda r: mp.sin(mp.pi * r) / mp.pi), (mpf(0), mpf("0.25")),
            {"float": 4, "double": 8}),
    ]


def fits():
    log2_half = mp.log(2) / 2 * mpf("1.0005")
    log_end = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.001")
    quarter_pi = (mp.pi / 4) ** 2 * mpf("1.0001")
    return [
        Fit("kExp", "exp(r) = 1 + r + r^2 p(r); also good for expm1",
            lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.expm1(r),
            (-log2_half, log2_half), {"float": 6, "double": 11}),
        Fit("kExp2", "exp2(r) = 1 + r p(r)",
            lambda r: (mp.power(2, r) - 1) / r, lambda r: r / mp.power(2, r),
            (mpf("-0.5005"), mpf("0.5005")), {"float": 7, "double": 11}),
        Fit("kLog", "log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2",
            lambda z: (atanh_series(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
            lambda z: mp.sqrt(z) * z / atanh_series(mp.sqrt(z)),
            (mpf(0), log_end), {"float": 3, "double": 7}),
        Fit("kLogTail", "log((1 + s) / (1 - s)) = 2/3 s (3 + z + z^2 p(z)), z = s^2",
            lambda z: (atanh_series(mp.sqrt(z)) / mp.sqrt(z) * 3 / 2 - 3 - z) / z**2,
            lambda z: mp.sqrt(z) * z**2 / atanh_series(mp.sqrt(z)),
            (mpf(0), log_end), {"float": 3, "double": 7}),
        Fit("kSin", "sin(r) = r + r z p(z), z = r^2", *odd(mp.sin), (mpf(0), quarter_pi),
            {"float": 3, "double": 6}),
        Fit("kCos", "cos(r) = 1 - z / 2 + z^2 p(z), z = r^2",
            lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
            lambda z: z**2 / mp.cos(mp.sqrt(z)),
            (mpf(0), quarter_pi), {"float": 3, "double": 6}),
        Fit("kTan", "tan(r) = r + r z p(z), z = r^2", *odd(mp.tan), (mpf(0), quarter_pi),
            {"float": 7, "double": 15}),
        Fit("kAsin", "asin(x) = x + x z p(z), z = x^2, |x| <= 1/2", *odd(mp.asin),
            (mpf(0), mpf("0.25")), {"float": 5, "double": 13}),
        Fit("kAtan", "atan(x) = x + x z p(z), z = x^2, |x| <= 1", *odd(mp.atan),
            (mpf(0), mpf(1)), {"float": 9, "double": 20}),
        Fit("kSinh", "sinh(x) = x + x z p(z), z = x^2, |x| <= 1", *odd(mp.sinh),
            (mpf(0), mpf(1)), {"float": 4, "double": 7}),
        Fit("kTanh", "tanh(x) = x + x z p(z), z = x^2, |x| <= 5/8", *odd(mp.tanh),
            (mpf(0), mpf("0.391")), {"float": 5, "double": 11}),
        Fit("kAtanh", "atanh(x) = x + x z p(z), z = x^2, |x| <= 1/2", *odd(mp.atanh),
            (mpf(0), mpf("0.25")), {"float": 6, "double": 13}),
        Fit("kErf", "erf(x) = x + x p(z), z = x^2, |x| <= 1",
            lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
            lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)),
            (mpf(0), mpf(1)), {"float": 7, "double": 12}),
        Fit("kLogErfc", "log(erfc(1 + t)) = p(t), t in [0, 3] (float), [0, 5] (double)",
            lambda t: mp.log(mp.erfc(1 + t)), lambda t: mp.erfc(1 + t) / mp.erf(1 + t),
            (mpf(0), None), {"float": 7, "double": 19}, {"float": mpf(3), "double": mpf(5)}),
        Fit("kErfc", "erfc(x) = exp(-x^2) 4 / (x + 4) p(t), t = (x - 4) / (x + 4), "
            "0 <= x <= 10.5 (float), 28 (double)",
            scaled_erfc, lambda t: 1 / scaled_erfc(t), (mpf(-1), None),
            {"float": 11, "double": 23}, {"float": mpf(13) / 29, "double": mpf(3) / 4}),
        Fit("kCbrt", "cbrt(1 + f) = p(f), roughly, sqrt(1/2) <= 1 + f <= sqrt(2)",
            lambda f: mp.cbrt(1 + f), lambda f: 1 / mp.cbrt(1 + f),
            (mp.sqrt(2) / 2 - mpf("1.0001"), mp.sqrt(2) - mpf("0.9999")),
            {"float": 3, "double": 6}),
        *gamma_fits(),
    ]


def fits_in_cpu():
    """The polynomials that only the kernels of the plugin cpu use."""
    log_end = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.001")
    root_half = mp.sqrt(2) / 2 * mpf("0.9999")

    def of_acosh(t):
        return mp.acosh(1 + t) / mp.sqrt(2 * t)

    def of_log2(z):
        return atanh_series(mp.sqrt(z)) / mp.sqrt(z) / mp.log(2)

    def of_atanh(z):
        return atanh_series(mp.sqrt(z)) / mp.sqrt(z) / 2

    return [
        Fit("kLogFraction", "log(1 + f) = f - f^2 / 2 + f^3 p(f), sqrt(1/2) <= 1 + f <= sqrt(2)",
            lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, lambda f: f**3 / mp.log1p(f),
            (root_half - 1, 1 / root_half - 1), {"float": 9}),
        Fit("kAsinh", "asinh(x) = x + x z p(z), z = x^2, |x| <= 3/4", *odd(mp.asinh),
            (mpf(0), mpf("0.5625")), {"float": 7, "double": 17}),
        Fit("kAcosh", "acosh(1 + t) = sqrt(2 t) (1 + t p(t)), 0 <= t <= 1/2",
            lambda t: (of_acosh(t) - 1) / t, lambda t: t / of_acosh(t),
            (mpf(0), mpf("0.5")), {"float": 5, "double": 12}),
        Fit("kPowerLog2", "log2((1 + s) / (1 - s)) = s p(z), z = s^2, for pow in float32",
            of_log2, lambda z: 1 / of_log2(z), (mpf(0), log_end), {"double": 5}),
        Fit("kPowerAtanh", "atanh(s) = s + s z / 3 + s z^2 p(z), z = s^2, for pow in float64",
            lambda z: (of_atanh(z) - 1 - z / 3) / z**2, lambda z: z**2 / of_atanh(z),
            (mpf(0), log_end), {"double": 8}),
        Fit("kPowerExp2", "exp2(r) = 1 + r p(r), for pow in float32",
            lambda r: (mp.power(2, r) - 1) / r, lambda r: r / mp.power(2, r),
            (mpf("-0.5005"), mpf("0.5005")), {"double": 6}),
    ]


class Grid:
    """The values of a function and its weight at the midpoints of a Chebyshev grid.

    Midpoints are used because the function may be 0 / 0 at an end of its interval.

    """

    def __init__(self, fit, dtype, size):
        low = fit.interval[0]
        high = fit.high[dtype] if fit.high else fit.interval[1]
        self.x = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * size))
                  for i in range(size)]
        self.f = [fit.function(x) for x in self.x]
        self.w = [abs(fit.weight(x)) for x in self.x]

    def deviation(self, coefficients):
        return [(mp.polyval(coefficients[::-1], x) - y) * w
                for x, y, w in zip(self.x, self.f, self.w)]

    def worst(self, coefficients):
        return max(abs(d) for d in self.deviation(coefficients))


def rounded_minimax(fit, dtype):
    """Returns the coefficients rounded to the dtype, lowest order first, and the largest weighted
    deviation.

    The lowest coefficients are rounded one by one, because their rounding errors matter most. After
    each one, the remaining coefficients are fitted again, which compensates for its rounding error.

    """
    n = fit.terms[dtype]
    grid = Grid(fit, dtype, 40 * n)
    best = [to_dtype(c, dtype) for c in minimax(grid, [], n)]
    fixed = []
    while len(fixed) < min(n - 1, 4):
        fixed.append(to_dtype(minimax(grid, fixed, n)[len(fixed)], dtype))
        candidate = [to_dtype(c, dtype) for c in minimax(grid, fixed, n)]
        best = min(best, candidate, key=grid.worst)
    return best, grid.worst(best)


def minimax(grid, fixed, n):
    """Returns the n coefficients of the best approximation whose first coefficients are `fixed`."""
    free = n - len(fixed)
    size = len(grid.x)
    at = [round((size - 1) * (1 - math.cos(math.pi * i / free)) / 2) for i in range(free + 1)]
    for _ in range(20):
        system = mp.matrix(free + 1, free + 1)
        right = mp.matrix(free + 1, 1)
        for row, i in enumerate(at):
            x = grid.x[i]
            for column in range(free):
                system[row, column] = x ** (len(fixed) + column)
            system[row, free] = (-1) ** row / grid.w[i]
            right[row] = grid.f[i] - sum(c * x**k for k, c in enumerate(fixed))
        solution = mp.lu_solve(system, right)
        coefficients = fixed + [solution[i] for i in range(free)]
        deviation = grid.deviation(coefficients)
        peaks = alternating_peaks(deviation)
        level = abs(solution[free])
        if len(peaks) < free + 1 or max(abs(d) for d in deviation) < level * mpf("1.01"):
            return coefficients
        exchanged = choose(peaks, deviation, free + 1)
        if exchanged == at:
            return coefficients
        at = exchanged
    return coefficients


def alternating_peaks(deviation):
    """Returns the index of the largest deviation in each run of deviations with the same sign."""
    peaks = [0]
    for i, d in enumerate(deviation):
        if (d > 0) == (deviation[peaks[-1]] > 0):
            if abs(d) > abs(deviation[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    return peaks


def choose(peaks, deviation, count):
    """Removes peaks until `count` remain: each time the smaller one of the first and the last."""
    peaks = list(peaks)
    while len(peaks) > count:
        peaks.pop(0 if abs(deviation[peaks[0]]) < abs(deviation[peaks[-1]]) else -1)
    return peaks


def to_dtype(value, dtype):
    rounded = float(value)
    if dtype == "float":
        rounded = struct.unpack("f", struct.pack("f", rounded))[0]
    return mpf(rounded)


def two_over_pi(bits_per_word, words, leading_zeros):
    """Returns the words of 2/pi, preceded by `leading_zeros` zero bits before the binary point."""
    digits = bits_per_word * words
    with mp.workprec(digits + 64):
        scaled = int(mp.floor(2 / mp.pi * mpf(2) ** (digits - leading_zeros)))
    mask = (1 << bits_per_word) - 1
    return [(scaled >> (bits_per_word * i)) & mask for i in reversed(range(words))]


def array(name, dtype, element, entries):
    lines, line = [], "   "
    for entry in entries:
        if len(line) + len(entry) + 2 > 100:
            lines.append(line)
            line = "   "
        line += f" {entry},"
    lines.append(line.rstrip(",") + "};")
    return [
        "template <>",
        f"inline constexpr std::array<{element}, {len(entries)}> {name}<{dtype}>{{",
        *lines,
    ]


def polynomial(fit):
    lines = [f"// {fit.doc}", "template <class Scalar>",
             f"inline constexpr std::array<double, 0> {fit.name}{{}};"]
    for dtype in fit.terms:
        coefficients, worst = rounded_minimax(fit, dtype)
        lines.append(f"// Causes a relative error of at most 2^{float(mp.log(worst, 2)):.1f} in the result.")
        lines += array(fit.name, dtype, "double", [float(c).hex() for c in coefficients])
    print(f"{fit.name} is done", file=sys.stderr)
    return lines + [""]


def digits_of_two_over_pi():
    return [
        "// The binary digits of 2/pi in whole words, after as many zeros as the reduction requires.",
        "template <class Scalar>",
        "inline constexpr std::array<uint32_t, 0> kTwoOverPi{};",
        *array("kTwoOverPi", "float", "uint32_t",
               [f"0x{w:08x}" for w in two_over_pi(32, 7, 26)]),
        *array("kTwoOverPi", "double", "uint64_t",
               [f"0x{w:016x}" for w in two_over_pi(64, 19, 55)]),
        "",
    ]


# Polynomials that the kernels of the plugin cpu use with the same formulas as the expansions.
IN_CPU = ["kExp", "kExp2", "kLog", "kSin", "kCos", "kAsin", "kAtan", "kAtanh", "kErf", "kLogErfc",
          "kErfc", "kCbrt", "kLgamma", "kStirling", "kDigamma", "kDigammaTail", "kTrigamma",
          "kTrigammaTail", "kSinPi"]


def write(path, about, namespace, lines):
    text = ["// Generated by python3 tools/coefficients/generate.py; do not edit.", "//",
            *about, "", "#pragma once", "", "#include <array>", "#include <cstdint>", "",
            "// clang-format off", f"namespace {namespace} {{", "", *lines,
            f"}}  // namespace {namespace}", ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text))


def main():
    polynomials = {fit.name: polynomial(fit) for fit in fits()}
    write("core/ops/expansions/coefficients.h",
          ["// The numbers of the expansions: minimax polynomials, lowest coefficient first, and the",
           "// digits of 2/pi."],
          "tenon::expansions", sum(polynomials.values(), []) + digits_of_two_over_pi())
    write("plugins/simd/vectors/coefficients.h", ["// Minimax polynomials, lowest coefficient first."],
          "tenon_simd", sum((polynomials[name] for name in IN_CPU), []) +
          sum((polynomial(fit) for fit in fits_in_cpu()), []))


if __name__ == "__main__":
    main()
