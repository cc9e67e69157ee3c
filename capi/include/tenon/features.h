/* tenon/features.h - constants shared by programs and plugins: features, device kinds, log levels.
 */

#ifndef TENON_FEATURES_H_
#define TENON_FEATURES_H_

#include <tenon/types.h>

TENON_BEGIN_DECLS

/* ---- features ----------------------------------------------------------------------------------
 * Features are a bit set. Plugin and host each declare the features that they provide and those
 * that they require of the other side. A plugin is refused if a required bit is not provided; the
 * message names the bit. */
typedef uint64_t tenon_features;

/* The plugin's `map` returns the host address of a buffer. */
#define TENON_FEATURE_HOST_VISIBLE ((tenon_features)1 << 0)
/* The host may call the plugin's `wait`, which blocks. */
#define TENON_FEATURE_HOST_BLOCKING ((tenon_features)1 << 1)
/* The plugin's `launch` returns only when the work is done. */
#define TENON_FEATURE_SYNCHRONOUS ((tenon_features)1 << 2)
/* The plugin implements `import_host`. */
#define TENON_FEATURE_IMPORT_HOST ((tenon_features)1 << 3)
/* Division and square root are correctly rounded (error at most 0.5 ulp). */
#define TENON_FEATURE_IEEE_DIV ((tenon_features)1 << 4)
/* A fused multiply-add rounds only once. */
#define TENON_FEATURE_IEEE_FMA ((tenon_features)1 << 5)
/* Subnormal results may become zero. */
#define TENON_FEATURE_FLUSH_TO_ZERO ((tenon_features)1 << 6)
/* The conformance kit tests the device with the tolerances of the `relaxed` profile. */
#define TENON_FEATURE_FAST_MATH ((tenon_features)1 << 7)
/* The device can compute in float64. Without this feature, it may refuse float64 kernels. */
#define TENON_FEATURE_FLOAT64 ((tenon_features)1 << 8)
/* The source of the plugin's `copy` may be a buffer of another device of the same instance, whose
 * work on the buffer has finished. */
#define TENON_FEATURE_PEER_COPY ((tenon_features)1 << 9)

/* Features that a host built from this header provides. */
#define TENON_HOST_FEATURE_ERROR_RECORDS ((tenon_features)1 << 0)
#define TENON_HOST_FEATURE_BROADCAST_VIEWS ((tenon_features)1 << 1)

/* ---- devices and logs ---------------------------------------------------------------------------
 */

enum { TENON_DEVICE_CPU = 0, TENON_DEVICE_GPU = 1, TENON_DEVICE_ACCELERATOR = 2 };

enum { TENON_LOG_DEBUG = 0, TENON_LOG_INFO = 1, TENON_LOG_WARNING = 2, TENON_LOG_ERROR = 3 };

TENON_END_DECLS

#endif /* TENON_FEATURES_H_ */
