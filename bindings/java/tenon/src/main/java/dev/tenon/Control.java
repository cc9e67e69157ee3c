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
 * Branches and loops that depend on tensor values, eagerly and inside functions.
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

  /** How a loop inside a function stores the residuals of each iteration for its gradient. */
  public enum LoopPolicy {
    /** Each iteration saves its residuals. */
    STACK,
    /** Each iteration saves only its inputs. The backward pass recomputes its residuals. */
    RECOMPUTE,
    /**
     * Each iteration saves its residuals, in memory that is allocated for all iterations at the
     * start.
     */
    BOUNDED
  }

  /**
   * Runs one of two branches and returns its output.
   *
   * @param predicate a rank-0 bool
   * @param then the branch that runs if the predicate is true
   * @param otherwise the branch that runs if the predicate is false
   * @return the output of the branch
   */
  public static Tensor cond(Tensor predicate, Supplier<Tensor> then, Supplier<Tensor> otherwise) {
    return cond(predicate, _ -> List.of(then.get()), _ -> List.of(otherwise.get())).get(0);
  }

  /**
   * Runs one of two branches, which take no inputs, and returns its outputs.
   *
   * @param predicate a rank-0 bool
   * @param then the branch that runs if the predicate is true
   * @param otherwise the branch that runs if the predicate is false
   * @return the outputs of the branch
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
   * Runs the block at an index and returns its outputs. An index out of range selects the last
   * block.
   *
   * @param index a rank-0 int64
   * @param blocks the blocks; they take no inputs, and their outputs have the same types
   * @return the outputs of the block
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
   * Runs a block while a condition is true.
   *
   * @param condition takes the carried values and returns a rank-0 bool
   * @param body takes the carried values and returns the next ones
   * @param initial the initial carried values
   * @return the final carried values
   */
  public static List<Tensor> whileLoop(Block condition, Block body, Tensor... initial) {
    return whileLoop(LoopPolicy.STACK, 0, condition, body, initial);
  }

  /**
   * Runs a block while a condition is true.
   *
   * @param policy how residuals are stored
   * @param maxTrips the maximum number of iterations; exceeding it is an error. 0 for no limit,
   *     which BOUNDED does not allow
   * @param condition takes the carried values and returns a rank-0 bool
   * @param body takes the carried values and returns the next ones
   * @param initial the initial carried values
   * @return the final carried values
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
   * The results of a scan.
   *
   * @param carried the final carried values
   * @param stacked the other outputs of the body, stacked along a new first axis
   */
  public record ScanResult(List<Tensor> carried, List<Tensor> stacked) {}

  /**
   * Runs a block for each index along the first axis of tensors, in ascending order.
   *
   * @param body takes the carried values and one slice of each tensor in {@code xs}; returns the
   *     next carried values, followed by values to stack
   * @param initial the initial carried values
   * @param xs tensors with equal sizes of the first axis
   * @return the final carried values and the stacked outputs
   */
  public static ScanResult scan(Block body, List<Tensor> initial, List<Tensor> xs) {
    return scan(LoopPolicy.STACK, false, body, initial, xs);
  }

  /**
   * Runs a block for each index along the first axis of tensors.
   *
   * @param policy how residuals are stored
   * @param reverse whether to iterate in descending order
   * @param body takes the carried values and one slice of each tensor in {@code xs}; returns the
   *     next carried values, followed by values to stack
   * @param initial the initial carried values
   * @param xs tensors with equal sizes of the first axis
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
   * Returns the sizes of a tensor as a tensor. Inside a function, each call computes them from its
   * own inputs.
   *
   * @param x any tensor
   * @return a rank-1 int64 tensor
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
