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
 * Measures the workloads of {@code benches/bindings/calls.h} in Java and in C, alternately.
 * {@code ./dev bench bindings} runs it. Prints one line per workload, with the medians of the
 * times, of their differences and of the ratios C / Java:
 *
 * <pre>
 * pair WORK java C_NANOSECONDS JAVA_NANOSECONDS DIFFERENCE RATIO
 * </pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Bindings {
  private static final int ROWS = 64;
  private static final int FEATURES = 784;
  private static final int HIDDEN = 128;
  private static final int CLASSES = 10;

  /**
   * Number of calls in one measurement, which share a scope. The tape is reset after that many
   * recorded adds.
   */
  private static final int BATCH = 100;

  /**
   * Number of training steps in one measurement. In the first step, the processor's caches hold
   * the weights of the C workload.
   */
  private static final int STEPS = 10;

  private static final int WARM_UP_STEPS = 50_000;

  /** A scope on a context with one thread, and two tensors of one element each. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Two {
    Scope scope;
    Tensor a;
    Tensor b;
    Tape tape;
    Function add;

    /** Creates the scope and the tensors on the measuring thread. */
    @Setup
    public void open() {
      scope = Scope.open(new Context(new Context.Options().threads(1)));
      a = Tensor.of(1f);
      b = Tensor.of(2f);
      add = Function.of((x, y) -> x.add(y));
    }

    /** Frees the scope and the tensors. */
    @TearDown
    public void close() {
      scope.close();
    }
  }

  /** A scope, two tensors, and a tape that records the scope. */
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

  /** Two tensors that no scope owns. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Unowned {
    final Tensor a = Tensor.of(1f);
    final Tensor b = Tensor.of(2f);
  }

  /** A network and the data of a training step, in the current scope. */
  private static final class Network {
    private final List<Variable> weights;
    private final Tensor x;
    private final Tensor labels;
    private final Tensor rate = Tensor.of(new float[] {0.01f}, new long[] {});

    Network(int rows, int features, int hidden) {
      weights =
          List.of(new Variable(filled(features, hidden)), new Variable(filled(hidden, CLASSES)));
      x = filled(rows, features);
      int[] classes = new int[rows];
      for (int i = 0; i < rows; ++i) {
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

    void train() {
      try (var inner = Scope.open();
          var tape = new Tape()) {
        Tensor logits = x.matmul(weights.get(0).read()).relu().matmul(weights.get(1).read());
        Tensor loss = Ops.sparse_softmax_cross_entropy(logits, labels).loss();
        List<Tensor> gradients = tape.gradients(loss, weights);
        for (int i = 0; i < gradients.size(); ++i) {
          // Frees the old weights of a layer before the new weights of the next layer are
          // computed, as the C workload does.
          try (var update = Scope.open()) {
            Variable weight = weights.get(i);
            weight.assign(Ops.sgd(weight.read(), gradients.get(i), rate));
          }
        }
      }
    }
  }

  /** The network that the benchmark trains. */
  @State(org.openjdk.jmh.annotations.Scope.Thread)
  public static class Training {
    private Scope scope;
    private Network network;

    /** Creates the network on the measuring thread. */
    @Setup
    public void open() {
      scope = Scope.open(new Context(new Context.Options().threads(1)));
      // HotSpot optimises a method after thousands of calls. Warm up with a tiny network, whose
      // steps take only microseconds.
      Network tiny = new Network(1, 1, 1);
      for (int i = 0; i < WARM_UP_STEPS; ++i) {
        tiny.train();
      }
      network = new Network(ROWS, FEATURES, HIDDEN);
    }

    /** Frees the network. */
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

  /** Measures adds inside a scope, which frees the results. */
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

  /**
   * Measures adds without a scope. The program closes the results; until then the cleaner tracks
   * them.
   */
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

  /** Measures adds without a scope. The program does not close the results; the cleaner does. */
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

  /** Measures adds while a tape records them. */
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

  /** Measures calls of a traced function. */
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

  /** Measures training steps. */
  @Benchmark
  public void training_step_in_java(Training training, Pairs pairs) {
    measure(
        pairs,
        InC.TRAINING_STEP,
        STEPS,
        () -> {
          for (int i = 0; i < STEPS; ++i) {
            training.network.train();
          }
        });
  }
}
