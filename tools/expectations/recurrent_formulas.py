"""Formulas of recurrent networks by ONNX's equations. They process one example and one step at a
time."""

import numpy as np
from scipy.special import expit

from formula_table import formula


def bounded(clip):
    """Returns a function that clips to [-clip, clip], which ONNX applies to the inputs of
    activations."""
    return (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)


def biases_of(b, rows):
    """Splits the bias vector into the biases of w and of r. Returns zeros if there is no bias."""
    return (np.zeros(rows), np.zeros(rows)) if b is None else (b[:rows], b[rows:])


def rnn_step(x, h, w, r, b, activation, clip=0.0):
    beside_w, beside_r = biases_of(b, w.shape[0])
    total = bounded(clip)(w @ x + beside_w + r @ h + beside_r)
    return np.tanh(total) if activation == "tanh" else np.maximum(total, 0)


def gru_step(x, h, w, r, b, linear_before_reset, clip=0.0):
    bound = bounded(clip)
    beside_w, beside_r = (np.split(v, 3) for v in biases_of(b, w.shape[0]))
    w_z, w_r, w_n = np.split(w, 3)
    r_z, r_r, r_n = np.split(r, 3)
    update = expit(bound(w_z @ x + beside_w[0] + r_z @ h + beside_r[0]))
    reset = expit(bound(w_r @ x + beside_w[1] + r_r @ h + beside_r[1]))
    if linear_before_reset:
        hidden = np.tanh(bound(w_n @ x + beside_w[2] + reset * (r_n @ h + beside_r[2])))
    else:
        hidden = np.tanh(bound(w_n @ x + beside_w[2] + r_n @ (reset * h) + beside_r[2]))
    return (1 - update) * hidden + update * h


def lstm_step(x, h, c, w, r, b, p=None, input_forget=False, clip=0.0):
    bound = bounded(clip)
    beside_w, beside_r = biases_of(b, w.shape[0])
    i, o, f, g = np.split(w @ x + beside_w + r @ h + beside_r, 4)
    p_i, p_o, p_f = np.zeros((3, h.size)) if p is None else np.split(p, 3)
    i = expit(bound(i + p_i * c))
    f = 1 - i if input_forget else expit(bound(f + p_f * c))
    c = f * c + i * np.tanh(bound(g))
    o = expit(bound(o + p_o * c))
    return o * np.tanh(bound(c)), c


@formula("rnn_cell")
def rnn_cell(x, h, w, r, b=None, *, activation):
    return np.array([rnn_step(*example, w, r, b, activation) for example in zip(x, h)]
                    ).reshape(h.shape)


@formula("gru_cell")
def gru_cell(x, h, w, r, b=None, *, linear_before_reset):
    return np.array([gru_step(*example, w, r, b, linear_before_reset) for example in zip(x, h)]
                    ).reshape(h.shape)


@formula("lstm_cell")
def lstm_cell(x, h, c, w, r, b=None):
    new = [lstm_step(*example, w, r, b) for example in zip(x, h, c)]
    return tuple(np.array([states[k] for states in new]).reshape(h.shape) for k in range(2))


def walk(x, r, sequence_lens, initial, direction, layout, step):
    """Calls step(d, x, states) for each element of each sequence, in each direction d. `initial`
    has an entry for each state."""
    if layout:
        x = x.transpose(1, 0, 2)
    steps, batch, directions, size = x.shape[0], x.shape[1], r.shape[0], r.shape[2]
    shape = (directions, batch, size)
    states = [np.zeros(shape) if first is None else
              np.array(first.transpose(1, 0, 2) if layout else first) for first in initial]
    y = np.zeros((steps,) + shape)
    for d, b in np.ndindex(directions, batch):
        length = steps if sequence_lens is None else min(max(int(sequence_lens[b]), 0), steps)
        backwards = direction == "reverse" or d == 1
        for t in reversed(range(length)) if backwards else range(length):
            for state, new in zip(states, step(d, x[t, b], [state[d, b] for state in states])):
                state[d, b] = new
            y[t, d, b] = states[0][d, b]
    if layout:
        return (y.transpose(2, 0, 1, 3), *(state.transpose(1, 0, 2) for state in states))
    return (y, *states)


def of(parameter, d):
    return None if parameter is None else parameter[d]


@formula("rnn")
def rnn(x, w, r, b=None, sequence_lens=None, initial_h=None, *, direction, layout, clip,
        activation):
    def step(d, x_t, states):
        return (rnn_step(x_t, states[0], w[d], r[d], of(b, d), activation, clip),)
    return walk(x, r, sequence_lens, [initial_h], direction, layout, step)


@formula("gru")
def gru(x, w, r, b=None, sequence_lens=None, initial_h=None, *, direction, layout, clip,
        linear_before_reset):
    def step(d, x_t, states):
        return (gru_step(x_t, states[0], w[d], r[d], of(b, d), linear_before_reset, clip),)
    return walk(x, r, sequence_lens, [initial_h], direction, layout, step)


@formula("lstm")
def lstm(x, w, r, b=None, sequence_lens=None, initial_h=None, initial_c=None, p=None, *, direction,
         layout, clip, input_forget):
    def step(d, x_t, states):
        return lstm_step(x_t, *states, w[d], r[d], of(b, d), of(p, d), input_forget, clip)
    return walk(x, r, sequence_lens, [initial_h, initial_c], direction, layout, step)
