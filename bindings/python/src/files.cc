// Named tensors in safetensors files.
#include "native.h"

namespace tenon_python {

namespace {

struct Safetensors {
  tenon_safetensors* handle = nullptr;
  ~Safetensors() { tenon_safetensors_release(handle); }
};

// The tensors and metadata of a file to be written.
struct Contents {
  Contents(const std::vector<std::string>& names, nb::list values, nb::dict metadata)
      : tensors(values, false) {
    for (const std::string& name : names) c_names.push_back(to_c(name));
    for (auto [key, value] : metadata) {
      texts.push_back(nb::cast<std::string>(key));
      texts.push_back(nb::cast<std::string>(value));
    }
    for (size_t i = 0; i + 1 < texts.size(); i += 2)
      entries.push_back({to_c(texts[i]), to_c(texts[i + 1])});
  }
  Operands tensors;
  std::vector<tenon_string> c_names;
  std::vector<std::string> texts;
  std::vector<tenon_metadata> entries;
};

// Writes a safetensors file.
void save(const std::string& path, const std::vector<std::string>& names, nb::list values,
          nb::dict metadata) {
  const Contents contents(names, values, metadata);
  tenon_scope* here = scope();
  run_blocking([&] {
    return tenon_safetensors_save(here, to_c(path), contents.c_names.data(),
                                  contents.tensors.data(), contents.tensors.size(),
                                  contents.entries.data(), contents.entries.size());
  });
}

// Returns the bytes of a safetensors file.
nb::bytes write(const std::vector<std::string>& names, nb::list values, nb::dict metadata) {
  const Contents contents(names, values, metadata);
  tenon_scope* here = scope();
  tenon_string bytes;
  run_blocking([&] {
    return tenon_safetensors_write(here, contents.c_names.data(), contents.tensors.data(),
                                   contents.tensors.size(), contents.entries.data(),
                                   contents.entries.size(), &bytes);
  });
  nb::bytes result(bytes.data, bytes.size);
  tenon_string_release(bytes);
  return result;
}

// Returns (name, dtype, sizes) of each tensor in a file.
nb::list entries(Safetensors& self) {
  nb::list result;
  for (size_t i = 0; i < tenon_safetensors_count(self.handle); ++i)
    result.append(nb::make_tuple(to_python(tenon_safetensors_name(self.handle, i)),
                                 to_python(tenon_safetensors_dtype(self.handle, i)),
                                 sizes_to_python(tenon_safetensors_shape(self.handle, i),
                                                 tenon_safetensors_rank(self.handle, i))));
  return result;
}

}  // namespace

// Adds the functions and classes for safetensors files to the module tenon._native.
void define_files(nb::module_& module) {
  nb::class_<Safetensors>(module, "Safetensors")
      .def("__init__",
           [](Safetensors* self, const std::string& path) {
             tenon_safetensors* handle = nullptr;
             run_blocking([&] { return tenon_safetensors_open(to_c(path), &handle); });
             new (self) Safetensors{handle};
           })
      .def("__init__",
           [](Safetensors* self, nb::bytes data) {
             tenon_safetensors* handle = nullptr;
             run_blocking(
                 [&] { return tenon_safetensors_open_memory(data.c_str(), data.size(), &handle); });
             new (self) Safetensors{handle};
           })
      .def("entries", &entries)
      .def("load",
           [](Safetensors& self, const std::string& name) {
             tenon_tensor* result = nullptr;
             tenon_scope* here = scope();
             run_blocking(
                 [&] { return tenon_safetensors_load(here, self.handle, to_c(name), &result); });
             return take(result);
           })
      .def("metadata", [](Safetensors& self) {
        nb::dict result;
        for (size_t i = 0; i < tenon_safetensors_count_metadata(self.handle); ++i) {
          const tenon_metadata entry = tenon_safetensors_metadata(self.handle, i);
          result[to_python(entry.key)] = to_python(entry.value);
        }
        return result;
      });
  module.def("save_safetensors", &save);
  module.def("write_safetensors", &write);
}

}  // namespace tenon_python
