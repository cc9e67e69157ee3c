"""All functions of tenon's API that AutoGraph uses. No other file of this folder calls the API."""

import tenon as tn


def is_tracing():
    return tn.is_tracing()


def is_tensor(value):
    return isinstance(value, tn.Tensor)


def is_symbolic(value):
    return isinstance(value, tn.Tensor) and tn.is_symbolic(value)


def is_variable(value):
    return isinstance(value, tn.Variable)


def read(variable):
    return variable.read()


def dtype_name(tensor):
    return str(tensor.dtype)


def shape(tensor):
    """Returns the sizes of a tensor; None for an unknown size, which may differ from call to
    call."""
    return tuple(size if type(size) is int else None for size in tensor.shape)


def constant(value, dtype=None):
    """Converts a Python number to a tensor of rank 0."""
    return tn.constant(value, dtype) if dtype else tn.constant(value)


def zeros(dtype, sizes):
    return tn.zeros(sizes, dtype)


def not_equal_zero(tensor):
    return tn.not_equal(tensor, 0)


def scalar(tensor):
    """Reshapes a tensor with one element to rank 0."""
    return tn.reshape(tensor, ())


def logical_not(tensor):
    return tn.logical_not(tensor)


def logical_or(left, right):
    return tn.logical_or(left, right)


def logical_and(left, right):
    return tn.logical_and(left, right)


def equal(left, right):
    return tn.equal(left, right)


def length(tensor):
    """Returns the size of the first axis: an int, or a symbolic tensor if the size is unknown."""
    size = shape(tensor)[0]
    return size if size is not None else tn.shape(tensor)[0]


def row(tensor, index):
    return tensor[index]


def set_item(tensor, index, value):
    return tensor.at[index].set(value)


def number(tensor, dtype):
    """Converts a tensor to another dtype, like int() and float(). No gradient flows through the
    conversion."""
    return tn.cast(tn.stop_gradient(tensor), dtype)


def assert_that(condition, message):
    tn.assert_that(condition, message.replace("{", "{{").replace("}", "}}"))


def reduce(name, tensor):
    """Reduces a tensor by `min`, `max`, `sum`, `any` or `all`."""
    return getattr(tn, name)(tensor)


def sum_rows(tensor):
    """Returns the sum of the slices of a tensor along its first axis."""
    return tn.sum(tensor, axes=[0])


def minimum(left, right):
    return tn.minimum(left, right)


def smaller(first, second):
    """Returns the minimum of two values, like min(): the first one if they are equal."""
    return tn.where(second < first, second, first)


def larger(first, second):
    """Returns the maximum of two values, like max(): the first one if they are equal."""
    return tn.where(second > first, second, first)


def list_create(entry):
    """Creates an empty list for tensors with the type of `entry`."""
    return tn.TensorList.like(entry)


def list_push(handle, entry):
    return handle.push(entry)


def list_get(handle, index):
    return handle[index]


def list_set(handle, index, entry):
    return handle.set(index, entry)


def list_length(handle):
    return handle.length()


def list_stack(handle):
    return handle.stack()


def list_concat(handle):
    return handle.concat()


def is_list(value):
    return isinstance(value, tn.TensorList)


def children(value):
    """Returns (leaves, structure) of an object of a registered class; None for a leaf."""
    try:
        leaves, structure = tn.tree_flatten(value)
    except ValueError:
        return None  # Nothing was written to this TensorArray yet.
    return None if len(leaves) == 1 and leaves[0] is value else (leaves, structure)


def from_children(structure, leaves):
    return tn.tree_unflatten(structure, leaves)


def is_unwritten_array(value):
    return type(value) is tn.TensorArray and children(value) is None


def array_of(array, sizes):
    """Creates an empty TensorArray like `array`, for entries with these sizes."""
    return tn.TensorArray(array._dtype, array._size, element_shape=sizes)


def functions(*names):
    """Returns the functions of the package with these names; omits names that do not exist."""
    found = {name: getattr(tn, name, None) for name in names}
    return {name: function for name, function in found.items() if function is not None}


def cond(condition, then, orelse):
    """Calls tn.cond. An exception that a branch raises is raised again unchanged."""
    return _with_original_errors(tn.cond, condition, blocks=(then, orelse))


def while_loop(condition, body, values):
    return _with_original_errors(tn.while_loop, blocks=(condition, body), last=(values,))


def _with_original_errors(function, *first, blocks, last=()):
    raised = []

    def guarded(block):
        def run(*arguments):
            try:
                return block(*arguments)
            except BaseException as error:
                raised.append(error)
                raise

        return run

    try:
        return function(*first, *[guarded(block) for block in blocks], *last)
    except BaseException as error:
        if raised and raised[0] is not error:
            raise raised[0] from None
        raise
