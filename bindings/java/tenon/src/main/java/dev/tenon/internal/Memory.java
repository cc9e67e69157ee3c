// Reads and writes native memory by its address.

package dev.tenon.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Accesses native memory by address. Addresses are not checked. */
public final class Memory {
  private Memory() {}

  // One segment that spans the whole address space, so that accesses allocate no objects.
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /**
   * Reads a pointer or a 64-bit integer.
   *
   * @param address the address
   * @return the value
   */
  public static long getLong(long address) {
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  /**
   * Reads a 32-bit integer.
   *
   * @param address the address
   * @return the value
   */
  public static int getInt(long address) {
    return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  /**
   * Reads a double.
   *
   * @param address the address
   * @return the value
   */
  public static double getDouble(long address) {
    return ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, address);
  }

  /**
   * Reads a byte.
   *
   * @param address the address
   * @return the value
   */
  public static byte getByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address);
  }

  /**
   * Writes a pointer or a 64-bit integer.
   *
   * @param address the address
   * @param value the value
   */
  public static void putLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  /**
   * Writes a 32-bit integer.
   *
   * @param address the address
   * @param value the value
   */
  public static void putInt(long address, int value) {
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  /**
   * Writes a double.
   *
   * @param address the address
   * @param value the value
   */
  public static void putDouble(long address, double value) {
    ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, address, value);
  }

  /**
   * Writes a bool.
   *
   * @param address the address
   * @param value the value
   */
  public static void putBoolean(long address, boolean value) {
    ALL.set(ValueLayout.JAVA_BYTE, address, (byte) (value ? 1 : 0));
  }

  /**
   * Fills memory with zeros.
   *
   * @param address the address
   * @param size the number of bytes
   */
  public static void clear(long address, long size) {
    ALL.asSlice(address, size).fill((byte) 0);
  }

  /**
   * Returns a segment on native memory. The segment does not free it.
   *
   * @param address the address
   * @param size the number of bytes
   * @return the segment
   */
  public static MemorySegment at(long address, long size) {
    return ALL.asSlice(address, size);
  }

  /**
   * Reads a UTF-8 string.
   *
   * @param data the address of the first byte; 0 for an empty string
   * @param size the number of bytes
   * @return the string
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
   * Reads the {@code tenon_string} at an address.
   *
   * @param address the address of the struct
   * @return the string
   */
  public static String text(long address) {
    return text(getLong(address), getLong(address + 8));
  }

  /**
   * Reads a {@code tenon_string} that C returned or passed by value.
   *
   * @param string the struct
   * @return the string
   */
  public static String text(MemorySegment string) {
    return text(string.get(ValueLayout.JAVA_LONG, 0), string.get(ValueLayout.JAVA_LONG, 8));
  }

  /**
   * Reads an array of 64-bit integers.
   *
   * @param address the address of the first integer
   * @param count the number of integers
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
