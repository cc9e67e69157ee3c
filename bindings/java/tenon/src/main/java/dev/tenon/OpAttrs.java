package dev.tenon;

/** Attributes of an op. {@link Ops} has a subclass for each op that has attributes. */
public abstract class OpAttrs {
  OpAttrs() {}

  /** Writes the C struct to the thread's stack, and returns its address. */
  abstract long write(Local local);
}
