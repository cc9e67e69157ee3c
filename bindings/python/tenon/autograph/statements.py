"""Converts the blocks of if, while and for statements to functions, which operators call.

A block shares the variables of its function by `nonlocal` declarations. The operators find the
variables in the closure cells of the block.
"""

import ast

from . import jumps, matches
from .expressions import Expressions
from .scopes import Liveness, Names, parameters
from .syntax import (
    StatementTransformer,
    at,
    call,
    constant,
    is_python_test,
    load,
    no_arguments,
    place,
    strings,
)


class Numbering:
    """Generates numbers that are unique within one converted function."""

    def __init__(self):
        self._last = 0

    def number(self):
        self._last += 1
        return self._last


def transform(function, filename, numbering):
    """Converts a FunctionDef and its nested functions in place."""
    matches.lower(function, numbering)
    assignments = _Assignments(function)
    function.body = assignments.block(function.body)
    jumps.lower(function, numbering, filename)
    Liveness(function)
    names = Names(function.body)
    _Statements(function, filename, numbering, names, assignments).run()


def _flat(items):
    result = []
    for item in items:
        result += item if isinstance(item, list) else [item]
    return result


class _Assignments(StatementTransformer):
    """Replaces every binding of a local name by an assignment to that name.

    Removes annotations of local variables, which Python never evaluates and does not allow on
    nonlocal names. An assignment to an element of a tensor creates a new tensor. It therefore
    becomes `x = set_item(x, i, v)` if `x` is a variable of the function.
    """

    def __init__(self, function):
        names = Names(function.body)
        self._local = names.writes | names.outer | set(parameters(function))

    def visit_AnnAssign(self, node):
        if not isinstance(node.target, ast.Name):
            if node.value is None:
                return node
            return self.visit_Assign(place(ast.Assign([node.target], node.value), node))
        if node.value is None:
            return place(ast.If(constant(False), [place(_unbound([node.target.id]), node)], []), node)
        return place(ast.Assign([node.target], node.value), node)

    def visit_Assign(self, node):
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            update = self._update(node.targets[0], "set_item", [node.value], node)
            return update or node
        return node

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Subscript):
            operation = constant(type(node.op).__name__)
            update = self._update(node.target, "update_item", [operation, node.value], node)
            return update or node
        return node

    def _update(self, target, operator, values, node):
        """Returns a statement that sets the element `target`, or None to keep `node` unchanged."""
        index = _index(target.slice)
        base = target.value
        if isinstance(base, ast.Name) and base.id in self._local:
            new = call(operator, load(base.id), index, *values)
            return place(ast.Assign([ast.Name(base.id, ast.Store())], new), node)
        if isinstance(base, ast.Attribute):
            owner, key = base.value, constant(base.attr)
            operator += "_of_attribute"
            return place(ast.Expr(call(operator, owner, key, index, *values)), node)
        return None


def _index(node):
    """Converts an index to an expression: slices become calls of slice()."""
    if isinstance(node, ast.Slice):
        parts = [part or constant(None) for part in (node.lower, node.upper, node.step)]
        return call("slice", *parts)
    if isinstance(node, ast.Tuple):
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return node
        return ast.Tuple([_index(item) for item in node.elts], ast.Load())
    return node


def _unbound(names):
    return ast.Assign([ast.Name(name, ast.Store()) for name in names], constant(None))


class _Statements(Expressions):
    def __init__(self, function, filename, numbering, names, assignments):
        super().__init__((parameters(function) or [None])[0])
        self._function = function
        self._filename = filename
        self._numbering = numbering
        self._assignments = assignments
        self._nested_writes = names.nested_writes & (names.writes | set(parameters(function)))
        self._locals = (names.writes | set(parameters(function))) - names.outer
        self._globals = names.globals
        self._shared = set()  # Names that blocks declare nonlocal.

    def run(self):
        function = self._function
        body = self._visit_block(function.body)
        unbound = sorted((self._shared & self._locals) - set(parameters(function)))
        if unbound:
            hint = ast.If(constant(False), [_unbound(unbound)], [])
            index = _declarations_end(body)
            body.insert(index, place(hint, function.body[0]))
        function.body = body

    def _visit_block(self, statements):
        return _flat([self.visit(statement) for statement in statements])

    def visit_FunctionDef(self, node):
        if is_left_alone(node):
            return node
        node.args = self.visit(node.args)
        decorators = node.decorator_list
        node.decorator_list = []
        transform(node, self._filename, self._numbering)
        node.decorator_list = decorators
        return node

    def visit_AsyncFunctionDef(self, node):
        return node

    def visit_ClassDef(self, node):
        """Converts the methods of a class. Does not change its other statements."""
        methods = [isinstance(item, ast.FunctionDef) for item in node.body]
        node.body = [
            self.visit(item) if is_method else item for item, is_method in zip(node.body, methods)
        ]
        return node

    def visit_Raise(self, node):
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = place(call("raised", node.exc, at=at(node)), node.exc)
        return node

    def visit_Assert(self, node):
        if is_python_test(node.test):
            return self.generic_visit(node)
        test = self.visit(node.test)
        message = self._thunk(node.msg) if node.msg else constant(None)
        node.test = place(call("check", test, message, at=at(node)), node.test)
        if node.msg:
            node.msg = place(ast.Call(message, [], []), node.msg)
        return node

    def visit_If(self, node):
        if is_python_test(node.test):
            node.test = self.visit(node.test)
            node.body = self._visit_block(node.body)
            node.orelse = self._visit_block(node.orelse)
            return node
        number = self._numbering.number()
        test = self.visit(node.test)
        names = self._modified(node.body + node.orelse) & node.live_out
        functions = [
            self._block_function(f"then_{number}", node.body, node),
            self._block_function(f"else_{number}", node.orelse, node),
        ]
        arguments = [test, load(f"then_{number}"), load(f"else_{number}"), strings(sorted(names))]
        site = node.test if getattr(node, "is_guard", False) else node
        operator = call("if_stmt", *arguments, at=at(site))
        return [*functions, place(ast.Expr(operator), node.test)]

    def visit_While(self, node):
        number = self._numbering.number()
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        test = self._test_function(node.test)
        carried, after = self._loop_names(node, set())
        body = self._block_function(f"body_{number}", node.body, node)
        arguments = [test, load(body.name), strings(carried), strings(after)]
        keywords = {"always": constant(True)} if always else {}
        operator = call("while_stmt", *arguments, **keywords, **self._stop(node), at=at(node))
        return [body, place(ast.Expr(operator), node.test)]

    def visit_For(self, node):
        number = self._numbering.number()
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name | ast.Attribute):
            self.generic_visit(node.iter)
            node.iter.func = place(call("iterated", node.iter.func), node.iter.func)
            values = node.iter
        else:
            values = self.visit(node.iter)
        value = f"item_{number}"
        carried, after = self._loop_names(node, Names(node.target).writes)
        store = place(ast.Assign([node.target], load(value)), node.target)
        store = self._assignments.visit(store)
        body = self._block_function(f"body_{number}", [store] + node.body, node, value)
        arguments = [values, load(body.name), strings(carried), strings(after)]
        operator = call("for_stmt", *arguments, **self._stop(node), at=at(node))
        return [body, place(ast.Expr(operator), node.iter)]

    def visit_AsyncFor(self, node):
        return node

    def _test_function(self, test):
        return self._thunk(test)

    def _stop(self, node):
        if not node.stop:
            return {}
        test = call("any_jump", *[load(name) for name in node.stop])
        return {"stop": ast.Lambda(no_arguments(), test)}

    def _loop_names(self, node, targets):
        """Returns the names that the loop carries, and the names that only later code reads."""
        modified = self._modified(node.body) | targets
        needed = modified & (node.live_head | set(node.stop))
        after = (modified & node.live_out) - needed
        return sorted(needed), sorted(after)

    def _modified(self, statements):
        names = Names(statements)
        return names.writes | (self._nested_writes if names.calls else set())

    def _block_function(self, name, statements, node, *arguments):
        written = self._modified(statements)
        local = sorted(written - self._globals)
        body = []
        if local:
            self._shared.update(local)
            body.append(ast.Nonlocal(local))
        if written & self._globals:
            body.append(ast.Global(sorted(written & self._globals)))
        body += self._visit_block(statements)
        if not statements:
            body.append(ast.Pass())
        function = ast.FunctionDef(name, no_arguments(*arguments), body, [], None, None)
        function.type_params = []
        return place(function, node)


def _declarations_end(body):
    """Returns the index of the first statement after the docstring and the declarations of a
    function."""
    index = 0
    for statement in body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not isinstance(statement, (ast.Global, ast.Nonlocal)):
            break
        index += 1
    return index


def is_left_alone(node):
    """Returns whether a nested function is not converted: a generator, or decorated with
    do_not_convert."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(target, "attr", getattr(target, "id", None)) == "do_not_convert":
            return True
    pending = list(node.body)
    while pending:
        item = pending.pop()
        if isinstance(item, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(item))
    return False
