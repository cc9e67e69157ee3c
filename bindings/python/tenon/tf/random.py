"""tf.random: random numbers from a global generator, or from separate generators."""

import builtins
import os

from .. import _convert, _dtypes, _native, _variables
from ._arrays import _plain

_ops = _native.ops
_global = None


def _fresh_seed():
    return int.from_bytes(os.urandom(8), "little") >> 1


def get_global_generator():
    """Returns the generator that the functions below use by default."""
    global _global
    if _global is None:
        _global = Generator(_fresh_seed())
    return _global


def set_seed(seed):
    """Seeds the global generator, so that later numbers are repeatable."""
    global _global
    _global = Generator(seed)


def generator_for(seed):
    """Returns the global generator, or a new generator if `seed` is given."""
    return get_global_generator() if seed is None else Generator(seed)


class Generator(_variables.Generator):
    """A random number generator; see tenon.Generator."""

    @classmethod
    def from_seed(cls, seed, alg=None):
        """Creates a generator with a seed."""
        return cls(seed)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """Creates a generator whose numbers differ from run to run."""
        return cls(_fresh_seed())

    def reset_from_seed(self, seed):
        """Resets the state to that of a new generator with this seed."""
        self.state = _variables.Generator(seed).state

    def normal(self, shape=(), mean=0.0, stddev=1.0, dtype=_dtypes.float32, name=None):
        """Draws normally distributed numbers."""
        return super().normal(_plain(shape), mean, stddev, dtype)

    def uniform(self, shape=(), minval=0, maxval=None, dtype=_dtypes.float32, name=None):
        """Draws numbers that are uniformly distributed on [minval, maxval)."""
        dtype = _dtypes.DType(dtype)
        if dtype.is_floating:
            return super().uniform(_plain(shape), minval, 1.0 if maxval is None else maxval, dtype)
        if maxval is None:
            raise ValueError("uniform: maxval must be given for integers")
        values = super().uniform(_plain(shape), 0.0, 1.0, _dtypes.float64)
        return _ops["cast"](_ops["floor"](values * (maxval - minval)), to=dtype) + minval

    def split(self, count=1):
        """Returns a list of new generators."""
        seeds = self.uniform((count,), 0, 2**31 - 1, _dtypes.int64)
        return [type(self)(seed) for seed in seeds.tolist()]


def normal(shape, mean=0.0, stddev=1.0, dtype=_dtypes.float32, seed=None, name=None):
    """Draws normally distributed numbers."""
    return generator_for(seed).normal(shape, mean, stddev, dtype)


def uniform(shape, minval=0, maxval=None, dtype=_dtypes.float32, seed=None, name=None):
    """Draws numbers that are uniformly distributed on [minval, maxval)."""
    return generator_for(seed).uniform(shape, minval, maxval, dtype)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=_dtypes.float32, seed=None, name=None):
    """Draws normally distributed numbers within two standard deviations of the mean."""
    return generator_for(seed).truncated_normal(shape=_plain(shape), mean=mean, scale=stddev,
                                                dtype=dtype)


def categorical(logits, num_samples, dtype=_dtypes.int64, seed=None, name=None):
    """Draws class indices with the probabilities softmax(logits)."""
    drawn = generator_for(seed).random_categorical(logits, num_samples=num_samples)
    return _ops["cast"](drawn, to=dtype)


def shuffle(value, seed=None, name=None):
    """Returns the slices along the first axis in random order."""
    value = _convert.asarray(value)
    order = generator_for(seed).random_permutation(n=value.shape[0])
    return _ops["gather"](value, order, 0)


def _stateless(seed):
    first, second = (int(part) for part in seed)
    return Generator((first * 0x9E3779B97F4A7C15 + second) % 2**63)


def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=_dtypes.float32, name=None):
    """Draws normally distributed numbers. The two numbers in `seed` determine the result."""
    return _stateless(seed).normal(shape, mean, stddev, dtype)


def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=_dtypes.float32, name=None):
    """Draws uniformly distributed numbers. The two numbers in `seed` determine the result."""
    return _stateless(seed).uniform(shape, minval, maxval, dtype)


__all__ = [title for title, value in builtins.list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
