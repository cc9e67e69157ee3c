package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.ref.Reference;

/** A cell that holds a tensor. Tapes watch trainable variables when they are read. */
public final class Variable extends NativeHandle implements Value {
  private Variable(long handle) {
    super(Tracker.Kind.VARIABLE, handle, false);
  }

  /**
   * Creates a trainable variable without a name.
   *
   * @param initial the initial value, which determines dtype, shape and device
   */
  public Variable(Tensor initial) {
    this(initial, "", true);
  }

  /**
   * Creates a trainable variable with a name.
   *
   * @param initial the initial value, which determines dtype, shape and device
   * @param name the name for display and in files
   */
  public Variable(Tensor initial, String name) {
    this(initial, name, true);
  }

  /**
   * Creates a variable.
   *
   * @param initial the initial value, which determines dtype, shape and device
   * @param name the name for display and in files
   * @param trainable whether tapes watch the variable when it is read
   */
  public Variable(Tensor initial, String name, boolean trainable) {
    this(create(initial, name, trainable));
  }

  private static long create(Tensor initial, String name, boolean trainable) {
    long tensor = initial.handle();
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(8);
      long options = local.reserveZeros(Structs.tenon_variable_options.SIZE);
      Memory.putInt(options, (int) Structs.tenon_variable_options.SIZE);
      Memory.putBoolean(options + Structs.tenon_variable_options.trainable, trainable);
      local.putString(options + Structs.tenon_variable_options.name, name);
      Calls.check(C.tenon_variable_create(scope, tensor, options, out));
      return Memory.getLong(out);
    } finally {
      local.release(at);
      Reference.reachabilityFence(initial);
    }
  }

  /** Wraps a C variable that has another owner. Adds a reference to it. */
  static Variable share(long handle) {
    C.tenon_variable_retain(handle);
    return new Variable(handle);
  }

  /**
   * Returns the current tensor. Later assignments do not change the returned tensor.
   *
   * @return the tensor, which shares memory with the variable
   */
  public Tensor read() {
    long variable = handle();
    Local local = Local.get();
    long scope = local.scope();
    long at = local.reserve(8);
    long error = C.tenon_variable_read(scope, variable, at);
    long value = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(this);
    Calls.check(error);
    return local.adopt(value);
  }

  /**
   * Replaces the tensor. No gradient flows through an assignment.
   *
   * @param value a tensor of the variable's dtype, shape and device
   */
  public void assign(Tensor value) {
    long tensor = value.handle();
    long error = C.tenon_variable_assign(Local.get().scope(), handle(), tensor);
    Reference.reachabilityFence(this);
    Reference.reachabilityFence(value);
    Calls.check(error);
  }

  /**
   * The element type.
   *
   * @return the dtype
   */
  public DType dtype() {
    DType dtype = new DType(C.tenon_variable_dtype(handle()));
    Reference.reachabilityFence(this);
    return dtype;
  }

  /**
   * Returns the sizes of the axes.
   *
   * @return a new array
   */
  public long[] shape() {
    int rank = (int) C.tenon_variable_rank(handle());
    long[] shape = rank == 0 ? new long[0] : Memory.longs(C.tenon_variable_shape(handle()), rank);
    Reference.reachabilityFence(this);
    return shape;
  }

  /**
   * Returns the name of the variable.
   *
   * @return the name; empty if it has none
   */
  public String name() {
    String name = Memory.text(C.tenon_variable_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * Returns the name of the device that holds the variable.
   *
   * @return the name, such as "cpu:0"
   */
  public String device() {
    String name = Memory.text(C.tenon_variable_device_name(Local.get().result, handle()));
    Reference.reachabilityFence(this);
    return name;
  }

  /**
   * Returns whether tapes watch the variable when it is read.
   *
   * @return whether the variable is trainable
   */
  public boolean isTrainable() {
    boolean is = C.tenon_variable_is_trainable(handle());
    Reference.reachabilityFence(this);
    return is;
  }

  /**
   * Sets whether tapes watch the variable, beginning with its next read.
   *
   * @param trainable whether tapes watch the variable
   */
  public void setTrainable(boolean trainable) {
    C.tenon_variable_set_trainable(handle(), trainable);
    Reference.reachabilityFence(this);
  }
}
