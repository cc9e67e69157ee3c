"""The functions of fake_tenon: they are traced once for each signature, and then evaluated."""

import numpy as np
from fake_tenon import Region, Tensor, check, regions, run_region, unbound


class Function:
    def __init__(self, python_function):
        from tenon import autograph

        self.python_function = python_function
        self.converted = autograph.convert(python_function)
        self.traces = {}

    @property
    def trace_count(self):
        return len(self.traces)

    def __get__(self, owner, cls=None):
        return self if owner is None else lambda *arguments: self(owner, *arguments)

    def __call__(self, *arguments):
        key = tuple(
            (item.dtype, item.shape) if isinstance(item, Tensor) else item for item in arguments
        )
        if key not in self.traces:
            self.traces[key] = self._trace(arguments)
        region, inputs, outputs, rebuild = self.traces[key]
        values = [item.value for item in arguments if isinstance(item, Tensor)]
        env = ({id(k): v for k, v in zip(inputs, values)}, None)
        results = run_region(region, outputs, env)
        return rebuild(iter([Tensor(np.asarray(item)) for item in results]))

    def _trace(self, arguments):
        region = Region()
        regions.append(region)
        try:
            symbolic = [
                Tensor(compute=unbound, like=item.value) if isinstance(item, Tensor) else item
                for item in arguments
            ]
            result = self.converted(*symbolic)
            leaves = []
            rebuild = _take_apart(result, leaves)
            for item in leaves:
                check(item)
            return region, [item for item in symbolic if isinstance(item, Tensor)], leaves, rebuild
        finally:
            regions.pop()


def _take_apart(value, leaves):
    if isinstance(value, Tensor):
        leaves.append(value)
        return next
    if isinstance(value, (tuple, list)):
        parts = [_take_apart(item, leaves) for item in value]
        return lambda results: type(value)([part(results) for part in parts])
    if isinstance(value, dict):
        parts = {key: _take_apart(item, leaves) for key, item in value.items()}
        return lambda results: {key: part(results) for key, part in parts.items()}
    return lambda results: value


def function(python_function):
    return Function(python_function)
