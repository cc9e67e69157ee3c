// Which calls a trace or a function is for, where a function has several signatures: types of
// inputs, and static arguments.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/small_vector.h"
#include "core/trace/function.h"

namespace tenon {

// An input of a call, or of one that is described.
struct GivenInput {
  DType dtype;
  bool weak;
  uint8_t lists;
  SmallVector<int64_t, 8> sizes;  // Words of sizes: what is unknown is equal to itself.
};
std::vector<GivenInput> given_of(std::span<const InputSpec> inputs);

// Whether a signature takes such inputs, whatever their unknown sizes are.
bool serves(std::span<const InputSpec> signature, std::span<const GivenInput> inputs);
// Whether two signatures take the same inputs.
bool are_alike(std::span<const InputSpec> a, std::span<const InputSpec> b);
// How many sizes a signature leaves open; those with one name are one.
size_t n_open_sizes(std::span<const InputSpec> signature);

// What a trace takes, as a file says it: an inline scalar is a tensor without axes there.
std::vector<InputSpec> specs_of(const Trace& trace);

// "f32[n,3]", and of all inputs "(x: f32[n,3], y: i64 scalar) with training=true".
std::string text_of(const InputSpec& spec);
std::string signature_text(std::span<const InputSpec> inputs, const KeptStatics* statics);

}  // namespace tenon
