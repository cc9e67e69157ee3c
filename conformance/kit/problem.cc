#include "conformance/kit/problem.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>

#include "conformance/kit/json.h"

namespace tenon_kit {
namespace {

struct KindName {
  Fill::Kind kind;
  const char* name;
};
constexpr KindName kKinds[] = {{Fill::Kind::kSpecial, "special"},
                               {Fill::Kind::kBits, "bits"},
                               {Fill::Kind::kMagnitudes, "magnitudes"}};
constexpr const char* kLayoutNames[] = {"dense",    "transposed", "stepped",
                                        "reversed", "offset",     "repeated"};

// Converts a JSON number, or the name of a special value, to a number.
Real real_from_json(const Json& value) {
  if (value.is_number_unsigned()) return static_cast<Real>(value.get<uint64_t>());
  if (value.is_number_integer()) return static_cast<Real>(value.get<int64_t>());
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return NAN;
  return value == "inf" ? INFINITY : -INFINITY;
}

Json real_to_json(Real x) {
  if (!real_is_finite(x)) return text(x);
  const bool whole =
      x == real_rint(x) && real_abs(x) < real_scale(1, 64) && !(x == 0 && real_sign(x));
  if (!whole) return static_cast<double>(x);
  if (x < 0) return static_cast<int64_t>(x);
  return static_cast<uint64_t>(x);
}

// Returns a hash of the text (FNV-1a), the seed of a case. It is the same on every machine.
uint64_t seed_of(const std::string& words) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : words) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace

Operand operand_from_json(const Json& json, const std::string& place) {
  Operand x;
  if (json.is_null()) {
    x.absent = true;
    return x;
  }
  x.dtype = dtype_named(json.at("dtype").get<std::string>());
  if (json.contains("scalar")) {
    x.scalar = true;
    x.fill.values = {real_from_json(json["scalar"])};
    return x;
  }
  x.shape = json.at("shape").get<Sizes>();
  x.fill.seed = json.value("seed", seed_of(place));
  if (json.contains("values")) {
    for (const Json& value : json["values"]) x.fill.values.push_back(real_from_json(value));
  } else if (json.contains("uniform")) {
    x.fill.kind = Fill::Kind::kUniform;
    x.fill.low = static_cast<double>(real_from_json(json["uniform"][0]));
    x.fill.high = static_cast<double>(real_from_json(json["uniform"][1]));
  } else if (json.contains("whole")) {
    x.fill.kind = Fill::Kind::kWhole;
    x.fill.low = static_cast<double>(real_from_json(json["whole"][0]));
    x.fill.high = static_cast<double>(real_from_json(json["whole"][1]));
  } else {
    const std::string fill = json.at("fill");
    for (const KindName& known : kKinds) {
      if (fill == known.name) x.fill.kind = known.kind;
    }
  }
  if (json.contains("layout")) {
    const auto found = std::find(std::begin(kLayoutNames), std::end(kLayoutNames),
                                 json["layout"].get<std::string>());
    if (found == std::end(kLayoutNames))
      throw std::invalid_argument("an operand has an unknown layout");
    x.layout = static_cast<Layout>(found - std::begin(kLayoutNames));
  }
  return x;
}

Json to_json(const Operand& x) {
  if (x.absent) return nullptr;
  Json json = {{"dtype", name_of(x.dtype)}};
  if (x.scalar) {
    json["scalar"] = real_to_json(x.fill.values.at(0));
    return json;
  }
  json["shape"] = x.shape;
  switch (x.fill.kind) {
    case Fill::Kind::kValues:
      json["values"] = Json::array();
      for (const Real value : x.fill.values) json["values"].push_back(real_to_json(value));
      break;
    case Fill::Kind::kUniform:
      json["uniform"] = {real_to_json(x.fill.low), real_to_json(x.fill.high)};
      break;
    case Fill::Kind::kWhole:
      json["whole"] = {real_to_json(x.fill.low), real_to_json(x.fill.high)};
      break;
    default:
      for (const KindName& known : kKinds) {
        if (x.fill.kind == known.kind) json["fill"] = known.name;
      }
  }
  if (x.fill.kind != Fill::Kind::kValues) json["seed"] = x.fill.seed;
  if (x.layout != Layout::kDense) json["layout"] = name_of(x.layout);
  return json;
}

namespace {

Problem problem_from_json(const OpFacts& op, const Json& json) {
  Problem problem;
  problem.op = &op;
  problem.name = json.value("name", "");
  if (json.contains("attrs")) {
    for (const auto& [name, value] : json["attrs"].items()) {
      problem.attrs[name] = attr_from_json(value);
    }
  }
  for (const Json& input : json.at("inputs")) {
    const std::string place =
        op.name + "." + problem.name + "." + std::to_string(problem.inputs.size());
    problem.inputs.push_back(operand_from_json(input, place));
  }
  if (json.contains("expect")) {
    for (const Json& output : json["expect"])
      problem.expected.push_back(operand_from_json(output, ""));
  }
  problem.error = json.value("error", "");
  problem.rtol = json.value("rtol", -1.0);
  problem.atol = json.value("atol", -1.0);
  problem.check_gradient = json.value("check_gradient", true);
  return problem;
}

}  // namespace

int64_t count_of(const Sizes& shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

int64_t size_along(const Sizes& shape, int64_t axis) {
  return axis < 0 ? shape.end()[axis] : shape.begin()[axis];
}

const char* name_of(Layout layout) { return kLayoutNames[static_cast<size_t>(layout)]; }

Operand explicit_operand(tenon_dtype dtype, Sizes shape, Reals values) {
  Operand x;
  x.dtype = dtype;
  x.shape = std::move(shape);
  x.fill.values = std::move(values);
  return x;
}

Operand explicit_operand(const Operand& x) {
  Operand y = with_values(x, x.values());
  y.layout = Layout::kDense;
  return y;
}

Operand with_values(Operand x, Reals values) {
  x.fill = {.kind = Fill::Kind::kValues, .values = std::move(values)};
  return x;
}

void resize_operand(Operand& x, const Sizes& shape) {
  x.shape = shape;
  if (x.fill.kind != Fill::Kind::kValues) return;
  const Reals before = std::move(x.fill.values);
  x.fill.values.clear();
  for (size_t i = 0; i < static_cast<size_t>(count_of(shape)); ++i) {
    x.fill.values.push_back(before[i % before.size()]);
  }
}

Problem::Problem() = default;
Problem::Problem(const Problem&) = default;
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(const Problem&) = default;
Problem& Problem::operator=(Problem&&) noexcept = default;
Problem::~Problem() = default;

const AttrValue& Problem::attr(std::string_view wanted) const {
  if (const AttrValue* given = attrs.find(wanted)) return *given;
  if (const AttrFacts* facts = op->attr(wanted)) return facts->initial;
  throw std::invalid_argument(op->name + " has no attribute " + std::string(wanted));
}

const std::vector<Problem>& registry_cases(const OpFacts& op) {
  static std::mutex mutex;
  static std::map<uint32_t, std::vector<Problem>> read;
  std::lock_guard lock(mutex);
  if (const auto at = read.find(op.id); at != read.end()) return at->second;
  std::vector<Problem> problems;
  const OpFacts& own = op_named(op.name);
  for (const Json& json : Json::parse(own.cases)) problems.push_back(problem_from_json(own, json));
  return read[op.id] = std::move(problems);
}

std::string to_line(const Problem& problem) {
  Json json = {{"op", problem.op->name}};
  if (!problem.name.empty()) json["name"] = problem.name;
  for (const auto& [name, value] : problem.attrs) json["attrs"][name] = to_json(value);
  json["inputs"] = Json::array();
  for (const Operand& input : problem.inputs) json["inputs"].push_back(to_json(input));
  for (const Operand& output : problem.expected) json["expect"].push_back(to_json(output));
  if (!problem.error.empty()) json["error"] = problem.error;
  if (problem.rtol >= 0) json["rtol"] = problem.rtol;
  if (problem.atol >= 0) json["atol"] = problem.atol;
  if (!problem.check_gradient) json["check_gradient"] = false;
  return json.dump();
}

Problem from_line(const std::string& line) {
  const Json json = Json::parse(line);
  return problem_from_json(op_named(json.at("op").get<std::string>()), json);
}

}  // namespace tenon_kit
