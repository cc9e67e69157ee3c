/* A loop over the elements of a random matrix. Reads are eager, so they do not add to any graph. */

#include "examples/c/must.h"

/* The view x[i, j] of one element. */
static tenon_tensor* element(tenon_scope* scope, tenon_tensor* x, int64_t i, int64_t j) {
  const int64_t starts[] = {i, j};
  const int64_t ends[] = {i + 1, j + 1};
  tenon_slice_attrs attrs = TENON_SLICE_ATTRS_DEFAULT;
  tenon_tensor *part = NULL, *result = NULL;
  attrs.starts = starts;
  attrs.n_starts = 2;
  attrs.ends = ends;
  attrs.n_ends = 2;
  must(tenon_slice(scope, x, &attrs, &part));
  must(tenon_squeeze(scope, part, NULL, &result));
  tenon_tensor_release(part);
  return result;
}

int main(void) {
  const int64_t shape[] = {2, 2};
  tenon_context* context = NULL;
  tenon_generator* generator = NULL;
  tenon_tensor* x = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_generator_create(scope, 7, &generator));
  must(tenon_generator_uniform(scope, generator, TENON_FLOAT32, shape, 2, 0, 1, &x));

  for (int64_t i = 0; i < tenon_tensor_shape(x)[0]; ++i) {
    for (int64_t j = 0; j < tenon_tensor_shape(x)[1]; ++j) {
      tenon_tensor* value = element(scope, x, i, j);
      show(scope, "", value);
      tenon_tensor_release(value);
    }
  }

  tenon_tensor_release(x);
  tenon_generator_release(generator);
  tenon_context_release(context);
  return 0;
}
