"""Replaces match statements on literals by if statements.

Other patterns (sequences, mappings, classes) depend on Python structure only, and are not
changed.
"""

import ast

from .syntax import StatementTransformer, assign, call, constant, load, place


def lower(function, names):
    """Replaces the match statements of a function's body, except those in nested functions."""
    transformer = _Lowering(names)
    function.body = transformer.block(function.body)


class _Lowering(StatementTransformer):
    def __init__(self, names):
        self._names = names

    def visit_Match(self, node):
        self.generic_visit(node)
        if not all(_is_literal(case.pattern) for case in node.cases):
            return node
        name = f"match_{self._names.number()}_"
        return [place(assign(name, node.subject), node), *self._chain(name, node.cases)]

    def _chain(self, name, cases):
        if not cases:
            return []
        case, rest = cases[0], cases[1:]
        test = _test(name, case.pattern)
        binds = _captures(case.pattern)
        body = case.body
        if case.guard is None:
            body = [place(assign(item, load(name)), case.pattern) for item in binds] + body
            if test is None:
                return body
        else:
            bound = [
                call("bound", ast.NamedExpr(ast.Name(item, ast.Store()), load(name)))
                for item in binds
            ]
            parts = ([test] if test is not None else []) + bound + [case.guard]
            test = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
        return [place(ast.If(test, body, self._chain(name, rest)), case.pattern)]


def _is_literal(pattern):
    if isinstance(pattern, ast.MatchOr):
        return all(_is_literal(item) for item in pattern.patterns)
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _is_literal(pattern.pattern)
    return isinstance(pattern, (ast.MatchValue, ast.MatchSingleton))


def _captures(pattern):
    if isinstance(pattern, ast.MatchAs) and pattern.name:
        inner = _captures(pattern.pattern) if pattern.pattern else []
        return inner + [pattern.name]
    return []


def _test(name, pattern):
    """Returns the condition of a pattern; None if the pattern always matches."""
    if isinstance(pattern, ast.MatchValue):
        return place(ast.Compare(load(name), [ast.Eq()], [pattern.value]), pattern)
    if isinstance(pattern, ast.MatchSingleton):
        return place(ast.Compare(load(name), [ast.Is()], [constant(pattern.value)]), pattern)
    if isinstance(pattern, ast.MatchOr):
        tests = [_test(name, item) for item in pattern.patterns]
        if any(test is None for test in tests):
            return None
        return place(ast.BoolOp(ast.Or(), tests), pattern)
    return _test(name, pattern.pattern) if pattern.pattern else None
