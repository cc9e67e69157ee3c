"""Functions that create syntax trees, and classify expressions."""

import ast

RUNTIME = "ag__"
"""The name under which converted code finds the operators."""


def load(name):
    return ast.Name(name, ast.Load())


def constant(value):
    return ast.Constant(value)


def assign(name, value):
    node = ast.Assign([ast.Name(name, ast.Store())], value)
    node.is_generated = True
    return node


def runtime(name):
    return ast.Attribute(load(RUNTIME), name, ast.Load())


def call(name, *arguments, **keywords):
    """Creates a call of an operator of the runtime."""
    items = [ast.keyword(key, value) for key, value in keywords.items()]
    return ast.Call(runtime(name), list(arguments), items)


def thunk(body):
    """Creates a lambda without parameters."""
    return place(ast.Lambda(no_arguments(), body), body)


def no_arguments(*names):
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def strings(names):
    return ast.Tuple([constant(name) for name in names], ast.Load())


def place(node, original):
    """Sets the location of a new node and its new children to that of `original`."""
    start = (original.lineno, original.col_offset)
    end = (
        getattr(original, "end_lineno", None) or start[0],
        getattr(original, "end_col_offset", None) or start[1],
    )
    pending = [node]
    while pending:
        item = pending.pop()
        if item._attributes:
            if hasattr(item, "lineno"):
                continue
            item.lineno, item.col_offset = start
            item.end_lineno, item.end_col_offset = end
        for field in item._fields:
            value = getattr(item, field, None)
            if isinstance(value, ast.AST):
                pending.append(value)
            elif type(value) is list:
                pending += [entry for entry in value if isinstance(entry, ast.AST)]
    return node


def at(node):
    """Creates a constant with the location of a node: "line:column", both counted from 1."""
    return constant(f"{node.lineno}:{node.col_offset + 1}")


_PYTHON_CALLS = {"isinstance", "issubclass", "hasattr", "callable"}


def is_python_test(node):
    """Returns whether an expression has a Python value even if its operands are symbolic
    tensors."""
    if isinstance(node, (ast.Constant, ast.JoinedStr)):
        return True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_python_test(node.operand)
    if isinstance(node, ast.BoolOp):
        return all(is_python_test(value) for value in node.values)
    if isinstance(node, ast.Compare):
        if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return True
        return any(_is_string(item) for item in [node.left, *node.comparators])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _PYTHON_CALLS
    return False


def _is_string(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


class StatementTransformer(ast.NodeTransformer):
    """Visits the statements of one function, but neither expressions nor nested functions."""

    def generic_visit(self, node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if block and isinstance(block, list):
                setattr(node, field, self.block(block))
        for part in getattr(node, "handlers", ()) or getattr(node, "cases", ()):
            part.body = self.block(part.body)
        return node

    def block(self, statements):
        result = []
        for statement in statements:
            item = self.visit(statement)
            result += item if isinstance(item, list) else [item]
        return result

    def _skip(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _skip


def all_names(code):
    """Returns all names in a code object and the code objects inside it."""
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for item in code.co_consts:
        if hasattr(item, "co_names"):
            names |= all_names(item)
    return names
