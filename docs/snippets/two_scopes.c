/* docs/threads_and_scopes.md: two scopes, each with its own tape, used alternately. */

#include "docs/snippets/snippet.h"

/* The work of one scope: x * x, recorded by its own tape. */
typedef struct work {
  tenon_scope* scope;
  tenon_tape* tape;
  tenon_tensor* x;
  tenon_tensor* y;
} work;

static work begin(tenon_context* context, float value) {
  work w = {NULL, NULL, NULL, NULL};
  must(tenon_scope_create(context, tenon_str("cpu"), &w.scope));
  w.x = vector(w.scope, &value, 1);
  must(tenon_tape_create(w.scope, NULL, &w.tape));
  must(tenon_tape_watch(w.tape, tenon_tensor_as_value(w.x)));
  return w;
}

static void compute(work* w) { must(tenon_mul(w->scope, w->x, w->x, &w->y)); }

static void end(work* w, const char* label) {
  tenon_value* source = tenon_tensor_as_value(w->x);
  tenon_tensor* gradient = NULL;
  must(tenon_tape_gradient(w->scope, w->tape, &w->y, 1, NULL, &source, 1, NULL, &gradient));
  show(w->scope, label, gradient);
  tenon_tensor_release(gradient);
  tenon_tensor_release(w->y);
  tenon_tensor_release(w->x);
  tenon_tape_release(w->tape);
  tenon_scope_release(w->scope);
}

int main(void) {
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  work one = begin(context, 3);
  work two = begin(context, 5);
  compute(&one);
  compute(&two);
  end(&one, "one");
  end(&two, "two");
  tenon_context_release(context);
  return 0;
}
