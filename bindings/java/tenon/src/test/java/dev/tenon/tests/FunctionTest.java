package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Code;
import dev.tenon.Context;
import dev.tenon.Control;
import dev.tenon.DType;
import dev.tenon.Effects;
import dev.tenon.Function;
import dev.tenon.InputSpec;
import dev.tenon.Ops;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.Tenon;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import dev.tenon.TensorList;
import dev.tenon.Trace;
import dev.tenon.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Functions, control flow, effects and lists. */
class FunctionTest {
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
  void functionIsTracedOnce() {
    AtomicInteger runs = new AtomicInteger();
    try (Function f =
        Function.of(
            (x, w) -> {
              runs.incrementAndGet();
              return x.mul(w).add(1);
            })) {
      Tensor x = Tensor.of(1f, 2f);
      assertArrayEquals(new float[] {2, 5}, f.apply(x, x).toFloats());
      assertArrayEquals(new float[] {2, 5}, f.apply(x, x).toFloats());
      assertEquals(1, runs.get());
      assertEquals(1, f.traces().size());
      assertTrue(f.explain().contains("made because there was no earlier call"), f.explain());
    }
  }

  @Test
  void wrongNumberOfInputsIsAnError() {
    try (Function f = Function.of((a, b, c) -> a.add(b).add(c))) {
      Tensor x = Tensor.of(1f);
      assertEquals(3, f.apply(x, x, x).item());
      assertEquals(
          "function: the lambda takes 3 tensors, but 1 were passed",
          assertThrows(TenonException.class, () -> f.apply(x)).getMessage().replaceAll(" \\[.*", ""));
    }
  }

  @Test
  void tracesCanBeCalledAndQueriedByArguments() {
    try (Function f = Function.ofBlock(in -> List.of(in.get(0).exp(), in.get(0).neg()))) {
      Trace trace = f.trace(InputSpec.of("x", DType.FLOAT32, InputSpec.UNKNOWN));
      assertEquals(1, trace.countInputs());
      assertEquals(2, trace.countOutputs());
      assertArrayEquals(
          new float[] {-1, -2}, trace.call(Tensor.of(1f, 2f)).get(1).toFloats());
      assertTrue(trace.toString().contains("exp"), trace.toString());
      assertEquals(List.of(), trace.effects());
      assertEquals(List.of(), trace.variables());
      assertEquals(1, f.traceFor(Map.of(), Tensor.of(1f)).countInputs());
    }
  }

  @Test
  void bodyReceivesStaticArgumentsUnchanged() {
    List<Map<String, Object>> got = new ArrayList<>();
    Function.Options options =
        new Function.Options().name("power").maxOutputs(1).defaults(Map.of("k", 2));
    try (Function f =
        Function.of(
            (in, statics) -> {
              got.add(statics);
              return List.of(in.get(0).pow(((Long) statics.get("k")).longValue()));
            },
            options)) {
      Tensor x = Tensor.of(3f);
      assertEquals(9, f.call(x).get(0).item());
      Map<String, Object> statics =
          Map.of("k", 3, "flag", true, "rate", 0.5, "name", "n", "list", List.of(1, "a"));
      assertEquals(27, f.call(statics, x).get(0).item());
      assertEquals(true, got.get(1).get("flag"));
      assertEquals(0.5, got.get(1).get("rate"));
      assertEquals(List.of(1L, "a"), got.get(1).get("list"));
    }
  }

  @Test
  void callsThatDoNotMatchTheSignatureFail() {
    Function.Options options =
        new Function.Options().signature(InputSpec.of("x", DType.FLOAT32, 2)).maxTraces(1);
    try (Function f = Function.of((in, statics) -> List.of(in.get(0).exp()), options)) {
      assertEquals(2, f.call(Tensor.of(1f, 2f)).get(0).count());
      assertThrows(TenonException.class, () -> f.call(Tensor.of(1f)));
    }
  }

  @Test
  void oneTraceServesIndexingAtEverySize() {
    Function.Options options =
        new Function.Options().signature(InputSpec.of("x", DType.FLOAT32, InputSpec.UNKNOWN));
    Function.Body last =
        (in, statics) -> {
          // The size is unknown while tracing, so reading it throws.
          for (Executable read :
              List.<Executable>of(() -> in.get(0).size(0), () -> in.get(0).shape())) {
            TenonException thrown = assertThrows(TenonException.class, read);
            assertEquals(Code.FAILED_PRECONDITION, thrown.code());
          }
          return List.of(in.get(0).get(-1));
        };
    try (Function f = Function.of(last, options)) {
      assertEquals(2, f.apply(Tensor.of(1f, 2f)).item());
      assertEquals(3, f.apply(Tensor.of(1f, 2f, 3f)).item());
      assertEquals(1, f.traces().size());
    }
  }

  @Test
  void gradientsOfFunctionsAreFunctions() {
    try (Function f = Function.of(x -> x.mul(x).mul(x));
        Function slope = f.gradient();
        Function curvature = slope.gradient()) {
      assertEquals(12, slope.apply(Tensor.of(2f)).item());
      assertEquals(12, curvature.apply(Tensor.of(2f)).item());
    }
  }

  @Test
  void exceptionsPropagateUnchangedAndLeaveTheFunctionUsable() {
    RuntimeException thrown = new UnsupportedOperationException("once");
    boolean[] fails = {true};
    try (Function f =
        Function.of(
            x -> {
              if (fails[0]) {
                throw thrown;
              }
              return x.neg();
            })) {
      Tensor x = Tensor.of(1f);
      assertSame(
          thrown, assertThrows(UnsupportedOperationException.class, () -> f.apply(x)));
      fails[0] = false;
      assertEquals(-1, f.apply(x).item());
    }
  }

  @Test
  void errorsOfTracedCallsNameTheLineOfTheOp() {
    int[] line = new int[1];
    try (Function f =
        Function.of(
            (x, i) -> {
              Tensor y = x.mul(2);
              line[0] = new Throwable().getStackTrace()[0].getLineNumber() + 1;
              return y.gather(i);
            })) {
      Tensor x = Tensor.of(1f, 2f);
      assertEquals(4, f.apply(x, Tensor.of(1)).item());
      TenonException wrong =
          assertThrows(TenonException.class, () -> f.apply(x, Tensor.of(5)));
      assertEquals(Code.OUT_OF_RANGE, wrong.code());
      assertEquals("FunctionTest.java:" + line[0], wrong.location());
      TenonException eager = assertThrows(TenonException.class, () -> x.softmax(7));
      assertNotEquals(wrong.location(), eager.location());
    }
  }

  @Test
  void tracedTensorsAreInvalidAfterTracing() {
    Tensor[] escaped = new Tensor[1];
    try (Function f = Function.of(x -> escaped[0] = x.add(1))) {
      f.apply(Tensor.of(1f));
      assertTrue(escaped[0].isClosed());
    }
  }

  @Test
  void condSelectsABranchByTheValueOfThePredicate() {
    for (boolean traced : new boolean[] {false, true}) {
      try (Function f =
          Function.of(
              x -> Control.cond(x.sum().greater(0), () -> x.square(), () -> x.neg()))) {
        Context.shared().runFunctionsEagerly(!traced);
        assertEquals(9, f.apply(Tensor.of(3f)).item());
        assertEquals(3, f.apply(Tensor.of(-3f)).item());
      } finally {
        Context.shared().runFunctionsEagerly(false);
      }
    }
    List<Tensor> chosen =
        Control.switchCase(
            Tensor.scalar(1),
            List.of(in -> List.of(Tensor.of(10f)), in -> List.of(Tensor.of(20f))));
    assertEquals(20, chosen.get(0).item());
  }

  @Test
  void loopsRunInsideAndOutsideFunctions() {
    try (Function f =
        Function.of(
            x ->
                Control.whileLoop(
                        in -> List.of(in.get(0).less(5)),
                        in -> List.of(in.get(0).add(1), in.get(1).mul(x)),
                        Tensor.scalar(0),
                        x)
                    .get(1))) {
      assertEquals(64, f.apply(Tensor.of(2f)).item());
      Tensor x = Tensor.of(2f);
      try (Tape tape = new Tape()) {
        tape.watch(x);
        assertEquals(6 * 32, tape.gradient(f.apply(x), x).item());
      }
    }
    TenonException endless =
        assertThrows(
            TenonException.class,
            () ->
                Control.whileLoop(
                    Control.LoopPolicy.STACK,
                    3,
                    in -> List.of(in.get(0).less(100)),
                    in -> List.of(in.get(0).add(1)),
                    Tensor.scalar(0)));
    assertEquals(Code.INVALID_ARGUMENT, endless.code());
  }

  @Test
  void scanReturnsCarriedAndStackedTensors() {
    Tensor xs = Tensor.of(1f, 2f, 3f);
    var result =
        Control.scan(
            in -> {
              Tensor sum = in.get(0).add(in.get(1));
              return List.of(sum, sum);
            },
            List.of(Tensor.of(new float[] {0}, new long[0])),
            List.of(xs));
    assertEquals(6, result.carried().get(0).item());
    assertArrayEquals(new float[] {1, 3, 6}, result.stacked().get(0).toFloats());
    assertArrayEquals(new long[] {3}, Control.shape(xs).toLongs());
  }

  @Test
  void exceptionsOfBlocksPropagateUnchanged() {
    RuntimeException thrown = new ArithmeticException("in a block");
    assertSame(
        thrown,
        assertThrows(
            ArithmeticException.class,
            () ->
                Control.whileLoop(
                    in -> List.of(in.get(0).less(5)),
                    in -> {
                      throw thrown;
                    },
                    Tensor.scalar(0))));
  }

  @Test
  void effectsRunAtEachCallAndNotWhileTracing() {
    List<String> lines = new ArrayList<>();
    Effects.onPrint(lines::add);
    try (Function f =
        Function.of(
            x -> {
              Effects.print("x is {}", x);
              Effects.assertThat(x.less(10).all(), "x is too large: {}", x);
              return Effects.hostCall(y -> y.item() > 0 ? y.mul(2) : y.neg(), x);
            })) {
      assertEquals(4, f.apply(Tensor.of(new float[] {2}, new long[0])).item());
      assertEquals(3, f.apply(Tensor.of(new float[] {-3}, new long[0])).item());
      assertEquals(List.of("x is 2.0\n", "x is -3.0\n"), lines);
      TenonException failed =
          assertThrows(
              TenonException.class,
              () -> f.apply(Tensor.of(new float[] {20}, new long[0])));
      assertEquals(Code.FAILED_PRECONDITION, failed.code());
      assertEquals(
          List.of("print", "assert", "host_call"), f.traces().get(0).effects());
    } finally {
      Effects.onPrint(null);
    }
  }

  @Test
  void exceptionsOfHostCallsPropagateUnchanged() {
    RuntimeException thrown = new IllegalArgumentException("host");
    try (Function f =
        Function.of(
            x ->
                Effects.hostCall(
                    y -> {
                      throw thrown;
                    },
                    x.neg()))) {
      assertSame(
          thrown,
          assertThrows(IllegalArgumentException.class, () -> f.apply(Tensor.of(1f))));
    }
  }

  @Test
  void variablesAreReadAndAssignedByTraces() {
    try (Variable counter = new Variable(Tensor.of(0f), "counter", false);
        Function f =
            Function.of(
                x -> {
                  counter.assign(counter.read().add(x));
                  return counter.read();
                })) {
      f.apply(Tensor.of(2f));
      assertEquals(4, f.apply(Tensor.of(2f)).item());
      assertEquals("counter", f.traces().get(0).variables().get(0).name());
    }
  }

  @Test
  void listsStoreTensors() {
    TensorList list = TensorList.of(DType.FLOAT32, 2, 2).push(Tensor.of(1f, 2f));
    list = list.push(Tensor.of(3f, 4f)).set(Tensor.scalar(0), Tensor.of(5f, 6f));
    assertEquals(2, list.length().itemLong());
    assertArrayEquals(new float[] {5, 6, 3, 4}, list.stack().toFloats());
    assertArrayEquals(new float[] {5, 6, 3, 4}, list.concat(null).toFloats());
    assertArrayEquals(new float[] {3, 4}, list.get(Tensor.scalar(1)).toFloats());
    TensorList parts = TensorList.unstack(list.stack());
    assertEquals(2, parts.length().itemLong());
    assertEquals(0, TensorList.like(Tensor.of(1f), 1).length().itemLong());
    assertThrows(TenonException.class, () -> new TensorList(Tensor.of(1f)));
  }

  @Test
  void passesAreListedAndDisabled() {
    assertTrue(Tenon.passes().size() > 3);
    String name = Tenon.passes().get(0).name();
    Context.shared().setPass(name, false);
    Context.shared().setPass(name, true);
    assertThrows(TenonException.class, () -> Context.shared().setPass("no such pass", true));
  }

  @Test
  void scopesReportWhetherTheyAreTracing() {
    boolean[] traced = new boolean[1];
    try (Function f =
        Function.of(
            x -> {
              try (Scope inner = Scope.open()) {
                traced[0] = inner.isTracing();
                return inner.keep(Ops.exp(x));
              }
            })) {
      f.apply(Tensor.of(0f));
      assertTrue(traced[0]);
    }
  }
}
