"""The formulas by name of op.

A formula is called with the inputs of a case, in their order, and with its attributes by name. Floats
come as float64, whatever the dtype of the case; integers and bools come in their own dtype, so that
they wrap as the op does; an input that is absent is None. It returns an array, or a tuple of them.
"""

FORMULAS = {}


def formula(*names):
    """Registers a function as the formula of the ops with these names."""
    def enter(function):
        for name in names:
            if name in FORMULAS:
                raise ValueError(f"{name} has two formulas")
            FORMULAS[name] = function
        return function
    return enter


def enter_all(functions):
    """Enters a table of {name: function}."""
    for name, function in functions.items():
        formula(name)(function)
