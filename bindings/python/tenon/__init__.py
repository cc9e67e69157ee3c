"""Tenon: tensors, gradients and graphs, on top of the C ABI.

    >>> import tenon as tn
    >>> x = tn.tensor([1.0, 2.0, 3.0])
    >>> tn.grad(lambda x: tn.sum(x * x))(x)

Ops are functions of this module and methods of tensors. docs/ops describes each op.
"""

from . import errors
from ._native import Tensor
from ._dtypes import (DType, bfloat16, float4_e2m1fn, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2,
                      float8_e5m2fnuz, float8_e8m0fnu, float16, float32, float64, float128, int2, int4,
                      int8, int16, int32, int64, uint2, uint4, uint8, uint16, uint32, uint64)
from ._dtypes import bool_ as bool
from . import _tensor as _tensor
from ._control import (assert_that, cond, executing_eagerly, is_symbolic, is_tracing, print,
                       py_function, scan, set_print, shape, switch_case, while_loop)
from ._convert import asarray, from_dlpack, tensor
from ._creation import (arange, constant, full, full_like, ones, ones_like, range, zeros, zeros_like)
from ._custom import CustomOp, custom_op
from ._devices import (Context, Scope, current_device, device, list_devices, list_plugins,
                       load_plugin, memory_info, passes, reset_peak_memory, set_pass, synchronize,
                       trim_memory)
from ._function import Function, Trace, function, functions_run_eagerly, run_functions_eagerly
from ._gradients import (GradientTape, custom_gradient, grad, gradients_function, implicit_gradients,
                         implicit_value_and_gradients, stop_recording, value_and_grad)
from ._lists import TensorArray, TensorList
from ._native import version as _version
from ._profiler import Profiler, profile
from ._programs import (Program, ProgramFunction, SafetensorsFile, dump_safetensors, load,
                        load_safetensors, save, save_safetensors)
from ._specs import TensorSpec
from ._tree import register_pytree, tree_flatten, tree_map, tree_unflatten
from ._variables import Generator, Variable
from .errors import (CancelledError, DataLossError, DeviceLostError, FailedPreconditionError,
                     InternalError, InvalidArgumentError, NotFoundError, OutOfMemoryError,
                     OutOfRangeError, TenonError, UnavailableError, UnimplementedError)
from .ops import *  # noqa: F403

__version__ = _version()


def __getattr__(name):
    if name in ("array_api", "autograph", "tf"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'tenon' has no attribute '{name}'")
