// Finds libtenon and looks up its functions.

package dev.tenon.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The native library. It is searched in this order: the file that the property
 * {@code dev.tenon.library} or the environment variable {@code TENON_LIBRARY} names;
 * {@code libtenon.so} in a folder of {@code java.library.path}; the library in a platform jar, such
 * as {@code tenon-linux-x86_64}; the library that the system's loader finds.
 */
public final class NativeLibrary {
  private NativeLibrary() {}

  /** The system property that contains the path of the library. */
  public static final String PROPERTY = "dev.tenon.library";

  private static final String FILE = System.mapLibraryName("tenon");
  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup SYMBOLS = open();

  static MethodHandle link(
      String name, boolean trivial, MemoryLayout result, MemoryLayout... parameters) {
    MemorySegment symbol =
        SYMBOLS
            .find(name)
            .orElseThrow(
                () ->
                    new UnsatisfiedLinkError(
                        "libtenon does not export "
                            + name
                            + ": its version differs from that of this binding"));
    FunctionDescriptor type =
        result == null
            ? FunctionDescriptor.ofVoid(parameters)
            : FunctionDescriptor.of(result, parameters);
    return trivial
        ? LINKER.downcallHandle(symbol, type, Linker.Option.critical(false))
        : LINKER.downcallHandle(symbol, type);
  }

  /**
   * Creates a C function that calls a static Java method. It is never freed.
   *
   * @param lookup a lookup that can access the method
   * @param where the class of the method
   * @param name the name of the method
   * @param type the signature of the C function
   * @return the address of the C function
   */
  public static long upcall(
      MethodHandles.Lookup lookup, Class<?> where, String name, FunctionDescriptor type) {
    try {
      MethodType carriers = type.toMethodType();
      MethodHandle target = lookup.findStatic(where, name, carriers);
      return LINKER.upcallStub(target, type, Arena.global()).address();
    } catch (ReflectiveOperationException missing) {
      throw new AssertionError(name, missing);
    }
  }

  /**
   * Finds a function of the C library.
   *
   * @param name the name of the function
   * @return the address of the function
   */
  public static MemorySegment standard(String name) {
    return LINKER.defaultLookup().find(name).orElseThrow();
  }

  /**
   * Returns a method handle that calls a C function. The address of the function is its first
   * argument.
   *
   * @param type the signature of the function
   * @return the method handle
   */
  public static MethodHandle caller(FunctionDescriptor type) {
    return LINKER.downcallHandle(type);
  }

  private static SymbolLookup open() {
    List<String> tried = new ArrayList<>();
    String named = System.getProperty(PROPERTY, System.getenv("TENON_LIBRARY"));
    if (named != null) {
      return load(Path.of(named).toAbsolutePath());
    }
    for (String folder : System.getProperty("java.library.path", "").split(":")) {
      Path file = Path.of(folder.isEmpty() ? "." : folder, FILE).toAbsolutePath();
      if (Files.exists(file)) {
        return load(file);
      }
      tried.add(file.toString());
    }
    List<Path> needed = new ArrayList<>();
    Path unpacked = unpack(tried, needed);
    if (unpacked != null) {
      // Load libtenon first, because it needs static thread-local storage that other libraries
      // could exhaust. Then load the libraries that its plugins need; the loader later finds these
      // by name.
      SymbolLookup library = load(unpacked);
      needed.forEach(NativeLibrary::load);
      return library;
    }
    try {
      return SymbolLookup.libraryLookup(FILE, Arena.global());
    } catch (IllegalArgumentException missing) {
      tried.add(FILE + " of the system's loader");
    }
    throw new UnsatisfiedLinkError(
        "libtenon was not found: set -D"
            + PROPERTY
            + "=/path/to/"
            + FILE
            + ", or add the platform jar dev.tenon:tenon-"
            + platform()
            + "; looked for "
            + String.join(", ", tried));
  }

  private static SymbolLookup load(Path file) {
    try {
      return SymbolLookup.libraryLookup(file, Arena.global());
    } catch (IllegalArgumentException failed) {
      UnsatisfiedLinkError error =
          new UnsatisfiedLinkError("libtenon cannot be loaded from " + file);
      error.initCause(failed);
      throw error;
    }
  }

  private static String platform() {
    String machine = System.getProperty("os.arch").replace("amd64", "x86_64");
    return System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-" + machine;
  }

  // Copies the files of a platform jar to a temporary folder, which is deleted when the process
  // ends. The jar contains a list of its files, because a class loader cannot list them.
  private static Path unpack(List<String> tried, List<Path> needed) {
    String base = "dev/tenon/native/" + platform() + "/";
    ClassLoader loader = NativeLibrary.class.getClassLoader();
    try (InputStream index = loader.getResourceAsStream(base + "files.txt")) {
      if (index == null) {
        tried.add("the resource " + base + "files.txt");
        return null;
      }
      Path folder = Files.createTempDirectory("tenon-");
      folder.toFile().deleteOnExit();
      String names = new String(index.readAllBytes(), StandardCharsets.UTF_8);
      for (String name : names.lines().filter(line -> !line.isBlank()).toList()) {
        Path file = folder.resolve(name).normalize();
        if (!file.startsWith(folder)) {
          throw new IOException("the platform jar lists a path outside its folder: " + name);
        }
        // Files are deleted in the reverse order of registration, so register parents first.
        Path made = folder;
        for (Path part : folder.relativize(file.getParent())) {
          made = made.resolve(part);
          if (!Files.exists(made)) {
            Files.createDirectory(made);
            made.toFile().deleteOnExit();
          }
        }
        try (InputStream content = loader.getResourceAsStream(base + name)) {
          if (content == null) {
            throw new IOException("the platform jar does not contain " + name);
          }
          Files.copy(content, file);
        }
        file.toFile().deleteOnExit();
        if (!name.equals(FILE) && !name.contains("/")) {
          needed.add(file);
        }
      }
      return folder.resolve(FILE);
    } catch (IOException failed) {
      throw new UncheckedIOException("the platform jar cannot be unpacked", failed);
    }
  }
}
