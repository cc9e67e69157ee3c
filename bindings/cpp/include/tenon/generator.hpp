// Random numbers: the same seed gives the same bits on every device.

#pragma once

#include <tenon/operators.hpp>

namespace tenon {

// A random number generator. Each draw advances its state, so the order of draws determines their
// values. C++ does not specify the evaluation order of function arguments and of most operands:
// compilers differ in f(g.normal(s), g.normal(s)) and g.normal(s) + g.uniform(s). Draw into named
// tensors, one statement each. Braced lists are evaluated from left to right.
class Generator {
 public:
  explicit Generator(uint64_t seed, SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_generator** out) {
          return tenon_generator_create(current_scope(at), seed, out);
        })) {}

  // Adds a reference to an object that the caller keeps.
  static Generator share(tenon_generator* generator) { return Generator(Shared::share(generator)); }

  // Resets the state to that of a new generator with this seed.
  void seed(uint64_t seed, SourceLocation at = here()) const {
    check(tenon_generator_seed(current_scope(at), get(), seed), at);
  }

  // Returns the state, a u32[6] tensor that determines all later draws. Save it to resume from
  // here.
  Tensor state(SourceLocation at = here()) const {
    tenon_tensor* state = nullptr;
    check(tenon_generator_read(current_scope(at), get(), &state), at);
    return Tensor::adopt(state);
  }
  // Restores a state that state() returned.
  void set_state(const Tensor& state, SourceLocation at = here()) const {
    check(tenon_generator_assign(current_scope(at), get(), state.get()), at);
  }

  // Draws from a uniform distribution on [low, high).
  Tensor uniform(const Shape& shape, double low = 0, double high = 1, DType dtype = kFloat32,
                 SourceLocation at = here()) const {
    tenon_tensor* drawn = nullptr;
    check(tenon_generator_uniform(current_scope(at), get(), dtype, shape.data(), shape.size(), low,
                                  high, &drawn),
          at);
    return Tensor::adopt(drawn);
  }

  // Draws from a normal distribution; `scale` is the standard deviation.
  Tensor normal(const Shape& shape, double mean = 0, double scale = 1, DType dtype = kFloat32,
                SourceLocation at = here()) const {
    tenon_tensor* drawn = nullptr;
    check(tenon_generator_normal(current_scope(at), get(), dtype, shape.data(), shape.size(), mean,
                                 scale, &drawn),
          at);
    return Tensor::adopt(drawn);
  }

  // Draws bools that are true with probability p.
  Tensor bernoulli(const Shape& shape, double p, SourceLocation at = here()) const {
    const RandomBernoulliAttrs attrs{.shape = shape};
    const tenon_random_bernoulli_attrs c_attrs = attrs.c();
    return draw(TENON_OP_random_bernoulli, &c_attrs, {nullptr, Tensor(p).get()}, at);
  }

  // Sets a random fraction of the elements to zero. Scales up the remaining elements to compensate
  // for that.
  Tensor dropout(const Tensor& x, const DropoutAttrs& attrs = {},
                 SourceLocation at = here()) const {
    const tenon_dropout_attrs c_attrs = attrs.c();
    return draw(TENON_OP_dropout, &c_attrs, {x.get(), nullptr}, at);
  }

  tenon_generator* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_generator, tenon_generator_retain, tenon_generator_release>;

  explicit Generator(Shared handle) : handle_(std::move(handle)) {}

  // Calls a random op and returns its first output. The generator's state replaces the NULL entry
  // of `inputs`.
  Tensor draw(uint32_t op, const void* attrs, std::initializer_list<tenon_tensor*> inputs,
              SourceLocation at) const {
    tenon_tensor* drawn = nullptr;
    check(tenon_generator_call(current_scope(at), get(), op, attrs, inputs.begin(), inputs.size(),
                               &drawn, 1),
          at);
    return Tensor::adopt(drawn);
  }

  Shared handle_;
};

}  // namespace tenon
