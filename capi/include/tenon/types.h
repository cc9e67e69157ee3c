/* tenon/types.h - basic types of all headers: strings, dtypes, error codes, annotations.
 *
 * All headers of Tenon are valid C99 and C++. They depend only on the C library.
 */

#ifndef TENON_TYPES_H_
#define TENON_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- linkage --------------------------------------------------------------------------------- */

#if defined(_WIN32)
#define TENON_EXPORT __declspec(dllexport)
#define TENON_IMPORT __declspec(dllimport)
#else
#define TENON_EXPORT __attribute__((visibility("default")))
#define TENON_IMPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define TENON_EXTERN_C extern "C"
#define TENON_BEGIN_DECLS extern "C" {
#define TENON_END_DECLS }
#else
#define TENON_EXTERN_C extern
#define TENON_BEGIN_DECLS
#define TENON_END_DECLS
#endif

/* Marks every function that libtenon exports. */
#if defined(TENON_BUILDING)
#define TENON_API TENON_EXPORT
#elif defined(TENON_STATIC)
#define TENON_API
#else
#define TENON_API TENON_IMPORT
#endif

/* ---- annotations ------------------------------------------------------------------------------
 * Annotations specify ownership, for readers and for the generators, which read them from clang's
 * syntax tree. They expand to nothing for a compiler.
 *
 *   TENON_OWNED       on a result or output: the caller owns it and releases it; on an input: the
 *                     callee takes ownership
 *   TENON_BORROWED    on an input: the callee uses it only during the call; on a result, an output
 *                     or a field: it is owned elsewhere
 *   TENON_NULLABLE    may be NULL
 *   TENON_COUNT(n)    points to `n` elements: another parameter or field, or a number
 *   TENON_THREADS(x)  `any`, or `one_at_a_time` for objects that only one call may use at a time
 *
 * A pointer to an object without an annotation is borrowed and not NULL. So is every handle in a
 * struct. An error that a callback returns is owned by its caller.
 */
#if defined(TENON_ANNOTATE)
#define TENON_NOTE_(text) __attribute__((annotate(text)))
#else
#define TENON_NOTE_(text)
#endif
#define TENON_OWNED TENON_NOTE_("owned")
#define TENON_BORROWED TENON_NOTE_("borrowed")
#define TENON_NULLABLE TENON_NOTE_("nullable")
#define TENON_COUNT(n) TENON_NOTE_("count:" #n)
#define TENON_THREADS(x) TENON_NOTE_("threads:" #x)

TENON_BEGIN_DECLS

/* ---- strings --------------------------------------------------------------------------------- */

/* UTF-8 text that is owned elsewhere. Strings that Tenon returns have a zero byte after their end,
 * so that `data` is also a C string. Strings passed to Tenon need none. */
typedef struct tenon_string {
  const char* data TENON_BORROWED TENON_COUNT(size);
  size_t size;
} tenon_string;

/* Initialiser of a string from a literal. */
#define TENON_STR(literal) \
  { (literal), sizeof(literal) - 1 }

/* Returns a string from zero-terminated text; NULL gives the empty string. */
static inline tenon_string tenon_str(const char* text) {
  tenon_string string;
  string.data = text;
  string.size = text ? strlen(text) : 0;
  return string;
}

/* ---- element types ----------------------------------------------------------------------------
 */

/* An element type, encoded as its code, the bits per lane, and the number of lanes. */
typedef uint32_t tenon_dtype;

#define TENON_DTYPE(code, bits, lanes) \
  ((tenon_dtype)((uint32_t)(code) | ((uint32_t)(bits) << 8) | ((uint32_t)(lanes) << 16)))
#define TENON_DTYPE_CODE(dtype) ((dtype)&0xffu)
#define TENON_DTYPE_BITS(dtype) (((dtype) >> 8) & 0xffu)
#define TENON_DTYPE_LANES(dtype) ((dtype) >> 16)
/* Size of an element in memory, in bytes. */
#define TENON_DTYPE_SIZE(dtype) ((TENON_DTYPE_BITS(dtype) * TENON_DTYPE_LANES(dtype) + 7u) / 8u)

/* Codes of dtypes, equal to DLPack's. */
enum {
  TENON_CODE_INT = 0,
  TENON_CODE_UINT = 1,
  TENON_CODE_FLOAT = 2,
  TENON_CODE_BFLOAT = 4,
  TENON_CODE_BOOL = 6,
  TENON_CODE_FLOAT8_E4M3FN = 10,
  TENON_CODE_FLOAT8_E4M3FNUZ = 11,
  TENON_CODE_FLOAT8_E5M2 = 12,
  TENON_CODE_FLOAT8_E5M2FNUZ = 13,
  TENON_CODE_FLOAT8_E8M0FNU = 14,
  TENON_CODE_FLOAT4_E2M1FN = 17
};

#define TENON_DTYPE_NONE ((tenon_dtype)0) /* No dtype, such as that of an invalid handle. */
#define TENON_BOOL TENON_DTYPE(TENON_CODE_BOOL, 8, 1)
#define TENON_INT8 TENON_DTYPE(TENON_CODE_INT, 8, 1)
#define TENON_INT16 TENON_DTYPE(TENON_CODE_INT, 16, 1)
#define TENON_INT32 TENON_DTYPE(TENON_CODE_INT, 32, 1)
#define TENON_INT64 TENON_DTYPE(TENON_CODE_INT, 64, 1)
#define TENON_UINT8 TENON_DTYPE(TENON_CODE_UINT, 8, 1)
#define TENON_UINT16 TENON_DTYPE(TENON_CODE_UINT, 16, 1)
#define TENON_UINT32 TENON_DTYPE(TENON_CODE_UINT, 32, 1)
#define TENON_UINT64 TENON_DTYPE(TENON_CODE_UINT, 64, 1)
#define TENON_FLOAT16 TENON_DTYPE(TENON_CODE_FLOAT, 16, 1)
#define TENON_BFLOAT16 TENON_DTYPE(TENON_CODE_BFLOAT, 16, 1)
#define TENON_FLOAT32 TENON_DTYPE(TENON_CODE_FLOAT, 32, 1)
#define TENON_FLOAT64 TENON_DTYPE(TENON_CODE_FLOAT, 64, 1)
/* IEEE binary128: can be stored, copied and converted. Only the conformance kit's oracle computes
 * with it. `float` and `any` in a kernel's signature exclude it. */
#define TENON_FLOAT128 TENON_DTYPE(TENON_CODE_FLOAT, 128, 1)

/* Storage dtypes. Tensors hold their elements, one per byte, and ops that only move elements accept
 * them: copies, views, gathers, concatenation. `cast`, `quantize_linear` and `dequantize_linear`
 * convert them. No other op computes with them; cast them first. Kernels of plugins never receive
 * them. The low bits of a byte hold the element. Tenon clears the other bits when it writes
 * elements, and reads only the low bits. docs/numerics.md specifies the formats and their rounding.
 */
#define TENON_INT4 TENON_DTYPE(TENON_CODE_INT, 4, 1)                        /* -8 to 7. */
#define TENON_UINT4 TENON_DTYPE(TENON_CODE_UINT, 4, 1)                      /* 0 to 15. */
#define TENON_INT2 TENON_DTYPE(TENON_CODE_INT, 2, 1)                        /* -2 to 1. */
#define TENON_UINT2 TENON_DTYPE(TENON_CODE_UINT, 2, 1)                      /* 0 to 3. */
#define TENON_FLOAT8_E4M3FN TENON_DTYPE(TENON_CODE_FLOAT8_E4M3FN, 8, 1)     /* To 448; NaN. */
#define TENON_FLOAT8_E4M3FNUZ TENON_DTYPE(TENON_CODE_FLOAT8_E4M3FNUZ, 8, 1) /* To 240; NaN. */
#define TENON_FLOAT8_E5M2 TENON_DTYPE(TENON_CODE_FLOAT8_E5M2, 8, 1) /* To 57344; inf, NaN. */
#define TENON_FLOAT8_E5M2FNUZ TENON_DTYPE(TENON_CODE_FLOAT8_E5M2FNUZ, 8, 1) /* To 57344; NaN. */
#define TENON_FLOAT8_E8M0FNU \
  TENON_DTYPE(TENON_CODE_FLOAT8_E8M0FNU, 8, 1)                          /* 2^-127 to 2^127; NaN. */
#define TENON_FLOAT4_E2M1FN TENON_DTYPE(TENON_CODE_FLOAT4_E2M1FN, 4, 1) /* To 6. */

/* Maximum number of axes of a tensor. */
#define TENON_MAX_RANK 16

/* A dynamic size: known only when a function is called. */
#define TENON_SIZE_UNKNOWN ((int64_t)-1)

/* ---- codes of errors --------------------------------------------------------------------------
 * Unknown codes must be treated as TENON_INTERNAL. */
typedef int32_t tenon_code;
enum {
  TENON_OK = 0,
  TENON_INVALID_ARGUMENT = 1,    /* An invalid type, shape, attribute or handle. */
  TENON_OUT_OF_RANGE = 2,        /* An invalid value, such as an index outside its axis. */
  TENON_NOT_FOUND = 3,           /* No such device, op, file or name. */
  TENON_UNIMPLEMENTED = 4,       /* Valid, but not supported for this op, dtype or device. */
  TENON_UNAVAILABLE = 5,         /* Not available on this machine, or not now. */
  TENON_OUT_OF_MEMORY = 6,       /* The device's memory or the memory limit is exhausted. */
  TENON_CANCELLED = 7,           /* The context or the scope was cancelled. */
  TENON_FAILED_PRECONDITION = 8, /* The state of an object forbids the call: a tape is consumed. */
  TENON_DATA_LOSS = 9,           /* A file is truncated or inconsistent. */
  TENON_DEVICE_LOST = 10,        /* The device is lost until it is opened again. */
  TENON_INTERNAL = 11            /* A defect of Tenon or of a plugin. */
};

/* ---- handles ----------------------------------------------------------------------------------
 * Handles are opaque and reference-counted. `_retain` adds a reference, `_release` removes one;
 * both accept NULL and may be called from any thread. */
typedef struct tenon_error tenon_error;
typedef struct tenon_context tenon_context;
typedef struct tenon_scope tenon_scope;
typedef struct tenon_device tenon_device;
typedef struct tenon_stream tenon_stream;
typedef struct tenon_event tenon_event;
typedef struct tenon_tensor tenon_tensor;
typedef struct tenon_variable tenon_variable;
typedef struct tenon_generator tenon_generator;
typedef struct tenon_tape tenon_tape;
typedef struct tenon_function tenon_function;
typedef struct tenon_trace tenon_trace;
typedef struct tenon_value tenon_value; /* A tensor or a variable: a possible gradient source. */

/* ---- callbacks --------------------------------------------------------------------------------
 * A callback is a function, a payload that is its first argument, and a destructor. The destructor
 * runs exactly once, when Tenon no longer needs the callback, even if the call that received it
 * fails. */

/* Runs when an operation has finished; `error` is NULL on success and is borrowed. */
typedef struct tenon_done_callback {
  void (*function)(void* payload, const tenon_error* error TENON_NULLABLE);
  void* payload;
  void (*destroy)(void* payload) TENON_NULLABLE;
} tenon_done_callback;

/* Frees imported memory. */
typedef struct tenon_deleter {
  void (*function)(void* payload) TENON_NULLABLE; /* If NULL, nothing is freed. */
  void* payload;
} tenon_deleter;

TENON_END_DECLS

#endif /* TENON_TYPES_H_ */
