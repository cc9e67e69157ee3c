package dev.tenon.tests;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tenon.Backward;
import dev.tenon.Code;
import dev.tenon.Context;
import dev.tenon.Control;
import dev.tenon.CustomOp;
import dev.tenon.DType;
import dev.tenon.Device;
import dev.tenon.Dlpack;
import dev.tenon.Function;
import dev.tenon.Generator;
import dev.tenon.HostArray;
import dev.tenon.InputSpec;
import dev.tenon.Op;
import dev.tenon.Ops;
import dev.tenon.Profiler;
import dev.tenon.Program;
import dev.tenon.Safetensors;
import dev.tenon.Scope;
import dev.tenon.Tape;
import dev.tenon.TenonException;
import dev.tenon.Tensor;
import dev.tenon.TensorType;
import dev.tenon.Variable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contexts, devices, files, custom ops, random numbers, profiles and DLPack. */
class FilesTest {
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
  void strictRefusesWrongDeclaredShapes(@TempDir Path folder) throws Exception {
    // Computes y = -x for x: f32[2], but declares y: f32[7].
    byte[] model =
        HexFormat.of()
            .parseHex(
                "080a420210143a320a0b0a017812017922034e65671201675a0f0a0178120a0a08080112040a020802"
                    + "620f0a0179120a0a08080112040a020807");
    Path path = folder.resolve("wrong.onnx");
    Files.write(path, model);
    Tensor x = Tensor.of(1f, -2f);
    try (Program lenient = new Program(path);
        Function negated = lenient.function("g");
        Program strict = new Program(path, true);
        Function refused = strict.function("g")) {
      assertArrayEquals(new float[] {-1, 2}, negated.apply(x).toFloats());
      TenonException error = assertThrows(TenonException.class, () -> refused.apply(x));
      assertEquals(Code.DATA_LOSS, error.code());
    }
  }

  @Test
  void contextsListDevicesAndPlugins() {
    try (Context context = new Context(new Context.Options().threads(1).deterministic(true))) {
      Device cpu = context.device("cpu");
      assertEquals("cpu:0", cpu.name());
      assertEquals(Device.Kind.CPU, cpu.info().kind());
      assertEquals("cpu:0", cpu.info().name());
      assertTrue(context.devices().stream().anyMatch(each -> each.name().equals("cpu:0")));
      assertTrue(
          context.candidates().stream()
              .anyMatch(
                  each ->
                      each.name().equals("cpu")
                          && each.state() == Context.PluginState.LOADED));
      assertEquals(
          Code.NOT_FOUND,
          assertThrows(TenonException.class, () -> context.device("no such device")).code());
      assertThrows(TenonException.class, () -> context.loadPlugin("/no/such/file.so"));
    }
  }

  @Test
  void devicesReportTheirAllocatedMemory() {
    try (Context context = new Context();
        Scope inside = Scope.open(context)) {
      Device cpu = inside.device();
      long before = cpu.memory().liveBytes();
      Tensor x = Tensor.of(new float[1000], 1000);
      assertTrue(cpu.memory().liveBytes() >= before + 4000);
      assertTrue(cpu.memory().peakBytes() >= before + 4000);
      x.close();
      assertEquals(before, cpu.memory().liveBytes());
      cpu.trim();
      cpu.resetPeak();
      assertEquals(before, cpu.memory().peakBytes());
    }
  }

  @Test
  void exceedingAMemoryLimitIsAnError() {
    try (Context context = new Context(new Context.Options().memoryLimit(1 << 20));
        Scope inside = Scope.open(context)) {
      TenonException full =
          assertThrows(TenonException.class, () -> Tensor.of(new float[1 << 20], 1 << 20));
      assertEquals(Code.OUT_OF_MEMORY, full.code());
    }
  }

  @Test
  void scopesCanChangeTheirDevice() {
    try (Context context = new Context();
        Scope inside = Scope.open(context, "cpu")) {
      inside.setDevice("ref");
      Tensor x = Tensor.of(1f, 2f);
      assertEquals("ref:0", x.device());
      Tensor copy = x.to("cpu");
      assertEquals("cpu:0", copy.device());
      assertArrayEquals(new float[] {1, 2}, copy.toFloats());
      inside.await();
    }
  }

  @Test
  void cancelledCallsThrow() {
    try (Context context = new Context();
        Scope inside = Scope.open(context)) {
      TenonException cancelled =
          assertThrows(
              TenonException.class,
              () ->
                  Control.whileLoop(
                      in -> List.of(in.get(0).less(5)),
                      in -> {
                        inside.cancel();
                        return List.of(in.get(0).add(1));
                      },
                      Tensor.scalar(0)));
      assertEquals(Code.CANCELLED, cancelled.code());
      context.cancel();
      assertEquals(2, Tensor.of(1f).mul(2).item());
    }
  }

  @Test
  void logMessagesAreDeliveredToJava() {
    List<String> messages = new ArrayList<>();
    Context.Options options =
        new Context.Options()
            .pluginPath(System.getProperty("tenon.fake"))
            .pluginOption("fake", "refuse_op", "1")
            .log(
                Context.LogLevel.DEBUG,
                (level, message) -> {
                  synchronized (messages) {
                    messages.add(message);
                  }
                });
    try (Context context = new Context(options);
        Scope inside = Scope.open(context)) {
      // The plugin `fake` is configured to refuse op 1, neg, so the CPU runs it and a warning is
      // logged.
      inside.setDevice("fake");
      assertArrayEquals(new float[] {-1, -2}, Tensor.of(1f, 2f).neg().toFloats());
    }
    assertFalse(messages.isEmpty());
  }

  @Test
  void safetensorsHoldNamedTensors(@TempDir Path folder) throws Exception {
    Path path = folder.resolve("all.safetensors");
    Map<String, Tensor> all = Map.of("a", Tensor.of(1f, 2f), "b", Tensor.of(3));
    Safetensors.save(path, all, Map.of("author", "me"));
    Map<String, Tensor> loaded = Safetensors.load(path);
    assertArrayEquals(new float[] {1, 2}, loaded.get("a").toFloats());
    try (Safetensors file = Safetensors.of(Safetensors.write(all, Map.of("k", "v")))) {
      assertEquals(Map.of("k", "v"), file.metadata());
      assertEquals(2, file.entries().size());
      assertEquals(3, file.read("b").item());
      assertEquals(
          Code.NOT_FOUND, assertThrows(TenonException.class, () -> file.read("c")).code());
    }
    Files.write(path, new byte[] {1, 2, 3});
    assertThrows(TenonException.class, () -> new Safetensors(path));
  }

  @Test
  void programsAreSavedAndOpened(@TempDir Path folder) {
    Path path = folder.resolve("net");
    try (Variable w = new Variable(Tensor.of(2f), "w");
        Function f = Function.of(x -> x.mul(w.read()))) {
      Program.save(
          path,
          new Program.Saved(
              "scale", f.trace(InputSpec.of("x", DType.FLOAT32, InputSpec.UNKNOWN))));
    }
    try (Program program = new Program(path);
        Function scale = program.function("scale")) {
      assertArrayEquals(
          new float[] {2, 4}, scale.apply(Tensor.of(1f, 2f)).toFloats());
      Program.Entry entry = program.functions().get(0);
      assertEquals("scale", entry.name());
      assertEquals("x", entry.signatures().get(0).inputs().get(0).name());
      assertEquals(
          List.of(InputSpec.UNKNOWN), entry.signatures().get(0).inputs().get(0).shape());
      program.variables().get(0).assign(Tensor.of(10f));
      assertEquals(30, scale.apply(Tensor.of(3f)).item());
      assertTrue(program.describe().contains("\"scale\""));
    }
  }

  private record Softplus() implements CustomOp.Composite {
    @Override
    public String name() {
      return "java.softplus";
    }

    @Override
    public List<TensorType> infer(List<TensorType> in) {
      if (!in.get(0).dtype().isFloating()) {
        throw new IllegalArgumentException("floating numbers only");
      }
      return in;
    }

    @Override
    public List<Tensor> decompose(List<Tensor> in) {
      return List.of(in.get(0).exp().add(1).log());
    }
  }

  private record Doubled() implements CustomOp.Computed {
    @Override
    public String name() {
      return "java.doubled";
    }

    @Override
    public List<TensorType> infer(List<TensorType> in) {
      return in;
    }

    @Override
    public void compute(List<HostArray> in, List<HostArray> out) {
      for (int i = 0; i < in.get(0).floats().capacity(); ++i) {
        out.get(0).floats().put(i, 2 * in.get(0).floats().get(i));
      }
    }

    @Override
    public boolean hasBackward() {
      return true;
    }

    @Override
    public List<Tensor> backward(Backward call) {
      return List.of(call.cotangents().get(0).mul(2));
    }
  }

  @Test
  void customOpsAreCalledAndDifferentiated() {
    try (Context context = new Context();
        Scope inside = Scope.open(context)) {
      Op softplus = new Softplus().register();
      Op doubled = new Doubled().register();
      assertEquals("java.softplus", softplus.name());
      assertEquals(doubled, Op.find("java.doubled", 1));
      Tensor x = Tensor.of(0f, 1f);
      try (Tape tape = new Tape()) {
        tape.watch(x);
        Tensor y = doubled.call(softplus.call(x).get(0)).get(0);
        assertEquals(2 * Math.log(2), y.get(0).item(), 1e-6);
        assertEquals(1, tape.gradient(y, x).get(0).item(), 1e-6);
      }
      assertThrows(IllegalArgumentException.class, () -> softplus.call(Tensor.of(1)));
    }
  }

  @Test
  void builtInOpsAreCalledByName() {
    Op top = Op.find("top_k", 2);
    List<Tensor> found = top.call(new Ops.TopKAttrs().k(1), Tensor.of(1f, 5f));
    assertEquals(1, found.get(1).itemLong());
  }

  @Test
  void generatorsRepeatFromTheirState() {
    try (Generator generator = new Generator(7)) {
      Tensor state = generator.state();
      float[] first = generator.uniform(4).toFloats();
      assertNotEquals(first[0], generator.uniform(4).toFloats()[0]);
      generator.setState(state);
      assertArrayEquals(first, generator.uniform(4).toFloats());
      generator.seed(7);
      assertArrayEquals(first, generator.uniform(4).toFloats());
      assertEquals(DType.FLOAT64, generator.normal(DType.FLOAT64, 0, 1, 2).dtype());
      assertEquals(3, generator.normal(3).count());
      assertEquals(DType.BOOL, generator.bernoulli(0.5, 3).dtype());
      assertEquals(4, generator.dropout(Tensor.of(first), 0.5).count());
    }
  }

  @Test
  void profilersCountSpans(@TempDir Path folder) {
    Tensor x = Tensor.of(1f, 2f);
    try (Profiler profiler = new Profiler(Context.shared())) {
      x.exp();
      x.exp();
      profiler.stop();
      Profiler.Row row =
          profiler.rows().stream().filter(each -> each.name().equals("exp")).findAny().get();
      assertEquals(2, row.count());
      assertEquals(Profiler.Kind.OP, row.kind());
      assertEquals("cpu:0", row.device());
      assertTrue(profiler.table().contains("exp"));
      assertEquals(0, profiler.droppedEvents());
      profiler.writeTrace(folder.resolve("trace.json"));
      assertTrue(Files.exists(folder.resolve("trace.json")));
    }
  }

  @Test
  void dlpackExportsAndImportsShareMemory() {
    Tensor x = Tensor.of(1f, 2f);
    Tensor same = Dlpack.of(x).toTensor(false);
    assertEquals(x.data().address(), same.data().address());
    Tensor copy = Dlpack.of(x).toTensor(true);
    assertNotEquals(x.data().address(), copy.data().address());
    try (Dlpack loan = Dlpack.of(x);
        Dlpack passedOn = Dlpack.adopt(loan.handOver())) {
      assertThrows(IllegalStateException.class, () -> loan.toTensor(false));
      assertArrayEquals(new float[] {1, 2}, passedOn.toTensor(false).toFloats());
    }
    assertSame(x, scope.keep(x));
  }
}
