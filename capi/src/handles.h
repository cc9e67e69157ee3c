// Converts between C handles and objects of the core. A handle is a pointer to the object. Handles
// that a caller passes are checked before they are used. The caller owns handles that it receives.

#pragma once

#include <tenon/custom.h>
#include <tenon/function.h>
#include <tenon/io.h>
#include <tenon/profiler.h>
#include <tenon/program.h>
#include <tenon/stream.h>
#include <tenon/tape.h>
#include <tenon/tensor.h>
#include <tenon/types.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/autograd/tape.h"
#include "core/device/device_stream.h"
#include "core/dispatch/context.h"
#include "core/dispatch/generator.h"
#include "core/dispatch/profiler.h"
#include "core/dispatch/scope.h"
#include "core/dispatch/variable.h"
#include "core/io/program.h"
#include "core/io/safetensors.h"
#include "core/tensor/tensor_text.h"
#include "core/trace/function.h"

namespace tenon::capi {

// The variables that the callback of tenon_gradients() read, and the gradients with respect to
// them.
class VariableGradients final : public Object, public Pooled<VariableGradients> {
 public:
  VariableGradients() : Object(Kind::kVariableGradients) {}
  void release() const {
    if (drop()) delete this;
  }

  std::vector<Ref<Variable>> variables;
  std::vector<Tensor> gradients;
};

// A program, and the C structs that describe its signatures.
class OpenProgram final : public Object, public Pooled<OpenProgram> {
 public:
  explicit OpenProgram(Ref<SavedProgram> program);
  void release() const {
    if (drop()) delete this;
  }

  struct Signature {
    std::vector<tenon_input_spec> inputs, outputs;
    std::span<const tenon_static> statics;
  };

  const SavedProgram& program() const { return *program_; }
  // The signatures of each function: functions()[function][signature].
  const std::vector<std::vector<Signature>>& functions() const { return functions_; }

 private:
  std::vector<tenon_input_spec> to_c_specs(std::span<const InputSpec> specs);
  tenon_string identifier_for(const std::string& size_name);

  Ref<SavedProgram> program_;
  std::vector<std::vector<Signature>> functions_;
  std::vector<std::vector<tenon_string>> size_names_;
  std::map<std::string, std::string>
      words_;  // Maps the names of sizes in the files to identifiers.
  std::map<std::string, size_t> taken_words_;  // Number of names that map to each identifier.
};

// The name of a parameter, or of an element of an array parameter, for messages: `inputs`,
// `inputs[3]`. The text is only formatted for an error.
class Name {
 public:
  Name(const char* list) : list_(list) {}
  Name(const char* list, size_t index) : list_(list), index_(index) {}
  std::string text() const;

 private:
  static constexpr size_t kNone = ~size_t{0};

  const char* list_;
  size_t index_ = kNone;
};

// Throws INVALID_ARGUMENT. The message is the parameter's name, followed by `what`.
[[noreturn]] void fail_argument(Name name, const std::string& what);
// Throws the reason why `object` is not a valid handle of the type that `kind` names.
[[noreturn]] void fail_handle(const Object* object, Name name, const char* kind);

inline Kind kind_of(const void* handle) { return static_cast<const Object*>(handle)->kind(); }

// Defines the functions of one handle type: get(), which throws if the handle is invalid;
// get_or_null(), which returns NULL instead; to_handle(); retain_handle(); and release_handle().
#define TENON_HANDLE(handle, Type, kind_name, words)                                   \
  inline Type& get(const handle* h, Name name) {                                       \
    auto* object = reinterpret_cast<Type*>(const_cast<handle*>(h));                    \
    if (!h || object->kind() != Kind::kind_name) [[unlikely]]                          \
      fail_handle(object, name, words);                                                \
    return *object;                                                                    \
  }                                                                                    \
  inline Type* get_or_null(const handle* h) {                                          \
    auto* object = reinterpret_cast<Type*>(const_cast<handle*>(h));                    \
    return h && object->kind() == Kind::kind_name ? object : nullptr;                  \
  }                                                                                    \
  inline handle* to_handle(Type* object) { return reinterpret_cast<handle*>(object); } \
  inline void retain_handle(handle* h) {                                               \
    if (Type* object = get_or_null(h)) object->retain();                               \
  }                                                                                    \
  inline void release_handle(handle* h) {                                              \
    if (Type* object = get_or_null(h)) object->release();                              \
  }

TENON_HANDLE(tenon_context, Context, kContext, "a context")
TENON_HANDLE(tenon_scope, Scope, kScope, "a scope")
TENON_HANDLE(tenon_device, Device, kDevice, "a device")
TENON_HANDLE(tenon_stream, DeviceStream, kStream, "a stream")
TENON_HANDLE(tenon_event, StreamEvent, kEvent, "an event")
TENON_HANDLE(tenon_tensor, TensorImpl, kTensor, "a tensor")
TENON_HANDLE(tenon_variable, Variable, kVariable, "a variable")
TENON_HANDLE(tenon_generator, Generator, kGenerator, "a generator")
TENON_HANDLE(tenon_tape, Tape, kTape, "a tape")
TENON_HANDLE(tenon_function, Function, kFunction, "a function")
TENON_HANDLE(tenon_trace, Trace, kTrace, "a trace")
TENON_HANDLE(tenon_program, OpenProgram, kProgram, "a program")
TENON_HANDLE(tenon_profiler, Profiler, kProfiler, "a profiler")
TENON_HANDLE(tenon_safetensors, Safetensors, kSafetensors, "an open file")
TENON_HANDLE(tenon_variable_gradients, VariableGradients, kVariableGradients,
             "a list of variables and gradients")
#undef TENON_HANDLE

// ---- inputs ----

// Return the tensor of a handle. Throw if it cannot be used in `scope`. get_value() also throws if
// the tensor has no value, because it belongs to a trace.
Tensor get_tensor(const Scope& scope, const tenon_tensor* handle, Name name);
Tensor get_value(const Scope& scope, const tenon_tensor* handle, Name name);
// Returns the tensor or the variable of a handle.
Source get_source(const tenon_value* handle, Name name);

// Returns the tensors of `n` handles. With kNullable, the array and its entries may be NULL; NULL
// becomes an empty reference.
enum class Entries { kRequired, kNullable };
std::vector<Tensor> get_tensors(const Scope& scope, tenon_tensor* const* handles, size_t n,
                                const char* name, Entries entries = Entries::kRequired);
// The inputs of a call that runs several ops. Holds references, because a callback may release the
// handles.
class Arguments {
 public:
  Arguments(Scope& scope, tenon_tensor* const* handles, size_t n);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Consumes the donated inputs. Must be called after the call has succeeded.
  void consume_donations();

 private:
  std::vector<Tensor> tensors_;
  std::vector<Tensor> renamed_;  // Donated inputs that have other owners.
};
std::vector<Source> get_sources(const Scope& scope, tenon_value* const* handles, size_t n,
                                const char* name);

std::string_view get_text(tenon_string text, const char* name);
TextOptions get_text_options(const tenon_format_options& options);
TensorType get_type(tenon_dtype dtype, const int64_t* shape, size_t rank);

// Throws if a required pointer is NULL.
inline void require_pointer(const void* pointer, Name name) {
  if (!pointer) [[unlikely]]
    fail_argument(name, "is NULL");
}

// ---- outputs ----

template <class Handle>
void clear_output(Handle* out) {
  if (out) *out = Handle();
}

template <class Handle>
void clear_outputs(Handle* out, size_t n) {
  for (size_t i = 0; out && i < n; ++i) out[i] = Handle();
}

// Stores a handle to the object in `*out`. The caller owns the handle.
template <class T, class Handle>
void give(Ref<T> object, Handle** out) {
  *out = to_handle(object.leak());
}

// Stores handles to the first `n` results in `out`. The caller owns the handles.
template <class Results>
void set_outputs(Results&& results, tenon_tensor** out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = to_handle(results[i].leak());
}

// copy_text() returns a copy that the caller frees with tenon_string_release(). borrow_text()
// returns a reference to text that another object keeps alive.
tenon_string copy_text(std::string_view text);
inline tenon_string borrow_text(const std::string& text) { return {text.data(), text.size()}; }

// The inputs of a user callback, as new handles. A captured tensor that is also an input has two
// different handles.
class CallbackInputs {
 public:
  CallbackInputs(Scope& scope, TensorSpan tensors);

  tenon_tensor* const* data() const { return handles_.data(); }
  size_t size() const { return handles_.size(); }

 private:
  Tensors tensors_;
  std::vector<tenon_tensor*> handles_;
};

// The outputs of a user callback. Releases those that were not taken, also if the callback fails.
class CallbackOutputs {
 public:
  explicit CallbackOutputs(size_t n) : handles_(n, nullptr) {}
  ~CallbackOutputs();
  CallbackOutputs(const CallbackOutputs&) = delete;

  // Returns the array in which the callback stores its outputs.
  tenon_tensor** out() { return handles_.data(); }
  // Throws `error` if it is not NULL. Otherwise returns the outputs and gives up ownership of them.
  std::vector<Tensor> take(tenon_error* error, const char* who, Entries entries);
  // Like take(), but the callback may leave the last outputs NULL; these are omitted.
  Tensors take_leading_outputs(tenon_error* error, const char* who);

 private:
  std::vector<tenon_tensor*> handles_;
};

// The payload of a callback and its destructor, which runs exactly once.
class Payload {
 public:
  Payload(void* data, void (*destroy)(void*)) : data_(data), destroy_(destroy) {}
  Payload(Payload&& other) noexcept
      : data_(other.data_), destroy_(std::exchange(other.destroy_, nullptr)) {}
  ~Payload() {
    if (destroy_) destroy_(data_);
  }

  void* get() const { return data_; }
  void release_ownership() { destroy_ = nullptr; }  // Gives up ownership of the payload.

 private:
  void* data_;
  void (*destroy_)(void*);
};

}  // namespace tenon::capi
