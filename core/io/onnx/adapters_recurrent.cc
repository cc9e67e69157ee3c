// LSTM, GRU and RNN. They match Tenon's ops, except that Tenon supports fewer activations.

#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

// Returns the activations, which must be the same in all directions; `usual` if the node has none.
std::vector<std::string> activations_of(const NodeCall& n, std::vector<std::string> usual) {
  for (const char* parameters : {"activation_alpha", "activation_beta"}) {
    require_code(
        n.attr_floats(parameters).empty(), Code::kUnimplemented,
        "attribute {} is not supported, because no supported activation has this parameter",
        parameters);
  }
  const std::vector<std::string> given = n.attr_texts("activations");
  if (given.empty()) return usual;
  const size_t size = usual.size();
  require(given.size() % size == 0, "the number of activations must be a multiple of {}, but is {}",
          size, given.size());
  for (size_t i = size; i < given.size(); ++i) {
    require_code(given[i] == given[i % size], Code::kUnimplemented,
                 "all directions must have the same activations, but have {} and {}",
                 given[i % size], given[i]);
  }
  return {given.begin(), given.begin() + static_cast<ptrdiff_t>(size)};
}

// Returns the attributes that LSTM, GRU and RNN have in common.
std::vector<NamedAttr> shared_attrs(const NodeCall& n) {
  const Dims& r = n.in(2)->shape();
  require(r.rank() == 3, "the recurrent weights must have three axes, but are {}", n.in(2)->type);
  const int64_t hidden = n.attr("hidden_size", r[2]);
  require(hidden == r[2],
          "attribute hidden_size is {}, but must be the last size of the recurrent weights, {}",
          hidden, n.in(2)->type);
  return {{"direction", n.attr_text("direction", "forward")},
          {"layout", n.attr("layout", 0)},
          {"clip", n.attr_float("clip", 0)}};
}

}  // namespace

// Throws unless the activations are `usual`, the only ones that Tenon supports for the op.
void require_default_activations(const NodeCall& n, const std::vector<std::string>& usual) {
  const std::vector<std::string> given = activations_of(n, usual);
  for (size_t i = 0; i < usual.size(); ++i) {
    require_code(given[i] == usual[i], Code::kUnimplemented, "activation {} must be {}, but is {}",
                 i, usual[i], given[i]);
  }
}

Tensors lstm(const NodeCall& n) {
  require_default_activations(n, {"Sigmoid", "Tanh", "Tanh"});
  std::vector<NamedAttr> attrs = shared_attrs(n);
  attrs.push_back({"input_forget", n.attr("input_forget", 0)});
  return call_named("lstm", attrs, n.inputs());
}

Tensors gru(const NodeCall& n) {
  require_default_activations(n, {"Sigmoid", "Tanh"});
  std::vector<NamedAttr> attrs = shared_attrs(n);
  attrs.push_back({"linear_before_reset", n.attr("linear_before_reset", 0)});
  return call_named("gru", attrs, n.inputs());
}

Tensors rnn(const NodeCall& n) {
  std::vector<NamedAttr> attrs = shared_attrs(n);
  attrs.push_back({"activation", activations_of(n, {"Tanh"})[0]});
  return call_named("rnn", attrs, n.inputs());
}

}  // namespace tenon::onnx::adapters
