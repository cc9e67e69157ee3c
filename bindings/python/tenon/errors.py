"""The exceptions of failed calls.

Each has the attributes of an error of the C ABI: `code` (a name such as "INVALID_ARGUMENT" is in
`code_name`), `op`, `rule` (the label of the op's broken rule, such as "C2"), `argument`, `device` and
`location`. `__cause__` is the error that caused it.
"""

import re

__all__ = [
    "TenonError", "InvalidArgumentError", "OutOfRangeError", "NotFoundError", "UnimplementedError",
    "UnavailableError", "OutOfMemoryError", "CancelledError", "FailedPreconditionError",
    "DataLossError", "DeviceLostError", "InternalError",
]

_RULE = re.compile(r"(?:^|: )([A-Z]\d+): ")


class TenonError(Exception):
    """A failed call. Catch this class for every error of Tenon."""

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
    """An invalid type, shape, attribute or object."""

    code, code_name = 1, "INVALID_ARGUMENT"


class OutOfRangeError(TenonError, IndexError):
    """An invalid value: an index outside its axis."""

    code, code_name = 2, "OUT_OF_RANGE"


class NotFoundError(TenonError, LookupError):
    """There is no such device, op, file or name."""

    code, code_name = 3, "NOT_FOUND"


class UnimplementedError(TenonError, NotImplementedError):
    """Valid, but not supported for this op, dtype or device."""

    code, code_name = 4, "UNIMPLEMENTED"


class UnavailableError(TenonError, RuntimeError):
    """Not available on this machine, or not now."""

    code, code_name = 5, "UNAVAILABLE"


class OutOfMemoryError(TenonError, MemoryError):
    """The device's memory or the memory limit is exhausted."""

    code, code_name = 6, "OUT_OF_MEMORY"


class CancelledError(TenonError, RuntimeError):
    """The call was cancelled."""

    code, code_name = 7, "CANCELLED"


class FailedPreconditionError(TenonError, RuntimeError):
    """The object's state does not allow the call."""

    code, code_name = 8, "FAILED_PRECONDITION"


class DataLossError(TenonError, RuntimeError):
    """A file is truncated or inconsistent."""

    code, code_name = 9, "DATA_LOSS"


class DeviceLostError(TenonError, RuntimeError):
    """The device is lost until it is opened again."""

    code, code_name = 10, "DEVICE_LOST"


class InternalError(TenonError, RuntimeError):
    """A defect of Tenon or of a plugin."""

    code, code_name = 11, "INTERNAL"


_CLASSES = {cls.code: cls for cls in TenonError.__subclasses__()}


def _make(code, message, op, argument, device, location, cause):
    """Creates the exception of an error of C. The extension module calls it."""
    error = _CLASSES.get(code, InternalError)(message, op=op, argument=argument, device=device,
                                              location=location)
    if location and location not in message:
        error.args = (f"{message} (at {location})",)
    error.__cause__ = cause
    return error
