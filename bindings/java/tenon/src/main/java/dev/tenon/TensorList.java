package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.lang.ref.Reference;

/**
 * An immutable list of tensors of one type. Loops collect their results in lists. Blocks and
 * functions pass the list as {@link #tensor}.
 *
 * @param tensor the tensor that represents the list; only methods of this class access the entries
 */
public record TensorList(Tensor tensor) {
  /**
   * Wraps the tensor of a list that a block or a function received.
   *
   * @param tensor a tensor whose value is a list
   */
  public TensorList {
    if (!tensor.isList()) {
      throw new TenonException(
          Code.INVALID_ARGUMENT, "TensorList: the tensor is not a list; use TensorList.unstack()");
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
   * Creates an empty list.
   *
   * @param dtype the dtype of the entries
   * @param capacity the number of entries for which memory is preallocated
   * @param shape the shape of the entries
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
   * Creates an empty list for tensors with the type of another tensor.
   *
   * @param entry a tensor with the type of the entries
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
   * Creates a list of the slices of a tensor along its first axis.
   *
   * @param x the tensor
   * @return the list
   */
  public static TensorList unstack(Tensor x) {
    return new TensorList(
        made((_, scope, out) -> C.tenon_list_unstack(scope, x.handle(), out), x));
  }

  /**
   * Returns a list with one entry replaced.
   *
   * @param index the index of the entry, an int64
   * @param x the new entry
   * @return the new list
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
   * Returns a list with an entry appended.
   *
   * @param x the new entry
   * @return the new list
   */
  public TensorList push(Tensor x) {
    return new TensorList(
        made(
            (_, scope, out) -> C.tenon_list_push(scope, tensor.handle(), x.handle(), out),
            tensor,
            x));
  }

  /**
   * Returns an entry; zeros if it was never set.
   *
   * @param index the index of the entry, an int64
   * @return the entry
   */
  public Tensor get(Tensor index) {
    return made(
        (_, scope, out) -> C.tenon_list_get(scope, tensor.handle(), index.handle(), out),
        tensor,
        index);
  }

  /**
   * Returns the highest index that was set, plus 1.
   *
   * @return a rank-0 int64
   */
  public Tensor length() {
    return made((_, scope, out) -> C.tenon_list_length(scope, tensor.handle(), out), tensor);
  }

  /**
   * Stacks all entries along a new first axis.
   *
   * @return the tensor
   */
  public Tensor stack() {
    return stack(null);
  }

  /**
   * Stacks the first entries along a new first axis.
   *
   * @param length the number of entries, an int64; null for all, which functions do not allow
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
   * Concatenates the first entries along their first axis.
   *
   * @param length the number of entries, an int64; null for all, which functions do not allow
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
