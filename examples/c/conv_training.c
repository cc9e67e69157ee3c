/* Trains a small convolutional network on Fashion-MNIST: twenty steps eagerly and twenty as a
 * traced function. Then it saves the network as a program and its weights as a safetensors file,
 * loads both, and prints the loss of each. The same program exists in C, C++, Rust and Java; all
 * print the same text with any number of threads.
 *
 *   conv_training DATA FOLDER [THREADS] */

#include "examples/c/idx.h"
#include "examples/c/must.h"

enum { kWeights = 3, kBatch = 64, kSteps = 20 };

static const char* const kNames[kWeights] = {"conv1", "conv2", "dense"};
static const int64_t kShapes[kWeights][4] = {{8, 1, 3, 3}, {16, 8, 3, 3}, {784, 10}};
static const size_t kRanks[kWeights] = {4, 4, 2};
static const double kScales[kWeights] = {0.3, 0.15, 0.05};

typedef tenon_variable* network[kWeights];

/* ---- the network -------------------------------------------------------- */

static void network_create(tenon_scope* scope, network net) {
  tenon_generator* generator = NULL;
  must(tenon_generator_create(scope, 7, &generator));
  for (size_t i = 0; i < kWeights; ++i) {
    tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
    tenon_tensor* initial = NULL;
    options.name = tenon_str(kNames[i]);
    must(tenon_generator_normal(scope, generator, TENON_FLOAT32, kShapes[i], kRanks[i], 0,
                                kScales[i], &initial));
    must(tenon_variable_create(scope, initial, &options, &net[i]));
    tenon_tensor_release(initial);
  }
  tenon_generator_release(generator);
}

static tenon_tensor* read(tenon_scope* scope, tenon_variable* variable) {
  tenon_tensor* value = NULL;
  must(tenon_variable_read(scope, variable, &value));
  return value;
}

/* A convolution, relu, and pooling with 2 by 2 windows; borrows its input. */
static tenon_tensor* block(tenon_scope* scope, tenon_tensor* x, tenon_variable* weight) {
  static const int64_t pads[] = {1, 1, 1, 1}, two[] = {2, 2};
  tenon_conv_attrs same = TENON_CONV_ATTRS_DEFAULT;
  tenon_max_pool_attrs window = TENON_MAX_POOL_ATTRS_DEFAULT;
  tenon_tensor *w = read(scope, weight), *convolved = NULL, *active = NULL, *y = NULL;
  same.pads = pads;
  same.n_pads = 4;
  window.kernel_shape = window.strides = two;
  window.n_kernel_shape = window.n_strides = 2;
  must(tenon_conv(scope, x, w, NULL, &same, &convolved));
  must(tenon_relu(scope, convolved, &active));
  must(tenon_max_pool(scope, active, &window, &y, NULL));
  tenon_tensor_release(active);
  tenon_tensor_release(convolved);
  tenon_tensor_release(w);
  return y;
}

/* Maps f32[n,1,28,28] to a row of ten logits for each image. */
static tenon_tensor* logits_of(tenon_scope* scope, network net, tenon_tensor* images) {
  tenon_tensor* first = block(scope, images, net[0]);
  tenon_tensor* second = block(scope, first, net[1]);
  tenon_tensor *w = read(scope, net[2]), *rows = NULL, *logits = NULL;
  must(tenon_flatten(scope, second, NULL, &rows));
  must(tenon_matmul(scope, rows, w, NULL, &logits));
  tenon_tensor_release(rows);
  tenon_tensor_release(w);
  tenon_tensor_release(second);
  tenon_tensor_release(first);
  return logits;
}

static tenon_tensor* loss_of(tenon_scope* scope, tenon_tensor* logits, tenon_tensor* labels) {
  tenon_tensor* loss = NULL;
  must(tenon_sparse_softmax_cross_entropy(scope, logits, labels, NULL, &loss, NULL));
  return loss;
}

/* ---- a custom gradient: an identity whose gradient is clipped ----------- */

static tenon_error* pass_on(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload, (void)n_inputs, (void)n_outputs;
  return tenon_identity(scope, inputs[0], &out_outputs[0]);
}

static tenon_error* clip(void* payload, tenon_scope* scope, const tenon_backward_args* args,
                         tenon_tensor** out_grads, size_t n_grads) {
  tenon_tensor *low = tenon_scalar_f64(-0.01), *high = tenon_scalar_f64(0.01);
  (void)payload, (void)n_grads;
  tenon_error* error = tenon_clip(scope, args->cotangents[0], low, high, &out_grads[0]);
  tenon_tensor_release(high);
  tenon_tensor_release(low);
  return error;
}

static tenon_tensor* clip_gradient(tenon_scope* scope, tenon_tensor* x) {
  const tenon_tensor_function forward = {pass_on, NULL, NULL};
  const tenon_backward_function backward = {clip, NULL, NULL};
  tenon_tensor* y = NULL;
  must(tenon_custom_gradient(scope, forward, &x, 1, backward, &y, 1));
  return y;
}

/* ---- the learning rate: halved after every ten steps -------------------- */

static tenon_error* ten_are_left(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                                 size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_tensor* ten = tenon_scalar_i64(10);
  (void)payload, (void)n_inputs, (void)max_outputs;
  tenon_error* error = tenon_greater_equal(scope, inputs[1], ten, &out_outputs[0]);
  tenon_tensor_release(ten);
  return error;
}

static tenon_error* halve(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                          size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_tensor *half = tenon_scalar_f64(0.5), *ten = tenon_scalar_i64(10);
  (void)payload, (void)n_inputs, (void)max_outputs;
  tenon_error* error = tenon_mul(scope, inputs[0], half, &out_outputs[0]);
  if (!error) error = tenon_sub(scope, inputs[1], ten, &out_outputs[1]);
  tenon_tensor_release(ten);
  tenon_tensor_release(half);
  return error;
}

static tenon_tensor* rate_at(tenon_scope* scope, tenon_tensor* step) {
  const tenon_block condition = {ten_are_left, NULL}, body = {halve, NULL};
  tenon_tensor *initial[] = {tenon_scalar_f64(0.1), step}, *last[2];
  must(tenon_while_loop(scope, condition, body, initial, 2, NULL, last));
  tenon_tensor_release(initial[0]);
  tenon_tensor_release(last[1]);
  return last[0];
}

/* ---- training ----------------------------------------------------------- */

/* Takes images, their labels and the number of the step; returns the loss before the step. */
static tenon_error* train(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                          size_t n_inputs, const tenon_static* statics, size_t n_statics,
                          tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_variable** net = payload;
  tenon_value* sources[kWeights];
  tenon_tensor* gradients[kWeights];
  tenon_tape* tape = NULL;
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  for (size_t i = 0; i < kWeights; ++i) sources[i] = tenon_variable_as_value(net[i]);

  must(tenon_tape_create(scope, NULL, &tape));
  tenon_tensor* logits = logits_of(scope, net, inputs[0]);
  tenon_tensor* clipped = clip_gradient(scope, logits);
  out_outputs[0] = loss_of(scope, clipped, inputs[1]);
  must(tenon_tape_gradient(scope, tape, out_outputs, 1, NULL, sources, kWeights, NULL, gradients));
  tenon_tensor* rate = rate_at(scope, inputs[2]);
  for (size_t i = 0; i < kWeights; ++i) {
    tenon_tensor *before = read(scope, net[i]), *after = NULL;
    must(tenon_sgd(scope, before, gradients[i], rate, &after));
    must(tenon_variable_assign(scope, net[i], after));
    tenon_tensor_release(after);
    tenon_tensor_release(before);
    tenon_tensor_release(gradients[i]);
  }
  tenon_tensor_release(rate);
  tenon_tape_release(tape);
  tenon_tensor_release(clipped);
  tenon_tensor_release(logits);
  return NULL;
}

static void print_loss(tenon_scope* scope, const char* what, tenon_tensor* loss) {
  printf("%s %.12f\n", what, number(scope, loss));
  tenon_tensor_release(loss);
}

/* The images of one step as numbers from 0 to 1, and their labels. */
static void batch(tenon_scope* scope, const image_set* data, size_t step, tenon_tensor** out_images,
                  tenon_tensor** out_labels) {
  static const int64_t shape[] = {kBatch, 1, kImageSide, kImageSide};
  const size_t from = step * kBatch;
  tenon_cast_attrs to_f32 = TENON_CAST_ATTRS_DEFAULT, to_i32 = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor *bytes = NULL, *floats = NULL, *unit = tenon_scalar_f64(1.0 / 255);
  to_f32.to = TENON_FLOAT32;
  must(tenon_tensor_from_data(scope, TENON_UINT8, shape, 4, data->pixels + from * kImagePixels,
                              kBatch * kImagePixels, &bytes));
  must(tenon_cast(scope, bytes, &to_f32, &floats));
  must(tenon_mul(scope, floats, unit, out_images));
  tenon_tensor_release(unit);
  tenon_tensor_release(floats);
  tenon_tensor_release(bytes);
  to_i32.to = TENON_INT32;
  must(tenon_tensor_from_data(scope, TENON_UINT8, shape, 1, data->labels + from, kBatch, &bytes));
  must(tenon_cast(scope, bytes, &to_i32, out_labels));
  tenon_tensor_release(bytes);
}

static void train_all(tenon_scope* scope, network net, const image_set* data) {
  const tenon_function_body body = {train, net, NULL};
  tenon_function* function = NULL;
  must(
      tenon_function_create(tenon_scope_context(scope), tenon_str("train"), body, NULL, &function));
  for (size_t step = 0; step < 2 * kSteps; ++step) {
    tenon_tensor *inputs[3], *loss = NULL;
    batch(scope, data, step, &inputs[0], &inputs[1]);
    inputs[2] = tenon_scalar_i64((int64_t)step);
    if (step < kSteps) {
      must(train(net, scope, inputs, 3, NULL, 0, &loss, 1));
    } else {
      must(tenon_function_call(scope, function, inputs, 3, NULL, 0, &loss, 1, NULL));
    }
    print_loss(scope, step < kSteps ? "eager" : "traced", loss);
    for (size_t i = 0; i < 3; ++i) tenon_tensor_release(inputs[i]);
  }
  tenon_function_release(function);
}

/* ---- files -------------------------------------------------------------- */

static tenon_error* classify(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                             size_t n_inputs, const tenon_static* statics, size_t n_statics,
                             tenon_tensor** out_outputs, size_t max_outputs) {
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  out_outputs[0] = logits_of(scope, payload, inputs[0]);
  return NULL;
}

static void save(tenon_scope* scope, network net, const char* program, const char* weights) {
  const int64_t shape[] = {TENON_SIZE_UNKNOWN, 1, kImageSide, kImageSide};
  const tenon_input_spec images = {TENON_STR("images"), TENON_FLOAT32, 4, shape, NULL, false};
  const tenon_function_body body = {classify, net, NULL};
  const tenon_string name = TENON_STR("classify");
  tenon_function* function = NULL;
  tenon_trace* trace = NULL;
  tenon_string names[kWeights];
  tenon_tensor* values[kWeights];
  must(tenon_function_create(tenon_scope_context(scope), name, body, NULL, &function));
  must(tenon_function_trace(scope, function, &images, 1, NULL, 0, &trace));
  must(tenon_program_save(scope, tenon_str(program), &name, &trace, 1));
  tenon_trace_release(trace);
  tenon_function_release(function);

  for (size_t i = 0; i < kWeights; ++i) {
    names[i] = tenon_str(kNames[i]);
    values[i] = read(scope, net[i]);
  }
  must(tenon_safetensors_save(scope, tenon_str(weights), names, values, kWeights, NULL, 0));
  for (size_t i = 0; i < kWeights; ++i) tenon_tensor_release(values[i]);
}

/* Prints the loss of the loaded program and of the loaded weights for a batch. */
static void load(tenon_scope* scope, const char* program, const char* weights, tenon_tensor* images,
                 tenon_tensor* labels) {
  tenon_program* opened = NULL;
  tenon_function* function = NULL;
  tenon_safetensors* file = NULL;
  tenon_tensor* logits = NULL;
  network net;
  must(tenon_program_open(scope, tenon_str(program), NULL, &opened));
  must(tenon_program_get_function(opened, tenon_str("classify"), &function));
  must(tenon_function_call(scope, function, &images, 1, NULL, 0, &logits, 1, NULL));
  print_loss(scope, "program", loss_of(scope, logits, labels));
  tenon_tensor_release(logits);
  tenon_function_release(function);
  tenon_program_release(opened);

  must(tenon_safetensors_open(tenon_str(weights), &file));
  for (size_t i = 0; i < kWeights; ++i) {
    tenon_tensor* value = NULL;
    must(tenon_safetensors_load(scope, file, tenon_str(kNames[i]), &value));
    must(tenon_variable_create(scope, value, NULL, &net[i]));
    tenon_tensor_release(value);
  }
  logits = logits_of(scope, net, images);
  print_loss(scope, "safetensors", loss_of(scope, logits, labels));
  tenon_tensor_release(logits);
  tenon_safetensors_release(file);
  for (size_t i = 0; i < kWeights; ++i) tenon_variable_release(net[i]);
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fputs("usage: conv_training DATA FOLDER [THREADS]\n", stderr);
    return 2;
  }
  char program[4096], weights[4096];
  snprintf(program, sizeof program, "%s/conv_training.program", argv[2]);
  snprintf(weights, sizeof weights, "%s/conv_training.safetensors", argv[2]);
  image_set data = image_set_read(argv[1], "train");
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_context* context = NULL;
  tenon_tensor *images = NULL, *labels = NULL;
  network net;
  options.threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
  must(tenon_context_create(&options, &context));
  tenon_scope* scope = tenon_context_default_scope(context);

  network_create(scope, net);
  train_all(scope, net, &data);
  save(scope, net, program, weights);
  batch(scope, &data, 0, &images, &labels);
  load(scope, program, weights, images, labels);

  tenon_tensor_release(labels);
  tenon_tensor_release(images);
  for (size_t i = 0; i < kWeights; ++i) tenon_variable_release(net[i]);
  tenon_context_release(context);
  image_set_free(&data);
  return 0;
}
