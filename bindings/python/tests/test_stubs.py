"""The type stubs agree with the definitions of the extension module."""

import ast
import importlib.util
import pathlib

import tenon as tn

FOLDER = pathlib.Path(importlib.util.find_spec("tenon").origin).parent


def names_of(file, cls=None):
    body = ast.parse((FOLDER / file).read_text()).body
    if cls is not None:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == cls).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_every_op_has_a_stub():
    assert names_of("ops.pyi") == set(tn.ops.__all__)


def test_every_method_of_tensors_has_a_stub():
    stubs = names_of("_native.pyi", "Tensor") | names_of("_tensor_ops.pyi", "TensorOps")
    assert {name for name in stubs if not hasattr(tn.Tensor, name)} == set()
    public = {name for name in dir(tn.Tensor) if not name.startswith("_")}
    assert public - stubs == set()


def test_the_package_is_typed():
    assert (FOLDER / "py.typed").exists()
