package dev.tenon;

/** A source of gradients: a tensor or a variable. */
public sealed interface Value permits Tensor, Variable {}
