#include "tools/tenon/program_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "tools/tenon/failure.h"
#include "tools/tenon/npy.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

// A size of a spec: a number, a name, or ? where it has none.
std::string size_text(const InputSpec& spec, size_t axis) {
  if (spec.shape[axis] != TENON_SIZE_UNKNOWN) return std::to_string(spec.shape[axis]);
  const bool is_named = axis < spec.size_names.size() && !spec.size_names[axis].empty();
  return is_named ? spec.size_names[axis] : "?";
}

// How NumPy calls a dtype, for `x.astype(...)`.
std::string numpy_name(DType dtype) {
  const std::string bits = std::to_string(TENON_DTYPE_BITS(dtype));
  switch (TENON_DTYPE_CODE(dtype)) {
    case TENON_CODE_BOOL:
      return "bool";
    case TENON_CODE_INT:
      return "int" + bits;
    case TENON_CODE_UINT:
      return "uint" + bits;
    default:
      return "float" + bits;
  }
}

// Fails unless the array is of the type that the function declares. Sizes of one name are equal.
void check_type(const InputSpec& spec, const NpyArray& array, const std::string& path,
                std::map<std::string, int64_t>& sizes) {
  const std::string is = fmt::format("{} holds {}", path, type_text(array.dtype, array.shape));
  const auto fail = [&](const std::string& advice) {
    throw Failure(fmt::format("input {}: {}, and the function takes {}; {}", spec.name, is,
                              type_text(spec), advice));
  };
  if (array.dtype != spec.dtype) {
    fail(fmt::format("in Python, numpy.save(FILE, x.astype('{}')) converts it",
                     numpy_name(spec.dtype)));
  }
  if (array.shape.size() != spec.shape.size()) {
    fail(fmt::format("it has {} axes instead of {}: reshape it", array.shape.size(),
                     spec.shape.size()));
  }
  for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
    const int64_t size = array.shape[axis];
    const std::string name = size_text(spec, axis);
    if (spec.shape[axis] != TENON_SIZE_UNKNOWN && spec.shape[axis] != size) {
      fail(fmt::format("axis {} has the size {} instead of {}", axis, size, name));
    }
    if (spec.shape[axis] != TENON_SIZE_UNKNOWN || name == "?") continue;
    const auto known = sizes.emplace(name, size).first;
    if (known->second != size) {
      fail(fmt::format("{} is {} here and {} in an input before", name, size, known->second));
    }
  }
}

Tensor as_tensor(const InputSpec& spec, const NpyArray& array) {
  Shape shape = array.shape;
  if (array.is_fortran_order) std::reverse(shape.begin(), shape.end());
  tenon_tensor* made = nullptr;
  check(tenon_tensor_from_data(current_scope(), array.dtype, shape.data(), shape.size(),
                               array.bytes.data(), array.bytes.size(), &made));
  const Tensor x = Tensor::adopt(made);
  if (spec.is_scalar) {
    if (spec.dtype == kBool) return static_cast<bool>(x);
    return spec.dtype == kInt64 ? Tensor(x.item<int64_t>()) : Tensor(x.item<double>());
  }
  return array.is_fortran_order ? transpose(x) : x;
}

std::string list_of_inputs(const ProgramFunction& function) {
  std::vector<std::vector<std::string>> rows;
  for (const InputSpec& spec : function.inputs) rows.push_back({spec.name, type_text(spec)});
  return rows.empty() ? "it takes none\n" : "it takes\n" + columns(rows, 2);
}

}  // namespace

OpenedProgram::OpenedProgram(const std::string& path, const std::string& device)
    : scope_(context_, device), in_scope_(scope_), device_(scope_.device()) {
  program_.emplace(path);
  functions_ = program_->functions();
}

const ProgramFunction& OpenedProgram::find(const std::string& name) const {
  std::string names;
  for (const ProgramFunction& function : functions_) {
    if (function.name == name || (name.empty() && functions_.size() == 1)) return function;
    names += (names.empty() ? "" : ", ") + function.name;
  }
  if (name.empty()) {
    throw Failure(
        fmt::format("there are several functions; choose one with --function: {}", names));
  }
  throw Failure(fmt::format("there is no function '{}'; there are: {}", name, names));
}

std::string type_text(const InputSpec& spec) {
  if (spec.dtype == DType()) return "unknown";
  std::string text = spec.dtype.str();
  if (spec.is_scalar) return text;
  for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
    text += (axis ? "," : "[") + size_text(spec, axis);
  }
  return text + (spec.shape.empty() ? "[]" : "]");
}

std::string type_text(DType dtype, std::span<const int64_t> shape) {
  return type_text(InputSpec{.dtype = dtype, .shape = {shape.begin(), shape.end()}});
}

std::string signature_text(const ProgramFunction& function) {
  const auto list = [](const std::vector<InputSpec>& specs) {
    std::string text;
    for (const InputSpec& spec : specs) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", spec.name, type_text(spec));
    }
    return text;
  };
  return fmt::format("{}({}) -> {}", function.name, list(function.inputs),
                     function.outputs.empty() ? "nothing" : list(function.outputs));
}

std::pair<std::string, std::string> named_value(const std::string& option,
                                                const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw Failure(fmt::format("{} {}: it has the form NAME=VALUE", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

Sizes read_sizes(const std::vector<std::string>& given) {
  Sizes sizes;
  for (const std::string& text : given) {
    const auto [name, value] = named_value("--size", text);
    size_t end = 0;
    try {
      sizes[name] = std::stoll(value, &end);
    } catch (const std::logic_error&) {
      end = 0;
    }
    if (end != value.size() || sizes[name] < 0) {
      throw Failure(fmt::format("--size {}: the value is no number from 0 to 2^63 - 1", text));
    }
  }
  return sizes;
}

std::string open_size_name(const InputSpec& spec, size_t axis) {
  const bool is_named = axis < spec.size_names.size() && !spec.size_names[axis].empty();
  return is_named ? spec.size_names[axis] : fmt::format("{}.{}", spec.name, axis);
}

std::vector<Tensor> read_inputs(const ProgramFunction& function,
                                const std::vector<std::string>& given) {
  std::map<std::string, std::string> paths;
  for (const std::string& text : given) {
    const auto [name, path] = named_value("--input", text);
    const bool is_there =
        std::any_of(function.inputs.begin(), function.inputs.end(),
                    [&, &own = name](const InputSpec& spec) { return spec.name == own; });
    if (!is_there) {
      throw Failure(fmt::format("the function {} has no input '{}'; {}", function.name, name,
                                list_of_inputs(function)));
    }
    if (!paths.emplace(name, path).second) {
      throw Failure(fmt::format("--input {} is given twice", name));
    }
  }
  std::string missing;
  for (const InputSpec& spec : function.inputs) {
    if (!paths.contains(spec.name)) missing += (missing.empty() ? "" : ", ") + spec.name;
  }
  if (!missing.empty()) {
    throw Failure(fmt::format("no --input NAME=FILE.npy is given for {}; {}", missing,
                              list_of_inputs(function)));
  }
  std::vector<Tensor> inputs;
  std::map<std::string, int64_t> sizes;
  for (const InputSpec& spec : function.inputs) {
    const std::string& path = paths.at(spec.name);
    const NpyArray array = read_npy(path);
    check_type(spec, array, path, sizes);
    inputs.push_back(as_tensor(spec, array));
  }
  return inputs;
}

}  // namespace tenon::command
