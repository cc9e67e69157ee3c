package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.ref.Reference;

/**
 * A list of tensors of one type, as a value: what loops gather and go through. Blocks and functions
 * take and give {@link #tensor}.
 *
 * @param tensor the list, into which only the methods here look
 */
public record TensorList(Tensor tensor) {
  /**
   * Wraps a list that a block or a function received.
   *
   * @param tensor a list
   */
  public TensorList {
    if (!tensor.isList()) {
      throw new TenonException(
          Code.INVALID_ARGUMENT, "TensorList: the tensor is not a list: use unstack");
    }
  }

  @FunctionalInterface
  private interface Call {
    long make(Local local, long scope, long out);
  }

  private static Tensor made(Call call, Tensor... used) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(8);
      Calls.check(call.make(local, scope, out));
      return local.adopt(Memory.getLong(out));
    } finally {
      local.release(at);
      Reference.reachabilityFence(used);
    }
  }

  /**
   * An empty list.
   *
   * @param dtype of its entries
   * @param capacity the number of entries for which memory is preallocated
   * @param shape of its entries
   * @return the list
   */
  public static TensorList of(DType dtype, long capacity, long... shape) {
    return new TensorList(
        made(
            (local, scope, out) ->
                C.tenon_list_create(
                    scope, dtype.bits(), local.longs(shape), shape.length, capacity, out)));
  }

  /**
   * An empty list of tensors of the same type as a tensor.
   *
   * @param entry a tensor
   * @param capacity the number of entries for which memory is preallocated
   * @return the list
   */
  public static TensorList like(Tensor entry, long capacity) {
    return new TensorList(
        made(
            (_, scope, out) ->
                C.tenon_list_create_like(scope, entry.handle(), capacity, out),
            entry));
  }

  /**
   * The slices of a tensor along its first axis.
   *
   * @param x the tensor
   * @return the list
   */
  public static TensorList unstack(Tensor x) {
    return new TensorList(
        made((_, scope, out) -> C.tenon_list_unstack(scope, x.handle(), out), x));
  }

  /**
   * The list with another entry.
   *
   * @param index where, an int64
   * @param x the entry
   * @return the list
   */
  public TensorList set(Tensor index, Tensor x) {
    return new TensorList(
        made(
            (_, scope, out) ->
                C.tenon_list_set(scope, tensor.handle(), index.handle(), x.handle(), out),
            tensor,
            index,
            x));
  }

  /**
   * The list with one more entry.
   *
   * @param x the entry
   * @return the list
   */
  public TensorList push(Tensor x) {
    return new TensorList(
        made(
            (_, scope, out) -> C.tenon_list_push(scope, tensor.handle(), x.handle(), out),
            tensor,
            x));
  }

  /**
   * An entry; zeros where nothing was set.
   *
   * @param index which, an int64
   * @return the entry
   */
  public Tensor get(Tensor index) {
    return made(
        (_, scope, out) -> C.tenon_list_get(scope, tensor.handle(), index.handle(), out),
        tensor,
        index);
  }

  /**
   * One more than the last index that was set.
   *
   * @return an int64
   */
  public Tensor length() {
    return made((_, scope, out) -> C.tenon_list_length(scope, tensor.handle(), out), tensor);
  }

  /**
   * All entries along a new first axis.
   *
   * @return the tensor
   */
  public Tensor stack() {
    return stack(null);
  }

  /**
   * The first entries along a new first axis.
   *
   * @param length how many, an int64; null for all, which functions do not allow
   * @return the tensor
   */
  public Tensor stack(Tensor length) {
    return made(
        (_, scope, out) ->
            C.tenon_list_stack(scope, tensor.handle(), Tensor.handleOf(length), out),
        tensor,
        length);
  }

  /**
   * The first entries, concatenated along their first axis.
   *
   * @param length how many, an int64; null for all, which functions do not allow
   * @return the tensor
   */
  public Tensor concat(Tensor length) {
    return made(
        (_, scope, out) ->
            C.tenon_list_concat(scope, tensor.handle(), Tensor.handleOf(length), out),
        tensor,
        length);
  }
}
