"""The profiler."""

from __future__ import annotations

import os

from . import _native

__all__ = ["Profiler", "profile"]


class Profiler:
    """Measures the ops inside a `with` block.

    >>> with tn.profile() as profiler:
    ...     step(x)
    >>> print(profiler.table())

    Args:
        max_events: The maximum number of events kept for the trace, 40 bytes each.
    """

    def __init__(self, max_events: int = 1000000):
        self._max_events = max_events
        self._native = None

    def __enter__(self):
        self._native = _native.Profiler(self._max_events)
        return self

    def __exit__(self, *exception):
        self._native.stop()

    def table(self) -> str:
        """A table with one row for each op, input types and device, the slowest first."""
        return self._native.table()

    @property
    def rows(self) -> list[dict]:
        """The rows of the table as dicts; times are in nanoseconds."""
        return self._native.rows()

    @property
    def dropped_events(self) -> int:
        """The number of events that the trace lacks because of max_events."""
        return self._native.dropped_events

    def write_trace(self, path) -> None:
        """Writes the events to a JSON file, which https://ui.perfetto.dev opens."""
        self._native.write_trace(os.fspath(path))


def profile(max_events: int = 1000000) -> Profiler:
    """A profiler for a `with` statement."""
    return Profiler(max_events)
