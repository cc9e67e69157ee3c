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
    """Returns the paths of the plugins that other packages provide by entry points of the group
    `tenon.plugins`."""
    from importlib import metadata

    paths = []
    for point in metadata.entry_points(group="tenon.plugins"):
        try:
            value = point.load()
            paths.append(os.fspath(value() if callable(value) else value))
        except Exception as error:  # A faulty package must not disable the plugins of the others.
            import warnings

            warnings.warn(f"the plugin of {point.value} was not found: {error}", stacklevel=2)
    return paths


def _default_options():
    """Returns the options of the shared context. Called by the extension module."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugins")
    return {"plugin_paths": _plugin_paths() + ([own] if os.path.isdir(own) else [])}


@contextlib.contextmanager
def device(name: str):
    """Sets the current device, which holds new tensors and runs ops without tensors:
    `with tn.device("vulkan:0"):`."""
    before = _native.get_device()
    _native.set_device(name)
    try:
        yield name
    finally:
        _native.set_device(before)


def current_device() -> str:
    """Returns the name of the current device."""
    return _native.get_device()


def list_devices() -> list[dict]:
    """Returns the properties of all available devices. The first call loads all plugins."""
    return _native.list_devices()


def memory_info(device: str = "cpu") -> dict:
    """Returns memory statistics of a device: live, peak, held and limit in bytes, and numbers of
    buffers and allocations."""
    return _native.memory_info(device)


def reset_peak_memory(device: str = "cpu") -> None:
    """Resets the peak of memory_info() to the current live bytes."""
    _native.reset_peak_memory(device)


def trim_memory(device: str = "cpu") -> int:
    """Returns cached memory to the device. Returns the number of bytes freed."""
    return _native.trim_memory(device)


def synchronize() -> None:
    """Blocks until all work that this thread started has finished. Raises the first error of that
    work."""
    _native.wait()


def list_plugins() -> list[dict]:
    """Returns the state, path, name and version of each plugin that was found, and why a refused
    one was not loaded."""
    return _native.plugins()


def load_plugin(path) -> None:
    """Loads a plugin from a file."""
    _native.load_plugin(os.fspath(path))


def passes() -> list[tuple[str, str]]:
    """Returns the names and descriptions of the passes that optimise graphs."""
    return _native.passes()


def set_pass(name: str, enabled: bool) -> None:
    """Enables or disables a pass, for functions that have not run yet."""
    _native.set_pass(name, enabled)


class Context(_native.Context):
    """Owns devices and options. Tensors of different contexts cannot be combined.

    Args:
        plugin_paths: Plugin files, or folders of plugins. They are searched before the default
            folders.
        plugin_options: Option values by "plugin.key".
        memory_limit_bytes: Memory limit of each device; 0 for no limit.
        threads: Number of threads of each device that computes on the host; 0 for one per core.
        numeric_policy: "strict" (results have the same bits on every device) or "fast".
        fallback_policy: What happens if a device cannot run an op: "warn" runs it on the CPU
            with a warning, "strict" raises an error, "auto" runs it on the CPU silently.
        deterministic: Whether results are repeatable to the bit from run to run, even with
            "fast".
        log_level: The lowest severity that is logged: "debug", "info", "warning" or "error".
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
    """A scope, in which calls run. `with tn.Scope(context, "cpu"):` makes it the current scope of
    the thread."""

    def __init__(self, context: Context | None = None, device: str = ""):
        super().__init__(context, device)

    def __enter__(self):
        self.enter()
        return self

    def __exit__(self, *exception):
        self.exit()
