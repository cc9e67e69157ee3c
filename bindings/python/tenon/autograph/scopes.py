"""Finds the names that code reads and binds, and the names that are live after each statement.

Each function of this file analyses the scope of one function. Of functions nested in that scope,
it uses the free names only.
"""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Names(ast.NodeVisitor):
    """The names that code reads, binds and declares in its own scope."""

    def __init__(self, *nodes):
        self.reads = set()
        self.writes = set()
        self.outer = set()  # Names that are declared nonlocal or global.
        self.globals = set()
        self.nested_writes = set()  # Nonlocal names that nested functions bind.
        self.closures = {}  # Name of a nested function -> its free names.
        self.calls = False
        self._lambdas = []  # Free names of the lambdas visited so far.
        for node in nodes:
            for item in node if isinstance(node, list) else [node]:
                self.visit(item)

    def visit_Name(self, node):
        (self.reads if isinstance(node.ctx, ast.Load) else self.writes).add(node.id)

    def visit_Constant(self, node):
        pass

    def generic_visit(self, node):
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                self.visit(value)
            elif type(value) is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.outer.update(node.names)
        self.globals.update(node.names)

    def visit_Nonlocal(self, node):
        self.outer.update(node.names)

    def visit_Call(self, node):
        self.calls = True
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node):
        self.writes.add((node.asname or node.name).partition(".")[0])

    def visit_MatchAs(self, node):
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node):
        if node.rest:
            self.writes.add(node.rest)
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        self.writes.add(node.name)
        self._outside(node)
        free = free_names(node)
        self.closures[node.name] = free
        if node.decorator_list:
            self.reads |= free
        self._nested(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self._outside(node)
        free = free_names(node)
        self.reads |= free
        self._lambdas.append(free)
        self._nested(node)

    def visit_Assign(self, node):
        before, self._lambdas = self._lambdas, []
        self.generic_visit(node)
        for free in self._lambdas:
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.closures.setdefault(target.id, set()).update(free)
        self._lambdas = before + self._lambdas

    def _outside(self, node):
        """Visits the parts of a nested function that this scope evaluates, such as defaults."""
        for item in node.args.defaults + [item for item in node.args.kw_defaults if item]:
            self.visit(item)
        for item in getattr(node, "decorator_list", ()):
            self.visit(item)

    def _nested(self, node):
        body = node.body if isinstance(node.body, list) else [node.body]
        inner = Names(body)
        self.nested_writes |= (inner.outer - inner.globals) & inner.writes
        self.nested_writes |= inner.nested_writes - inner.writes

    def visit_ClassDef(self, node):
        self.writes.add(node.name)
        for item in node.decorator_list + node.bases + [item.value for item in node.keywords]:
            self.visit(item)
        inner = Names(node.body)
        self.reads |= inner.reads
        for free in inner.closures.values():
            self.reads |= free

    def _comprehension(self, node):
        inner = Names()
        inner.generic_visit(node)
        targets = Names([part.target for part in node.generators]).writes
        walrus = {
            item.target.id for item in ast.walk(node) if isinstance(item, ast.NamedExpr)
        }
        self.reads |= inner.reads - targets
        self.writes |= walrus
        self.calls = self.calls or inner.calls

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def free_names(node):
    """Returns the names that a nested function takes from enclosing scopes."""
    body = node.body if isinstance(node.body, list) else [node.body]
    inner = Names(body)
    bound = (inner.writes - inner.outer) | set(parameters(node))
    reads = inner.reads | inner.outer - inner.globals
    for free in inner.closures.values():
        reads = reads | free
    return reads - bound


def parameters(node):
    arguments = node.args
    items = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    items += [item for item in (arguments.vararg, arguments.kwarg) if item]
    return [item.arg for item in items]


class Liveness:
    """Annotates the If, While and For nodes of a function with live names.

    - `node.live_out`: the names that may be read after the statement;
    - `node.live_head`: for loops, the names that an iteration may read from the previous one.
    """

    def __init__(self, function):
        everything = Names(function.body)
        self._closures = everything.closures
        self._simple = {}  # Statement -> (names it reads, names it certainly binds).
        self._exit = set(everything.outer)
        self._raised = [set()]  # Names that enclosing exception handlers read.
        self._block(function.body, self._exit)

    def _reads(self, *nodes):
        names = Names(*[node for node in nodes if node is not None])
        return self._with_closures(names.reads)

    def _with_closures(self, names):
        found = set(names)
        pending = list(names)
        while pending:
            for name in self._closures.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return found

    def _block(self, statements, live):
        for statement in reversed(statements):
            live = self._statement(statement, live | self._raised[-1])
        return live

    def _statement(self, node, live):
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            return method(node, live)
        known = self._simple.get(node)
        if known is None:
            names = Names(node)
            known = self._with_closures(names.reads), _definite_writes(node, names)
            self._simple[node] = known
        return known[0] | (live - known[1])

    def _Return(self, node, live):
        return self._reads(node.value) | self._exit | self._raised[-1]

    def _Raise(self, node, live):
        return self._reads(node.exc, node.cause) | self._raised[-1]

    def _If(self, node, live):
        node.live_out = live
        return self._reads(node.test) | self._block(node.body, live) | self._block(node.orelse, live)

    def _While(self, node, live):
        tested = self._reads(node.test) | set(node.stop)
        return self._loop(node, live, tested, set())

    def _For(self, node, live):
        targets = Names(node.target)
        head = self._loop(node, live, set(node.stop), targets.writes)
        return self._reads(node.iter) | targets.reads | head

    def _loop(self, node, live, tested, targets):
        node.live_out = live
        node.live_head = tested | self._block(node.body, tested) - targets
        head = tested | live
        while True:
            body = self._block(node.body, head) - targets
            if body <= head:
                return head
            head = head | body

    def _With(self, node, live):
        self._raised.append(live | self._raised[-1])  # A context manager may suppress exceptions.
        live = self._block(node.body, live)
        self._raised.pop()
        for item in reversed(node.items):
            if item.optional_vars is not None:
                names = Names(item.optional_vars)
                live = live - names.writes | names.reads
            live = live | self._reads(item.context_expr)
        return live

    def _Try(self, node, live):
        after = self._block(node.finalbody, live)
        handlers = set()
        for handler in node.handlers:
            part = self._block(handler.body, after)
            handlers |= self._reads(handler.type) | (part - {handler.name})
        raised = self._block(node.finalbody, self._raised[-1])
        orelse = self._block(node.orelse, after)
        self._raised.append(handlers | raised)
        body = self._block(node.body, orelse)
        self._raised.pop()
        return body | handlers

    _TryStar = _Try

    def _Match(self, node, live):
        result = live
        for case in node.cases:
            names = Names(case.pattern)
            part = self._block(case.body, live) | self._reads(case.guard)
            result = result | (part - names.writes) | names.reads
        return result | self._reads(node.subject)


def _definite_writes(node, names):
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)):
        targets = getattr(node, "targets", None) or [node.target]
        return Names(targets).writes
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return names.writes
    return set()
