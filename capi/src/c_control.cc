#include <tenon/control.h>

#include <vector>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"
#include "core/dispatch/callback_depth.h"
#include "core/trace/control/control.h"

using namespace tenon::capi;
using tenon::Block;
using tenon::Tensor;
using tenon::Tensors;
using tenon::TensorSpan;

namespace {

// A call of a control-flow function. Errors of the call get its name as their op, except errors
// that a user's block returned.
struct ControlCall {
  const char* name;
  bool has_block_failed = false;
};

// Like boundary_with_callbacks(), for the control-flow function `name`: errors name it as their op.
template <class Body>
tenon_error* call_control_flow(tenon_scope* scope, const char* name, Body&& body) noexcept {
  return boundary_with_callbacks(scope, [&](tenon::Scope& self) {
    ControlCall call = {name};
    try {
      body(self, call);
    } catch (tenon::Error& error) {
      if (!call.has_block_failed) error.set_op(name);
      throw;
    }
  });
}

// Minimum and maximum number of outputs that a block may return.
struct OutputLimits {
  size_t least, most;
};

// Returns a block that runs the user's callback with new handles and checks how many outputs it
// returns.
Block get_block(tenon::Scope& scope, ControlCall& call, const tenon_block& given, const char* name,
                OutputLimits wanted) {
  if (!given.function) fail_argument(name, "has no function");
  return [&scope, &call, given, name, wanted](TensorSpan inputs) {
    const tenon::CallbackDepth nesting(call.name);
    const RestoreLocation keep(scope);
    const CallbackInputs own(scope, inputs);
    CallbackOutputs filled(wanted.most);
    tenon_error* error = given.function(given.payload, to_handle(&scope), own.data(), own.size(),
                                        filled.out(), wanted.most);
    call.has_block_failed = error != nullptr;
    Tensors outputs = filled.take_leading_outputs(error, name);
    tenon::require(outputs.size() >= wanted.least, "{} must return {} outputs, but returns {}",
                   name, wanted.least, outputs.size());
    return outputs;
  };
}

// Returns the limits for a caller with space for `n` outputs. Without `out_count`, exactly `n` are
// required.
OutputLimits output_limits(size_t n, const size_t* out_count) { return {out_count ? 0 : n, n}; }

// Passes all outputs to the caller. Stores their number in `out_count` unless that is NULL.
void set_counted_outputs(Tensors outputs, tenon_tensor** out, size_t* out_count) {
  set_outputs(outputs, out, outputs.size());
  if (out_count) *out_count = outputs.size();
}

tenon::LoopPolicy to_loop_policy(int32_t policy) {
  if (policy < TENON_LOOP_STACK || policy > TENON_LOOP_BOUNDED) {
    fail_argument("options.policy", tenon::format("{} is not a known policy", {policy}));
  }
  return static_cast<tenon::LoopPolicy>(policy);
}

}  // namespace

tenon_error* tenon_cond(tenon_scope* scope, const tenon_tensor* predicate, tenon_block then_block,
                        tenon_block else_block, tenon_tensor** out_outputs, size_t n_outputs,
                        size_t* out_count) {
  clear_outputs(out_outputs, n_outputs);
  clear_output(out_count);
  return call_control_flow(scope, "cond", [&](tenon::Scope& self, ControlCall& call) {
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    const Block then =
        get_block(self, call, then_block, "then_block", output_limits(n_outputs, out_count));
    const Block otherwise =
        get_block(self, call, else_block, "else_block", output_limits(n_outputs, out_count));
    const Tensor choice = get_tensor(self, predicate, "predicate");
    set_counted_outputs(tenon::cond(self, choice, then, otherwise), out_outputs, out_count);
  });
}

tenon_error* tenon_case(tenon_scope* scope, const tenon_tensor* index, const tenon_block* blocks,
                        size_t n_blocks, tenon_tensor** out_outputs, size_t n_outputs,
                        size_t* out_count) {
  clear_outputs(out_outputs, n_outputs);
  clear_output(out_count);
  return call_control_flow(scope, "case", [&](tenon::Scope& self, ControlCall& call) {
    if (n_outputs > 0) require_pointer(out_outputs, "out_outputs");
    if (n_blocks == 0) fail_argument("n_blocks", "is 0");
    require_pointer(blocks, "blocks");
    std::vector<Block> branches;
    for (size_t i = 0; i < n_blocks; ++i) {
      branches.push_back(
          get_block(self, call, blocks[i], "a block", output_limits(n_outputs, out_count)));
    }
    const Tensor choice = get_tensor(self, index, "index");
    set_counted_outputs(tenon::switch_case(self, choice, branches), out_outputs, out_count);
  });
}

tenon_error* tenon_while_loop(tenon_scope* scope, tenon_block condition, tenon_block body,
                              tenon_tensor* const* initial, size_t n_values,
                              const tenon_while_options* options, tenon_tensor** out_values) {
  clear_outputs(out_values, n_values);
  return call_control_flow(scope, "while_loop", [&](tenon::Scope& self, ControlCall& call) {
    constexpr tenon_while_options kDefault = TENON_WHILE_OPTIONS_DEFAULT;
    if (n_values > 0) require_pointer(out_values, "out_values");
    const Block holds = get_block(self, call, condition, "condition", {1, 1});
    const Block next = get_block(self, call, body, "body", {n_values, n_values});
    const tenon_while_options how = read_struct(options, kDefault, "options");
    const std::vector<Tensor> given = get_tensors(self, initial, n_values, "initial");
    set_outputs(
        tenon::while_loop(self, holds, next, given,
                          {.policy = to_loop_policy(how.policy), .max_trips = how.max_trips}),
        out_values, n_values);
  });
}

tenon_error* tenon_scan(tenon_scope* scope, tenon_block body, tenon_tensor* const* initial,
                        size_t n_carried, tenon_tensor* const* xs, size_t n_xs,
                        const tenon_scan_options* options, tenon_tensor** out_carried,
                        tenon_tensor** out_stacked, size_t n_stacked, size_t* out_count) {
  clear_outputs(out_carried, n_carried);
  clear_outputs(out_stacked, n_stacked);
  clear_output(out_count);
  return call_control_flow(scope, "scan", [&](tenon::Scope& self, ControlCall& call) {
    constexpr tenon_scan_options kDefault = TENON_SCAN_OPTIONS_DEFAULT;
    if (n_carried > 0) require_pointer(out_carried, "out_carried");
    if (n_stacked > 0) require_pointer(out_stacked, "out_stacked");
    if (n_xs == 0) fail_argument("n_xs", "is 0");
    const tenon_scan_options how = read_struct(options, kDefault, "options");
    const OutputLimits most = {n_carried + (out_count ? 0 : n_stacked), n_carried + n_stacked};
    const Block step = get_block(self, call, body, "body", most);
    const std::vector<Tensor> carried = get_tensors(self, initial, n_carried, "initial");
    const std::vector<Tensor> over = get_tensors(self, xs, n_xs, "xs");
    Tensors found = tenon::scan(self, step, carried, over,
                                {.reverse = how.reverse, .policy = to_loop_policy(how.policy)});
    for (size_t i = 0; i < found.size(); ++i) {
      (i < n_carried ? out_carried[i] : out_stacked[i - n_carried]) = to_handle(found[i].leak());
    }
    if (out_count) *out_count = found.size() - n_carried;
  });
}

tenon_error* tenon_shape(tenon_scope* scope, const tenon_tensor* tensor, tenon_tensor** out_shape) {
  clear_output(out_shape);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_shape, "out_shape");
    give(tenon::shape_tensor(get_tensor(self, tensor, "tensor")->shape()), out_shape);
  });
}
