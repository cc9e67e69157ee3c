package dev.tenon;

/**
 * An element type.
 *
 * @param bits the type code, the bits per lane and the number of lanes, packed as in C
 */
public record DType(int bits) {
  private static final int INT = 0;
  private static final int UINT = 1;
  private static final int FLOAT = 2;
  private static final int BFLOAT = 4;
  private static final int BOOLEAN = 6;

  /** No dtype. */
  public static final DType NONE = new DType(0);

  /** Booleans of one byte. */
  public static final DType BOOL = of(BOOLEAN, 8);

  /** Signed integers of 8 bits. */
  public static final DType INT8 = of(INT, 8);

  /** Signed integers of 16 bits. */
  public static final DType INT16 = of(INT, 16);

  /** Signed integers of 32 bits: Java's {@code int}. */
  public static final DType INT32 = of(INT, 32);

  /** Signed integers of 64 bits: Java's {@code long}. */
  public static final DType INT64 = of(INT, 64);

  /** Unsigned integers of 8 bits. */
  public static final DType UINT8 = of(UINT, 8);

  /** Unsigned integers of 16 bits. */
  public static final DType UINT16 = of(UINT, 16);

  /** Unsigned integers of 32 bits. */
  public static final DType UINT32 = of(UINT, 32);

  /** Unsigned integers of 64 bits. */
  public static final DType UINT64 = of(UINT, 64);

  /** IEEE binary16. */
  public static final DType FLOAT16 = of(FLOAT, 16);

  /** bfloat16: the upper half of an IEEE binary32. */
  public static final DType BFLOAT16 = of(BFLOAT, 16);

  /** IEEE binary32: Java's {@code float}. */
  public static final DType FLOAT32 = of(FLOAT, 32);

  /** IEEE binary64: Java's {@code double}. */
  public static final DType FLOAT64 = of(FLOAT, 64);

  /** IEEE binary128, for storage, copies and conversions only. */
  public static final DType FLOAT128 = of(FLOAT, 128);

  private static DType of(int code, int bits) {
    return new DType(code | bits << 8 | 1 << 16);
  }

  private int code() {
    return bits & 0xff;
  }

  private int lane() {
    return bits >> 8 & 0xff;
  }

  /**
   * The size of one element in bytes.
   *
   * @return the size in bytes
   */
  public int bytes() {
    return lane() / 8 * (bits >>> 16);
  }

  /**
   * Whether this is a floating type.
   *
   * @return true for float16, bfloat16, float32, float64 and float128
   */
  public boolean isFloating() {
    return code() == FLOAT || code() == BFLOAT;
  }

  /**
   * The short name.
   *
   * @return such as "f32"
   */
  @Override
  public String toString() {
    if (bits == 0) {
      return "none";
    }
    return switch (code()) {
      case INT -> "i" + lane();
      case UINT -> "u" + lane();
      case FLOAT -> "f" + lane();
      case BFLOAT -> "bf" + lane();
      case BOOLEAN -> "bool";
      default -> "dtype(" + bits + ")";
    };
  }
}
