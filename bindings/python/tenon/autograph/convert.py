"""Converts functions: finds their source, transforms it, and binds the result to their
variables."""

import ast
import copy
import functools
import inspect
import types
import weakref

from . import registry, source, statements
from .errors import AutoGraphError
from .scopes import parameters
from .syntax import RUNTIME, all_names, call, place, runtime

_MARK = "__tenon_converted__"
_templates = {}  # id(code) -> (weak reference to the code, converted code)
RUNTIME_CELL = types.CellType()  # A cell that contains the module `runtime`.


class Unconvertible(Exception):
    """Raised if a function cannot be converted and runs unchanged. `rule` and the message state the
    reason."""

    def __init__(self, rule, reason):
        super().__init__(reason)
        self.rule = rule


def is_converted(function):
    """Returns whether a function is the result of a conversion."""
    return registry.is_converted(function.__code__)


def convert_function(function):
    """Returns the converted version of a plain function. Raises Unconvertible.

    The result shares the function's globals, closure and defaults. The function caches it as an
    attribute.
    """
    done = function.__dict__.get(_MARK)
    if done is not None and done.__wrapped__ is function and done.converted_from is function.__code__:
        done.__defaults__ = function.__defaults__
        done.__kwdefaults__ = function.__kwdefaults__
        return done
    template = _template(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[RUNTIME] = RUNTIME_CELL
    closure = tuple(cells[name] for name in template.co_freevars)
    result = types.FunctionType(
        template, function.__globals__, function.__name__, function.__defaults__, closure
    )
    functools.update_wrapper(result, function)
    result.__dict__.pop(_MARK, None)
    result.__kwdefaults__ = function.__kwdefaults__
    result.converted_from = function.__code__
    function.__dict__[_MARK] = result
    return result


def _template(function):
    """Returns the converted code object of a function. All closures of one function share it."""
    code = function.__code__
    known = _templates.get(id(code))
    if known is not None and known[0]() is code:
        return known[1]
    template = _compile(_transformed(function), code)
    key = id(code)

    def forget(_):
        _templates.pop(key, None)
        registry.remove(template)

    _templates[key] = (weakref.ref(code, forget), template)
    return template


def _transformed(function):
    """Returns the converted FunctionDef of a function."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        raise Unconvertible("coroutine", "it is a generator")
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE):
        raise Unconvertible("coroutine", "it is a coroutine")
    try:
        node = source.find(function)
    except source.SourceNotFound as error:
        raise Unconvertible("no-source", str(error)) from None
    names = all_names(code)
    if not names.isdisjoint(_SCOPE_READERS):
        _refuse_scope_readers(node)
    if isinstance(node, ast.Lambda):
        body = [place(ast.Return(node.body), node.body)]
        node = place(ast.FunctionDef("lambda_", node.args, body, [], None, None), node)
    node.type_params = []
    node.decorator_list = []
    node.returns = None
    _strip_signature(node.args)
    statements.transform(node, code.co_filename, statements.Numbering())
    return node


_SCOPE_READERS = ("locals", "eval", "exec", "vars", "dir")


def _refuse_scope_readers(node):
    for item in ast.walk(node):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
            name = item.func.id
            if name in _SCOPE_READERS[:3] or name in _SCOPE_READERS and not item.args:
                reason = f"it calls {name}(), which reads its variables by name"
                raise Unconvertible("not-converted", reason)


def _strip_signature(arguments):
    """Removes defaults and annotations, which the function object already holds."""
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    items = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    for item in items + [arguments.vararg, arguments.kwarg]:
        if item is not None:
            item.annotation = None


def _compile(node, code):
    """Compiles a FunctionDef to a function whose free variables are those of `code`."""
    node = _with_clean_tracebacks(node)
    node.name = "converted_function_"  # The user's name must stay free, for recursion.
    inner, class_name = [node], _private_class(node, code)
    if class_name:
        class_name = "____" + class_name  # Mangling strips leading underscores.
        inner = [place(ast.ClassDef(class_name, [], [], inner, []), node)]
        inner[0].type_params = []
    free = [name for name in (*code.co_freevars, RUNTIME) if name not in parameters(node)]
    outer = ast.parse("def outer(" + ", ".join(free) + "): pass").body[0]
    outer.body = inner
    place(outer, node)
    module = ast.Module([outer], [])
    flags = code.co_flags & _future_flags()
    try:
        compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unconvertible("not-converted",
                            f"its converted source does not compile: {error}") from None
    for step in ["outer"] + ([class_name] if class_name else []) + [node.name]:
        compiled = next(
            item for item in compiled.co_consts if getattr(item, "co_name", None) == step
        )
    return _renamed(compiled, code)


def _with_clean_tracebacks(node):
    """Adds an exception handler that removes the runtime's frames from tracebacks."""
    body = list(node.body)
    start = 0
    while start < len(body) and isinstance(body[start], (ast.Global, ast.Nonlocal)):
        start += 1
    lines = [ast.Expr(call("clean_traceback")), ast.Raise(None, None)]
    handler = ast.ExceptHandler(runtime("BaseException"), None, lines)
    guarded = ast.Try(body[start:], [handler], [], [])
    result = copy.copy(node)
    result.body = body[:start] + [place(guarded, node)]
    return result


def _private_class(node, code):
    """Returns the class whose name mangles the private names in a method; None if there is none."""
    mangled = [name for name in all_names(code) if _is_mangled(name)]
    used = {
        name
        for item in (ast.walk(node) if mangled else ())
        for name in (getattr(item, "attr", None), getattr(item, "id", None), getattr(item, "arg", None))
        if isinstance(name, str)
    }
    for name in mangled:
        position = name.index("__", 1)
        if name[position:] in used:
            return name[1:position]
    return None


def _is_mangled(name):
    return name.startswith("_") and not name.startswith("__") and "__" in name[1:]


@functools.lru_cache(maxsize=1)
def _future_flags():
    import __future__

    features = (getattr(__future__, name) for name in __future__.all_feature_names)
    flags = 0
    for feature in features:
        flags |= feature.compiler_flag
    return flags & ~inspect.CO_NESTED


def _renamed(compiled, code):
    """Renames a function and its blocks, so that tracebacks show the name of the user's
    function."""
    constants = tuple(
        _renamed_block(item, code) if isinstance(item, types.CodeType) else item
        for item in compiled.co_consts
    )
    changes = {"co_name": code.co_name, "co_firstlineno": code.co_firstlineno}
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = code.co_qualname
    return registry.add(compiled.replace(co_consts=constants, **changes))


def _renamed_block(compiled, owner):
    name = compiled.co_name
    if name.startswith(("then_", "else_", "body_")) and name[5:].isdigit():
        changes = {"co_name": owner.co_name}
        if hasattr(owner, "co_qualname"):
            changes["co_qualname"] = owner.co_qualname
        inner = owner
    else:
        changes = {}
        inner = compiled
    constants = tuple(
        _renamed_block(item, inner) if isinstance(item, types.CodeType) else item
        for item in compiled.co_consts
    )
    return registry.add(compiled.replace(co_consts=constants, **changes))


def to_code(function):
    """Returns the converted source of a function as text. See tenon.autograph.to_code."""
    function = getattr(function, "python_function", function)
    function = getattr(function, "__func__", function)
    if isinstance(function, functools.partial):
        function = function.func
    original = getattr(function, "__wrapped__", None) if is_converted(function) else None
    function = original or function
    try:
        node = _transformed(function)
    except Unconvertible as error:
        code = function.__code__
        raise AutoGraphError(
            error.rule,
            f"`{function.__qualname__}` cannot be converted: {error}",
            "Only functions that conversion changes have converted code.",
            code.co_filename,
            code.co_firstlineno,
        ) from None
    return ast.unparse(ast.fix_missing_locations(node)) + "\n"
