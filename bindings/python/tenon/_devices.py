"""Devices, contexts and scopes."""

from __future__ import annotations

import contextlib
import os

from . import _native

__all__ = [
    "device", "current_device", "list_devices", "memory_info", "reset_peak_memory", "trim_memory",
    "synchronize", "list_plugins", "load_plugin", "Context", "Scope", "passes", "set_pass",
]


def _plugin_paths():
    """Paths of plugins in other packages: their entry points `tenon.plugins` return them."""
    from importlib import metadata

    paths = []
    for point in metadata.entry_points(group="tenon.plugins"):
        try:
            value = point.load()
            paths.append(os.fspath(value() if callable(value) else value))
        except Exception as error:  # A broken package must not disable the others.
            import warnings

            warnings.warn(f"the plugin of {point.value} was not found: {error}", stacklevel=2)
    return paths


def _default_options():
    """The options of the shared context. The extension module calls it."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugins")
    return {"plugin_paths": _plugin_paths() + ([own] if os.path.isdir(own) else [])}


@contextlib.contextmanager
def device(name: str):
    """Sets the device for new tensors and for ops without tensors: `with tn.device("vulkan:0"):`."""
    before = _native.get_device()
    _native.set_device(name)
    try:
        yield name
    finally:
        _native.set_device(before)


def current_device() -> str:
    """The name of the device for new tensors."""
    return _native.get_device()


def list_devices() -> list[dict]:
    """The properties of every available device. The first call loads all plugins."""
    return _native.list_devices()


def memory_info(device: str = "cpu") -> dict:
    """Memory statistics of a device: live, peak, held and limit bytes, buffers and allocations."""
    return _native.memory_info(device)


def reset_peak_memory(device: str = "cpu") -> None:
    """Resets the peak of memory_info() to the bytes that are live now."""
    _native.reset_peak_memory(device)


def trim_memory(device: str = "cpu") -> int:
    """Returns cached memory to the device, and the number of bytes freed."""
    return _native.trim_memory(device)


def synchronize() -> None:
    """Waits until all work that this thread started has finished. Raises its first error."""
    _native.wait()


def list_plugins() -> list[dict]:
    """The plugins that were found: state, path, name, version and the reason of a refusal."""
    return _native.plugins()


def load_plugin(path) -> None:
    """Loads one more plugin file."""
    _native.load_plugin(os.fspath(path))


def passes() -> list[tuple[str, str]]:
    """The names and descriptions of the optimisation passes for functions."""
    return _native.passes()


def set_pass(name: str, enabled: bool) -> None:
    """Enables or disables an optimisation pass for functions that have not run yet."""
    _native.set_pass(name, enabled)


class Context(_native.Context):
    """Devices and options of its own. Tensors of different contexts cannot be combined.

    Args:
        plugin_paths: Plugin files, or folders of plugins, that are searched first.
        plugin_options: Values by "plugin.key".
        memory_limit_bytes: For each device; 0 for no limit.
        threads: For each device that computes on the host; 0 for one per core.
        numeric_policy: "strict" or "fast".
        fallback_policy: What happens to ops that a device cannot run: "warn", "strict" or "auto".
        deterministic: Whether two runs give equal results even if the policy is "fast".
        log_level: "debug", "info", "warning" or "error".
    """

    def __init__(self, *, plugin_paths=(), plugin_options=None, memory_limit_bytes: int = 0,
                 threads: int = 0, numeric_policy: str = "strict", fallback_policy: str = "warn",
                 deterministic: bool = False, log_level: str = "warning"):
        paths = [os.fspath(path) for path in plugin_paths] + _default_options()["plugin_paths"]
        super().__init__(paths, plugin_options or {}, memory_limit_bytes, threads,
                         ["strict", "fast"].index(numeric_policy),
                         ["warn", "strict", "auto"].index(fallback_policy), deterministic,
                         ["debug", "info", "warning", "error"].index(log_level))


class Scope(_native.Scope):
    """Where calls run: `with tn.Scope(context, "cpu"):` makes it the thread's current scope."""

    def __init__(self, context: Context | None = None, device: str = ""):
        super().__init__(context, device)

    def __enter__(self):
        self.enter()
        return self

    def __exit__(self, *exception):
        self.exit()
