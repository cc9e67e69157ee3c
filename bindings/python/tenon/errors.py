"""The exceptions of failed calls.

Each exception has the attributes of a C error: `code` (`code_name` is its name, such as
"INVALID_ARGUMENT"), `op`, `rule` (the rule of the op that the call violates, such as "C2"),
`argument`, `device` and `location`. `__cause__` is the error that caused it, if any.
"""

import re

__all__ = [
    "TenonError", "InvalidArgumentError", "OutOfRangeError", "NotFoundError", "UnimplementedError",
    "UnavailableError", "OutOfMemoryError", "CancelledError", "FailedPreconditionError",
    "DataLossError", "DeviceLostError", "InternalError",
]

_RULE = re.compile(r"(?:^|: )([A-Z]\d+): ")


class TenonError(Exception):
    """The base class of all errors of Tenon."""

    code = 11
    code_name = "INTERNAL"

    def __init__(self, message="", *, op="", argument="", device="", location=""):
        super().__init__(message)
        found = _RULE.search(message)
        self.message = message
        self.op = op
        self.rule = found.group(1) if found else ""
        self.argument = argument
        self.device = device
        self.location = location

    def __reduce__(self):
        state = {key: value for key, value in self.__dict__.items() if key != "message"}
        return type(self), (self.message,), state


class InvalidArgumentError(TenonError, ValueError):
    """An argument is invalid: its type, its shape, an attribute, or an object."""

    code, code_name = 1, "INVALID_ARGUMENT"


class OutOfRangeError(TenonError, IndexError):
    """A value is out of range, such as an index."""

    code, code_name = 2, "OUT_OF_RANGE"


class NotFoundError(TenonError, LookupError):
    """There is no device, op, file or argument of this name."""

    code, code_name = 3, "NOT_FOUND"


class UnimplementedError(TenonError, NotImplementedError):
    """The call is valid, but this op, dtype or device does not support it."""

    code, code_name = 4, "UNIMPLEMENTED"


class UnavailableError(TenonError, RuntimeError):
    """The device or file is not available on this machine, or not at this time."""

    code, code_name = 5, "UNAVAILABLE"


class OutOfMemoryError(TenonError, MemoryError):
    """The memory of the device, or its configured limit, is exhausted."""

    code, code_name = 6, "OUT_OF_MEMORY"


class CancelledError(TenonError, RuntimeError):
    """The call, or its context, was cancelled."""

    code, code_name = 7, "CANCELLED"


class FailedPreconditionError(TenonError, RuntimeError):
    """The state of an object forbids the call; for example, a tape is already consumed."""

    code, code_name = 8, "FAILED_PRECONDITION"


class DataLossError(TenonError, RuntimeError):
    """A file is truncated or inconsistent."""

    code, code_name = 9, "DATA_LOSS"


class DeviceLostError(TenonError, RuntimeError):
    """The device is lost. It works again in a new context."""

    code, code_name = 10, "DEVICE_LOST"


class InternalError(TenonError, RuntimeError):
    """A bug in Tenon or in a plugin."""

    code, code_name = 11, "INTERNAL"


_CLASSES = {cls.code: cls for cls in TenonError.__subclasses__()}


def _make(code, message, op, argument, device, location, cause):
    """Creates the exception for a C error. Called by the extension module."""
    error = _CLASSES.get(code, InternalError)(message, op=op, argument=argument, device=device,
                                              location=location)
    if location and location not in message:
        error.args = (f"{message} (at {location})",)
    error.__cause__ = cause
    return error
