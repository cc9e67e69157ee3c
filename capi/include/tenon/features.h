/* tenon/features.h - words that programs and plugins share: features, kinds of devices, log levels.
 */

#ifndef TENON_FEATURES_H_
#define TENON_FEATURES_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- features ----------------------------------------------------------------------------------
 * A set of bits. A plugin says what it provides and what it needs of the host, the host likewise; a
 * bit that one side needs and the other does not know of refuses the plugin, with the bit in the
 * message. */
typedef uint64_t tenon_features;

/* `map` gives addresses. */
#define TENON_FEATURE_HOST_VISIBLE ((tenon_features)1 << 0)
/* `wait` may be called. */
#define TENON_FEATURE_HOST_BLOCKING ((tenon_features)1 << 1)
/* A launch has finished when it returns. */
#define TENON_FEATURE_SYNCHRONOUS ((tenon_features)1 << 2)
/* `import_host` is there. */
#define TENON_FEATURE_IMPORT_HOST ((tenon_features)1 << 3)
/* Division and square root are within 0.5 ulp. */
#define TENON_FEATURE_IEEE_DIV ((tenon_features)1 << 4)
/* fma rounds once. */
#define TENON_FEATURE_IEEE_FMA ((tenon_features)1 << 5)
/* Subnormal results may become zero. */
#define TENON_FEATURE_FLUSH_TO_ZERO ((tenon_features)1 << 6)
/* Judged by the `relaxed` profile. */
#define TENON_FEATURE_FAST_MATH ((tenon_features)1 << 7)
/* Computes in float64. Without it a kernel of float64 may be refused when it is prepared. */
#define TENON_FEATURE_FLOAT64 ((tenon_features)1 << 8)

/* What a host of this header provides. */
#define TENON_HOST_FEATURE_ERROR_RECORDS ((tenon_features)1 << 0)
#define TENON_HOST_FEATURE_BROADCAST_VIEWS ((tenon_features)1 << 1)

/* ---- devices and logs ---------------------------------------------------------------------------
 */

enum { TENON_DEVICE_CPU = 0, TENON_DEVICE_GPU = 1, TENON_DEVICE_ACCELERATOR = 2 };

enum { TENON_LOG_DEBUG = 0, TENON_LOG_INFO = 1, TENON_LOG_WARNING = 2, TENON_LOG_ERROR = 3 };

TENON_END_DECLS

#endif /* TENON_FEATURES_H_ */
