/**
 * Tenon: tensors on any device, gradients, and traced functions.
 *
 * <p>Begin with {@link dev.tenon.Tensor} and {@link dev.tenon.Ops}. {@link dev.tenon.Scope} frees
 * the tensors that calls create. {@link dev.tenon.Tape} and {@link dev.tenon.Gradients}
 * differentiate. {@link dev.tenon.Function} traces code into graphs.
 */
package dev.tenon;
