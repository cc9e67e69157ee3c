"""Replaces conditional expressions, boolean operators, comparisons and calls by calls of
operators."""

import ast

from .scopes import parameters
from .syntax import (
    RUNTIME,
    at,
    call,
    constant,
    is_python_test,
    load,
    no_arguments,
    place,
    thunk,
)

_COMPARISONS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_NOT_CONVERTED = {"super", RUNTIME}


class Expressions(ast.NodeTransformer):
    """Transforms the expressions of one function. Operands that are evaluated conditionally become
    lambdas."""

    def __init__(self, first_parameter):
        self._first_parameter = first_parameter
        self._in_thunk = False

    def _thunk(self, node):
        before, self._in_thunk = self._in_thunk, True
        result = thunk(self.visit(node))
        self._in_thunk = before
        return result

    def visit_Constant(self, node):
        return node

    def visit_NamedExpr(self, node):
        self.generic_visit(node)
        if not self._in_thunk:
            return node
        name = node.target.id
        reader = ast.Lambda(no_arguments(), load(name))
        return place(call("assign_name", constant(name), reader, node.value), node)

    def visit_Lambda(self, node):
        before, self._in_thunk = self._in_thunk, False
        node.args = self.visit(node.args)
        first, self._first_parameter = self._first_parameter, (parameters(node) or [None])[0]
        node.body = self.visit(node.body)
        self._first_parameter = first
        self._in_thunk = before
        return node

    def visit_IfExp(self, node):
        if is_python_test(node.test):
            return self.generic_visit(node)
        names = walrus_names(node.body, node.orelse)
        test = self.visit(node.test)
        branches = self._thunk(node.body), self._thunk(node.orelse)
        return place(call("if_exp", test, *branches, **_names(names), at=at(node)), node)

    def visit_BoolOp(self, node):
        if is_python_test(node):
            return self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        names = walrus_names(*node.values[1:])
        operands = [self.visit(node.values[0])] + [self._thunk(item) for item in node.values[1:]]
        return place(call(name, *operands, **_names(names), at=at(node)), node)

    def visit_UnaryOp(self, node):
        python = is_python_test(node)
        self.generic_visit(node)
        if python or not isinstance(node.op, ast.Not):
            return node
        return place(call("not_", node.operand, at=at(node)), node)

    def visit_Compare(self, node):
        if is_python_test(node):
            return self.generic_visit(node)
        if len(node.ops) == 1:
            if not isinstance(node.ops[0], (ast.In, ast.NotIn)):
                return self.generic_visit(node)
            name = "in_" if isinstance(node.ops[0], ast.In) else "not_in"
            self.generic_visit(node)
            return place(call(name, node.left, node.comparators[0], at=at(node)), node)
        operands = [self.visit(node.left)]
        for op, value in zip(node.ops, node.comparators):
            operands.append(constant(_COMPARISONS[type(op)]))
            operands.append(self._thunk(value))
        return place(call("compare", *operands, at=at(node)), node)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args:
            if self._first_parameter is None:
                return node
            node.args = [place(load("__class__"), node), place(load(self._first_parameter), node)]
            return node
        if _is_runtime(function):
            return self.generic_visit(node)
        self.generic_visit(node)
        if isinstance(function, ast.Name) and function.id in _NOT_CONVERTED:
            return node
        node.func = place(call("converted", node.func), node.func)
        return node


def _is_runtime(node):
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == RUNTIME
    )


def _names(names):
    if not names:
        return {}
    return {"names": ast.Tuple([constant(name) for name in names], ast.Load())}


def walrus_names(*nodes):
    """Returns the names that assignment expressions (:=) in the nodes bind in this function."""
    found = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.NamedExpr):
            found.add(node.target.id)
        pending.extend(ast.iter_child_nodes(node))
    return sorted(found)


