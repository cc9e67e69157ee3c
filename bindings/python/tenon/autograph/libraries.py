"""Libraries whose functions are called without conversion."""

_LIBRARIES = {
    "tenon", "numpy", "scipy", "torch", "jax", "jaxlib", "tensorflow", "pandas", "matplotlib",
    "onnx", "onnxruntime", "pytest", "_pytest", "IPython", "ipykernel", "nanobind", "pluggy",
}  # fmt: skip


def is_library(module):
    """Returns whether a module's functions are never converted."""
    return (module or "").partition(".")[0] in _LIBRARIES
