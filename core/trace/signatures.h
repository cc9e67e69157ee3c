// Selects the signature of a function for a call or a trace, by input types and static arguments.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/small_vector.h"
#include "core/trace/function.h"

namespace tenon {

// The type of an input of a call, or of a signature.
struct InputType {
  DType dtype;
  bool weak;
  uint8_t lists;
  SmallVector<int64_t, 8> sizes;  // Size::word() of each size; an unknown size equals only itself.
};
// Returns the input types of a signature. Unknown sizes with the same name are equal.
std::vector<InputType> input_types_of(std::span<const InputSpec> inputs);

// Whether a signature accepts inputs of these types, whatever values their unknown sizes have.
bool accepts_inputs(std::span<const InputSpec> signature, std::span<const InputType> inputs);
// Whether two signatures accept the same inputs.
bool have_equal_inputs(std::span<const InputSpec> a, std::span<const InputSpec> b);
// Number of unknown sizes in a signature; equal names count once.
size_t n_unknown_sizes(std::span<const InputSpec> signature);

// Returns the inputs of a trace as declared in a saved file. Inline scalars become tensors of rank
// 0.
std::vector<InputSpec> input_specs_of(const Trace& trace);

// Returns the text of an input type: "f32[n,3]".
std::string text_of(const InputSpec& spec);
// Returns the text of a signature: "(x: f32[n,3], y: i64 scalar) with training=true".
std::string signature_text(std::span<const InputSpec> inputs, const OwnedStatics* statics);

}  // namespace tenon
