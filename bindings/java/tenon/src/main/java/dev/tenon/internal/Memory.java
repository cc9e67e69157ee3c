// Reads and writes native memory by its address.

package dev.tenon.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Native memory by its address; the callers know what lies there. */
public final class Memory {
  private Memory() {}

  // One segment over all memory, so that no access makes an object.
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /**
   * Reads a pointer or an integer of 64 bits.
   *
   * @param address where
   * @return what lies there
   */
  public static long getLong(long address) {
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  /**
   * Reads an integer of 32 bits.
   *
   * @param address where
   * @return what lies there
   */
  public static int getInt(long address) {
    return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  /**
   * Reads a double.
   *
   * @param address where
   * @return what lies there
   */
  public static double getDouble(long address) {
    return ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, address);
  }

  /**
   * Reads a byte.
   *
   * @param address where
   * @return what lies there
   */
  public static byte getByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address);
  }

  /**
   * Writes a pointer or an integer of 64 bits.
   *
   * @param address where
   * @param value what
   */
  public static void putLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  /**
   * Writes an integer of 32 bits.
   *
   * @param address where
   * @param value what
   */
  public static void putInt(long address, int value) {
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  /**
   * Writes a double.
   *
   * @param address where
   * @param value what
   */
  public static void putDouble(long address, double value) {
    ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, address, value);
  }

  /**
   * Writes a bool.
   *
   * @param address where
   * @param value what
   */
  public static void putBoolean(long address, boolean value) {
    ALL.set(ValueLayout.JAVA_BYTE, address, (byte) (value ? 1 : 0));
  }

  /**
   * Fills with zeros.
   *
   * @param address where
   * @param size how many bytes
   */
  public static void clear(long address, long size) {
    ALL.asSlice(address, size).fill((byte) 0);
  }

  /**
   * Some bytes as a segment that is never freed.
   *
   * @param address where
   * @param size how many bytes
   * @return the segment
   */
  public static MemorySegment at(long address, long size) {
    return ALL.asSlice(address, size);
  }

  /**
   * Reads text.
   *
   * @param data its first byte; 0 for none
   * @param size how many bytes
   * @return the text, empty for none
   */
  public static String text(long data, long size) {
    if (data == 0 || size == 0) {
      return "";
    }
    byte[] bytes = new byte[Math.toIntExact(size)];
    MemorySegment.copy(ALL, ValueLayout.JAVA_BYTE, data, bytes, 0, bytes.length);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Reads a {@code tenon_string} in memory.
   *
   * @param address where the struct lies
   * @return the text
   */
  public static String text(long address) {
    return text(getLong(address), getLong(address + 8));
  }

  /**
   * Reads a {@code tenon_string} that C returned or passed by value.
   *
   * @param string the struct
   * @return the text
   */
  public static String text(MemorySegment string) {
    return text(string.get(ValueLayout.JAVA_LONG, 0), string.get(ValueLayout.JAVA_LONG, 8));
  }

  /**
   * Reads integers of 64 bits.
   *
   * @param address the first one
   * @param count how many
   * @return the integers
   */
  public static long[] longs(long address, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; ++i) {
      values[i] = getLong(address + 8L * i);
    }
    return values;
  }
}
