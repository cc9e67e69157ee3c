#include <tenon/generator.h>
#include <tenon/op_attrs_gen.h>

#include "capi/src/boundary.h"
#include "capi/src/c_attrs.h"
#include "core/dispatch/dispatch.h"

using namespace tenon::capi;
using tenon::Generator;
using tenon::Tensor;
using tenon::TensorImpl;
using tenon::Tensors;

namespace {

Generator& get_generator(const tenon::Scope& scope, tenon_generator* generator) {
  Generator& self = get(generator, "generator");
  if (&self.context() != &scope.context()) {
    fail_argument("generator", "belongs to another context than the scope");
  }
  return self;
}

// Calls a random op. The generator supplies the state, whose position is the first NULL entry of
// `inputs`, and advances.
Tensors draw(tenon::Scope& scope, tenon_generator* generator, uint32_t op, const void* attrs,
             const std::vector<Tensor>& inputs) {
  Generator& self = get_generator(scope, generator);
  const auto keep = tenon::Ref<Generator>::share(
      &self);  // Keeps the generator alive: a custom op's callbacks may release it.
  size_t place = 0;
  while (place < inputs.size() && inputs[place]) ++place;
  if (place == inputs.size())
    fail_argument("inputs", "must have a NULL entry at the position of the state");
  std::vector<TensorImpl*> others;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i != place) others.push_back(inputs[i].get());
  }
  const tenon::OpDef& def = find_op(scope.context(), op);
  try {
    const CallAttrs given(def, attrs);
    return self.draw(scope, def, given.view(), others, place);
  } catch (tenon::Error& error) {
    error.set_op(def.name);
    throw;
  }
}

// Calls a random op that has no inputs but the state, and one output.
void draw_one(tenon::Scope& scope, tenon_generator* generator, uint32_t op, const void* attrs,
              tenon_tensor** out_tensor) {
  require_pointer(out_tensor, "out_tensor");
  Tensors outputs = draw(scope, generator, op, attrs, {Tensor()});
  set_outputs(outputs, out_tensor, 1);
}

}  // namespace

tenon_error* tenon_generator_create(tenon_scope* scope, uint64_t seed,
                                    tenon_generator** out_generator) {
  clear_output(out_generator);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_generator, "out_generator");
    give(tenon::Ref<Generator>::adopt(new Generator(self, seed)), out_generator);
  });
}

void tenon_generator_retain(tenon_generator* generator) { retain_handle(generator); }

void tenon_generator_release(tenon_generator* generator) { release_handle(generator); }

tenon_error* tenon_generator_seed(tenon_scope* scope, tenon_generator* generator, uint64_t seed) {
  return boundary_in(scope,
                     [&](tenon::Scope& self) { get_generator(self, generator).seed(self, seed); });
}

tenon_error* tenon_generator_read(tenon_scope* scope, tenon_generator* generator,
                                  tenon_tensor** out_state) {
  clear_output(out_state);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_state, "out_state");
    give(get_generator(self, generator).load(self), out_state);
  });
}

tenon_error* tenon_generator_assign(tenon_scope* scope, tenon_generator* generator,
                                    tenon_tensor* state) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    Generator& to = get_generator(self, generator);
    const Tensor value = get_tensor(self, state, "state");
    tenon::require(value->storage && value->storage->device == &to.device(),
                   "the generator is on {}, but the state is on another device",
                   to.device().name());
    to.set_state(self, value);
  });
}

tenon_error* tenon_generator_call(tenon_scope* scope, tenon_generator* generator, uint32_t op,
                                  const void* attrs, tenon_tensor* const* inputs, size_t n_inputs,
                                  tenon_tensor** out_outputs, size_t n_outputs) {
  clear_outputs(out_outputs, n_outputs);
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    require_pointer(inputs, "inputs");
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    Tensors outputs = draw(self, generator, op, attrs,
                           get_tensors(self, inputs, n_inputs, "inputs", Entries::kNullable));
    tenon::require(n_outputs <= outputs.size(), "{} outputs were requested, but the op has {}",
                   n_outputs, outputs.size());
    set_outputs(outputs, out_outputs, n_outputs);
  });
}

tenon_error* tenon_generator_uniform(tenon_scope* scope, tenon_generator* generator,
                                     tenon_dtype dtype, const int64_t* shape, size_t rank,
                                     double low, double high, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    get_type(dtype, shape, rank);
    const int64_t none = 0;
    tenon_random_uniform_attrs attrs = TENON_RANDOM_UNIFORM_ATTRS_DEFAULT;
    attrs.shape = rank ? shape : &none;
    attrs.n_shape = rank;
    attrs.dtype = dtype;
    attrs.low = low;
    attrs.high = high;
    draw_one(self, generator, TENON_OP_random_uniform, &attrs, out_tensor);
  });
}

tenon_error* tenon_generator_normal(tenon_scope* scope, tenon_generator* generator,
                                    tenon_dtype dtype, const int64_t* shape, size_t rank,
                                    double mean, double scale, tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    get_type(dtype, shape, rank);
    const int64_t none = 0;
    tenon_random_normal_attrs attrs = TENON_RANDOM_NORMAL_ATTRS_DEFAULT;
    attrs.shape = rank ? shape : &none;
    attrs.n_shape = rank;
    attrs.dtype = dtype;
    attrs.mean = mean;
    attrs.scale = scale;
    draw_one(self, generator, TENON_OP_random_normal, &attrs, out_tensor);
  });
}
