// A function: user code that is traced once per cache key. Later calls run the trace.
//
// The key consists of the static arguments and, for each input, dtype, rank, sizes and device. The
// key does not include sizes that the signature leaves unknown, or that have differed twice
// already.

#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/trace/statics.h"
#include "core/trace/trace.h"

namespace tenon {

// The declared type of an input in a signature.
struct InputSpec {
  static constexpr int64_t kUnknown = -1;

  std::string name;  // If empty, the input is named x0, x1 and so on, by its index.
  DType dtype = DType::kNone;
  bool weak = false;  // Whether the input is an inline scalar.
  std::vector<int64_t> sizes;
  // One name per size, or none at all. Sizes with the same nonempty name must be equal.
  std::vector<std::string> dim_names;
  uint8_t lists = 0;  // 0: a tensor; 1: a list of tensors; 2: a list of such lists.

  bool operator==(const InputSpec&) const = default;
};

struct FunctionOptions {
  std::vector<InputSpec> signature;  // If empty, each call determines the input types.
  bool has_signature = false;
  // Names of inputs and outputs for saved files; may be empty. Names from a call or a signature
  // take precedence.
  std::vector<std::string> input_names, output_names;
  std::shared_ptr<const OwnedStatics> defaults;  // Static arguments that calls may leave out.
  bool relax = true;  // Whether a size that differs for the third time becomes unknown.
  // Bytes that a call under a tape may save for its backward pass, in addition to its inputs. The
  // rest is recomputed. 0: saves nothing.
  uint64_t memory_budget = kSaveAll;
  size_t max_traces = 64;  // Maximum number of traces; the least recently used one is evicted.
  // Whether calls run op by op if the body can be traced neither with unknown sizes nor with exact
  // sizes.
  bool may_run_eagerly = false;
};

struct InputType;

class Function final : public Object, public Pooled<Function> {
 public:
  using Body = std::function<Tensors(Scope& scope, TensorSpan inputs, const Statics& statics)>;

  Function(Context& context, std::string name, Body body, FunctionOptions options);
  // Creates a function with several signatures, each with a function of its own. A call uses the
  // signature that accepts it. If several do, it uses the one with the fewest unknown sizes, and
  // among these the first. `defaults` are the default static arguments of all signatures.
  struct Signature {
    Ref<Function> function;
    // The static arguments of a call with this signature, with defaults for those it omits.
    std::shared_ptr<const OwnedStatics> statics;
  };
  Function(Context& context, std::string name, std::vector<Signature> signatures,
           std::shared_ptr<const OwnedStatics> defaults);
  void release() const {
    if (drop()) delete this;
  }

  Context& context() const { return *context_; }
  const std::string& name() const { return name_; }
  // Unique; never reused.
  uint64_t id() const { return id_; }
  // Returns the default static arguments.
  const std::vector<tenon_static>& defaults() const;

  // Calls the function. While another function is traced, the body becomes part of that trace.
  // Fails if the number of outputs of the body is not in `outputs`: before anything runs if the
  // function is traced, after the body if it runs eagerly.
  struct Wanted {
    size_t least = 0, most = SIZE_MAX;
  };
  Tensors call(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted outputs);
  Tensors call(Scope& scope, TensorSpan inputs, const Statics& statics) {
    return call(scope, inputs, statics, Wanted());
  }

  // Returns the trace for a call, and the values of its symbols. Traces the body if there is none.
  struct Bound {
    Ref<Trace> trace;
    Sizes sizes;
  };
  Bound bind(Scope& scope, TensorSpan inputs, const Statics& statics);
  // Returns the trace for inputs of these types. Traces the body if there is none.
  Ref<Trace> trace(Scope& scope, const std::vector<InputSpec>& inputs, const Statics& statics);

  // Returns a function of the same inputs that computes gradients of this function. It
  // differentiates the sum of all floating outputs with respect to each floating input, except
  // inline scalars.
  Ref<Function> gradient();

  std::vector<Ref<Trace>> traces() const;
  // Lists every trace, with its signature and the reason why it was created.
  std::string explain() const;

 private:
  // The part of a trace's cache key that holds neither sizes nor static arguments: the dtypes,
  // ranks and devices of the inputs.
  using SignatureKey = SmallVector<uint64_t, 24>;
  struct Entry {
    SignatureKey signature_key;
    std::string statics, statics_text;
    std::vector<InputSpec> inputs;  // Inputs of the call that caused the trace.
    Ref<Trace> trace;
    std::string why;
    uint64_t used = 0;  // Value of calls_ at the last use.
  };

  // Returns the function whose signature accepts a call; see signatures.h.
  Function& function_for(std::span<const InputType> inputs, const Statics& statics) const;
  Function& function_for(TensorSpan inputs, const Statics& statics) const;

  static SignatureKey signature_key_of(Scope& scope, TensorSpan inputs);
  // Fails if an input was donated already or does not have the type that the signature declares.
  void check_inputs(TensorSpan inputs) const;
  void check_outputs(size_t n, Wanted wanted) const;
  // Returns the entry whose trace accepts the call, and sets `sizes` to the values of the symbols.
  // NULL if there is none.
  Entry* find_entry(const SignatureKey& signature_key, TensorSpan inputs, const Statics& statics,
                    Sizes& sizes);
  // Returns the input types of a new trace for this call; sizes that have differed are unknown.
  std::vector<InputSpec> specs_for(const SignatureKey& signature_key, TensorSpan inputs,
                                   const Statics& statics) const;
  // Returns why no existing trace accepts the call, for messages.
  std::string reason_to_trace(const SignatureKey& signature_key, TensorSpan inputs,
                              const Statics& statics) const;
  // Traces the body for this call.
  Ref<Trace> trace_for_call(Scope& scope, const SignatureKey& signature_key, TensorSpan inputs,
                            const Statics& statics);
  // Traces the body for inputs of these types; `examples` are the inputs of a call, or empty.
  Ref<Trace> trace_for_types(Scope& scope, const std::vector<InputSpec>& specs, TensorSpan examples,
                             const Statics& statics);
  // Names the inputs and outputs of a trace for saved files.
  void set_names_of(Trace& trace, const std::vector<InputSpec>& specs) const;
  // Caches a trace. If there are max_traces already, evicts the least recently used one.
  void add_entry(Entry entry);
  // Logs a warning, once, if many recent calls were traced.
  void warn_if_traced_often(Scope& scope, const std::string& why);
  Tensors run_body(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted wanted);
  bool runs_eagerly() const;
  void fall_back_to_eager(Scope& scope, const Error& why);

  Ref<Context> context_;
  uint64_t id_;
  std::string name_;
  Body body_;
  FunctionOptions options_;
  // The signatures and their functions. Empty if this function has a body of its own.
  std::vector<Signature> signatures_;
  mutable std::recursive_mutex mutex_;
  std::vector<Entry> entries_;
  uint64_t calls_ = 0;
  std::vector<uint64_t> misses_;  // The values of calls_ when traces were created.
  bool warned_ = false;
  std::string tracing_error_;  // Why the function runs eagerly; empty if it does not.
};

}  // namespace tenon
