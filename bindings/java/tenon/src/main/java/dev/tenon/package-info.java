/**
 * Tenon: tensors on any device, gradients, and functions that are traced once.
 *
 * <p>Begin with {@link dev.tenon.Tensor} and {@link dev.tenon.Ops}; {@link dev.tenon.Scope} frees what
 * calls make; {@link dev.tenon.Tape} and {@link dev.tenon.Gradients} differentiate;
 * {@link dev.tenon.Function} traces.
 */
package dev.tenon;
