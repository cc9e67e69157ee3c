/* Donation of the inputs of functions. */

#include "capi/tests/function_code.h"

/* A call may write its outputs to the memory of its donated inputs. If it succeeds, it consumes
 * them. */
static void a_successful_call_consumes_its_donated_inputs(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *inputs[2] = {F32(1, 2, 3), F32(2, 2, 2)}, *y = NULL, *none = NULL;
  int i;
  for (i = 0; i < 4; ++i) {
    const void* where = tenon_tensor_data(inputs[0]);
    CHECK_OK(tenon_tensor_donate(inputs[0]));
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    if (i == 3) CHECK(tenon_tensor_data(y) == where);
    CHECK_ERROR(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &none, 1, NULL),
                TENON_INVALID_ARGUMENT, "inputs[0] was donated");
    tenon_tensor_release(inputs[0]);
    inputs[0] = y;
  }
  CHECK_VALUES(inputs[0], 16, 32, 48);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(f);
}

static void a_failed_call_does_not_consume_its_donated_inputs(void) {
  struct code code = {.run = product};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *inputs[2] = {F32(1, 2, 3), F32(1, 2)}, *y = NULL;
  CHECK_OK(tenon_tensor_donate(inputs[0]));
  CHECK_ERROR(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL),
              TENON_INVALID_ARGUMENT, "broadcast");
  tenon_tensor_release(inputs[1]);
  inputs[1] = F32(2, 2, 2);
  CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
  CHECK_VALUES(y, 2, 4, 6);
  tenon_tensor_release(y);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(f);
}

int main(void) {
  RUN(a_successful_call_consumes_its_donated_inputs);
  RUN(a_failed_call_does_not_consume_its_donated_inputs);
  return report();
}
