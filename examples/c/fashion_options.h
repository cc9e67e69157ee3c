/* fashion_options.h - the command line options of the demo. */

#ifndef EXAMPLES_FASHION_OPTIONS_H_
#define EXAMPLES_FASHION_OPTIONS_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct fashion_options {
  const char* device;
  const char* compare; /* Another device to compare with; empty for none. */
  const char* data;
  const char* save;
  const char* program;
  const char* images; /* Path of the file for the test images; empty: none is written. */
  const char* page;
  int64_t epochs;
  int64_t batch;
  uint64_t seed;
  uint32_t threads; /* Number of threads; 0: one for each core. */
  int32_t fallback; /* The fallback policy, TENON_FALLBACK_*. */
  bool eager;       /* Whether steps run call by call instead of as a function. */
} fashion_options;

/* Parses the command line. Exits after --help, and with status 2 and a message if an argument is
 * invalid. */
fashion_options fashion_options_parse(int argc, char** argv);

#endif /* EXAMPLES_FASHION_OPTIONS_H_ */
