// Named tensors in files of the format safetensors.

#pragma once

#include <map>
#include <tenon/tensor.hpp>

namespace tenon {

using NamedTensors = std::map<std::string, Tensor>;

namespace detail {

// Views of named tensors and metadata as C arrays. Valid as long as both arguments exist.
struct CNamedTensors {
  CNamedTensors(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata) {
    for (const auto& [name, tensor] : tensors) {
      names.push_back(c_text(name));
      values.push_back(tensor.get());
    }
    for (const auto& [key, value] : metadata) entries.push_back({c_text(key), c_text(value)});
  }

  std::vector<tenon_string> names;
  std::vector<tenon_tensor*> values;
  std::vector<tenon_metadata> entries;
};

}  // namespace detail

// Writes a file. Writes to a temporary file first, and renames that to `path` when it is complete.
inline void save_safetensors(std::string_view path, const NamedTensors& tensors,
                             const std::map<std::string, std::string>& metadata = {},
                             SourceLocation at = here()) {
  const detail::CNamedTensors all(tensors, metadata);
  check(tenon_safetensors_save(current_scope(at), detail::c_text(path), all.names.data(),
                               all.values.data(), all.values.size(), all.entries.data(),
                               all.entries.size()),
        at);
}

// Returns the bytes of a safetensors file. Safetensors::from_memory() reads them.
inline std::string write_safetensors(const NamedTensors& tensors,
                                     const std::map<std::string, std::string>& metadata = {},
                                     SourceLocation at = here()) {
  const detail::CNamedTensors all(tensors, metadata);
  tenon_string bytes = {};
  check(tenon_safetensors_write(current_scope(at), all.names.data(), all.values.data(),
                                all.values.size(), all.entries.data(), all.entries.size(), &bytes),
        at);
  return detail::take_text(bytes);
}

// The name and type of a tensor in a file.
struct StoredTensor {
  std::string name;
  DType dtype;
  Shape shape;
};

// An open file. Opening validates the header; elements are read by load().
class Safetensors {
 public:
  explicit Safetensors(std::string_view path, SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_safetensors** out) {
          return tenon_safetensors_open(detail::c_text(path), out);
        })) {}

  // Opens the content of a file in memory. Copies `bytes`.
  static Safetensors from_memory(std::string_view bytes, SourceLocation at = here()) {
    return Safetensors(detail::make<Shared>(at, [&](tenon_safetensors** out) {
      return tenon_safetensors_open_memory(bytes.data(), bytes.size(), out);
    }));
  }

  // Lists the tensors, in the order in which the file stores their elements.
  std::vector<StoredTensor> tensors() const {
    std::vector<StoredTensor> tensors;
    for (size_t i = 0; i < tenon_safetensors_count(get()); ++i) {
      const int64_t* const shape = tenon_safetensors_shape(get(), i);
      tensors.push_back({std::string(detail::view(tenon_safetensors_name(get(), i))),
                         tenon_safetensors_dtype(get(), i),
                         Shape(shape, shape + tenon_safetensors_rank(get(), i))});
    }
    return tensors;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tenon_safetensors_count(get()); ++i) {
      names.emplace_back(detail::view(tenon_safetensors_name(get(), i)));
    }
    return names;
  }

  std::map<std::string, std::string> metadata() const {
    std::map<std::string, std::string> entries;
    for (size_t i = 0; i < tenon_safetensors_count_metadata(get()); ++i) {
      const tenon_metadata entry = tenon_safetensors_metadata(get(), i);
      entries.emplace(detail::view(entry.key), detail::view(entry.value));
    }
    return entries;
  }

  // Reads one tensor onto the current device.
  Tensor load(std::string_view name, SourceLocation at = here()) const {
    tenon_tensor* tensor = nullptr;
    check(tenon_safetensors_load(current_scope(at), get(), detail::c_text(name), &tensor), at);
    return Tensor::adopt(tensor);
  }

  tenon_safetensors* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_safetensors, tenon_safetensors_retain, tenon_safetensors_release>;
  explicit Safetensors(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

// Loads all tensors of a file onto the current device.
inline NamedTensors load_safetensors(std::string_view path, SourceLocation at = here()) {
  const Safetensors file(path, at);
  NamedTensors tensors;
  for (const std::string& name : file.names()) tensors.emplace(name, file.load(name, at));
  return tensors;
}

}  // namespace tenon
