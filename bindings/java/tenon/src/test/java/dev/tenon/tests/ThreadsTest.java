package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Threads, including virtual ones, train concurrently, each in its own scope. */
class ThreadsTest {
  private static final int STEPS = 20;

  /** Trains a small regression and returns the losses. */
  private static float[] train(int seed) {
    float[] losses = new float[STEPS];
    try (Scope all = Scope.open();
        Variable w = new Variable(Tensor.of(0.1f * seed, -0.2f))) {
      for (int step = 0; step < STEPS; ++step) {
        try (Scope scope = Scope.open();
            Tape tape = new Tape()) {
          Tensor x = Tensor.of(new float[][] {{1, 2}, {3, step}, {-1, 0.5f}});
          Tensor y = Tensor.of(1f, 2f, 3f);
          Tensor loss = x.mul(w.read()).sum(1).sub(y).square().mean();
          w.assign(w.read().sub(tape.gradient(loss, w).mul(0.01)));
          losses[step] = (float) loss.item();
        }
      }
    }
    return losses;
  }

  private static void trainAtOnce(ExecutorService threads, int count) throws Exception {
    List<float[]> expected = new ArrayList<>();
    for (int seed = 0; seed < 8; ++seed) {
      expected.add(train(seed));
    }
    List<Future<float[]>> running = new ArrayList<>();
    try (threads) {
      for (int i = 0; i < count; ++i) {
        int seed = i % 8;
        running.add(threads.submit(() -> train(seed)));
      }
      for (int i = 0; i < count; ++i) {
        assertArrayEquals(expected.get(i % 8), running.get(i).get(), "thread " + i);
      }
    }
  }

  @Test
  void sixteenThreadsComputeTheLossesOfOneThread() throws Exception {
    trainAtOnce(Executors.newFixedThreadPool(16), 64);
  }

  @Test
  void thousandVirtualThreadsComputeTheLossesOfOneThread() throws Exception {
    trainAtOnce(Executors.newVirtualThreadPerTaskExecutor(), 1000);
  }

  @Test
  void eachVirtualThreadHasItsOwnScope() throws Exception {
    try (Scope scope = Scope.open()) {
      Tensor shared = Tensor.of(1f, 2f);
      int before = scope.count();
      float[][] got = new float[1][];
      Thread.ofVirtual().start(() -> got[0] = shared.mul(2).toFloats()).join();
      assertArrayEquals(new float[] {2, 4}, got[0]);
      assertEquals(before, scope.count());
    }
  }

  @Test
  void tensorsOutsideScopesAreGarbageCollected() throws Exception {
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  Tensor x = Tensor.of(new float[1 << 20], 1 << 20);
                  // Creates 16 GB in total, so creation must run the collector to free unreachable
                  // tensors.
                  for (int i = 0; i < 4000; ++i) {
                    x.add(1);
                  }
                });
    thread.join();
    assertTrue(MemoryTest.residentBytes() < (3L << 30), "resident " + MemoryTest.residentBytes());
  }
}
