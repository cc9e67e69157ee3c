"""Runs the listings of TensorFlow's guides with `tenon.tf` instead of `tensorflow`.

    python listings.py CHECKOUT [--verbose]

CHECKOUT is a clone of github.com/tensorflow/docs. The cells of each guide run in order in one
namespace. Only the import is changed. Skips cells that use Keras or a name that a skipped cell
defined. A cell fails if it raises an exception. Prints one line for each guide and for each cell
that failed, and the percentage of cells that ran.
"""

import argparse
import ast
import contextlib
import io
import json
import linecache
import os
import pathlib
import sys
import tempfile
import types
import warnings

GUIDES = ("basics", "tensor", "variable", "autodiff", "advanced_autodiff", "intro_to_graphs",
          "function")

# Sort keys of the fields of an AST node, in the order in which Python evaluates them. Other fields
# have the key 0.
_ORDER = {"value": -3, "iter": -3, "generators": -3, "items": -3, "test": -2, "context_expr": -2,
          "target": -1, "targets": -1, "optional_vars": -1, "body": 1, "orelse": 2}


class Cell:
    """A notebook cell: its code, and the names that the code reads and binds."""

    def __init__(self, source, number):
        self.number = number
        self.source = source.replace("import tensorflow as tf", "from tenon import tf")
        self.tree = ast.parse(self.source)
        self.reads, self.binds = set(), set()
        for statement in self.tree.body:
            self._visit(statement)
        self.uses_keras = "keras" in source

    def _visit(self, node):
        """Adds the names that an AST node reads and binds, in the order of evaluation."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            self._visit_scope(node)
            return
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                self.binds.add(node.id)
            elif node.id not in self.binds:
                self.reads.add(node.id)
            return
        fields = dict(ast.iter_fields(node))
        if isinstance(node, ast.AugAssign):
            self._visit(ast.Name(getattr(node.target, "id", ""), ast.Load()))
        for name in sorted(fields, key=lambda name: _ORDER.get(name, 0)):
            for child in fields[name] if isinstance(fields[name], list) else [fields[name]]:
                if isinstance(child, ast.AST):
                    self._visit(child)

    def _visit_scope(self, node):
        """Adds the names that a function or class reads and does not bind."""
        stored = {inner.id for inner in ast.walk(node)
                  if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
        stored |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id not in stored | self.binds:
                self.reads.add(inner.id)
        if not isinstance(node, ast.Lambda):
            self.binds.add(node.name)


def cells_of(path):
    """Returns the code cells of a notebook that contain statements."""
    notebook = json.loads(path.read_text())
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    cells = [Cell(source, number) for number, source in enumerate(sources, 1)]
    return [cell for cell in cells if cell.tree.body]


def without_keras(cells):
    """Returns the cells that neither use Keras nor read a name whose last binding is in a cell with
    Keras."""
    chosen, tainted = [], set()
    for cell in cells:
        if cell.uses_keras or cell.reads & tainted:
            tainted |= cell.binds
        else:
            tainted -= cell.binds
            chosen.append(cell)
    return chosen


def run_cell(cell, namespace, guide):
    """Runs a cell. Returns the exception that it raised, or None. Registers the source with
    linecache, from which AutoGraph reads it."""
    filename = f"<{guide} {cell.number}>"
    source = cell.source
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            # A notebook displays the last expression of a cell.
            exec(compile(source, filename, "exec"), namespace)
            last = ast.parse(source).body[-1]
            if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name):
                repr(namespace[last.value.id])
    except Exception as error:
        return error
    return None


def run_guide(checkout, guide):
    """Runs a guide. Returns the number of its cells without Keras, and the cells that failed."""
    cells = without_keras(cells_of(checkout / "site/en/guide" / f"{guide}.ipynb"))
    module = types.ModuleType("__main__")
    sys.modules["__main__"], before = module, sys.modules["__main__"]
    failures = []
    try:
        for cell in cells:
            error = run_cell(cell, module.__dict__, guide)
            if error is not None:
                failures.append((cell, error))
    finally:
        sys.modules["__main__"] = before
    return len(cells), failures


def run_guides(checkout):
    """Runs every guide in a temporary folder. Returns the results of run_guide() by guide name."""
    os.environ.setdefault("MPLBACKEND", "agg")
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            return {guide: run_guide(checkout, guide) for guide in GUIDES}
        finally:
            os.chdir(here)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="print the code of failed cells")
    options = parser.parse_args()
    total = failed = 0
    for guide, (count, failures) in run_guides(options.checkout.resolve()).items():
        total, failed = total + count, failed + len(failures)
        print(f"{guide}: {count - len(failures)} of {count}")
        for cell, error in failures:
            message = str(error).splitlines()[:1] or [""]
            print(f"  cell {cell.number}: {type(error).__name__}: {message[0][:150]}")
            if options.verbose:
                print("    | " + "\n    | ".join(cell.source.splitlines()))
    print(f"{total - failed} of {total} listings without Keras ran "
          f"({100 * (total - failed) / total:.1f} %)")


if __name__ == "__main__":
    main()
