"""Formulas of attention and related ops. They process one query at a time."""

import numpy as np
from scipy import special

from formula_table import formula


def attend(q, keys, values, allowed, added, scale, softcap):
    """Returns the mean of the values, weighted by the softmax of the scores of one query with the
    keys."""
    scores = np.array([np.dot(q, key) * scale for key in keys], np.float64)
    if softcap > 0:
        scores = softcap * np.tanh(scores / softcap)
    scores = np.where(allowed, scores + added, -np.inf)
    if np.all(scores == -np.inf):
        return np.zeros(values.shape[1])
    return special.softmax(scores) @ values


@formula("attention")
def attention(q, k, v, attn_mask=None, *, is_causal, scale, softcap):
    batch, heads, queries, size = q.shape
    keys = k.shape[2]
    shared_by = heads // k.shape[1] if k.shape[1] else 1
    # For heads of size 0, all scores are 0 with any scale.
    scale = scale if scale > 0 else 1 / np.sqrt(max(size, 1))
    mask = np.broadcast_to(True if attn_mask is None else attn_mask, (batch, heads, queries, keys))
    y = np.zeros((batch, heads, queries, v.shape[3]))
    for b, h, i in np.ndindex(batch, heads, queries):
        allowed = mask[b, h, i] if mask.dtype == bool else np.ones(keys, bool)
        added = np.zeros(keys) if mask.dtype == bool else mask[b, h, i]
        if is_causal:
            allowed = allowed & (np.arange(keys) <= i)
        y[b, h, i] = attend(q[b, h, i], k[b, h // shared_by], v[b, h // shared_by], allowed, added,
                            scale, softcap)
    return y


@formula("multi_head_attention")
def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, b_q=None, b_k=None, b_v=None,
                         b_o=None, attn_mask=None, *, num_heads, kv_num_heads, **options):
    def project(x, w, b):
        return x @ w + (0 if b is None else b)

    def heads_of(x, n):
        return np.stack(np.split(x, n, axis=2), axis=1)

    q = heads_of(project(query, w_q, b_q), num_heads)
    k = heads_of(project(key, w_k, b_k), kv_num_heads or num_heads)
    v = heads_of(project(value, w_v, b_v), kv_num_heads or num_heads)
    met = attention(q, k, v, attn_mask, **options)
    joined = np.concatenate([met[:, h] for h in range(num_heads)], axis=2)
    return project(joined, w_o, b_o)


@formula("rotary_embedding")
def rotary_embedding(x, cos_cache, sin_cache, position_ids=None, *, interleaved, num_heads,
                     rotary_embedding_dim):
    if x.ndim == 3:
        heads = np.stack(np.split(x, num_heads, axis=2), axis=1)
    else:
        heads = x
    turning = rotary_embedding_dim or heads.shape[3]
    y = np.array(heads)
    for b, h, t in np.ndindex(*heads.shape[:3]):
        for pair in range(turning // 2):
            cos, sin = angle_of(cos_cache, sin_cache, position_ids, b, t, pair)
            i, j = (2 * pair, 2 * pair + 1) if interleaved else (pair, pair + turning // 2)
            old_i, old_j = heads[b, h, t, i], heads[b, h, t, j]
            y[b, h, t, i] = old_i * cos - old_j * sin
            y[b, h, t, j] = old_i * sin + old_j * cos
    return np.concatenate(list(y.transpose(1, 0, 2, 3)), axis=2) if x.ndim == 3 else y


def angle_of(cos_cache, sin_cache, position_ids, b, t, pair):
    if position_ids is None:
        return cos_cache[b, t, pair], sin_cache[b, t, pair]
    row, rows = position_ids[b, t], cos_cache.shape[0]
    if not -rows <= row < rows:
        return 0.0, 0.0
    return cos_cache[row, pair], sin_cache[row, pair]


@formula("kv_cache_update")
def kv_cache_update(past_cache, update, write_indices=None, *, axis, mode):
    places, axis = past_cache.shape[axis], axis % past_cache.ndim
    y = np.array(past_cache)
    starts = np.zeros((), np.int64) if write_indices is None else write_indices
    starts = np.broadcast_to(starts, past_cache.shape[:1])
    for b in range(past_cache.shape[0]):
        for i in range(update.shape[axis]):
            place = int(starts[b]) + i
            if mode == "circular":
                place %= places
            if -places <= place < places:
                to = np.moveaxis(y[b], axis - 1, 0)
                to[place] = np.moveaxis(update[b], axis - 1, 0)[i]
    return y
