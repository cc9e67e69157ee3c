/* Computes the gradients of a loss with respect to every variable that it reads, without listing
 * the variables. */

#include "examples/c/must.h"

typedef struct model {
  tenon_variable* w;
  tenon_variable* b;
} model;

/* The loss mean((y - (w x + b))^2) for the inputs x and y. */
static tenon_error* loss(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  const model* m = payload;
  tenon_tensor *w = NULL, *b = NULL, *wx = NULL, *line = NULL;
  (void)n_inputs, (void)n_outputs;
  must(tenon_variable_read(scope, m->w, &w));
  must(tenon_variable_read(scope, m->b, &b));
  must(tenon_mul(scope, w, inputs[0], &wx));
  must(tenon_add(scope, wx, b, &line));
  tenon_error* error = tenon_mse(scope, line, inputs[1], NULL, &out_outputs[0]);
  tenon_tensor_release(line);
  tenon_tensor_release(wx);
  tenon_tensor_release(b);
  tenon_tensor_release(w);
  return error;
}

static tenon_variable* variable(tenon_scope* scope, const char* name, float initial) {
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_tensor* value = f32_number(scope, initial);
  tenon_variable* result = NULL;
  options.name = tenon_str(name);
  must(tenon_variable_create(scope, value, &options, &result));
  tenon_tensor_release(value);
  return result;
}

int main(void) {
  const float x_values[] = {1, 2, 3, 4};
  const float y_values[] = {3, 5, 7, 9};
  tenon_context* context = NULL;
  tenon_tensor* value = NULL;
  tenon_variable_gradients* gradients = NULL;

  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  tenon_tensor* inputs[] = {f32_vector(scope, x_values, 4), f32_vector(scope, y_values, 4)};
  model m = {variable(scope, "w", 1), variable(scope, "b", 0)};
  const tenon_tensor_function function = {loss, &m, NULL};

  must(tenon_gradients(scope, function, inputs, 2, NULL, &value, 1, NULL, &gradients));
  show(scope, "loss: ", value);
  for (size_t i = 0; i < tenon_variable_gradients_count(gradients); ++i) {
    printf("gradient by %s: ",
           tenon_variable_name(tenon_variable_gradients_variable(gradients, i)).data);
    show(scope, "", tenon_variable_gradients_gradient(gradients, i));
  }

  tenon_variable_gradients_release(gradients);
  tenon_tensor_release(value);
  tenon_variable_release(m.w);
  tenon_variable_release(m.b);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_context_release(context);
  return 0;
}
