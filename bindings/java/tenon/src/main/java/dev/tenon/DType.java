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
  private static final int FLOAT8_E4M3FN_CODE = 10;
  private static final int FLOAT8_E4M3FNUZ_CODE = 11;
  private static final int FLOAT8_E5M2_CODE = 12;
  private static final int FLOAT8_E5M2FNUZ_CODE = 13;
  private static final int FLOAT8_E8M0FNU_CODE = 14;
  private static final int FLOAT4_E2M1FN_CODE = 17;

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

  /** Signed integers of 4 bits, one per byte, for storage, copies and conversions only. */
  public static final DType INT4 = of(INT, 4);

  /** Unsigned integers of 4 bits, one per byte, for storage, copies and conversions only. */
  public static final DType UINT4 = of(UINT, 4);

  /** Signed integers of 2 bits, one per byte, for storage, copies and conversions only. */
  public static final DType INT2 = of(INT, 2);

  /** Unsigned integers of 2 bits, one per byte, for storage, copies and conversions only. */
  public static final DType UINT2 = of(UINT, 2);

  /** Floats of 8 bits up to 448, without infinities, for storage, copies and conversions only. */
  public static final DType FLOAT8_E4M3FN = of(FLOAT8_E4M3FN_CODE, 8);

  /** Floats of 8 bits up to 240, without infinities and -0, for storage, copies and conversions only. */
  public static final DType FLOAT8_E4M3FNUZ = of(FLOAT8_E4M3FNUZ_CODE, 8);

  /** Floats of 8 bits up to 57344, for storage, copies and conversions only. */
  public static final DType FLOAT8_E5M2 = of(FLOAT8_E5M2_CODE, 8);

  /** Floats of 8 bits up to 57344, without infinities and -0, for storage, copies and conversions only. */
  public static final DType FLOAT8_E5M2FNUZ = of(FLOAT8_E5M2FNUZ_CODE, 8);

  /** Powers of two of 8 bits, for storage, copies and conversions only. */
  public static final DType FLOAT8_E8M0FNU = of(FLOAT8_E8M0FNU_CODE, 8);

  /** Floats of 4 bits up to 6, one per byte, for storage, copies and conversions only. */
  public static final DType FLOAT4_E2M1FN = of(FLOAT4_E2M1FN_CODE, 4);

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
   * The size of one element in memory, in bytes.
   *
   * @return the size in bytes
   */
  public int bytes() {
    return (lane() * (bits >>> 16) + 7) / 8;
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
      case FLOAT8_E4M3FN_CODE -> "f8e4m3fn";
      case FLOAT8_E4M3FNUZ_CODE -> "f8e4m3fnuz";
      case FLOAT8_E5M2_CODE -> "f8e5m2";
      case FLOAT8_E5M2FNUZ_CODE -> "f8e5m2fnuz";
      case FLOAT8_E8M0FNU_CODE -> "f8e8m0fnu";
      case FLOAT4_E2M1FN_CODE -> "f4e2m1fn";
      default -> "dtype(" + bits + ")";
    };
  }
}
