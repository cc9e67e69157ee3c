package dev.tenon;

/** Attributes of an op. {@link Ops} has a class for each op that takes some. */
public abstract class OpAttrs {
  OpAttrs() {}

  /** Writes the struct of C into the thread's stack, and returns its address. */
  abstract long write(Local local);
}
