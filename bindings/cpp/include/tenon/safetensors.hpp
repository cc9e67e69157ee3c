// Named tensors in files, in the format safetensors.

#pragma once

#include <map>
#include <tenon/tensor.hpp>

namespace tenon {

using NamedTensors = std::map<std::string, Tensor>;

// Writes a file, which takes its name only once it is whole.
inline void save_safetensors(std::string_view path, const NamedTensors& tensors,
                             const std::map<std::string, std::string>& metadata = {}) {
  std::vector<tenon_string> names;
  std::vector<tenon_tensor*> values;
  for (const auto& [name, tensor] : tensors) {
    names.push_back(detail::c_text(name));
    values.push_back(tensor.get());
  }
  std::vector<tenon_metadata> entries;
  for (const auto& [key, value] : metadata) {
    entries.push_back({detail::c_text(key), detail::c_text(value)});
  }
  check(tenon_safetensors_save(current_scope(), detail::c_text(path), names.data(), values.data(),
                               values.size(), entries.data(), entries.size()));
}

// An open file, all of which is checked but the elements.
class Safetensors {
 public:
  explicit Safetensors(std::string_view path)
      : handle_(detail::make<Shared>([&](tenon_safetensors** out) {
          return tenon_safetensors_open(detail::c_text(path), out);
        })) {}

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
  Tensor load(std::string_view name) const {
    tenon_tensor* tensor = nullptr;
    check(tenon_safetensors_load(current_scope(), get(), detail::c_text(name), &tensor));
    return Tensor::adopt(tensor);
  }

  tenon_safetensors* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_safetensors, tenon_safetensors_retain, tenon_safetensors_release>;

  Shared handle_;
};

// All tensors of a file, on the current device.
inline NamedTensors load_safetensors(std::string_view path) {
  const Safetensors file(path);
  NamedTensors tensors;
  for (const std::string& name : file.names()) tensors.emplace(name, file.load(name));
  return tensors;
}

}  // namespace tenon
