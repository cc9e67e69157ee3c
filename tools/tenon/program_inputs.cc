#include "tools/tenon/program_inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "tools/tenon/failure.h"
#include "tools/tenon/text.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kAllRows = -1;

// Returns NumPy's name of a dtype, which messages suggest in `x.astype(...)`.
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

// Returns the reason why an array does not match an input; empty if it matches. Sizes with the same
// name must be equal.
std::string type_problem(const InputSpec& spec, DType dtype, const Shape& shape,
                         std::map<std::string, int64_t>& sizes) {
  if (dtype != spec.dtype) {
    return fmt::format("in Python, numpy.save(FILE, x.astype('{}')) converts it",
                       numpy_name(spec.dtype));
  }
  if (shape.size() != spec.shape.size()) {
    return fmt::format("it has {} axes instead of {}: reshape it", shape.size(), spec.shape.size());
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_open = spec.shape[axis] == TENON_SIZE_UNKNOWN;
    const std::string name = size_text(spec, axis);
    if (!is_open && spec.shape[axis] != shape[axis]) {
      return fmt::format("axis {} has the size {} instead of {}", axis, shape[axis], name);
    }
    if (!is_open || name == "?") continue;
    const auto known = sizes.emplace(name, shape[axis]).first;
    if (known->second != shape[axis]) {
      return fmt::format("{} is {} here and {} in an input before", name, shape[axis],
                         known->second);
    }
  }
  return "";
}

// Makes a tensor from the bytes of row-major elements.
Tensor make_tensor(DType dtype, const Shape& shape, std::string_view bytes) {
  tenon_tensor* made = nullptr;
  check(tenon_tensor_from_data(current_scope(), dtype, shape.data(), shape.size(), bytes.data(),
                               bytes.size(), &made));
  return Tensor::adopt(made);
}

// Converts an array in Fortran order to C order.
void make_row_major(NpyArray& array) {
  if (!array.is_fortran_order) return;
  const Shape reversed(array.shape.rbegin(), array.shape.rend());
  const Tensor x = transpose(make_tensor(array.dtype, reversed, array.bytes));
  check(tenon_tensor_read(current_scope(), x.get(), array.bytes.data(), array.bytes.size()));
  array.is_fortran_order = false;
}

// Returns whether the signature has an input of this name.
bool has_input(const ProgramSignature& signature, const std::string& name) {
  return std::any_of(signature.inputs.begin(), signature.inputs.end(),
                     [&](const InputSpec& spec) { return spec.name == name; });
}

// Returns text for messages: the inputs of the function if it has one signature, otherwise all its
// signatures.
std::string accepted_inputs_text(const OpenedProgram& opened, const ProgramFunction& function) {
  std::vector<std::vector<std::string>> rows;
  if (function.signatures.size() > 1) {
    std::string all = "it has\n";
    for (const ProgramSignature& each : function.signatures) {
      all += "  " + opened.signature_text(function, each) + "\n";
    }
    return all;
  }
  for (const InputSpec& spec : function.signatures[0].inputs) {
    rows.push_back({spec.name, type_text(spec)});
  }
  return rows.empty() ? "it takes none\n" : "it takes\n" + columns(rows, 2);
}

// Returns the number of unknown sizes of a signature. If several signatures match, the one with the
// fewest unknown sizes is called.
size_t count_unknown_sizes(const ProgramSignature& signature) {
  std::set<std::string> open;
  for (const InputSpec& spec : signature.inputs) {
    for (size_t axis = 0; axis < spec.shape.size(); ++axis) {
      if (spec.shape[axis] == TENON_SIZE_UNKNOWN) open.insert(unknown_size_name(spec, axis));
    }
  }
  return open.size();
}

// Parses a number, true or false. Any other text is a string.
Json parse_static(const std::string& text) {
  const Json parsed = Json::parse(text, nullptr, false);
  const bool is_value = parsed.is_boolean() || parsed.is_number() || parsed.is_string();
  return is_value ? parsed : Json(text);
}

// Converts a JSON value to a static argument.
Static to_static(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  return value.is_number() ? Static(value.get<double>()) : Static(value.get<std::string>());
}

}  // namespace

CallInputs::CallInputs(const OpenedProgram& opened, const ProgramFunction& function,
                       const CallOptions& options)
    : opened_(opened),
      function_(function),
      static_values_(opened.description_of(function)["defaults"]) {
  for (const std::string& text : options.statics) {
    const auto [name, value] = split_named_value("--static", text);
    static_values_[name] = parse_static(value);
    if (!statics_.emplace(name, to_static(static_values_[name])).second) {
      throw Failure(fmt::format("--static {} is given twice", name));
    }
  }
  for (const std::string& text : options.inputs) {
    const auto [name, path] = split_named_value("--input", text);
    const bool is_there =
        std::any_of(function.signatures.begin(), function.signatures.end(),
                    [&, &own = name](const auto& signature) { return has_input(signature, own); });
    if (!is_there) {
      throw Failure(fmt::format("the function {} has no input '{}'; {}", function.name, name,
                                accepted_inputs_text(opened, function)));
    }
    if (!files_.emplace(name, File{path, {}}).second) {
      throw Failure(fmt::format("--input {} is given twice", name));
    }
  }
  for (auto& [name, file] : files_) {
    file.array = read_npy(file.path);
    make_row_major(file.array);
  }
}

// Returns the call with complete inputs. Throws a Failure if they match no signature.
Call CallInputs::all() const {
  Call call = {&find(kAllRows), {}, statics_};
  for (const InputSpec& spec : call.signature->inputs) {
    const NpyArray& array = files_.at(spec.name).array;
    call.inputs.push_back(make_tensor(array.dtype, array.shape, array.bytes));
  }
  return call;
}

// Returns the call with rows [begin, end) of all inputs.
Call CallInputs::part(int64_t begin, int64_t end) const {
  Call call = {&find(end - begin), {}, statics_};
  for (const InputSpec& spec : call.signature->inputs) {
    const NpyArray& array = files_.at(spec.name).array;
    const std::string_view bytes = array.bytes;
    const size_t row = bytes.size() / static_cast<size_t>(std::max<int64_t>(array.shape[0], 1));
    const auto first = static_cast<size_t>(begin), n = static_cast<size_t>(end - begin);
    Shape shape = array.shape;
    shape[0] = end - begin;
    call.inputs.push_back(make_tensor(array.dtype, shape, bytes.substr(first * row, n * row)));
  }
  return call;
}

// Returns the number of rows, which is the size of the first axis of every input.
int64_t CallInputs::rows() const {
  if (files_.empty()) throw Failure("--batch-size: the call has no inputs to divide into batches");
  const auto& [first, file] = *files_.begin();
  for (const auto& [name, other] : files_) {
    if (other.array.shape.empty()) {
      throw Failure(
          fmt::format("--batch-size: input {} has no axis along which it could be divided", name));
    }
    if (other.array.shape[0] == file.array.shape[0]) continue;
    throw Failure(
        fmt::format("--batch-size: inputs are cut along their first axis, of which {} has {} and "
                    "{} has {}",
                    first, file.array.shape[0], name, other.array.shape[0]));
  }
  return file.array.shape[0];
}

// Returns the signature that accepts the inputs with `rows` rows, or with all rows.
const ProgramSignature& CallInputs::find(int64_t rows) const {
  const ProgramSignature* found = nullptr;
  std::string problem;
  for (const ProgramSignature& each : function_.signatures) {
    problem = problem_with(each, rows);
    const bool is_closer = !found || count_unknown_sizes(each) < count_unknown_sizes(*found);
    if (problem.empty() && is_closer) found = &each;
  }
  if (found) return *found;
  if (function_.signatures.size() == 1) throw Failure(problem);
  throw Failure(fmt::format("the function {} has no signature for {}; {}", function_.name,
                            types(rows), accepted_inputs_text(opened_, function_)));
}

// Returns the reason why the inputs do not match a signature; empty if they match.
std::string CallInputs::problem_with(const ProgramSignature& signature, int64_t rows) const {
  std::string missing;
  for (const InputSpec& spec : signature.inputs) {
    if (!files_.contains(spec.name)) missing += (missing.empty() ? "" : ", ") + spec.name;
  }
  if (!missing.empty()) {
    return fmt::format("no --input NAME=FILE.npy is given for {}; {}", missing,
                       accepted_inputs_text(opened_, function_));
  }
  if (files_.size() != signature.inputs.size()) return "it has fewer inputs";
  if (!has_statics(signature)) {
    return fmt::format("the static arguments are not those of {}; --static NAME=VALUE gives one",
                       opened_.signature_text(function_, signature));
  }
  std::map<std::string, int64_t> sizes;
  for (const InputSpec& spec : signature.inputs) {
    const File& file = files_.at(spec.name);
    Shape shape = file.array.shape;
    if (rows != kAllRows) shape[0] = rows;
    const std::string problem = type_problem(spec, file.array.dtype, shape, sizes);
    if (problem.empty()) continue;
    return fmt::format("input {}: {} holds {}, and the function takes {}; {}", spec.name, file.path,
                       type_text(file.array.dtype, file.array.shape), type_text(spec), problem);
  }
  return "";
}

// Returns whether the static arguments of the call are those of the signature.
bool CallInputs::has_statics(const ProgramSignature& signature) const {
  const auto at = static_cast<size_t>(&signature - function_.signatures.data());
  const Json& own = opened_.description_of(function_)["signatures"][at]["statics"];
  if (own.size() != static_values_.size()) return false;
  for (const auto& [name, value] : own.items()) {
    const auto given = static_values_.find(name);
    if (given == static_values_.end() || given->dump() != value.dump()) return false;
  }
  return true;
}

// Formats the types of the inputs, cut to `rows` rows, and the static arguments.
std::string CallInputs::types(int64_t rows) const {
  std::string text;
  for (const auto& [name, file] : files_) {
    Shape shape = file.array.shape;
    if (rows != kAllRows) shape[0] = rows;
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, type_text(file.array.dtype, shape));
  }
  text = "(" + text + ")";
  for (const auto& [name, value] : static_values_.items()) {
    text += fmt::format(" with {}={}", name, value.dump());
  }
  return text;
}

}  // namespace tenon::command
