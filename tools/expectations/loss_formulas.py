"""Formulas of losses: computes the loss of each element or example, then the reduction."""

import numpy as np
from scipy import special

from formula_table import formula


def reduced(losses, reduction):
    return {"none": lambda v: v, "sum": np.sum, "mean": np.mean}[reduction](losses)


@formula("mse")
def mse(x, target, reduction):
    return reduced(np.square(x - target), reduction)


@formula("mae")
def mae(x, target, reduction):
    return reduced(np.abs(x - target), reduction)


@formula("huber")
def huber(x, target, reduction, delta):
    return reduced(special.huber(delta, x - target), reduction)


@formula("hinge")
def hinge(x, target, reduction):
    return reduced(np.maximum(0, 1 - target * x), reduction)


@formula("kl_div")
def kl_div(x, target, reduction, log_target):
    if log_target:
        return reduced(np.where(target == -np.inf, 0, np.exp(target) * (target - x)), reduction)
    return reduced(np.where(target == 0, 0, special.xlogy(target, target) - target * x), reduction)


@formula("bce_with_logits")
def bce_with_logits(x, target, reduction):
    yes, no = special.log_expit(x), special.log_expit(-x)
    return reduced(-target * yes - (1 - target) * no, reduction)


@formula("softmax_cross_entropy")
def softmax_cross_entropy(logits, labels, reduction):
    log_probs = special.log_softmax(logits, axis=1) if logits.size else logits
    return reduced(-np.sum(labels * log_probs, axis=1), reduction), log_probs


@formula("sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(logits, labels, reduction):
    log_probs = special.log_softmax(logits, axis=1) if logits.size else logits
    classes = logits.shape[1]
    losses = np.array([-log_probs[n, label] if -classes <= label < classes else 0.0
                       for n, label in enumerate(labels)], np.float64)
    return reduced(losses, reduction), log_probs


@formula("nll")
def nll(x, target, weight=None, *, reduction, ignore_index):
    classes = x.shape[1]
    weight = np.ones(classes) if weight is None else weight
    losses, weights = np.zeros(target.shape), np.zeros(target.shape)
    for place in np.ndindex(*target.shape):
        label = target[place]
        if label != ignore_index and -classes <= label < classes:
            weights[place] = weight[label]
            losses[place] = -x[place[0], label, *place[1:]] * weight[label]
    if reduction == "mean":
        return np.sum(losses) / np.sum(weights)
    return reduced(losses, reduction)
