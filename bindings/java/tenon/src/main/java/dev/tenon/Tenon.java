package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import java.util.ArrayList;
import java.util.List;

/** Properties of the loaded native library. */
public final class Tenon {
  private Tenon() {}

  /**
   * The version of the native library.
   *
   * @return the version, such as "0.1.0"
   */
  public static String version() {
    return Memory.text(C.tenon_version(Local.get().result));
  }

  /**
   * The version of the native library as one number.
   *
   * @return major * 1000000 + minor * 1000 + patch
   */
  public static int versionNumber() {
    return C.tenon_version_number();
  }

  /**
   * A pass that optimises the graphs of functions.
   *
   * @param name the name of the pass, for {@link Context#setPass}
   * @param summary a short description
   */
  public record Pass(String name, String summary) {}

  /**
   * Lists the passes.
   *
   * @return the passes, in execution order
   */
  public static List<Pass> passes() {
    Local local = Local.get();
    List<Pass> all = new ArrayList<>();
    long count = C.tenon_count_passes();
    for (long i = 0; i < count; ++i) {
      String name = Memory.text(C.tenon_pass_name(local.result, i));
      all.add(new Pass(name, Memory.text(C.tenon_pass_summary(local.result, i))));
    }
    return all;
  }
}
