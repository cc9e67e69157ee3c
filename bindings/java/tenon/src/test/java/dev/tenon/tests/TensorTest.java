package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Code;
import dev.tenon.DType;
import dev.tenon.Leaks;
import dev.tenon.Ops;
import dev.tenon.Scope;
import dev.tenon.Tenon;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Creating and reading tensors, and ops on them. */
class TensorTest {
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
  void versionMatchesTheLibrary() {
    assertTrue(Tenon.version().startsWith(Tenon.versionNumber() / 1000000 + "."));
  }

  @Test
  void arraysAreReadBackUnchanged() {
    Tensor x = Tensor.of(new float[][] {{1, 2, 3}, {4, 5, 6}});
    assertEquals(DType.FLOAT32, x.dtype());
    assertEquals(2, x.rank());
    assertArrayEquals(new long[] {2, 3}, x.shape());
    assertArrayEquals(new long[] {3, 1}, x.strides());
    assertEquals(3, x.size(-1));
    assertEquals(6, x.count());
    assertEquals(24, x.bytes());
    assertEquals("cpu:0", x.device());
    assertArrayEquals(new float[] {1, 2, 3, 4, 5, 6}, x.toFloats());
    assertArrayEquals(new float[] {1, 4, 2, 5, 3, 6}, x.transpose().toFloats());
    assertArrayEquals(new double[] {1.5}, Tensor.of(1.5).toDoubles());
    assertArrayEquals(new int[] {1, 2}, Tensor.of(1, 2).toInts());
    assertArrayEquals(new long[] {7}, Tensor.of(new long[] {7}, 1).toLongs());
    assertArrayEquals(
        new byte[] {1, 0}, Tensor.of(new boolean[] {true, false}, 2).toBytes());
  }

  @Test
  void largeArraysAreReadBackUnchanged() {
    float[] many = new float[100_000];
    for (int i = 0; i < many.length; ++i) {
      many[i] = i;
    }
    assertArrayEquals(many, Tensor.of(many, 100, 1000).toFloats());
  }

  @Test
  void rowsOfDifferentLengthsAreAnError() {
    TenonException wrong =
        assertThrows(TenonException.class, () -> Tensor.of(new float[][] {{1, 2}, {3}}));
    assertEquals("of: row 1 has 1 elements, and row 0 has 2", wrong.getMessage());
  }

  @Test
  void tensorsPrintAsNumPyDoes() {
    Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
    assertEquals("[[1. 2.]\n [3. 4.]]", x.toString());
    assertEquals("[[1. 2.]\n [3. 4.]] : f32[2,2] on cpu:0", x.describe());
  }

  @Test
  void opsAreMethodsAndFunctions() {
    Tensor x = Tensor.of(1f, 2f, 3f);
    assertArrayEquals(Ops.softmax(x, 0).toFloats(), x.softmax(0).toFloats());
    assertArrayEquals(new float[] {3, 5, 7}, x.mul(2).add(1).toFloats());
    assertArrayEquals(new float[] {4, 3, 2}, Ops.sub(5, x).toFloats());
    assertArrayEquals(new float[] {1.5f, 2.5f, 3.5f}, Ops.add(0.5, x).toFloats());
    assertArrayEquals(
        new float[] {1, 2, 3, 1, 2, 3}, Ops.concat(List.of(x, x), 0).toFloats());
    assertEquals(6, x.sum().item());
    assertEquals(3, x.count_nonzero().itemLong());
    assertTrue(x.greater(0).all().isTrue());
  }

  @Test
  void severalOutputsAreRecords() {
    var top = Tensor.of(1f, 5f, 3f).top_k(2);
    assertArrayEquals(new float[] {5, 3}, top.values().toFloats());
    assertArrayEquals(new long[] {1, 2}, top.indices().toLongs());
    List<Tensor> parts =
        Ops.split(Tensor.of(1f, 2f, 3f, 4f), 2, new Ops.SplitAttrs().num_outputs(2));
    assertArrayEquals(new float[] {3, 4}, parts.get(1).toFloats());
  }

  @Test
  void attributesHaveTheirDefaultsUntilTheyAreSet() {
    Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
    assertEquals(10, x.sum(new Ops.SumAttrs()).item());
    assertArrayEquals(
        new long[] {2, 1}, x.sum(new Ops.SumAttrs().axes(1).keepdims(true)).shape());
    Tensor padded =
        x.pad(new Ops.PadAttrs().pads(0, 1, 0, 0).mode(Ops.PadMode.REFLECT));
    assertArrayEquals(new float[] {2, 1, 2, 4, 3, 4}, padded.toFloats());
  }

  @Test
  void indexSelectsAnElementOfTheFirstAxis() {
    Tensor x = Tensor.of(new float[][] {{1, 2}, {3, 4}});
    assertArrayEquals(new float[] {3, 4}, x.get(-1).toFloats());
    assertEquals(
        Code.OUT_OF_RANGE, assertThrows(TenonException.class, () -> x.get(2)).code());
  }

  @Test
  void errorsHaveTheirFieldsAndTheSourceLine() {
    Tensor x = Tensor.of(1f, 2f, 3f);
    TenonException wrong = assertThrows(TenonException.class, () -> x.softmax(2));
    assertEquals(Code.INVALID_ARGUMENT, wrong.code());
    assertEquals("softmax", wrong.op());
    assertTrue(wrong.getMessage().startsWith("softmax: C"), wrong.getMessage());
    assertTrue(wrong.location().startsWith("TensorTest.java:"), wrong.location());
  }

  @Test
  void readingAsAnotherElementTypeIsAnError() {
    TenonException wrong =
        assertThrows(TenonException.class, () -> Tensor.of(1, 2).toFloats());
    assertEquals("the elements are i32, not f32; use cast", wrong.getMessage());
  }

  @Test
  void importedMemoryIsSharedUntilItIsReleased() {
    AtomicInteger done = new AtomicInteger();
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4);
      Tensor x =
          Tensor.lend(
              memory, DType.FLOAT32, new long[] {2}, new long[] {2}, done::incrementAndGet);
      assertArrayEquals(new float[] {1, 3}, x.toFloats());
      assertEquals(0, done.get());
      x.close();
      assertEquals(1, done.get());
    }
  }

  @Test
  void heapMemoryCannotBeImported() {
    AtomicInteger done = new AtomicInteger();
    MemorySegment heap = MemorySegment.ofArray(new float[] {1, 2});
    assertThrows(
        TenonException.class,
        () -> Tensor.lend(heap, DType.FLOAT32, new long[] {2}, null, done::incrementAndGet));
    assertEquals(1, done.get());
  }

  @Test
  void directBuffersAreImportedAndHeapBuffersCopied() {
    FloatBuffer direct =
        ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder()).asFloatBuffer();
    direct.put(0, 1).put(1, 2);
    Tensor lent = Tensor.of(direct.slice(0, 2), 2);
    assertEquals(
        MemorySegment.ofBuffer(direct).address(), lent.data().address(), "it was copied");
    Tensor copied = Tensor.of(FloatBuffer.wrap(new float[] {5, 6}), 2);
    assertArrayEquals(new float[] {5, 6}, copied.toFloats());
    FloatBuffer out = FloatBuffer.allocate(2);
    lent.add(copied).readInto(out);
    assertArrayEquals(new float[] {6, 8}, out.array());
  }

  @Test
  void elementsAreReadInPlaceWhileTheSegmentIsValid() {
    MemorySegment data;
    try (Tensor x = Tensor.of(1f, 2f)) {
      data = x.data();
      assertEquals(2, x.floatBuffer().get(1));
      assertNotNull(data);
    }
    assertEquals(2, data.getAtIndex(ValueLayout.JAVA_FLOAT, 1));
    assertTrue(data.isReadOnly());
  }

  @Test
  void elementsAreReadWithoutBlocking() throws Exception {
    MemorySegment read = Tensor.of(1f, 2f).mul(3).readAsync().get();
    assertEquals(6, read.getAtIndex(ValueLayout.JAVA_FLOAT, 1));
    scope.awaitAsync().get();
  }

  @Test
  void donatedTensorsCannotBeUsedAgain() {
    Tensor x = Tensor.of(1f, 2f);
    x.donate();
    assertArrayEquals(new float[] {2, 4}, x.mul(2).toFloats());
    assertThrows(TenonException.class, () -> x.mul(2));
  }

  @Test
  void closedTensorsCannotBeUsed() {
    Tensor x = Tensor.of(1f);
    x.close();
    x.close();
    assertTrue(x.isClosed());
    assertThrows(IllegalStateException.class, x::exp);
    assertThrows(IllegalStateException.class, () -> x.add(1));
    assertEquals("closed tensor", x.toString());
  }

  @Test
  void scopeFreesAllTensorsExceptKeptOnes() {
    Tensor kept;
    Tensor lost;
    try (Scope inner = Scope.open()) {
      lost = Tensor.of(1f);
      kept = inner.keep(lost.add(1));
      lost.mul(3);
      assertEquals(2, inner.count());
    }
    assertTrue(lost.isClosed());
    assertFalse(kept.isClosed());
    assertEquals(2, kept.item());
  }

  @Test
  void openInnerScopesCloseWithTheOuterScope() {
    Tensor x;
    try (Scope outer = Scope.open()) {
      Scope.open();
      x = Tensor.of(1f);
    }
    assertTrue(x.isClosed());
    assertFalse(Tensor.of(1f).isClosed());
  }

  @Test
  void scopeCannotBeUsedOnAnotherThread() throws Exception {
    Tensor x = Tensor.of(1f);
    Throwable[] thrown = new Throwable[2];
    Thread other =
        Thread.ofVirtual()
            .start(
                () -> {
                  thrown[0] = assertThrows(IllegalStateException.class, scope::close);
                  thrown[1] = assertThrows(IllegalStateException.class, x::close);
                });
    other.join();
    assertNotNull(thrown[0]);
    assertNotNull(thrown[1]);
  }

  @Test
  void trackedCountFallsWhenTensorsAreClosed() {
    Tensor kept = scopeless();
    long before = Leaks.tracked();
    kept.close();
    assertEquals(before - 1, Leaks.tracked());
  }

  private Tensor scopeless() {
    Tensor[] made = new Tensor[1];
    try {
      Thread.ofPlatform().start(() -> made[0] = Tensor.of(1f)).join();
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
    return made[0];
  }
}
