package dev.tenon;

/** What gradients are taken by: a tensor or a variable. */
public sealed interface Value permits Tensor, Variable {}
