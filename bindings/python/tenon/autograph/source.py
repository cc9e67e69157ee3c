"""Finds the syntax tree of a function in files, notebook cells and interactive sessions."""

import ast
import linecache
import pickle
import threading
from collections import OrderedDict

_MAX_FILES = 16
_lock = threading.Lock()
_files = OrderedDict()  # filename -> (lines, functions by first line)


class SourceNotFound(Exception):
    """The source of a function cannot be found. The message states the reason."""


def find(function):
    """Returns a copy of the FunctionDef or Lambda node of a function.

    Positions in the node are positions in the file.
    """
    code = function.__code__
    with _lock:
        found = _functions(code).get(code.co_firstlineno, ())
    candidates = [
        node
        for node in found
        if _name(node) == code.co_name and _parameters(node) == code.co_varnames[: _count(code)]
    ]
    if len(candidates) > 1:
        candidates = _same_code(candidates, code)
    if not candidates:
        raise SourceNotFound(
            f"its source in {code.co_filename} has changed since it was loaded"
            if not code.co_filename.startswith("<")
            else f"its source is not in {code.co_filename}"
        )
    return _copy(candidates[0])


def _copy(node):
    return pickle.loads(pickle.dumps(node, pickle.HIGHEST_PROTOCOL))  # 4 times faster than deepcopy.


def _functions(code):
    filename = code.co_filename
    if not filename.startswith("<"):
        linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    if not lines and hasattr(linecache, "_getlines_from_code"):
        lines = linecache._getlines_from_code(code)  # Interactive sessions of Python 3.13.
    if not lines:
        raise SourceNotFound(f"its source was not found: {filename} cannot be read")
    entry = _files.get(filename)
    if entry is None or entry[0] != lines:
        entry = (list(lines), _parse(filename, "".join(lines)))
        _files[filename] = entry
        if len(_files) > _MAX_FILES:
            _files.popitem(last=False)
    _files.move_to_end(filename)
    return entry[1]


def _parse(filename, text):
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as error:
        raise SourceNotFound(f"its source cannot be parsed: {error}") from None
    found = {}
    fields = None if "lambda" in text else ("body", "orelse", "finalbody", "handlers", "cases")
    pending = [tree]
    while pending:
        node = pending.pop()
        for field in fields or node._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                pending += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                pending.append(value)
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(item.lineno for item in decorators)])
            found.setdefault(first, []).append(node)
    return found


def _name(node):
    return getattr(node, "name", "<lambda>")


def _parameters(node):
    arguments = node.args
    names = [item.arg for item in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    names += [item.arg for item in (arguments.vararg, arguments.kwarg) if item]
    return tuple(names)


def _count(code):
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + stars


def _same_code(nodes, code):
    """Returns the function nodes whose compiled code equals `code`. All nodes begin on one line."""
    same = []
    for node in nodes:
        start = getattr(code, "co_positions", None)
        compiled = _compile(node, code)
        if compiled is None:
            continue
        if (compiled.co_code, compiled.co_names, _constants(compiled)) != (
            code.co_code,
            code.co_names,
            _constants(code),
        ):
            continue
        if start and list(compiled.co_positions()) == list(start()):
            return [node]
        same.append(node)
    return same


def _constants(code):
    return [repr(item) for item in code.co_consts if not hasattr(item, "co_code")]


def _compile(node, code):
    """Compiles a function in a scope that defines the free variables of `code`."""
    node = _copy(node)
    body = node
    if isinstance(node, ast.Lambda):
        body = ast.copy_location(ast.Expr(node), node)
    else:
        node.decorator_list = []
    outer = ast.parse("def outer(" + ", ".join(code.co_freevars) + "): pass").body[0]
    outer.body = [body]
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True)
    stack = [compiled]
    while stack:
        item = stack.pop()
        if item.co_name == code.co_name and item.co_firstlineno == code.co_firstlineno:
            if item.co_name != "outer" or code.co_name == "outer":
                return item
        stack.extend(child for child in item.co_consts if hasattr(child, "co_code"))
    return None
