"""Formulas of one step of each optimizer, from the papers, with the changes that the reference
pages specify."""

import numpy as np

from formula_table import formula


@formula("sgd")
def sgd(p, g, lr):
    return p - lr * g


@formula("momentum")
def momentum_step(p, g, v, lr, momentum, nesterov):
    velocity = momentum * v + g
    step = g + momentum * velocity if nesterov else velocity
    return p - lr * step, velocity


@formula("rmsprop")
def rmsprop(p, g, s, lr, rho, epsilon):
    mean_square = rho * s + (1 - rho) * g**2
    return p - lr * g / (np.sqrt(mean_square) + epsilon), mean_square


@formula("adagrad")
def adagrad(p, g, s, lr, epsilon):
    total = s + g**2
    return p - lr * g / (np.sqrt(total) + epsilon), total


def adam_direction(g, m, v, step, beta1, beta2, epsilon):
    """Returns the moments after a step, and the update direction from the bias-corrected moments.
    """
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    unbiased_m = m / (1 - beta1 ** float(step))
    unbiased_v = v / (1 - beta2 ** float(step))
    return m, v, unbiased_m / (np.sqrt(unbiased_v) + epsilon)


@formula("adam")
def adam(p, g, m, v, step, lr, beta1, beta2, epsilon):
    m, v, direction = adam_direction(g, m, v, step, beta1, beta2, epsilon)
    return p - lr * direction, m, v


@formula("adamw")
def adamw(p, g, m, v, step, lr, beta1, beta2, epsilon, weight_decay):
    m, v, direction = adam_direction(g, m, v, step, beta1, beta2, epsilon)
    return p * (1 - lr * weight_decay) - lr * direction, m, v


@formula("lamb")
def lamb(p, g, m, v, step, lr, beta1, beta2, epsilon, weight_decay):
    m, v, direction = adam_direction(g, m, v, step, beta1, beta2, epsilon)
    direction = direction + weight_decay * p
    lengths = np.linalg.norm(p.ravel()), np.linalg.norm(direction.ravel())
    trust = lengths[0] / lengths[1] if all(lengths) else 1.0
    return p - lr * trust * direction, m, v
