package dev.tenon;

/** The kind of an error. */
public enum Code {
  /** An argument is invalid: its type, its shape, an attribute, or a handle. */
  INVALID_ARGUMENT,
  /** A value is out of range, such as an index. */
  OUT_OF_RANGE,
  /** There is no device, op, file or argument of this name. */
  NOT_FOUND,
  /** The call is valid, but this op, dtype or device does not support it. */
  UNIMPLEMENTED,
  /** The device or file is not available on this machine, or not at this time. */
  UNAVAILABLE,
  /** The memory of the device, or its configured limit, is exhausted. */
  OUT_OF_MEMORY,
  /** The context or the scope was cancelled. */
  CANCELLED,
  /** The state of an object forbids the call; for example, a tape is already consumed. */
  FAILED_PRECONDITION,
  /** A file is truncated or inconsistent. */
  DATA_LOSS,
  /** The device is lost. It works again in a new context. */
  DEVICE_LOST,
  /** A bug in Tenon or in a plugin. */
  INTERNAL;

  int number() {
    return ordinal() + 1;
  }

  static Code of(int number) {
    return number >= 1 && number <= values().length ? values()[number - 1] : INTERNAL;
  }
}
