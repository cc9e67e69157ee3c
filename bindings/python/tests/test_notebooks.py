"""The notebooks of examples/notebooks run, and print the outputs that they contain.

        python test_notebooks.py     runs the notebooks and stores their outputs in the files
"""

import ast
import contextlib
import io
import json
import linecache
import os
import pathlib
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def run_cell(source, filename, namespace):
    """Runs a cell. Returns the printed text, and the text of the cell's last expression or None."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, filename, "exec"), namespace)
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)
    return printed.getvalue(), None if value is None else repr(value)


def outputs_of(printed, value, number):
    """Returns the outputs of a cell in the format of notebook files."""
    outputs = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.splitlines(True)})
    if value is not None:
        outputs.append({"data": {"text/plain": value.splitlines(True)}, "execution_count": number,
                        "metadata": {}, "output_type": "execute_result"})
    return outputs


def executed(path):
    """Runs a notebook file and returns its content with the new outputs."""
    notebook = json.loads(path.read_text())
    namespace = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        printed, value = run_cell("".join(cell["source"]), f"<{path.stem} {number}>", namespace)
        cell["execution_count"] = number
        cell["outputs"] = outputs_of(printed, value, number)
    return notebook


def test_there_are_five_notebooks():
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebook_prints_its_stored_outputs(path):
    if "fashion" in path.stem:
        data = pathlib.Path(os.environ.get("TENON_FASHION", "/usr/share/datasets/fashion-mnist"))
        if not data.exists():
            pytest.skip(f"{data} does not exist: install dataset-fashion-mnist")
    notebook = executed(path)
    assert json.loads(path.read_text()) == notebook
    assert all(cell["outputs"] or "print" not in "".join(cell["source"])
               for cell in notebook["cells"] if cell["cell_type"] == "code")


if __name__ == "__main__":
    for path in NOTEBOOKS:
        path.write_text(json.dumps(executed(path), indent=1) + "\n")
        sys.stderr.write(f"{path.name}\n")
