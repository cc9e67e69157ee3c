#include <tenon/introspect.h>

#include "capi/tests/function_code.h"

/* An ONNX file that computes y = OP(x, x) for x: f32[2]. OP must be a name of three letters. */
#define MODEL(op)                                                                                \
  "\x08\x08\x3a\x32"                                                  /* IR version 8; graph: */ \
  "\x0a\x0e\x0a\x01x\x0a\x01x\x12\x01y\x22\x03" op                    /* graph.node[0] */        \
  "\x5a\x0f\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02" /* graph.input */          \
  "\x62\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x02" /* graph.output */         \
  "\x42\x02\x10\x11"                                                  /* operator set 17 */

static const char kAdd[] = MODEL("Add");
static const char kUnknown[] = MODEL("Zap");
enum { kSize = sizeof kAdd - 1 };

static void an_onnx_model_runs(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* y = NULL;

  CHECK_OK(tenon_introspect_onnx_run(scope(), kAdd, kSize, &x, 1, &y, 1));

  CHECK_VALUES(y, 2, 4);
  CHECK_OK(tenon_introspect_onnx_run(scope(), kAdd, kSize, &x, 1, NULL, 0));
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

static void an_onnx_model_is_described_as_json(void) {
  tenon_string text = {NULL, 0};

  CHECK_OK(tenon_introspect_onnx_describe(kUnknown, kSize, &text));

  CHECK_TEXT(text,
             "{\"inputs\":[{\"name\":\"x\",\"type\":\"f32[2]\"}],\"ops\":[\"Zap\"],"
             "\"outputs\":[{\"name\":\"y\",\"type\":\"f32[2]\"}],"
             "\"unknown\":[{\"nodes\":[\"node 0\"],\"op\":\"Zap\"}],\"version\":17}");
  tenon_string_release(text);
}

static void an_onnx_tensor_is_read(void) {
  /* A TensorProto of f32[2] with the raw elements 1 and -2. */
  static const char kFloats[] = "\x08\x02\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\xc0";
  static const char kTexts[] = "\x08\x01\x10\x08\x32\x01z";
  tenon_tensor* x = NULL;

  CHECK_OK(tenon_introspect_onnx_tensor(scope(), kFloats, sizeof kFloats - 1, &x));
  CHECK_VALUES(x, 1, -2);
  tenon_tensor_release(x);
  CHECK_ERROR(tenon_introspect_onnx_tensor(scope(), kFloats, sizeof kFloats - 2, &x),
              TENON_DATA_LOSS, "byte 4: field 9 has 8 bytes, but only 7 bytes remain");
  CHECK(x == NULL);
  CHECK_ERROR(tenon_introspect_onnx_tensor(scope(), kTexts, sizeof kTexts - 1, &x),
              TENON_UNIMPLEMENTED,
              "tensor \"\" cannot be read: the elements have an unsupported type: string");
}

static void invalid_introspection_calls_are_errors(void) {
  tenon_tensor* pair[2];
  tenon_tensor* integers = make_i32(1, 2);
  tenon_tensor* outputs[2] = {GARBAGE(tenon_tensor), GARBAGE(tenon_tensor)};
  tenon_string text = {GARBAGE(char), 1};
  pair[0] = pair[1] = F32(1, 2);

  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kUnknown, kSize, pair, 1, outputs, 1),
              TENON_UNIMPLEMENTED, "the model has ops that are not supported: Zap (node 0)");
  CHECK(outputs[0] == NULL);
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, kSize, pair, 2, outputs, 1),
              TENON_INVALID_ARGUMENT, "the model takes 1 inputs, but got 2");
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, kSize, &integers, 1, outputs, 1),
              TENON_INVALID_ARGUMENT, "input \"x\" is i32[1,2], but the model takes f32[2]");
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, kSize, pair, 1, outputs, 2),
              TENON_INVALID_ARGUMENT, "2 outputs were requested, but the model has 1");
  CHECK(outputs[0] == NULL && outputs[1] == NULL);
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, kSize, NULL, 1, outputs, 1),
              TENON_INVALID_ARGUMENT, "inputs is NULL");
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, kSize, pair, 1, NULL, 1),
              TENON_INVALID_ARGUMENT, "out_outputs is NULL");
  CHECK_ERROR(tenon_introspect_onnx_run(scope(), NULL, kSize, pair, 1, outputs, 1),
              TENON_INVALID_ARGUMENT, "data is NULL");
  CHECK_ERROR(tenon_introspect_onnx_run(NULL, kAdd, kSize, pair, 1, outputs, 1),
              TENON_INVALID_ARGUMENT, "scope is NULL");
  CHECK_ERROR(tenon_introspect_onnx_describe(NULL, 8, &text), TENON_INVALID_ARGUMENT,
              "data is NULL");
  CHECK(text.data == NULL);
  CHECK_ERROR(tenon_introspect_onnx_describe(kAdd, kSize, NULL), TENON_INVALID_ARGUMENT,
              "out_text is NULL");
  CHECK_ERROR(tenon_introspect_onnx_tensor(scope(), kAdd, kSize, NULL), TENON_INVALID_ARGUMENT,
              "out_tensor is NULL");
  tenon_tensor_release(pair[0]);
  tenon_tensor_release(integers);
}

/* Does not test the file without its last field, the operator set version: it is valid, and uses
 * operator set 1. */
static void every_truncated_onnx_file_is_refused(void) {
  tenon_tensor* x = F32(1, 2);
  size_t size;

  for (size = 0; size < kSize - 4; ++size) {
    tenon_tensor* y = GARBAGE(tenon_tensor);
    CHECK_ERROR(tenon_introspect_onnx_run(scope(), kAdd, size, &x, 1, &y, 1), TENON_DATA_LOSS, "");
    CHECK(y == NULL);
  }
  tenon_tensor_release(x);
}

/* ---- traces ------------------------------------------------------------- */

/* A body that returns -(x' x). */
static tenon_error* negated_square(struct code* code, tenon_scope* inner,
                                   tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tensor *turned = NULL, *square = NULL;
  tenon_error* error = tenon_transpose(inner, inputs[0], NULL, &turned);
  (void)code;
  if (!error) error = tenon_matmul(inner, turned, inputs[0], NULL, &square);
  if (!error) error = tenon_neg(inner, square, &out_outputs[0]);
  tenon_tensor_release(turned);
  tenon_tensor_release(square);
  return error;
}

static void a_trace_is_described_as_json(void) {
  static const int64_t shape[2] = {TENON_SIZE_UNKNOWN, 2};
  const tenon_input_spec spec = {TENON_STR("x"), TENON_FLOAT32, 2, shape, NULL, false};
  const tenon_type type = {TENON_FLOAT32, 2, {3, 2}}, narrow = {TENON_FLOAT32, 2, {3, 1}};
  struct code code = {.run = negated_square};
  tenon_function* f = function_of(&code, NULL);
  tenon_trace* trace = NULL;
  tenon_string text = {NULL, 0};
  char part[160];
  CHECK_OK(tenon_function_trace(scope(), f, &spec, 1, NULL, 0, &trace));

  CHECK_OK(tenon_introspect_trace(scope(), trace, &type, 1, &text));

  CHECK_CONTAINS(text, "\"inputs\":[{\"name\":\"x\",\"type\":\"f32[3,2]\"}]");
  snprintf(part, sizeof part,
           "{\"device\":\"%s\",\"level\":0,\"op\":\"transpose\",\"outputs\":[\"f32[2,3]\"],"
           "\"runs\":\"view\",\"why\":\"\"}",
           device_name());
  CHECK_CONTAINS(text, part);
  snprintf(
      part, sizeof part,
      "{\"device\":\"%s\",\"level\":0,\"op\":\"matmul\",\"outputs\":[\"f32[2,2]\"],\"runs\":\"",
      device_name());
  CHECK_CONTAINS(text, part);
  /* The product, 16 bytes, is live until the negation has written its 16 bytes. */
  CHECK_CONTAINS(text,
                 "\"memory\":{\"captures\":0,\"inputs\":24,\"outputs\":16,\"peak\":32,"
                 "\"variables\":0}");
  tenon_string_release(text);
  CHECK_ERROR(tenon_introspect_trace(scope(), trace, &narrow, 1, &text), TENON_INVALID_ARGUMENT,
              "but not (f32[3,1])");
  CHECK_ERROR(tenon_introspect_trace(scope(), trace, NULL, 0, &text), TENON_INVALID_ARGUMENT,
              "but not ()");
  CHECK_ERROR(tenon_introspect_trace(scope(), trace, NULL, 1, &text), TENON_INVALID_ARGUMENT,
              "inputs is NULL");
  CHECK_ERROR(tenon_introspect_trace(scope(), NULL, &type, 1, &text), TENON_INVALID_ARGUMENT,
              "trace is NULL");
  CHECK_ERROR(tenon_introspect_trace(scope(), trace, &type, 1, NULL), TENON_INVALID_ARGUMENT,
              "out_text is NULL");
  tenon_trace_release(trace);
  tenon_function_release(f);
}

int main(void) {
  RUN(an_onnx_model_runs);
  RUN(an_onnx_model_is_described_as_json);
  RUN(an_onnx_tensor_is_read);
  RUN(invalid_introspection_calls_are_errors);
  RUN(every_truncated_onnx_file_is_refused);
  RUN(a_trace_is_described_as_json);
  return report();
}
