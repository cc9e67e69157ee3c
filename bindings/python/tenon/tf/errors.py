"""tf.errors: the exceptions of failed calls."""

from ..errors import CancelledError, DataLossError, FailedPreconditionError, InternalError
from ..errors import InvalidArgumentError, NotFoundError, OutOfRangeError, UnavailableError
from ..errors import OutOfMemoryError as ResourceExhaustedError
from ..errors import TenonError as OpError
from ..errors import UnimplementedError

__all__ = ["CancelledError", "DataLossError", "FailedPreconditionError", "InternalError",
           "InvalidArgumentError", "NotFoundError", "OpError", "OutOfRangeError",
           "ResourceExhaustedError", "UnavailableError", "UnimplementedError"]
