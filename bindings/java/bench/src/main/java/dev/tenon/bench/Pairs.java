package dev.tenon.bench;

import java.util.Arrays;
import java.util.Locale;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.runner.IterationType;

/** Times of one workload in C and in Java, measured alternately. */
@State(Scope.Thread)
public class Pairs {
  private double[] c = new double[1024];
  private double[] java = new double[1024];
  private int count;

  /** Discards the measurements of warm-up iterations, during which the JVM still compiles. */
  @Setup(Level.Iteration)
  public void begin(IterationParams iteration) {
    if (iteration.getType() == IterationType.WARMUP) {
      count = 0;
    }
  }

  /** Adds one measurement of {@code calls} calls; the times are in nanoseconds. */
  void add(int calls, long inC, long inJava) {
    if (count == c.length) {
      c = Arrays.copyOf(c, 2 * count);
      java = Arrays.copyOf(java, 2 * count);
    }
    c[count] = (double) inC / calls;
    java[count] = (double) inJava / calls;
    ++count;
  }

  /** Prints the medians of the measurements, of their differences and of the ratios C / Java. */
  @TearDown(Level.Trial)
  public void print(BenchmarkParams benchmark) {
    if (count == 0) {
      return;
    }
    double[] differences = new double[count];
    double[] ratios = new double[count];
    Arrays.setAll(differences, i -> java[i] - c[i]);
    Arrays.setAll(ratios, i -> c[i] / java[i]);
    String name = benchmark.getBenchmark();
    System.out.printf(
        Locale.ROOT,
        "%npair %s %.2f %.2f %.2f %.4f%n",
        name.substring(name.lastIndexOf('.') + 1).replace("_in_", " "),
        median(Arrays.copyOf(c, count)),
        median(Arrays.copyOf(java, count)),
        median(differences),
        median(ratios));
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
