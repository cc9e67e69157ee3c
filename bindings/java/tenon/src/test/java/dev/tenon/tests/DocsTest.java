package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Control;
import dev.tenon.Effects;
import dev.tenon.Function;
import dev.tenon.Gradients;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The examples of docs/java.md. */
class DocsTest {
  @Test
  void firstExampleReturnsRowsThatSumToOne() {
    try (var scope = Scope.open()) {
      Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
      Tensor y = x.matmul(x).add(1).softmax(1);
      System.out.println(y);
      assertEquals(2, y.sum().item(), 1e-6);
    }
  }

  @Test
  void trainingExampleLearnsTheWeights() {
    try (var all = Scope.open();
        var w = new Variable(Tensor.of(0f, 0f), "w")) {
      Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
      Tensor y = Tensor.of(5f, 11f);
      for (int step = 0; step < 500; ++step) {
        try (var scope = Scope.open();
            var tape = new Tape()) {
          Tensor loss = x.matmul(w.read()).sub(y).square().mean();
          w.assign(w.read().sub(tape.gradient(loss, w).mul(0.05)));
        }
      }
      System.out.println(w.read());
      assertEquals(1, w.read().get(0).item(), 0.1);
    }
  }

  @Test
  void errorExampleReportsTheLineOfTheCall() {
    try (var scope = Scope.open()) {
      try {
        Tensor.of(1f, 2f, 3f).softmax(1);
      } catch (TenonException wrong) {
        System.out.println(wrong.code() + " " + wrong.op() + " " + wrong.location());
        System.out.println(wrong.getMessage());
        assertTrue(wrong.location().startsWith("DocsTest.java:"));
      }
    }
  }

  private static Tensor norm(Tensor x) {
    try (var scope = Scope.open()) {
      return scope.keep(x.square().sum().sqrt());
    }
  }

  @Test
  void ownershipExampleFreesTheTensorsOfTheInnerScope() {
    try (var scope = Scope.open()) {
      assertEquals(5, norm(Tensor.of(3f, 4f)).item());
      assertEquals(2, scope.count());
    }
  }

  @Test
  void threadExampleSharesATensorWithAVirtualThread() throws Exception {
    try (var scope = Scope.open()) {
      Tensor shared = Tensor.of(1f, 2f, 3f);
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var total =
            threads.submit(
                () -> {
                  try (var own = Scope.open()) {
                    return shared.mul(2).sum().item();
                  }
                });
        assertEquals(12, total.get());
      }
    }
  }

  @Test
  void functionExampleIsTracedOnce() {
    try (var scope = Scope.open();
        var f = Function.of((x, w) -> x.matmul(w).relu());
        var slope = f.gradient()) {
      Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
      System.out.println(f.apply(x, x));
      System.out.println(slope.call(x, x).get(1));
      System.out.println(f.explain());
      assertEquals(1, f.traces().size());
    }
  }

  @Test
  void callbackExampleReceivesItsExceptionUnchanged() {
    try (var scope = Scope.open()) {
      UnaryOperator<Tensor> cube = x -> x.mul(x).mul(x);
      System.out.println(Gradients.grad(Gradients.grad(cube)).apply(Tensor.of(2f)));
      Tensor powers =
          Control.whileLoop(
                  in -> List.of(in.get(0).less(10)),
                  in -> List.of(in.get(0).add(1), in.get(1).mul(2)),
                  Tensor.scalar(0),
                  Tensor.of(1f))
              .get(1);
      assertEquals(1024, powers.item());
      try {
        Effects.hostCall(
            x -> {
              throw new IllegalStateException("mine");
            },
            powers);
      } catch (IllegalStateException unchanged) {
        assertEquals("mine", unchanged.getMessage());
      }
    }
  }
}
