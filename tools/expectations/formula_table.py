"""A table of formulas, keyed by the name of the op.

A formula receives the inputs of a case as positional arguments and its attributes as keyword
arguments. Floating-point inputs are float64, regardless of the dtype of the case. Integers and
bools keep their dtype, so that they wrap around as in the op. An absent input is None. The formula
returns an array or a tuple of arrays.
"""

FORMULAS = {}


def formula(*names):
    """A decorator that registers a function as the formula of the ops with these names."""
    def enter(function):
        for name in names:
            if name in FORMULAS:
                raise ValueError(f"{name} has two formulas")
            FORMULAS[name] = function
        return function
    return enter


def enter_all(functions):
    """Registers the formulas of a dictionary {op name: function}."""
    for name, function in functions.items():
        formula(name)(function)
