package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tenon.Context;
import dev.tenon.Control;
import dev.tenon.Effects;
import dev.tenon.Function;
import dev.tenon.Generator;
import dev.tenon.Ops;
import dev.tenon.Safetensors;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import dev.tenon.Variable;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/languages.md: twenty tasks in Java. docs/snippets/languages.c is the same in C. Each task
 * is the code between the comments [name] and [end].
 */
class LanguagesTest {
  private static Tensor valuesAndOps() {
    // [make]
    Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
    // [end]

    // [arithmetic]
    Tensor y = x.mul(2).add(x);
    // [end]
    assertArrayEquals(new float[] {3, 6, 9, 12}, y.toFloats());

    // [attributes]
    Tensor rows = x.sum(new Ops.SumAttrs().axes(1).keepdims(true));
    // [end]
    assertArrayEquals(new float[] {3, 7}, rows.toFloats());

    // [outputs]
    Ops.TopKOutputs top = x.top_k(1);
    Tensor values = top.values();
    Tensor indices = top.indices();
    // [end]
    assertArrayEquals(new float[] {2, 4}, values.toFloats());
    assertArrayEquals(new long[] {1, 1}, indices.toLongs());

    // [index]
    Tensor lastRow = x.slice(new Ops.SliceAttrs().starts(1).ends(2).axes(0));
    // [end]
    assertArrayEquals(new float[] {3, 4}, lastRow.toFloats());
    return x;
  }

  private static void reading(Tensor x) {
    // [shape]
    long[] shape = x.shape();
    // [end]
    assertArrayEquals(new long[] {2, 2}, shape);

    // [item]
    double number = x.sum().item();
    // [end]
    assertEquals(10, number);

    // [read]
    float[] host = x.toFloats();
    // [end]
    assertEquals(4, host[3]);

    // [print]
    System.out.println(x);
    // [end]
    assertEquals("[[1. 2.]\n [3. 4.]]", x.toString());

    // [device]
    Tensor there = x.to("cpu");
    // [end]
    assertEquals("cpu:0", there.device());

    // [random]
    Tensor noise;
    try (var generator = new Generator(7)) {
      noise = generator.normal(2, 2);
    }
    // [end]
    assertArrayEquals(new long[] {2, 2}, noise.shape());

    // [error]
    try {
      x.softmax(5);
    } catch (TenonException error) {
      System.out.println(error.getMessage());
    }
    // [end]
    assertEquals(
        "softmax: C2: axis 5 is outside [-2, 2) for x: f32[2,2]",
        assertThrows(TenonException.class, () -> x.softmax(5)).getMessage());
  }

  private static void training(Tensor x) {
    // [variable]
    Variable w = new Variable(x);
    w.assign(w.read());
    // [end]

    // [gradient]
    Tensor gradient;
    try (var tape = new Tape()) {
      Tensor loss = w.read().square().sum();
      gradient = tape.gradient(loss, w);
    }
    // [end]
    assertArrayEquals(new float[] {2, 4, 6, 8}, gradient.toFloats());
    w.close();
  }

  private static void functions(Tensor x) {
    // [function]
    Tensor product;
    try (var scaled = Function.of((a, b) -> a.mul(b))) {
      product = scaled.apply(x, x);
    }
    // [end]
    assertArrayEquals(new float[] {1, 4, 9, 16}, product.toFloats());

    Tensor start = Tensor.of(3f);

    // [cond]
    Tensor chosen = Control.cond(start.greater(0).all(), () -> start.neg(), () -> start);
    // [end]
    assertEquals(-3, chosen.item());

    // [while_loop]
    Tensor last =
        Control.whileLoop(
                in -> List.of(in.get(0).less(100)),
                in -> List.of(in.get(0).add(in.get(0))),
                Tensor.scalar(3.0))
            .get(0);
    // [end]
    assertEquals(192, last.item());

    // [host_call]
    Tensor printed =
        Effects.hostCall(
            value -> {
              System.out.println("host: " + value.item());
              return value;
            },
            last);
    // [end]
    assertEquals(192, printed.item());
  }

  private static void files(Tensor x, Path path) {
    // [safetensors]
    Safetensors.save(path, Map.of("x", x));
    Tensor loaded = Safetensors.load(path).get("x");
    // [end]
    assertArrayEquals(new float[] {1, 2, 3, 4}, loaded.toFloats());
  }

  @Test
  void tasksOfTheLanguagesPageRun(@TempDir Path folder) {
    // [context]
    try (var context = new Context();
        var scope = Scope.open(context)) {
      // [end]
      Tensor x = valuesAndOps();
      reading(x);
      training(x);
      functions(x);
      files(x, folder.resolve("languages.safetensors"));
    }
  }
}
