"""The libraries with which the bench of the ops compares Tenon. Each runs on one thread."""

import importlib
import pathlib
import sys

import numpy as np
from cases import Onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import pytorch


class Absent(Exception):
    """A peer has no such op, or not for this dtype."""


class NumPy:
    name, version = "numpy", np.__version__

    def prepare(self, op, n, dtype, inputs):
        if op.numpy is None or dtype == "bf16":
            raise Absent
        values = inputs.numpy()
        if getattr(op.numpy, "sized", False):
            return lambda: op.numpy(n, dtype, *values)
        return lambda: op.numpy(*values)


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = pytorch.load()
        self.torch.set_grad_enabled(False)
        self.version = self.torch.__version__

    def prepare(self, op, n, dtype, inputs):
        torch = self.torch
        if op.torch is None:
            raise Absent
        values = inputs.torch(torch)
        if isinstance(op.torch, str):
            function = getattr(torch, op.torch)
            return lambda: function(*values)
        if getattr(op.torch, "sized", False):
            return lambda: op.torch(torch, n, dtype, *values)
        return lambda: op.torch(torch, *values)


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self):
        self.runtime = importlib.import_module("onnxruntime")
        self.onnx = importlib.import_module("onnx")
        self.version = self.runtime.__version__
        self.options = self.runtime.SessionOptions()
        self.options.intra_op_num_threads = 1
        self.options.log_severity_level = 4

    def prepare(self, op, n, dtype, inputs):
        node = op.onnx(n) if callable(op.onnx) else op.onnx
        if node is None or dtype == "bf16" or any(inputs.strided):
            raise Absent  # A session has no strided inputs.
        model = self.model(Onnx(node) if isinstance(node, str) else node, inputs.arrays)
        session = self.runtime.InferenceSession(model.SerializeToString(), self.options, ["CPUExecutionProvider"])
        values = {f"x{at}": self.runtime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array) if array.ndim
                                                                      else array)
                  for at, array in enumerate(inputs.arrays)}
        return lambda: session.run_with_ort_values(None, values)

    def model(self, node, inputs):
        helper = self.onnx.helper
        names = [f"x{at}" for at in range(len(inputs))]
        infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                 for name, array in zip(names, inputs)]
        constants = [self.onnx.numpy_helper.from_array(value, f"c{at}")
                     for at, value in enumerate(node.constants) if not isinstance(value, str)]
        operands = names + ["" if isinstance(value, str) else f"c{at}" for at, value in enumerate(node.constants)]
        outputs = [f"y{at}" for at in range(node.outputs)]
        graph = helper.make_graph([helper.make_node(node.op, operands, outputs, **node.attrs)], "op", infos,
                                  [helper.make_empty_tensor_value_info(name) for name in outputs], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", node.opset)], ir_version=11)


def available(folders, report):
    """Returns the peers that can be imported, also from `folders`, which are searched last."""
    sys.path.extend(str(folder) for folder in folders if folder.is_dir())
    found = [NumPy()]
    for peer in (Torch, OnnxRuntime):
        try:
            found.append(peer())
        except ImportError as error:
            report(f"skipped {peer.name} {error}")
    return found
