#include "capi/src/handles.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "core/base/error_object.h"
#include "core/dispatch/dispatch.h"

namespace tenon::capi {

std::string Name::text() const {
  return index_ == kNone ? list_ : format("{}[{}]", {list_, index_});
}

void fail_argument(Name name, const std::string& what) {
  const std::string text = name.text();
  Error error(Code::kInvalidArgument, text + " " + what);
  error.set_argument(text);
  throw error;
}

// Throws the reason why `object` is not a valid handle of the expected kind.
void fail_handle(const Object* object, Name name, const char* kind) {
  if (!object) fail_argument(name, "is NULL");
  if (object->kind() == Kind::kDead) fail_argument(name, "was already released");
  fail_argument(name, std::string("is not ") + kind);
}

namespace {

// Returns the tensor of a handle. Throws if it belongs to another context or trace, or if it has
// been donated: with `most` kDonated, only if an earlier call has consumed it.
TensorImpl& tensor_of(const Scope& scope, const tenon_tensor* handle, Donation most, Name name) {
  TensorImpl& tensor = get(handle, name);
  if (tensor.donation > most) fail_argument(name, "was donated and cannot be used again");
  if (tensor.storage && &tensor.storage->device->context() != &scope.context()) {
    fail_argument(name, "belongs to another context than the scope");
  }
  require_same_trace(scope, tensor);
  return tensor;
}

// Checks an output of a callback as tensor_of() checks an input of a call: it must not be consumed,
// and must belong to the current context and trace.
void check_callback_output(const TensorImpl& y, const char* who, size_t i) {
  require(y.donation != Donation::kConsumed, "{} returned as output {} a tensor that was donated",
          who, i);
  const Scope* scope = find_current_scope();
  if (!scope) return;
  require(!y.storage || &y.storage->device->context() == &scope->context(),
          "{} returned as output {} a tensor of another context", who, i);
  require_same_trace(*scope, y);
}

}  // namespace

Tensor get_tensor(const Scope& scope, const tenon_tensor* handle, Name name) {
  return Tensor::share(&tensor_of(scope, handle, Donation::kNone, name));
}

Tensor get_value(const Scope& scope, const tenon_tensor* handle, Name name) {
  Tensor tensor = get_tensor(scope, handle, name);
  require_value(*tensor);
  return tensor;
}

Source get_source(const tenon_value* handle, Name name) {
  require_pointer(handle, name);
  if (kind_of(handle) == Kind::kVariable) {
    return Ref<Variable>::share(&get(reinterpret_cast<const tenon_variable*>(handle), name));
  }
  return Tensor::share(&get(reinterpret_cast<const tenon_tensor*>(handle), name));
}

std::vector<Tensor> get_tensors(const Scope& scope, tenon_tensor* const* handles, size_t n,
                                const char* name, Entries entries) {
  std::vector<Tensor> tensors(n);
  if (!handles && entries == Entries::kNullable) return tensors;
  if (n > 0) require_pointer(handles, name);
  for (size_t i = 0; i < n; ++i) {
    if (!handles[i] && entries == Entries::kNullable) continue;
    tensors[i] = get_tensor(scope, handles[i], {name, i});
  }
  return tensors;
}

Arguments::Arguments(Scope& scope, tenon_tensor* const* handles, size_t n) : tensors_(n) {
  if (n > 0) require_pointer(handles, "inputs");
  for (size_t i = 0; i < n; ++i) {
    TensorImpl& x = tensor_of(scope, handles[i], Donation::kDonated, {"inputs", i});
    // If another object, such as a tape, also holds the tensor, the call consumes the handle but
    // must not reuse the memory.
    const bool is_kept = x.owners() > 1;
    tensors_[i] = Tensor::share(&x);
    if (is_kept && x.donation == Donation::kDonated) {
      renamed_.push_back(tensors_[i]);
      tensors_[i] = without_donation(scope, tensors_[i]);
    }
  }
}

void Arguments::consume_donations() {
  std::vector<Tensor> donated;
  for (std::vector<Tensor>* tensors : {&tensors_, &renamed_}) {
    for (Tensor& x : *tensors) {
      if (x->donation != Donation::kDonated) continue;
      x->donation = Donation::kConsumed;
      donated.push_back(std::move(x));
    }
    tensors->clear();
  }
  for (const Tensor& x : donated) {
    if (x->owners() <= 2)
      x->storage.reset();  // Releases the memory if the handle is the only other owner.
  }
}

std::vector<Source> get_sources(const Scope& scope, tenon_value* const* handles, size_t n,
                                const char* name) {
  std::vector<Source> sources;
  if (n > 0) require_pointer(handles, name);
  for (size_t i = 0; i < n; ++i) {
    sources.push_back(get_source(handles[i], {name, i}));
    if (const auto* x = std::get_if<Tensor>(&sources.back())) require_same_trace(scope, **x);
  }
  return sources;
}

std::string_view get_text(tenon_string text, const char* name) {
  if (!text.data && text.size > 0) fail_argument(name, "is NULL, but its size is not 0");
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

TextOptions get_text_options(const tenon_format_options& c) {
  if (c.precision < 0) fail_argument("options.precision", "is negative");
  if (c.threshold < 0) fail_argument("options.threshold", "is negative");
  if (c.edge_items < 1) fail_argument("options.edge_items", "must be at least 1");
  if (c.line_width < 0) fail_argument("options.line_width", "is negative");
  return {c.precision, c.threshold, c.edge_items, c.line_width};
}

TensorType get_type(tenon_dtype dtype, const int64_t* shape, size_t rank) {
  TensorType type;
  bool known = false;
  type.dtype = dtype_from_c(dtype, &known);
  if (!known || type.dtype == DType::kNone) {
    fail_argument("dtype", format("{} is not a known dtype", {dtype}));
  }
  if (rank > 0) require_pointer(shape, "shape");
  if (rank > kMaxRank) {
    fail_argument("rank", format("{} exceeds the maximum rank, {}", {rank, kMaxRank}));
  }
  type.shape = Dims(std::span<const int64_t>(shape, rank));
  check_size(type);
  return type;
}

tenon_string copy_text(std::string_view text) {
  auto* data = static_cast<char*>(std::malloc(text.size() + 1));
  if (!data) throw std::bad_alloc();
  std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  return {data, text.size()};
}

CallbackInputs::CallbackInputs(Scope& scope, TensorSpan tensors) {
  for (const Tensor& x : tensors) {
    tensors_.push_back(x ? tracked_alias(scope, x) : x);
    handles_.push_back(to_handle(tensors_.back().get()));
  }
}

CallbackOutputs::~CallbackOutputs() {
  for (tenon_tensor* handle : handles_) release_handle(handle);
}

// Throws `error` if it is not NULL. Otherwise returns the outputs and gives up ownership of them.
std::vector<Tensor> CallbackOutputs::take(tenon_error* error, const char* who, Entries entries) {
  if (error) throw take_error(error);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (!handles_[i] && entries == Entries::kNullable) {
      tensors.emplace_back();
      continue;
    }
    require(get_or_null(handles_[i]) != nullptr, "{} left its output {} without a tensor", who, i);
    check_callback_output(*get_or_null(handles_[i]), who, i);
    tensors.push_back(Tensor::adopt(get_or_null(std::exchange(handles_[i], nullptr))));
  }
  return tensors;
}

// Like take(), but returns only the outputs before the first NULL. All later ones must be NULL.
Tensors CallbackOutputs::take_leading_outputs(tenon_error* error, const char* who) {
  const std::vector<Tensor> all = take(error, who, Entries::kNullable);
  size_t n = all.size();
  while (n > 0 && !all[n - 1]) --n;
  Tensors outputs;
  for (size_t i = 0; i < n; ++i) {
    require(static_cast<bool>(all[i]), "{} left output {} NULL and filled {}", who, i, n - 1);
    outputs.push_back(all[i]);
  }
  return outputs;
}

}  // namespace tenon::capi
