// A function: user code that is traced once for all calls that are alike, and runs as its traces.
//
// Calls are alike if they give the same static arguments and inputs of the same dtypes, ranks,
// sizes and devices. A size of which a signature says that it is unknown is no part of that; nor is
// one that has differed twice already.

#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/trace/statics.h"
#include "core/trace/trace.h"

namespace tenon {

// The type of an input as a signature says it.
struct InputSpec {
  static constexpr int64_t kUnknown = -1;

  std::string name;  // Empty: x0, x1 and so on.
  DType dtype = DType::kNone;
  bool weak = false;  // An inline scalar.
  std::vector<int64_t> sizes;
  // Of each size, or none at all; those with one name are equal, empty ones say nothing.
  std::vector<std::string> dim_names;
  uint8_t lists = 0;  // As of a TensorType.

  bool operator==(const InputSpec&) const = default;
};

struct FunctionOptions {
  std::vector<InputSpec> signature;  // Empty: as the calls are.
  bool has_signature = false;
  // Names of inputs and outputs for files, or none. Those of a call or a signature come first.
  std::vector<std::string> input_names, output_names;
  std::shared_ptr<const KeptStatics> defaults;  // Static arguments that calls may leave out.
  bool relax = true;  // Whether a size that differs for the third time becomes unknown.
  // The bytes that a call under a tape keeps at most for its way back, beside its inputs; what it
  // needs beyond that is computed again there. 0: nothing.
  uint64_t memory_budget = kKeepAll;
  size_t max_traces = 64;  // Beyond, the one that was not used for longest is forgotten.
  // Calls that cannot be traced with sizes that are open are traced with their own, and run call by
  // call where that cannot be either.
  bool may_run_eagerly = false;
};

struct GivenInput;

class Function final : public Object, public Pooled<Function> {
 public:
  using Body = std::function<Tensors(Scope& scope, TensorSpan inputs, const Statics& statics)>;

  Function(Context& context, std::string name, Body body, FunctionOptions options);
  // Another function for each signature. A call is one of that whose signature it fits; of several,
  // of the one that leaves the fewest sizes open, and of those the first. The functions have these
  // defaults, too.
  struct Signature {
    Ref<Function> function;
    std::shared_ptr<const KeptStatics> statics;  // All that a call gives or leaves out.
  };
  Function(Context& context, std::string name, std::vector<Signature> signatures,
           std::shared_ptr<const KeptStatics> defaults);
  void release() const {
    if (drop()) delete this;
  }

  Context& context() const { return *context_; }
  const std::string& name() const { return name_; }
  // Never used twice.
  uint64_t id() const { return id_; }
  // The static arguments of a call that leaves them out.
  const std::vector<tenon_static>& defaults() const;

  // In code under trace, the body becomes part of that. Unless nothing is traced, fails before
  // anything runs if the body gives more or fewer outputs than are wanted.
  struct Wanted {
    size_t least = 0, most = SIZE_MAX;
  };
  Tensors call(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted outputs);
  Tensors call(Scope& scope, TensorSpan inputs, const Statics& statics) {
    return call(scope, inputs, statics, Wanted());
  }

  // The trace that serves such a call, made if there is none.
  struct Bound {
    Ref<Trace> trace;
    Sizes sizes;
  };
  Bound bind(Scope& scope, TensorSpan inputs, const Statics& statics);
  // The trace for inputs like these, without any.
  Ref<Trace> trace(Scope& scope, const std::vector<InputSpec>& inputs, const Statics& statics);

  // The function of the same inputs that gives the gradients of the sum of this one's floating
  // outputs, by each floating input that is no inline scalar.
  Ref<Function> gradient();

  std::vector<Ref<Trace>> traces() const;
  // Every trace with its signature, and why it had to be made.
  std::string explain() const;

 private:
  // What calls of one trace have alike but for sizes: dtypes, ranks and devices.
  using Like = SmallVector<uint64_t, 24>;
  struct Entry {
    Like like;
    std::string statics, statics_text;
    std::vector<InputSpec> inputs;  // Of the call for which it was made.
    Ref<Trace> trace;
    std::string why;
    uint64_t used = 0;  // When.
  };

  // The function of the signature that a call fits: see signatures.h.
  Function& chosen(std::span<const GivenInput> inputs, const Statics& statics) const;
  Function& chosen(TensorSpan inputs, const Statics& statics) const;

  static Like like_of(Scope& scope, TensorSpan inputs);
  void check(TensorSpan inputs) const;
  void check_outputs(size_t n, Wanted wanted) const;
  Entry* find(const Like& like, TensorSpan inputs, const Statics& statics, Sizes& sizes);
  std::vector<InputSpec> specs_for(const Like& like, TensorSpan inputs,
                                   const Statics& statics) const;
  std::string difference(const Like& like, TensorSpan inputs, const Statics& statics) const;
  Ref<Trace> make_for(Scope& scope, const Like& like, TensorSpan inputs, const Statics& statics);
  Ref<Trace> make(Scope& scope, const std::vector<InputSpec>& specs, TensorSpan examples,
                  const Statics& statics);
  void give_names(Trace& trace, const std::vector<InputSpec>& specs) const;
  void remember(Entry entry);
  void warn(Scope& scope, const std::string& why);
  Tensors run_body(Scope& scope, TensorSpan inputs, const Statics& statics, Wanted wanted);
  bool runs_eagerly() const;
  void run_eagerly_from_now_on(Scope& scope, const Error& why);

  Ref<Context> context_;
  uint64_t id_;
  std::string name_;
  Body body_;
  FunctionOptions options_;
  std::vector<Signature> signatures_;  // Instead of a body.
  mutable std::recursive_mutex mutex_;
  std::vector<Entry> entries_;
  uint64_t calls_ = 0;
  std::vector<uint64_t> misses_;  // When traces were made.
  bool warned_ = false;
  std::string untraceable_;  // Why it runs eagerly; empty if it does not.
};

}  // namespace tenon
