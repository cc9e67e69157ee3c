#include "capi/tests/check.h"

static tenon_generator* generator_of(uint64_t seed) {
  tenon_generator* generator = NULL;
  CHECK_OK(tenon_generator_create(scope(), seed, &generator));
  return generator;
}

static void the_generator_state_is_the_seed_and_a_counter(void) {
  tenon_generator* generator = generator_of(0x100000002u);
  tenon_tensor* state = NULL;

  CHECK_OK(tenon_generator_read(scope(), generator, &state));

  CHECK(tenon_tensor_dtype(state) == TENON_UINT32);
  CHECK_VALUES(state, 2, 1, 0, 0, 0, 0);
  tenon_tensor_release(state);
  tenon_generator_retain(generator);
  tenon_generator_release(generator);
  tenon_generator_release(generator);
}

/* Compares random bits with the published test vectors of Philox4x32-10. */
static void a_generator_draws_the_published_philox_bits(void) {
  const uint32_t ones[6] = {0xffffffffu, 0xffffffffu, 0xffffffffu,
                            0xffffffffu, 0xffffffffu, 0xffffffffu};
  const int64_t six[1] = {6};
  const int64_t four[1] = {4};
  tenon_rng_bits_attrs attrs = TENON_RNG_BITS_ATTRS_DEFAULT;
  tenon_generator* generator = generator_of(0);
  tenon_tensor* state = NULL;
  tenon_tensor* none = NULL;
  tenon_tensor* bits = NULL;
  attrs.shape = four;
  attrs.n_shape = 1;

  CHECK_OK(tenon_generator_call(scope(), generator, TENON_OP_rng_bits, &attrs, &none, 1, &bits, 1));
  CHECK_VALUES(bits, 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u);
  tenon_tensor_release(bits);

  CHECK_OK(tenon_tensor_from_data(scope(), TENON_UINT32, six, 1, ones, sizeof ones, &state));
  CHECK_OK(tenon_generator_assign(scope(), generator, state));
  CHECK_OK(tenon_generator_call(scope(), generator, TENON_OP_rng_bits, &attrs, &none, 1, &bits, 1));
  CHECK_VALUES(bits, 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu);
  tenon_tensor_release(bits);
  tenon_tensor_release(state);
  tenon_generator_release(generator);
}

static void a_draw_advances_the_counter_by_one_for_four_values(void) {
  const int64_t five[1] = {5};
  tenon_generator* generator = generator_of(7);
  tenon_tensor* x = NULL;
  tenon_tensor* state = NULL;

  CHECK_OK(tenon_generator_uniform(scope(), generator, TENON_FLOAT32, five, 1, 0, 1, &x));
  CHECK_OK(tenon_generator_read(scope(), generator, &state));

  CHECK(count_of(x) == 5);
  CHECK_VALUES(state, 7, 0, 2, 0, 0, 0);
  tenon_tensor_release(x);
  tenon_tensor_release(state);
  tenon_generator_release(generator);
}

static void a_generator_repeats_draws_after_seeding_or_restoring_its_state(void) {
  const int64_t shape[2] = {2, 3};
  float a[6], b[6], c[6];
  tenon_generator* generator = generator_of(5);
  tenon_tensor* state = NULL;
  tenon_tensor* x = NULL;
  CHECK_OK(tenon_generator_read(scope(), generator, &state));

  CHECK_OK(tenon_generator_normal(scope(), generator, TENON_FLOAT32, shape, 2, 1, 2, &x));
  CHECK_OK(tenon_tensor_read(scope(), x, a, sizeof a));
  tenon_tensor_release(x);
  CHECK_OK(tenon_generator_seed(scope(), generator, 5));
  CHECK_OK(tenon_generator_normal(scope(), generator, TENON_FLOAT32, shape, 2, 1, 2, &x));
  CHECK_OK(tenon_tensor_read(scope(), x, b, sizeof b));
  tenon_tensor_release(x);
  CHECK_OK(tenon_generator_assign(scope(), generator, state));
  CHECK_OK(tenon_generator_normal(scope(), generator, TENON_FLOAT32, shape, 2, 1, 2, &x));
  CHECK_OK(tenon_tensor_read(scope(), x, c, sizeof c));
  tenon_tensor_release(x);

  CHECK(memcmp(a, b, sizeof a) == 0 && memcmp(a, c, sizeof a) == 0);
  tenon_tensor_release(state);
  tenon_generator_release(generator);
}

static void generator_call_passes_the_state_instead_of_the_null_input(void) {
  tenon_dropout_attrs attrs = TENON_DROPOUT_ATTRS_DEFAULT;
  tenon_generator* generator = generator_of(1);
  tenon_tensor* inputs[2] = {NULL, NULL};
  tenon_tensor* outputs[2] = {NULL, NULL};
  attrs.ratio = 0;
  inputs[0] = F32(1, 2, 3);

  CHECK_OK(
      tenon_generator_call(scope(), generator, TENON_OP_dropout, &attrs, inputs, 2, outputs, 2));

  CHECK_VALUES(outputs[0], 1, 2, 3);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(outputs[0]);
  tenon_tensor_release(outputs[1]);
  tenon_generator_release(generator);
}

static void generator_call_refuses_ops_without_a_state(void) {
  tenon_generator* generator = generator_of(1);
  const int64_t shape[1] = {-3};
  tenon_tensor* x = F32(1);
  tenon_tensor* none[1] = {NULL};
  tenon_tensor* out = GARBAGE(tenon_tensor);

  CHECK_ERROR(tenon_generator_call(scope(), generator, TENON_OP_neg, NULL, &x, 1, &out, 1),
              TENON_INVALID_ARGUMENT, "inputs must have a NULL entry at the position of the state");
  CHECK(out == NULL);
  CHECK_ERROR(tenon_generator_call(scope(), generator, TENON_OP_abs, NULL, none, 1, &out, 1),
              TENON_INVALID_ARGUMENT, "does not return the new state");
  CHECK_ERROR(tenon_generator_assign(scope(), generator, x), TENON_INVALID_ARGUMENT,
              "a generator's state must be u32[6], but is f32[1]");
  CHECK_ERROR(tenon_generator_uniform(scope(), generator, TENON_FLOAT32, shape, 1, 0, 1, &out),
              TENON_INVALID_ARGUMENT, "f32[-3] has a negative size");
  CHECK_ERROR(tenon_generator_uniform(scope(), generator, TENON_INT32, NULL, 0, 0, 1, &out),
              TENON_INVALID_ARGUMENT, "random_uniform: C");
  CHECK_ERROR(tenon_generator_read(scope(), NULL, &out), TENON_INVALID_ARGUMENT,
              "generator is NULL");
  tenon_tensor_release(x);
  tenon_generator_release(generator);
}

int main(void) {
  RUN(the_generator_state_is_the_seed_and_a_counter);
  RUN(a_generator_draws_the_published_philox_bits);
  RUN(a_draw_advances_the_counter_by_one_for_four_values);
  RUN(a_generator_repeats_draws_after_seeding_or_restoring_its_state);
  RUN(generator_call_passes_the_state_instead_of_the_null_input);
  RUN(generator_call_refuses_ops_without_a_state);
  return report();
}
