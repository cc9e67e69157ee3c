package dev.tenon;

/** The kind of the error. */
public enum Code {
  /** The call is wrong: a type, a shape, an attribute, a handle. */
  INVALID_ARGUMENT,
  /** A value is outside its range: an index outside its axis. */
  OUT_OF_RANGE,
  /** There is no such device, op, file or name. */
  NOT_FOUND,
  /** Valid, but not supported by this op, dtype or device. */
  UNIMPLEMENTED,
  /** Not on this machine, or not now. */
  UNAVAILABLE,
  /** The device's memory, or its limit, is exhausted. */
  OUT_OF_MEMORY,
  /** The context or the scope was cancelled. */
  CANCELLED,
  /** The object is in a state that forbids the call: a consumed tape. */
  FAILED_PRECONDITION,
  /** A file is truncated or inconsistent. */
  DATA_LOSS,
  /** The device is lost until another context opens it. */
  DEVICE_LOST,
  /** A defect of Tenon or of a plugin. */
  INTERNAL;

  int number() {
    return ordinal() + 1;
  }

  static Code of(int number) {
    return number >= 1 && number <= values().length ? values()[number - 1] : INTERNAL;
  }
}
