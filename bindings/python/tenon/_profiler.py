"""The profiler."""

from __future__ import annotations

import os

from . import _native

__all__ = ["Profiler", "profile"]


class Profiler:
    """Profiles the ops inside a `with` block.

    >>> with tn.profile() as profiler:
    ...     step(x)
    >>> print(profiler.table())

    Args:
        max_events: Maximum number of events in the trace. An event needs 40 bytes.
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
        """Returns a table with one row for each op, input types and device, sorted by time in
        descending order."""
        return self._native.table()

    @property
    def rows(self) -> list[dict]:
        """Returns the rows of the table as dicts. Times are in nanoseconds."""
        return self._native.rows()

    @property
    def dropped_events(self) -> int:
        """Returns the number of events beyond max_events, which the trace omits."""
        return self._native.dropped_events

    def write_trace(self, path) -> None:
        """Writes the events to a JSON file for https://ui.perfetto.dev."""
        self._native.write_trace(os.fspath(path))


def profile(max_events: int = 1000000) -> Profiler:
    """Returns a profiler for a `with` statement."""
    return Profiler(max_events)
