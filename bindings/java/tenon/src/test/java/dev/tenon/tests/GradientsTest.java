package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Code;
import dev.tenon.Gradients;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Variables, tapes, gradients of lambdas and custom gradients. */
class GradientsTest {
  private Scope scope;

  @BeforeEach
  void open() {
    scope = Scope.open();
  }

  @AfterEach
  void close() {
    scope.close();
  }

  @Test
  void variablesHoldTensors() {
    try (Variable w = new Variable(Tensor.of(1f, 2f), "w")) {
      assertEquals("w", w.name());
      assertEquals("cpu:0", w.device());
      assertArrayEquals(new long[] {2}, w.shape());
      Tensor before = w.read();
      w.assign(before.mul(10));
      assertArrayEquals(new float[] {1, 2}, before.toFloats());
      assertArrayEquals(new float[] {10, 20}, w.read().toFloats());
      assertTrue(w.isTrainable());
      w.setTrainable(false);
      assertFalse(w.isTrainable());
    }
  }

  @Test
  void tapeComputesGradientsWithRespectToVariablesAndTensors() {
    Tensor x = Tensor.of(2f, 3f);
    try (Variable w = new Variable(Tensor.of(4f, 5f));
        Tape tape = new Tape()) {
      tape.watch(x);
      assertTrue(tape.isRecording());
      Tensor loss = w.read().mul(x).square().sum();
      assertEquals(2, tape.watched().size());
      List<Tensor> grads = tape.gradients(loss, List.of(w, x));
      assertArrayEquals(new float[] {32, 90}, grads.get(0).toFloats());
      assertArrayEquals(new float[] {64, 150}, grads.get(1).toFloats());
      assertEquals(
          Code.FAILED_PRECONDITION,
          assertThrows(TenonException.class, () -> tape.gradient(loss, x)).code());
    }
  }

  @Test
  void persistentTapeComputesGradientsTwice() {
    Tensor x = Tensor.of(3f);
    Tensor unused = Tensor.of(1f);
    try (Tape tape = new Tape(true, true)) {
      tape.watch(x);
      tape.watch(unused);
      Tensor y = x.square();
      assertEquals(6, tape.gradient(y, x).item());
      assertEquals(
          12,
          tape.gradients(List.of(y), List.of(Tensor.of(2f)), List.of(x), Tape.Unreached.ZEROS)
              .get(0)
              .item());
      assertNull(
          tape.gradients(List.of(y), null, List.of(unused), Tape.Unreached.NULL).get(0));
      assertArrayEquals(new float[] {6}, tape.jacobian(y, x).toFloats());
    }
  }

  @Test
  void pausedTapeRecordsNothing() {
    Tensor x = Tensor.of(3f);
    try (Tape tape = new Tape()) {
      tape.watch(x);
      tape.pause();
      Tensor y = x.square();
      tape.resume();
      assertEquals(0, tape.gradient(y, x).item());
      tape.reset();
      assertTrue(tape.isRecording());
    }
  }

  @Test
  void gradientsNest() {
    UnaryOperator<Tensor> cube = x -> x.mul(x).mul(x);
    UnaryOperator<Tensor> slope = Gradients.grad(cube);
    assertEquals(12, slope.apply(Tensor.of(2f)).item());
    assertEquals(12, Gradients.grad(slope).apply(Tensor.of(2f)).item());
    assertEquals(6, Gradients.grad(Gradients.grad(slope)).apply(Tensor.of(2f)).item());
  }

  @Test
  void lambdaIsDifferentiatedWithRespectToTheVariablesThatItReads() {
    try (Variable w = new Variable(Tensor.of(3f))) {
      var result =
          Gradients.valueAndGradients(
              2, in -> List.of(in.get(0).mul(w.read()), in.get(0)), Tensor.of(2f));
      assertEquals(6, result.value().item());
      assertEquals(2, result.outputs().get(1).item());
      assertEquals(3, result.gradients().get(0).item());
      assertEquals(1, result.variables().size());
      assertEquals(2, result.variables().get(0).gradient().item());
    }
  }

  @Test
  void customGradientReplacesTheGradientOfTheOps() {
    Tensor x = Tensor.of(2f);
    try (Tape tape = new Tape()) {
      tape.watch(x);
      Tensor y =
          Gradients.customGradient(
              in -> List.of(in.get(0).square()),
              call -> List.of(call.cotangents().get(0).mul(100)),
              x);
      assertEquals(4, y.item());
      assertEquals(100, tape.gradient(y, x).item());
    }
  }

  @Test
  void exceptionsOfLambdasPropagateUnchanged() {
    RuntimeException thrown = new IllegalStateException("mine");
    RuntimeException got =
        assertThrows(
            IllegalStateException.class,
            () ->
                Gradients.grad(
                        x -> {
                          throw thrown;
                        })
                    .apply(Tensor.of(1f)));
    assertSame(thrown, got);
    TenonException[] inside = new TenonException[1];
    TenonException outside =
        assertThrows(
            TenonException.class,
            () ->
                Gradients.grad(
                        x -> {
                          inside[0] =
                              assertThrows(TenonException.class, () -> x.softmax(7));
                          throw inside[0];
                        })
                    .apply(Tensor.of(1f)));
    assertSame(inside[0], outside);
  }

  @Test
  void exceptionsOfDerivativesPropagate() {
    Error thrown = new AssertionError("in backward");
    Tensor x = Tensor.of(2f);
    try (Tape tape = new Tape()) {
      tape.watch(x);
      Tensor y =
          Gradients.customGradient(
              in -> List.of(in.get(0).square()),
              call -> {
                throw thrown;
              },
              x);
      assertSame(thrown, assertThrows(AssertionError.class, () -> tape.gradient(y, x)));
    }
  }

  @Test
  void wrongNumberOfGradientsIsAnError() {
    Tensor x = Tensor.of(2f);
    try (Tape tape = new Tape()) {
      tape.watch(x);
      Tensor y =
          Gradients.customGradient(in -> List.of(in.get(0).square()), call -> List.of(), x);
      TenonException wrong = assertThrows(TenonException.class, () -> tape.gradient(y, x));
      assertTrue(wrong.getMessage().contains("0 tensors instead of 1"), wrong.getMessage());
    }
  }
}
