package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Branches and loops that depend on values, eagerly and in functions.
 *
 * <pre>{@code
 * Tensor y = Control.cond(x.greater(0), () -> x.square(), () -> x.neg());
 * List<Tensor> end = Control.whileLoop(
 *     in -> List.of(in.get(0).less(10)),
 *     in -> List.of(in.get(0).add(1), in.get(1).mul(2)),
 *     Tensor.scalar(0), x);
 * }</pre>
 */
public final class Control {
  private Control() {}

  private static final int MOST_OUTPUTS = 64;

  /** How the gradient of a loop inside a function keeps the residuals of each iteration. */
  public enum LoopPolicy {
    /** Each trip saves its residuals. */
    STACK,
    /** Each trip saves its inputs, and the backward pass recomputes the rest. */
    RECOMPUTE,
    /** As STACK, in memory that is allocated for all trips at the start. */
    BOUNDED
  }

  /**
   * Returns the output of one of two branches.
   *
   * @param predicate a bool without axes
   * @param then runs if it is true
   * @param otherwise runs if it is false
   * @return the branch's output
   */
  public static Tensor cond(Tensor predicate, Supplier<Tensor> then, Supplier<Tensor> otherwise) {
    return cond(predicate, _ -> List.of(then.get()), _ -> List.of(otherwise.get())).get(0);
  }

  /**
   * Returns the outputs of one of two branches, which take no inputs.
   *
   * @param predicate a bool without axes
   * @param then runs if it is true
   * @param otherwise runs if it is false
   * @return the branch's outputs
   */
  public static List<Tensor> cond(Tensor predicate, Block then, Block otherwise) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    MemorySegment yes = null;
    MemorySegment no = null;
    try {
      long chosen = predicate.handle();
      long out = local.reserve(8L * MOST_OUTPUTS);
      long count = local.reserve(8);
      yes = Callbacks.block(local, in -> Gradients.run(then, in));
      no = Callbacks.block(local, in -> Gradients.run(otherwise, in));
      Calls.check(C.tenon_cond(scope, chosen, yes, no, out, MOST_OUTPUTS, count));
      return Arrays.asList(local.adoptAll(out, (int) Memory.getLong(count)));
    } finally {
      Callbacks.removeBlock(yes);
      Callbacks.removeBlock(no);
      local.release(at);
      Reference.reachabilityFence(predicate);
    }
  }

  /**
   * Returns the outputs of the block at an index; of the last one if the index is out of range.
   *
   * @param index an int64 without axes
   * @param blocks take no inputs and return outputs of the same types
   * @return the block's outputs
   */
  public static List<Tensor> switchCase(Tensor index, List<Block> blocks) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    List<MemorySegment> made = new ArrayList<>();
    try {
      long chosen = index.handle();
      long out = local.reserve(8L * MOST_OUTPUTS);
      long count = local.reserve(8);
      long size = Structs.tenon_block.SIZE;
      long all = local.reserve(Math.max(8, size * blocks.size()));
      for (int i = 0; i < blocks.size(); ++i) {
        Block code = blocks.get(i);
        made.add(Callbacks.block(local, in -> Gradients.run(code, in)));
        Memory.at(all + size * i, size).copyFrom(made.get(i));
      }
      Calls.check(C.tenon_case(scope, chosen, all, blocks.size(), out, MOST_OUTPUTS, count));
      return Arrays.asList(local.adoptAll(out, (int) Memory.getLong(count)));
    } finally {
      made.forEach(Callbacks::removeBlock);
      local.release(at);
      Reference.reachabilityFence(index);
    }
  }

  /**
   * Runs a block as long as a condition holds.
   *
   * @param condition takes the carried values; returns a bool without axes
   * @param body takes the carried values; returns the next ones
   * @param initial the initial carried values
   * @return the carried values when the condition fails
   */
  public static List<Tensor> whileLoop(Block condition, Block body, Tensor... initial) {
    return whileLoop(LoopPolicy.STACK, 0, condition, body, initial);
  }

  /**
   * Runs a block as long as a condition holds.
   *
   * @param policy how residuals are kept
   * @param maxTrips more are an error; 0 for any number, which BOUNDED does not allow
   * @param condition takes the carried values; returns a bool without axes
   * @param body takes the carried values; returns the next ones
   * @param initial the initial carried values
   * @return the carried values when the condition fails
   */
  public static List<Tensor> whileLoop(
      LoopPolicy policy, long maxTrips, Block condition, Block body, Tensor... initial) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    MemorySegment holds = null;
    MemorySegment runs = null;
    try {
      long out = local.reserve(Math.max(8, 8L * initial.length));
      long given = local.handles(initial);
      long options = local.reserveZeros(Structs.tenon_while_options.SIZE);
      Memory.putInt(options, (int) Structs.tenon_while_options.SIZE);
      Memory.putInt(options + Structs.tenon_while_options.policy, policy.ordinal());
      Memory.putLong(options + Structs.tenon_while_options.max_trips, maxTrips);
      holds = Callbacks.block(local, in -> Gradients.run(condition, in));
      runs = Callbacks.block(local, in -> Gradients.run(body, in));
      Calls.check(
          C.tenon_while_loop(scope, holds, runs, given, initial.length, options, out));
      return Arrays.asList(local.adoptAll(out, initial.length));
    } finally {
      Callbacks.removeBlock(holds);
      Callbacks.removeBlock(runs);
      local.release(at);
      Reference.reachabilityFence(initial);
    }
  }

  /**
   * Results of a scan.
   *
   * @param carried the final carried values
   * @param stacked the other outputs of the body, stacked along a new first axis
   */
  public record ScanResult(List<Tensor> carried, List<Tensor> stacked) {}

  /**
   * Runs a block for each element of tensors along their first axis, from the first to the last.
   *
   * @param body takes the carried values and an element of each of {@code xs}; returns the next carried
   *     values and then the values to stack
   * @param initial the initial carried values
   * @param xs tensors of one length
   * @return the final carried values and the stacked outputs
   */
  public static ScanResult scan(Block body, List<Tensor> initial, List<Tensor> xs) {
    return scan(LoopPolicy.STACK, false, body, initial, xs);
  }

  /**
   * Runs a block for each element of tensors along their first axis.
   *
   * @param policy how residuals are kept
   * @param reverse from the last element to the first
   * @param body takes the carried values and an element of each of {@code xs}; returns the next carried
   *     values and then the values to stack
   * @param initial the initial carried values
   * @param xs tensors of one length
   * @return the final carried values and the stacked outputs
   */
  public static ScanResult scan(
      LoopPolicy policy, boolean reverse, Block body, List<Tensor> initial, List<Tensor> xs) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    MemorySegment runs = null;
    try {
      long carried = local.reserve(Math.max(8, 8L * initial.size()));
      long stacked = local.reserve(8L * MOST_OUTPUTS);
      long count = local.reserve(8);
      long first = local.handles(Calls.array(initial));
      long elements = local.handles(Calls.array(xs));
      long options = local.reserveZeros(Structs.tenon_scan_options.SIZE);
      Memory.putInt(options, (int) Structs.tenon_scan_options.SIZE);
      Memory.putBoolean(options + Structs.tenon_scan_options.reverse, reverse);
      Memory.putInt(options + Structs.tenon_scan_options.policy, policy.ordinal());
      runs = Callbacks.block(local, in -> Gradients.run(body, in));
      Calls.check(
          C.tenon_scan(
              scope, runs, first, initial.size(), elements, xs.size(), options, carried, stacked,
              MOST_OUTPUTS, count));
      return new ScanResult(
          Arrays.asList(local.adoptAll(carried, initial.size())),
          Arrays.asList(local.adoptAll(stacked, (int) Memory.getLong(count))));
    } finally {
      Callbacks.removeBlock(runs);
      local.release(at);
      Reference.reachabilityFence(initial);
      Reference.reachabilityFence(xs);
    }
  }

  /**
   * The sizes of a tensor as a tensor. In a function they are those of each call.
   *
   * @param x any tensor
   * @return an int64 of one axis
   */
  public static Tensor shape(Tensor x) {
    long tensor = x.handle();
    Local local = Local.get();
    long scope = local.scope();
    long at = local.reserve(8);
    long error = C.tenon_shape(scope, tensor, at);
    long sizes = Memory.getLong(at);
    local.release(at);
    Reference.reachabilityFence(x);
    Calls.check(error);
    return local.adopt(sizes);
  }
}
