#include <tenon/io.h>

#include "capi/src/boundary.h"
#include "core/dispatch/dispatch.h"

using namespace tenon::capi;
using tenon::Safetensors;
using tenon::StoredTensor;
using tenon::Tensor;

namespace {

std::vector<tenon::TensorToStore> tensors_to_store(tenon::Scope& scope, const tenon_string* names,
                                                   tenon_tensor* const* tensors, size_t n) {
  if (n > 0) require_pointer(names, "names");
  const std::vector<Tensor> values = get_tensors(scope, tensors, n, "tensors");
  for (const Tensor& x : values) require_value(*x);
  std::vector<tenon::TensorToStore> all;
  for (size_t i = 0; i < n; ++i) {
    all.push_back(
        {std::string(get_text(names[i], "names")), values[i]->type,
         [&scope, x = values[i]](void* to, uint64_t size) { tenon::to_host(scope, x, to, size); }});
  }
  return all;
}

tenon::Metadata to_metadata(const tenon_metadata* entries, size_t n) {
  if (n > 0) require_pointer(entries, "metadata");
  tenon::Metadata metadata;
  for (size_t i = 0; i < n; ++i) {
    const std::string key(get_text(entries[i].key, "metadata"));
    const bool is_new = metadata.emplace(key, get_text(entries[i].value, "metadata")).second;
    tenon::require(is_new, "the key \"{}\" occurs twice in metadata", key);
  }
  return metadata;
}

// Returns the tensor with this index in the file; NULL if there is none.
const StoredTensor* find_stored_tensor(const tenon_safetensors* file, size_t index) {
  const Safetensors* self = get_or_null(file);
  return self && index < self->tensors().size() ? &self->tensors()[index] : nullptr;
}

Tensor load_tensor(tenon::Scope& scope, const Safetensors& file, const StoredTensor& tensor) {
  return tenon::from_host(scope, scope.device(), tensor.type, file.read(tensor).data());
}

}  // namespace

tenon_error* tenon_safetensors_save(tenon_scope* scope, tenon_string path,
                                    const tenon_string* names, tenon_tensor* const* tensors,
                                    size_t n_tensors, const tenon_metadata* metadata,
                                    size_t n_metadata) {
  return boundary_in(scope, [&](tenon::Scope& self) {
    tenon::save_safetensors(std::string(get_text(path, "path")),
                            tensors_to_store(self, names, tensors, n_tensors),
                            to_metadata(metadata, n_metadata));
  });
}

tenon_error* tenon_safetensors_write(tenon_scope* scope, const tenon_string* names,
                                     tenon_tensor* const* tensors, size_t n_tensors,
                                     const tenon_metadata* metadata, size_t n_metadata,
                                     tenon_string* out_bytes) {
  clear_output(out_bytes);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_bytes, "out_bytes");
    std::string bytes;
    tenon::write_safetensors(tensors_to_store(self, names, tensors, n_tensors),
                             to_metadata(metadata, n_metadata),
                             [&](const void* data, uint64_t size) {
                               bytes.append(static_cast<const char*>(data), size);
                             });
    *out_bytes = copy_text(bytes);
  });
}

tenon_error* tenon_safetensors_open(tenon_string path, tenon_safetensors** out_file) {
  clear_output(out_file);
  return boundary([&] {
    require_pointer(out_file, "out_file");
    give(Safetensors::open(std::string(get_text(path, "path"))), out_file);
  });
}

tenon_error* tenon_safetensors_open_memory(const void* data, size_t size,
                                           tenon_safetensors** out_file) {
  clear_output(out_file);
  return boundary([&] {
    require_pointer(out_file, "out_file");
    if (size > 0) require_pointer(data, "data");
    give(Safetensors::open_memory(std::string(static_cast<const char*>(data), size)), out_file);
  });
}

void tenon_safetensors_retain(tenon_safetensors* file) { retain_handle(file); }

void tenon_safetensors_release(tenon_safetensors* file) { release_handle(file); }

size_t tenon_safetensors_count(const tenon_safetensors* file) {
  const Safetensors* self = get_or_null(file);
  return self ? self->tensors().size() : 0;
}

tenon_string tenon_safetensors_name(const tenon_safetensors* file, size_t index) {
  const StoredTensor* tensor = find_stored_tensor(file, index);
  return tensor ? borrow_text(tensor->name) : tenon_string TENON_STR("");
}

tenon_dtype tenon_safetensors_dtype(const tenon_safetensors* file, size_t index) {
  const StoredTensor* tensor = find_stored_tensor(file, index);
  return tensor ? tenon::to_c(tensor->type.dtype) : TENON_DTYPE_NONE;
}

size_t tenon_safetensors_rank(const tenon_safetensors* file, size_t index) {
  const StoredTensor* tensor = find_stored_tensor(file, index);
  return tensor ? tensor->type.rank() : 0;
}

const int64_t* tenon_safetensors_shape(const tenon_safetensors* file, size_t index) {
  const StoredTensor* tensor = find_stored_tensor(file, index);
  return tensor ? tensor->type.shape.data() : nullptr;
}

tenon_error* tenon_safetensors_read(tenon_scope* scope, tenon_safetensors* file, size_t index,
                                    tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Safetensors& from = get(file, "file");
    tenon::require_code(index < from.tensors().size(), tenon::Code::kOutOfRange,
                        "tensor {} was requested, but there are {}", index, from.tensors().size());
    give(load_tensor(self, from, from.tensors()[index]), out_tensor);
  });
}

tenon_error* tenon_safetensors_load(tenon_scope* scope, tenon_safetensors* file, tenon_string name,
                                    tenon_tensor** out_tensor) {
  clear_output(out_tensor);
  return boundary_in(scope, [&](tenon::Scope& self) {
    require_pointer(out_tensor, "out_tensor");
    const Safetensors& from = get(file, "file");
    give(load_tensor(self, from, from.find(get_text(name, "name"))), out_tensor);
  });
}

size_t tenon_safetensors_count_metadata(const tenon_safetensors* file) {
  const Safetensors* self = get_or_null(file);
  return self ? self->metadata().size() : 0;
}

tenon_metadata tenon_safetensors_metadata(const tenon_safetensors* file, size_t index) {
  const Safetensors* self = get_or_null(file);
  if (!self || index >= self->metadata().size()) return {TENON_STR(""), TENON_STR("")};
  const auto entry = std::next(self->metadata().begin(), static_cast<ptrdiff_t>(index));
  return {borrow_text(entry->first), borrow_text(entry->second)};
}
