"""Formulas of random ops: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, 2011, and distributions.
"""

import math

import numpy as np
from scipy import special

from formula_table import formula

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = 0x9E3779B9, 0xBB67AE85
WORD = 0xFFFFFFFF

# (bits, width): the leading `bits` bits of a word of `width` bits become a fraction in [0, 1).
FRACTION = {"f32": (24, 32), "f64": (53, 64), "f16": (11, 32), "bf16": (8, 32)}


def philox(counter, key):
    """Returns four words: ten rounds of Philox with a counter of four words and a key of two words.
    """
    c, k = list(counter), list(key)
    for _ in range(10):
        products = MULTIPLIERS[0] * c[0], MULTIPLIERS[1] * c[2]
        c = [products[1] >> 32 ^ c[1] ^ k[0], products[1] & WORD,
             products[0] >> 32 ^ c[3] ^ k[1], products[0] & WORD]
        k = [(k[0] + WEYL[0]) & WORD, (k[1] + WEYL[1]) & WORD]
    return c


def words_of(number, n):
    return [number >> 32 * i & WORD for i in range(n)]


def draw_words(state, n, width):
    """Returns n integers of `width` bits and the new state: the key, then the counter, low words
    first."""
    lanes = n * width // 32
    key, counter = [int(word) for word in state[:2]], 0
    for i, word in enumerate(state[2:]):
        counter |= int(word) << 32 * i
    blocks = math.ceil(lanes / 4)
    words = [word for block in range(blocks)
             for word in philox(words_of((counter + block) % 2**128, 4), key)]
    if width == 64:
        words = [low | high << 32 for low, high in zip(words[::2], words[1::2])]
    new_state = np.array(key + words_of((counter + blocks) % 2**128, 4), np.uint32)
    return words[:n], new_state


def draw(state, n, dtype):
    """Returns n numbers in [0, 1) and the new state."""
    bits, width = FRACTION[dtype]
    words, new_state = draw_words(state, n, width)
    return np.array([(word >> width - bits) * 2.0**-bits for word in words], np.float64), new_state


@formula("random_uniform")
def random_uniform(state, shape, dtype, low, high):
    numbers, new_state = draw(state, math.prod(shape), dtype)
    return low + (high - low) * numbers.reshape(shape), new_state


@formula("random_normal")
def random_normal(state, shape, dtype, mean, scale):
    n = math.prod(shape)
    pairs = math.ceil(n / 2)
    numbers, new_state = draw(state, 2 * pairs, "f64" if dtype == "f64" else "f32")
    lengths = np.sqrt(-2 * np.log1p(-numbers[:pairs]))
    angles = 2 * np.pi * numbers[pairs:]
    drawn = np.concatenate([lengths * np.cos(angles), lengths * np.sin(angles)])[:n]
    return mean + scale * drawn.reshape(shape), new_state


@formula("truncated_normal")
def truncated_normal(state, shape, dtype, mean, scale):
    numbers, new_state = draw(state, math.prod(shape), "f64" if dtype == "f64" else "f32")
    within = special.erf(np.sqrt(2)) * (2 * numbers - 1)
    return mean + scale * np.sqrt(2) * special.erfinv(within).reshape(shape), new_state


@formula("random_permutation")
def random_permutation(state, n):
    words, new_state = draw_words(state, n, 64)
    return np.array(sorted(range(n), key=lambda i: words[i]), np.int64), new_state


@formula("random_categorical")
def random_categorical(state, logits, num_samples):
    shape = logits.shape[:-1] + (num_samples, logits.shape[-1])
    numbers, new_state = draw(state, math.prod(shape), "f32")
    noise = -np.log(-np.log(np.maximum(numbers, 2.0**-25).reshape(shape)))
    return np.argmax(logits[..., None, :] + noise, axis=-1), new_state


@formula("random_bernoulli")
def random_bernoulli(state, p, shape):
    numbers, new_state = draw(state, math.prod(shape), "f32")
    return (numbers < p).reshape(shape), new_state


@formula("dropout")
def dropout(x, state, ratio, training):
    if not training:
        return x, np.ones(x.shape, bool), state
    numbers, new_state = draw(state, x.size, "f32")
    kept = (numbers >= ratio).reshape(x.shape)
    return np.where(kept, x / (1 - ratio), 0), kept, new_state
