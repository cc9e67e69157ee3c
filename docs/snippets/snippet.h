/* snippet.h - functions that the example programs of the documentation share. */

#ifndef DOCS_SNIPPETS_SNIPPET_H_
#define DOCS_SNIPPETS_SNIPPET_H_

#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

/* Exits with the error's message, if there is an error. */
static inline void must(tenon_error* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", tenon_error_message(error).data);
  exit(1);
}

/* Prints a tensor after a label. */
static inline void show(tenon_scope* scope, const char* label, tenon_tensor* x) {
  tenon_string text = {NULL, 0};
  must(tenon_tensor_format(scope, x, NULL, &text));
  printf("%s: %s\n", label, text.data);
  tenon_string_release(text);
}

/* Returns a float32 tensor with one axis and `count` elements. */
static inline tenon_tensor* vector(tenon_scope* scope, const float* values, int64_t count) {
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, &count, 1, values,
                              (size_t)count * sizeof *values, &x));
  return x;
}

#endif /* DOCS_SNIPPETS_SNIPPET_H_ */
