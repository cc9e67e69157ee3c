package dev.tenon.bench;

import dev.tenon.Context;
import dev.tenon.Function;
import dev.tenon.Ops;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The work of {@code benches/bindings/calls.h} in Java, in turn with the same in C. {@code ./dev bench
 * bindings} runs it. Prints a line for each work, with the medians of its measurements and of their
 * differences:
 *
 * <pre>
 * pair WORK java C_NANOSECONDS JAVA_NANOSECONDS DIFFERENCE
 * </pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Bindings {
  private static final int ROWS = 64;
  private static final int FEATURES = 784;
  private static final int HIDDEN = 128;
  private static final int CLASSES = 10;

  /** Calls of one measurement, which share a scope; recorded adds between two resets of the tape. */
  private static final int BATCH = 100;

  /** A scope of a context with one thread, and two tensors of one element. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Two {
    Scope scope;
    Tensor a;
    Tensor b;
    Tape tape;
    Function add;

    /** Makes them on the thread that measures. */
    @Setup
    public void open() {
      scope = Scope.open(new Context(new Context.Options().threads(1)));
      a = Tensor.of(1f);
      b = Tensor.of(2f);
      add = Function.of((x, y) -> x.add(y));
    }

    /** Frees them. */
    @TearDown
    public void close() {
      scope.close();
    }
  }

  /** The same for a tape, which records from its making on. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Taped extends Two {
    @Override
    @Setup
    public void open() {
      super.open();
      tape = new Tape();
    }

    @Override
    @TearDown
    public void close() {
      tape.close();
      super.close();
    }
  }

  /** Tensors that no scope owns. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Unowned {
    final Tensor a = Tensor.of(1f);
    final Tensor b = Tensor.of(2f);
  }

  /** The network of the training step. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Network {
    private Scope scope;
    private List<Variable> weights;
    private Tensor x;
    private Tensor labels;
    private Tensor rate;

    /** Makes it on the thread that measures. */
    @Setup
    public void open() {
      scope = Scope.open(new Context(new Context.Options().threads(1)));
      weights =
          List.of(new Variable(filled(FEATURES, HIDDEN)), new Variable(filled(HIDDEN, CLASSES)));
      x = filled(ROWS, FEATURES);
      rate = Tensor.of(new float[] {0.01f}, new long[] {});
      int[] classes = new int[ROWS];
      for (int i = 0; i < ROWS; ++i) {
        classes[i] = i % CLASSES;
      }
      labels = Tensor.of(classes);
    }

    private static Tensor filled(int rows, int columns) {
      float[] elements = new float[rows * columns];
      for (int i = 0; i < elements.length; ++i) {
        elements[i] = i % 7 * 0.01f - 0.03f;
      }
      return Tensor.of(elements, rows, columns);
    }

    private void train() {
      try (var inner = Scope.open();
          var tape = new Tape()) {
        Tensor logits = x.matmul(weights.get(0).read()).relu().matmul(weights.get(1).read());
        Tensor loss = Ops.sparse_softmax_cross_entropy(logits, labels).loss();
        List<Tensor> gradients = tape.gradients(loss, weights);
        for (int i = 0; i < gradients.size(); ++i) {
          Variable weight = weights.get(i);
          weight.assign(Ops.sgd(weight.read(), gradients.get(i), rate));
        }
      }
    }

    /** Frees it. */
    @TearDown
    public void close() {
      scope.close();
    }
  }

  private static void measure(Pairs pairs, InC work, int calls, Runnable inJava) {
    long start = System.nanoTime();
    inJava.run();
    long java = System.nanoTime() - start;
    pairs.add(calls, work.run(calls), java);
  }

  /** Adds in a scope, which frees the results. */
  @Benchmark
  public void eager_add_in_java(Two two, Pairs pairs) {
    measure(
        pairs,
        InC.EAGER_ADD,
        BATCH,
        () -> {
          try (var scope = Scope.open()) {
            for (int i = 0; i < BATCH; ++i) {
              two.a.add(two.b);
            }
          }
        });
  }

  /** Adds without a scope, whose results the program closes; the cleaner tracks them. */
  @Benchmark
  public void eager_add_in_java_cleaner(Unowned two, Pairs pairs) {
    measure(
        pairs,
        InC.EAGER_ADD,
        BATCH,
        () -> {
          for (int i = 0; i < BATCH; ++i) {
            two.a.add(two.b).close();
          }
        });
  }

  /** Adds without a scope, whose results nobody closes: the cleaner frees them. */
  @Benchmark
  public void eager_add_in_java_abandoned(Unowned two, Pairs pairs) {
    measure(
        pairs,
        InC.EAGER_ADD,
        BATCH,
        () -> {
          for (int i = 0; i < BATCH; ++i) {
            two.a.add(two.b);
          }
        });
  }

  /** Adds that a tape records. */
  @Benchmark
  public void recorded_add_in_java(Taped two, Pairs pairs) {
    measure(
        pairs,
        InC.RECORDED_ADD,
        BATCH,
        () -> {
          two.tape.watch(two.a);
          try (var scope = Scope.open()) {
            for (int i = 0; i < BATCH; ++i) {
              two.a.add(two.b);
            }
          }
          two.tape.reset();
        });
  }

  /** Calls of a traced function. */
  @Benchmark
  public void function_call_in_java(Two two, Pairs pairs) {
    measure(
        pairs,
        InC.FUNCTION_CALL,
        BATCH,
        () -> {
          try (var scope = Scope.open()) {
            for (int i = 0; i < BATCH; ++i) {
              two.add.apply(two.a, two.b);
            }
          }
        });
  }

  /** A step of training. */
  @Benchmark
  public void training_step_in_java(Network net, Pairs pairs) {
    measure(pairs, InC.TRAINING_STEP, 1, net::train);
  }
}
