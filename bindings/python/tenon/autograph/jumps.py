"""Replaces break, continue and return by flags and conditions.

Later, blocks become functions, which a jump cannot leave. After a statement that may jump, the
rest of its block runs only if no flag is set. If one branch of an `if` always jumps, the rest of
the block moves into the other branch instead, without a flag.
"""

import ast

from .errors import AutoGraphError
from .scopes import FUNCTIONS
from .syntax import assign, call, constant, is_python_test, load, place

RETURN_VALUE = "return_value_"


def lower(function, names, filename):
    """Replaces the jumps in a function's body in place. `names` creates unique names."""
    _Lowering(function, names, filename).run()


class _Loop:
    def __init__(self, number):
        self.stop = f"break_{number}_"
        self.skip = f"continue_{number}_"


class _Lowering:
    def __init__(self, function, names, filename):
        self._function = function
        self._names = names
        self._filename = filename
        self._loops = []
        self._tested = set()  # Flags that a condition reads.
        self._lower_returns = _returns_inside(function.body, False)

    def run(self):
        function = self._function
        body, flags, definite = self._block(function.body)
        if self._lower_returns:
            if not definite:
                ending = assign(RETURN_VALUE, constant(None))
                body += _guarded(flags, [place(ending, function.body[-1])], self._tested)
            end = ast.Return(load(RETURN_VALUE))
            body.append(place(end, function.body[-1]))
        if "returned_" in self._tested:
            body.insert(0, place(assign("returned_", constant(False)), function.body[0]))
        function.body = _Prune(self._tested).block(body)

    def _block(self, statements):
        """Replaces the jumps in a block. Returns the new statements, the flags that they may set,
        and whether the block always jumps."""
        result = []
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            if isinstance(statement, ast.If):
                done = self._if(statement, rest)
                if done is not None:
                    return result + done[0], done[1], done[2]
            lowered, flags, definite = self._statement(statement)
            result += lowered
            if definite:
                return result, flags, True
            if flags and rest:
                rest, more, definite = self._block(rest)
                return result + _guarded(flags, rest, self._tested), flags | more, definite
            if flags:
                return result, flags, False
        return result, set(), False

    def _if(self, node, rest):
        """Replaces the jumps in an `if`. If one branch always jumps, moves `rest`, the statements
        after the `if`, into the other branch."""
        body, body_flags, body_definite = self._block(node.body)
        orelse, orelse_flags, orelse_definite = self._block(node.orelse)
        node.body, node.orelse = body, orelse
        if body_definite and orelse_definite:
            definite = True
        elif not body_flags and not orelse_flags:
            return None  # The branch only raises, so it needs no flag.
        elif body_definite and body_flags:
            tail, flags, definite = self._block(rest)
            orelse += _guarded(orelse_flags, tail, self._tested)
            orelse_flags = orelse_flags | flags
        elif orelse_definite and orelse_flags:
            tail, flags, definite = self._block(rest)
            body += _guarded(body_flags, tail, self._tested)
            body_flags = body_flags | flags
        else:
            flags = body_flags | orelse_flags
            tail, more, definite = self._block(rest)
            return [node] + _guarded(flags, tail, self._tested), flags | more, definite
        node.body = body or [place(ast.Pass(), node)]
        node.orelse = orelse
        return [node], body_flags | orelse_flags, definite

    def _statement(self, node):
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            return method(node)
        return [node], set(), False

    def _Return(self, node):
        if not self._lower_returns:
            return [node], set(), True
        value = node.value or constant(None)
        lines = [assign(RETURN_VALUE, value), assign("returned_", constant(True))]
        return [place(line, node) for line in lines], {"returned_"}, True

    def _Raise(self, node):
        return [node], set(), True

    def _Break(self, node):
        flag = self._loops[-1].stop
        return [place(assign(flag, constant(True)), node)], {flag}, True

    def _Continue(self, node):
        flag = self._loops[-1].skip
        return [place(assign(flag, constant(True)), node)], {flag}, True

    def _While(self, node):
        if any(isinstance(item, ast.NamedExpr) for item in ast.walk(node.test)):
            leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
            node.body.insert(0, place(leave, node.test))
            node.test = place(constant(True), node.test)
        return self._loop(node)

    def _For(self, node):
        return self._loop(node)

    def _loop(self, node):
        loop = _Loop(self._names.number())
        self._loops.append(loop)
        body, flags, _ = self._block(node.body)
        self._loops.pop()
        node.body = body
        if loop.skip in flags:
            node.body.insert(0, place(assign(loop.skip, constant(False)), node))
        leaving = sorted(flags - {loop.skip})
        node.stop = leaving
        self._tested.update(leaving)
        result = [node]
        result[:0] = [place(assign(flag, constant(False)), node) for flag in leaving]
        outer = flags - {loop.skip, loop.stop}
        orelse, more, definite = self._block(node.orelse)
        node.orelse = []
        result += _guarded(set(leaving), orelse, self._tested)
        endless = isinstance(node, ast.While) and _is_true(node.test)
        return result, outer | more, loop.stop not in flags and (endless or definite)

    def _With(self, node):
        node.body, flags, _ = self._block(node.body)  # A context manager may suppress exceptions.
        return [node], flags, False

    def _Try(self, node):
        if _jumps_out(node.finalbody):
            raise AutoGraphError(
                "jump-in-finally",
                "A `finally` block contains return, break or continue",
                "Move the jump after the try statement.",
                self._filename,
                node.finalbody[0].lineno,
                node.finalbody[0].col_offset + 1,
            )
        node.body, flags, definite = self._block(node.body)
        everything = set(flags)
        orelse, more, orelse_definite = self._block(node.orelse)
        node.orelse = _guarded(flags, orelse, self._tested)
        everything |= more
        definite = definite or orelse_definite
        for handler in node.handlers:
            handler.body, more, handled = self._block(handler.body)
            everything |= more
            definite = definite and handled
        return [node], everything, definite

    _TryStar = _Try

    def _Match(self, node):
        everything = set()
        for case in node.cases:
            case.body, flags, _ = self._block(case.body)
            everything |= flags
        return [node], everything, False


def _guarded(flags, statements, tested):
    """Returns an `if` that runs the statements only if no flag is set."""
    if not flags or not statements:
        return statements
    names = sorted(flags)
    tested.update(names)
    test = call("no_jump", *[load(name) for name in names])
    guard = place(ast.If(test, statements, []), statements[0])
    guard.is_guard = True
    return [guard]


class _Prune:
    """Removes assignments to flags that no condition reads."""

    def __init__(self, tested):
        self._tested = tested

    def block(self, statements):
        kept = [item for item in statements if not self._is_unused(item)]
        for item in kept:
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(item, field, None)
                if inner and not isinstance(item, FUNCTIONS + (ast.ClassDef,)):
                    empty = [place(ast.Pass(), item)] if field == "body" else []
                    setattr(item, field, self.block(inner) or empty)
            for part in getattr(item, "handlers", []) + getattr(item, "cases", []):
                part.body = self.block(part.body) or [place(ast.Pass(), item)]
        return kept

    def _is_unused(self, node):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            return False
        name = node.targets[0].id
        is_flag = name.startswith(("returned_", "break_", "continue_"))
        return is_flag and getattr(node, "is_generated", False) and name not in self._tested


def _returns_inside(statements, inside):
    """Returns whether there is a return inside a statement that becomes a function."""
    for node in statements:
        if isinstance(node, ast.Return) and inside:
            return True
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            continue
        staged = inside or isinstance(node, (ast.While, ast.For))
        staged = staged or isinstance(node, ast.If) and not is_python_test(node.test)
        for field in ("body", "orelse", "finalbody"):
            if _returns_inside(getattr(node, field, None) or [], staged):
                return True
        for part in getattr(node, "handlers", []) + getattr(node, "cases", []):
            if _returns_inside(part.body, staged):
                return True
    return False


def _is_true(node):
    return isinstance(node, ast.Constant) and bool(node.value)


def _jumps_out(statements):
    pending = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
            return True
        if not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            pending.extend(ast.iter_child_nodes(node))
    return False
