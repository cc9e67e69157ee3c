package dev.tenon;

import dev.tenon.internal.C;
import dev.tenon.internal.Memory;
import dev.tenon.internal.Structs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Named tensors in a file of the format safetensors. Opening validates the header.
 */
public final class Safetensors extends NativeHandle {
  /**
   * A tensor in a file.
   *
   * @param name the name of the tensor
   * @param dtype the element type
   * @param shape the sizes of the axes
   */
  public record Entry(String name, DType dtype, List<Long> shape) {}

  private Safetensors(long handle) {
    super(Tracker.Kind.SAFETENSORS, handle, false);
  }

  /**
   * Opens a file.
   *
   * @param path the file
   */
  public Safetensors(Path path) {
    this(open(path));
  }

  private static long open(Path path) {
    Local local = Local.get();
    long at = local.reserve(8);
    long error = C.tenon_safetensors_open(local.string(path.toString()), at);
    long made = Memory.getLong(at);
    local.release(at);
    Calls.check(error);
    return made;
  }

  /**
   * Opens the content of a file in memory. Copies the bytes.
   *
   * @param content the bytes
   * @return the file
   */
  public static Safetensors of(byte[] content) {
    Local local = Local.get();
    long at = local.reserve(8);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
      Calls.check(C.tenon_safetensors_open_memory(copy.address(), content.length, at));
      return new Safetensors(Memory.getLong(at));
    } finally {
      local.release(at);
    }
  }

  /**
   * Writes a file. It appears under its name only when it is complete.
   *
   * @param path the file
   * @param tensors the tensors by name
   */
  public static void save(Path path, Map<String, Tensor> tensors) {
    save(path, tensors, Map.of());
  }

  /**
   * Writes a file with metadata. It appears under its name only when it is complete.
   *
   * @param path the file
   * @param tensors the tensors by name
   * @param metadata strings by key
   */
  public static void save(
      Path path, Map<String, Tensor> tensors, Map<String, String> metadata) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long names = names(local, tensors);
      long values = local.handles(tensors.values().toArray(Tensor[]::new));
      long entries = entries(local, metadata);
      Calls.check(
          C.tenon_safetensors_save(
              scope, local.string(path.toString()), names, values, tensors.size(), entries,
              metadata.size()));
    } finally {
      local.release(at);
      Reference.reachabilityFence(tensors);
    }
  }

  /**
   * Returns the content of a safetensors file as bytes.
   *
   * @param tensors the tensors by name
   * @param metadata strings by key
   * @return the content
   */
  public static byte[] write(Map<String, Tensor> tensors, Map<String, String> metadata) {
    Local local = Local.get();
    long scope = local.scope();
    long at = local.top;
    try {
      long out = local.reserve(16);
      long names = names(local, tensors);
      long values = local.handles(tensors.values().toArray(Tensor[]::new));
      long entries = entries(local, metadata);
      Calls.check(
          C.tenon_safetensors_write(
              scope, names, values, tensors.size(), entries, metadata.size(), out));
      byte[] content =
          Memory.at(Memory.getLong(out), Memory.getLong(out + 8)).toArray(ValueLayout.JAVA_BYTE);
      C.tenon_string_release(Memory.at(out, 16));
      return content;
    } finally {
      local.release(at);
      Reference.reachabilityFence(tensors);
    }
  }

  private static long names(Local local, Map<String, Tensor> tensors) {
    long at = local.reserve(Math.max(8, 16L * tensors.size()));
    int i = 0;
    for (String name : tensors.keySet()) {
      local.putString(at + 16L * i++, name);
    }
    return at;
  }

  private static long entries(Local local, Map<String, String> metadata) {
    long at = local.reserve(Math.max(8, Structs.tenon_metadata.SIZE * metadata.size()));
    int i = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      long one = at + Structs.tenon_metadata.SIZE * i++;
      local.putString(one + Structs.tenon_metadata.key, entry.getKey());
      local.putString(one + Structs.tenon_metadata.value, entry.getValue());
    }
    return at;
  }

  /**
   * Loads all tensors of a file onto the current device.
   *
   * @param path the file
   * @return the tensors by name
   */
  public static Map<String, Tensor> load(Path path) {
    Map<String, Tensor> all = new LinkedHashMap<>();
    try (Safetensors file = new Safetensors(path)) {
      for (Entry entry : file.entries()) {
        all.put(entry.name(), file.read(entry.name()));
      }
    }
    return all;
  }

  /**
   * Lists the tensors of the file.
   *
   * @return the entries, in the order in which the file stores the elements
   */
  public List<Entry> entries() {
    Local local = Local.get();
    List<Entry> all = new ArrayList<>();
    long count = C.tenon_safetensors_count(handle());
    for (long i = 0; i < count; ++i) {
      int rank = (int) C.tenon_safetensors_rank(handle(), i);
      long sizes = C.tenon_safetensors_shape(handle(), i);
      List<Long> shape = new ArrayList<>();
      for (int axis = 0; axis < rank; ++axis) {
        shape.add(Memory.getLong(sizes + 8L * axis));
      }
      all.add(
          new Entry(
              Memory.text(C.tenon_safetensors_name(local.result, handle(), i)),
              new DType(C.tenon_safetensors_dtype(handle(), i)),
              shape));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Returns the metadata of the file.
   *
   * @return strings by key
   */
  public Map<String, String> metadata() {
    Local local = Local.get();
    Map<String, String> all = new LinkedHashMap<>();
    long count = C.tenon_safetensors_count_metadata(handle());
    for (long i = 0; i < count; ++i) {
      MemorySegment entry = C.tenon_safetensors_metadata(local.result, handle(), i);
      all.put(
          Memory.text(entry.asSlice(Structs.tenon_metadata.key, 16)),
          Memory.text(entry.asSlice(Structs.tenon_metadata.value, 16)));
    }
    Reference.reachabilityFence(this);
    return all;
  }

  /**
   * Loads one tensor onto the current device.
   *
   * @param name the name of the tensor
   * @return the tensor
   */
  public Tensor read(String name) {
    Local local = Local.get();
    long scope = local.scope();
    return local.adopt(
        get((file, out) -> C.tenon_safetensors_load(scope, file, local.string(name), out)));
  }
}
