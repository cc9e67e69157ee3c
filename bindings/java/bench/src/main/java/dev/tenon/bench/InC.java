package dev.tenon.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** The C workloads of {@code benches/bindings/calls.h}, loaded into the benchmark process. */
enum InC {
  EAGER_ADD("bench_c_eager_add"),
  RECORDED_ADD("bench_c_recorded_add"),
  FUNCTION_CALL("bench_c_function_call"),
  TRAINING_STEP("bench_c_training_step");

  private final MethodHandle handle;

  InC(String name) {
    Path file = Path.of(System.getProperty("tenon.calls"));
    handle =
        Linker.nativeLinker()
            .downcallHandle(
                SymbolLookup.libraryLookup(file, Arena.global()).find(name).orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
  }

  /** Repeats a workload in C and returns the elapsed nanoseconds. */
  long run(long repetitions) {
    try {
      return (long) handle.invokeExact(repetitions);
    } catch (Throwable thrown) {
      throw new AssertionError(thrown);
    }
  }
}
