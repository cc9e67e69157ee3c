#include "examples/c/fashion_network.h"

#include <math.h>

#include "examples/c/must.h"

typedef struct parameter {
  const char* name;
  size_t rank;
  int64_t shape[4];
  int64_t inputs; /* Fan-in of each unit; 0 for a bias, which is initialised to 0. */
} parameter;

static const parameter kParameter[kParameters] = {
    {"conv1.weight", 4, {16, 1, 3, 3}, 9},    {"conv1.bias", 1, {16}, 0},
    {"conv2.weight", 4, {32, 16, 3, 3}, 144}, {"conv2.bias", 1, {32}, 0},
    {"dense1.weight", 2, {1568, 128}, 1568},  {"dense1.bias", 1, {128}, 0},
    {"dense2.weight", 2, {128, 10}, 128},     {"dense2.bias", 1, {10}, 0},
};

/* ---- parameters --------------------------------------------------------- */

static tenon_tensor* zeros(tenon_scope* scope, const parameter* p) {
  tenon_fill_attrs attrs = TENON_FILL_ATTRS_DEFAULT;
  tenon_tensor* zero = tenon_scalar_f64(0);
  tenon_tensor* result = NULL;
  attrs.shape = p->shape;
  attrs.n_shape = p->rank;
  attrs.dtype = TENON_FLOAT32;
  must(tenon_fill(scope, zero, &attrs, &result));
  tenon_tensor_release(zero);
  return result;
}

/* Makes a variable; consumes its initial value. */
static tenon_variable* variable(tenon_scope* scope, const char* name, tenon_tensor* initial,
                                bool trainable) {
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_variable* result = NULL;
  options.name = tenon_str(name);
  options.trainable = trainable;
  must(tenon_variable_create(scope, initial, &options, &result));
  tenon_tensor_release(initial);
  return result;
}

static tenon_error* train_step(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                               size_t n_inputs, const tenon_static* statics, size_t n_statics,
                               tenon_tensor** out_outputs, size_t max_outputs);

network* network_create(tenon_scope* scope, uint64_t seed) {
  network* net = calloc(1, sizeof *net);
  if (!net) {
    fputs("the host is out of memory\n", stderr);
    exit(1);
  }
  const tenon_function_body step = {train_step, net, NULL};
  tenon_generator* generator = NULL;
  net->scope = scope;
  must(tenon_function_create(tenon_scope_context(scope), tenon_str("train_step"), step, NULL,
                             &net->step));
  must(tenon_generator_create(scope, seed, &generator));
  for (size_t i = 0; i < kParameters; ++i) {
    const parameter* p = &kParameter[i];
    tenon_tensor* initial = NULL;
    if (p->inputs) {
      /* With relu, this scale keeps the variance constant from layer to layer. */
      const double scale = sqrt(2.0 / (double)p->inputs);
      must(tenon_generator_normal(scope, generator, TENON_FLOAT32, p->shape, p->rank, 0, scale,
                                  &initial));
    } else {
      initial = zeros(scope, p);
    }
    net->parameters[i] = variable(scope, p->name, initial, true);
    net->first_moments[i] = variable(scope, "", zeros(scope, p), false);
    net->second_moments[i] = variable(scope, "", zeros(scope, p), false);
  }
  tenon_generator_release(generator);
  return net;
}

void network_free(network* net) {
  for (size_t i = 0; i < kParameters; ++i) {
    tenon_variable_release(net->parameters[i]);
    tenon_variable_release(net->first_moments[i]);
    tenon_variable_release(net->second_moments[i]);
  }
  tenon_function_release(net->step);
  free(net);
}

static tenon_tensor* read(network* net, tenon_variable* v) {
  tenon_tensor* value = NULL;
  must(tenon_variable_read(net->scope, v, &value));
  return value;
}

/* ---- layers -------------------------------------------------------------
 * Each function computes a layer: it consumes the layer's input and returns its output. `at` is
 * the index of the layer's weight; the layer's bias is the next parameter. */

static tenon_tensor* relu(network* net, tenon_tensor* x) {
  tenon_tensor* y = NULL;
  must(tenon_relu(net->scope, x, &y));
  tenon_tensor_release(x);
  return y;
}

static tenon_tensor* conv(network* net, size_t at, tenon_tensor* x) {
  static const int64_t pads[] = {1, 1, 1, 1};
  tenon_conv_attrs attrs = TENON_CONV_ATTRS_DEFAULT;
  tenon_tensor* w = read(net, net->parameters[at]);
  tenon_tensor* b = read(net, net->parameters[at + 1]);
  tenon_tensor* y = NULL;
  attrs.pads = pads;
  attrs.n_pads = 4;
  must(tenon_conv(net->scope, x, w, b, &attrs, &y));
  tenon_tensor_release(b);
  tenon_tensor_release(w);
  tenon_tensor_release(x);
  return y;
}

static tenon_tensor* pool(network* net, tenon_tensor* x) {
  static const int64_t two[] = {2, 2};
  tenon_max_pool_attrs attrs = TENON_MAX_POOL_ATTRS_DEFAULT;
  tenon_tensor* y = NULL;
  attrs.kernel_shape = two;
  attrs.n_kernel_shape = 2;
  attrs.strides = two;
  attrs.n_strides = 2;
  must(tenon_max_pool(net->scope, x, &attrs, &y, NULL));
  tenon_tensor_release(x);
  return y;
}

static tenon_tensor* dense(network* net, size_t at, tenon_tensor* x) {
  tenon_tensor* w = read(net, net->parameters[at]);
  tenon_tensor* b = read(net, net->parameters[at + 1]);
  tenon_tensor* y = NULL;
  must(tenon_dense(net->scope, x, w, b, &y));
  tenon_tensor_release(b);
  tenon_tensor_release(w);
  tenon_tensor_release(x);
  return y;
}

/* Flattens each image to one row of features, for any number of images. */
static tenon_tensor* flatten(network* net, tenon_tensor* x) {
  tenon_tensor* y = NULL;
  must(tenon_flatten(net->scope, x, NULL, &y));
  tenon_tensor_release(x);
  return y;
}

/* Converts bytes to numbers from 0 to 1. Borrows its input. */
static tenon_tensor* to_unit(network* net, tenon_tensor* images) {
  tenon_cast_attrs attrs = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor* scale = tenon_scalar_f64(1.0 / 255);
  tenon_tensor *floats = NULL, *y = NULL;
  attrs.to = TENON_FLOAT32;
  must(tenon_cast(net->scope, images, &attrs, &floats));
  must(tenon_mul(net->scope, floats, scale, &y));
  tenon_tensor_release(floats);
  tenon_tensor_release(scale);
  return y;
}

tenon_tensor* network_logits(network* net, tenon_tensor* images) {
  tenon_tensor* x = to_unit(net, images);
  x = pool(net, relu(net, conv(net, 0, x)));
  x = pool(net, relu(net, conv(net, 2, x)));
  x = relu(net, dense(net, 4, flatten(net, x)));
  return dense(net, 6, x);
}

/* ---- training ----------------------------------------------------------- */

static void assign(network* net, tenon_variable* v, tenon_tensor* value) {
  must(tenon_variable_assign(net->scope, v, value));
  tenon_tensor_release(value);
}

static void adam(network* net, size_t i, tenon_tensor* gradient, tenon_tensor* step,
                 tenon_tensor* rate) {
  tenon_tensor* p = read(net, net->parameters[i]);
  tenon_tensor* m = read(net, net->first_moments[i]);
  tenon_tensor* v = read(net, net->second_moments[i]);
  tenon_tensor *next_p = NULL, *next_m = NULL, *next_v = NULL;
  must(tenon_adam(net->scope, p, gradient, m, v, step, rate, NULL, &next_p, &next_m, &next_v));
  assign(net, net->parameters[i], next_p);
  assign(net, net->first_moments[i], next_m);
  assign(net, net->second_moments[i], next_v);
  tenon_tensor_release(v);
  tenon_tensor_release(m);
  tenon_tensor_release(p);
}

/* Runs the forward pass, the backward pass, and adam for each parameter. */
static tenon_error* train_step(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                               size_t n_inputs, const tenon_static* statics, size_t n_statics,
                               tenon_tensor** out_outputs, size_t max_outputs) {
  network net = *(const network*)payload;
  tenon_tensor *const images = inputs[0], *const labels = inputs[1];
  tenon_tensor *const step = inputs[2], *const rate = inputs[3];
  tenon_value* sources[kParameters];
  tenon_tensor* gradients[kParameters];
  tenon_tape* tape = NULL;
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  net.scope = scope;
  for (size_t i = 0; i < kParameters; ++i) sources[i] = tenon_variable_as_value(net.parameters[i]);

  must(tenon_tape_create(scope, NULL, &tape));
  tenon_tensor* logits = network_logits(&net, images);
  tenon_tensor** const loss = &out_outputs[0];
  must(tenon_sparse_softmax_cross_entropy(scope, logits, labels, NULL, loss, NULL));
  must(tenon_tape_gradient(scope, tape, loss, 1, NULL, sources, kParameters, NULL, gradients));
  tenon_tape_release(tape);
  tenon_tensor_release(logits);
  for (size_t i = 0; i < kParameters; ++i) {
    adam(&net, i, gradients[i], step, rate);
    tenon_tensor_release(gradients[i]);
  }
  return NULL;
}

double network_train(network* net, tenon_tensor* images, tenon_tensor* labels, double rate) {
  tenon_tensor* inputs[] = {images, labels, tenon_scalar_i64(++net->steps), tenon_scalar_f64(rate)};
  tenon_tensor* loss = NULL;
  must(tenon_function_call(net->scope, net->step, inputs, 4, NULL, 0, &loss, 1, NULL));
  const double result = number(net->scope, loss);
  tenon_tensor_release(inputs[2]);
  tenon_tensor_release(inputs[3]);
  tenon_tensor_release(loss);
  return result;
}

void network_perturb_weights(network* net, uint64_t seed, double deviation) {
  tenon_generator* generator = NULL;
  must(tenon_generator_create(net->scope, seed, &generator));
  for (size_t i = 0; i < kParameters; ++i) {
    const parameter* p = &kParameter[i];
    tenon_tensor* value = read(net, net->parameters[i]);
    tenon_tensor *factor = NULL, *disturbed = NULL;
    must(tenon_generator_normal(net->scope, generator, TENON_FLOAT32, p->shape, p->rank, 1,
                                deviation, &factor));
    must(tenon_mul(net->scope, value, factor, &disturbed));
    assign(net, net->parameters[i], disturbed);
    tenon_tensor_release(factor);
    tenon_tensor_release(value);
  }
  tenon_generator_release(generator);
}

/* ---- files -------------------------------------------------------------- */

static tenon_error* classify(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                             size_t n_inputs, const tenon_static* statics, size_t n_statics,
                             tenon_tensor** out_outputs, size_t max_outputs) {
  network net = *(const network*)payload;
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  net.scope = scope;
  out_outputs[0] = network_logits(&net, inputs[0]);
  return NULL;
}

/* Returns the function's trace for any number of images. */
static tenon_trace* trace_for(network* net, tenon_function* function, tenon_dtype dtype) {
  const int64_t shape[] = {TENON_SIZE_UNKNOWN, 1, 28, 28};
  const tenon_string size_names[] = {TENON_STR("n"), TENON_STR(""), TENON_STR(""), TENON_STR("")};
  const tenon_input_spec images = {TENON_STR("images"), dtype, 4, shape, size_names, false};
  tenon_trace* trace = NULL;
  must(tenon_function_trace(net->scope, function, &images, 1, NULL, 0, &trace));
  return trace;
}

/* Saves one function with two signatures: for u8 images from files, and for float images, so that
 * the logits can be differentiated with respect to them. */
void network_save_program(network* net, const char* path) {
  const tenon_function_body body = {classify, net, NULL};
  const tenon_string names[] = {TENON_STR("classify"), TENON_STR("classify")};
  tenon_function* function = NULL;
  must(tenon_function_create(tenon_scope_context(net->scope), names[0], body, NULL, &function));
  tenon_trace* traces[] = {trace_for(net, function, TENON_UINT8),
                           trace_for(net, function, TENON_FLOAT32)};
  must(tenon_program_save(net->scope, tenon_str(path), names, traces, 2));
  tenon_trace_release(traces[0]);
  tenon_trace_release(traces[1]);
  tenon_function_release(function);
}

void network_save(network* net, const char* path) {
  tenon_string names[kParameters];
  tenon_tensor* values[kParameters];
  const tenon_metadata metadata = {TENON_STR("trained_on"), TENON_STR("Fashion-MNIST")};
  for (size_t i = 0; i < kParameters; ++i) {
    names[i] = tenon_str(kParameter[i].name);
    values[i] = read(net, net->parameters[i]);
  }
  must(tenon_safetensors_save(net->scope, tenon_str(path), names, values, kParameters, &metadata,
                              1));
  for (size_t i = 0; i < kParameters; ++i) tenon_tensor_release(values[i]);
}

void network_load(network* net, const char* path) {
  tenon_safetensors* file = NULL;
  must(tenon_safetensors_open(tenon_str(path), &file));
  for (size_t i = 0; i < kParameters; ++i) {
    tenon_tensor* value = NULL;
    must(tenon_safetensors_load(net->scope, file, tenon_str(kParameter[i].name), &value));
    assign(net, net->parameters[i], value);
  }
  tenon_safetensors_release(file);
}
