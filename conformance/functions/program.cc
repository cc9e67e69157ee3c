#include "conformance/functions/program.h"

#include <algorithm>
#include <stdexcept>

#include "conformance/kit/json.h"
#include "conformance/kit/packed_attrs.h"

namespace tenon_kit::functions {

using tenon::Tensor;

size_t Program::n_values() const {
  size_t n = n_inputs_and_constants();
  for (const Step& step : steps) n += step.n_outputs;
  return n;
}

// ---- serialisation

std::string to_line(const Program& program) {
  Json json;
  const auto list = [&](const char* name, const std::vector<Operand>& operands) {
    json[name] = Json::array();
    for (const Operand& x : operands) json[name].push_back(to_json(x));
  };
  list("inputs", program.inputs);
  if (!program.constants.empty()) list("constants", program.constants);
  json["steps"] = Json::array();
  for (const Step& step : program.steps) {
    Json own = {{"op", step.op->name}};
    for (const auto& [name, value] : step.attrs) own["attrs"][name] = to_json(value);
    own["in"] = step.inputs;
    if (step.n_outputs != step.op->n_outputs) own["out"] = step.n_outputs;
    json["steps"].push_back(std::move(own));
  }
  json["outputs"] = program.outputs;
  return json.dump();
}

Program program_from_line(const std::string& line) {
  const Json json = Json::parse(line);
  Program program;
  const auto list = [&](const char* name, std::vector<Operand>& operands) {
    if (!json.contains(name)) return;
    for (const Json& x : json[name]) {
      operands.push_back(operand_from_json(x, name + std::to_string(operands.size())));
    }
  };
  list("inputs", program.inputs);
  list("constants", program.constants);
  const auto number = [&](const Json& of) {
    const auto k = of.get<size_t>();
    if (k >= program.n_values()) {
      throw std::invalid_argument("a step uses the value " + std::to_string(k) +
                                  ", which is not computed yet");
    }
    return k;
  };
  for (const Json& own : json.at("steps")) {
    Step step;
    step.op = &op_named(own.at("op").get<std::string>());
    if (own.contains("attrs")) {
      for (const auto& [name, value] : own["attrs"].items()) {
        step.attrs[name] = attr_from_json(value);
      }
    }
    for (const Json& k : own.at("in")) step.inputs.push_back(number(k));
    step.n_outputs = own.value("out", step.op->n_outputs);
    program.steps.push_back(std::move(step));
  }
  for (const Json& k : json.at("outputs")) program.outputs.push_back(number(k));
  return program;
}

// ---- evaluation

Tensors call(const Step& step, std::span<const Tensor> inputs) {
  const PackedAttrs attrs(*step.op, step.attrs);
  std::vector<tenon_tensor*> in, out(step.n_outputs, nullptr);
  for (const Tensor& x : inputs) in.push_back(x.get());
  tenon::check(tenon_call(tenon::current_scope(), step.op->id, attrs.data(), in.data(), in.size(),
                          out.data(), out.size()));
  Tensors outputs;
  for (tenon_tensor* y : out) outputs.push_back(Tensor::adopt(y));
  return outputs;
}

Tensors evaluate(const Program& program, const Tensors& inputs, const Tensors& constants) {
  Tensors values = inputs;
  values.insert(values.end(), constants.begin(), constants.end());
  for (const Step& step : program.steps) {
    Tensors in;
    for (const size_t k : step.inputs) in.push_back(values[k]);
    for (Tensor& y : call(step, in)) values.push_back(std::move(y));
  }
  return values;
}

// Returns those of the program's values that are its outputs.
Tensors outputs_of(const Program& program, const Tensors& values) {
  Tensors outputs;
  for (const size_t k : program.outputs) outputs.push_back(values[k]);
  return outputs;
}

std::vector<Operand> with_other_values(const std::vector<Operand>& inputs) {
  std::vector<Operand> others = inputs;
  for (Operand& x : others) {
    if (x.scalar) {
      Real& value = x.fill.values.at(0);
      value = is_bool(x.dtype) ? Real(value == 0) : value + 1;
    } else if (x.fill.kind != Fill::Kind::kValues) {
      x.fill.seed += 1;
    } else if (!x.fill.values.empty()) {
      std::rotate(x.fill.values.begin(), x.fill.values.begin() + 1, x.fill.values.end());
    }
  }
  return others;
}

std::vector<Operand> with_other_layouts(const std::vector<Operand>& inputs) {
  std::vector<Operand> others = inputs;
  for (Operand& x : others) {
    if (is_tensor(x)) x.layout = x.layout == Layout::kDense ? Layout::kStepped : Layout::kDense;
  }
  return others;
}

// ---- shrinking

namespace {

constexpr size_t kGone = SIZE_MAX;

// Removes the steps for which `keep` is false, and all values that are then unused. No other step
// may read the results of removed steps.
Program remove_steps(const Program& program, std::vector<bool> keep) {
  std::vector<bool> needed(program.n_values(), false);
  for (const size_t k : program.outputs) needed[k] = true;
  size_t first = program.n_values();
  for (size_t i = program.steps.size(); i-- > 0;) {
    const Step& step = program.steps[i];
    first -= step.n_outputs;
    bool is_needed = false;
    for (size_t k = 0; k < step.n_outputs; ++k) is_needed = is_needed || needed[first + k];
    keep[i] = keep[i] && is_needed;
    if (!keep[i]) continue;
    for (const size_t k : step.inputs) needed[k] = true;
  }
  Program smaller;
  std::vector<size_t> number(program.n_values(), kGone);
  size_t n = 0, k = 0;
  for (const Operand& x : program.inputs) {
    if (needed[k]) {
      smaller.inputs.push_back(x);
      number[k] = n++;
    }
    ++k;
  }
  for (const Operand& x : program.constants) {
    if (needed[k]) {
      smaller.constants.push_back(x);
      number[k] = n++;
    }
    ++k;
  }
  for (size_t i = 0; i < program.steps.size(); ++i) {
    Step step = program.steps[i];
    if (keep[i]) {
      for (size_t out = 0; out < step.n_outputs; ++out) number[k + out] = n++;
      for (size_t& in : step.inputs) in = number[in];
    }
    k += step.n_outputs;
    if (keep[i]) smaller.steps.push_back(std::move(step));
  }
  for (const size_t out : program.outputs) smaller.outputs.push_back(number[out]);
  return smaller;
}

// Removes step `at`. Its results become inputs of the program, whose values are taken from
// `values`, the values of the whole program.
Program replace_step(const Program& program, size_t at, const Results& values) {
  size_t first = program.n_inputs_and_constants();
  for (size_t i = 0; i < at; ++i) first += program.steps[i].n_outputs;
  const size_t n = program.steps[at].n_outputs, n_inputs = program.inputs.size();
  Program smaller = program;
  for (size_t k = 0; k < n; ++k) {
    const Result& y = values.at(first + k);
    smaller.inputs.push_back(explicit_operand(y.dtype, y.shape, y.values()));
  }
  // Indices after the inputs shift by the number of inputs added.
  const auto moved = [&](size_t k) {
    if (k < n_inputs) return k;
    return k >= first && k < first + n ? n_inputs + (k - first) : k + n;
  };
  for (Step& step : smaller.steps) {
    for (size_t& k : step.inputs) k = moved(k);
  }
  for (size_t& k : smaller.outputs) k = moved(k);
  std::vector<bool> keep(program.steps.size(), true);
  keep[at] = false;
  return remove_steps(smaller, std::move(keep));
}

// Replaces every size `before` by the smaller `size`, in shapes and in attributes. Along such axes,
// inputs and constants keep their first `size` elements or, if `last`, their last ones.
Program replace_size(const Program& program, int64_t before, int64_t size, bool last) {
  Program smaller = program;
  for (std::vector<Operand>* operands : {&smaller.inputs, &smaller.constants}) {
    for (Operand& x : *operands) {
      Sizes shape = x.shape;
      std::replace(shape.begin(), shape.end(), before, size);
      if (shape == x.shape) continue;
      if (last) {
        x = with_values(x, x.values());
        std::rotate(x.fill.values.begin(), x.fill.values.end() - count_of(shape),
                    x.fill.values.end());
      }
      resize_operand(x, shape);
    }
  }
  for (Step& step : smaller.steps) {
    for (const auto& [name, value] : AttrValues(step.attrs)) {
      const Sizes* list = std::get_if<Sizes>(&value.variant());
      if (!list || name == "axes" || name == "perm") continue;
      Sizes sizes = *list;
      std::replace(sizes.begin(), sizes.end(), before, size);
      step.attrs[name] = sizes;
    }
  }
  return smaller;
}

// Returns variants of the program in which one size is smaller, wherever it occurs.
std::vector<Program> programs_with_smaller_sizes(const Program& program) {
  std::vector<int64_t> sizes;
  for (const std::vector<Operand>* operands : {&program.inputs, &program.constants}) {
    for (const Operand& x : *operands) sizes.insert(sizes.end(), x.shape.begin(), x.shape.end());
  }
  std::sort(sizes.rbegin(), sizes.rend());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<Program> candidates;
  for (const int64_t size : sizes) {
    for (const int64_t less : {int64_t{1}, size / 2, size < 8 ? size - 1 : size}) {
      if (less < 1 || less >= size) continue;
      for (const bool last : {false, true}) {
        candidates.push_back(replace_size(program, size, less, last));
      }
    }
  }
  return candidates;
}

// Returns variants of the program in which one operand has a simpler layout or simpler values.
std::vector<Program> programs_with_plainer_operands(const Program& program) {
  std::vector<Program> candidates;
  for (size_t i = 0; i < program.n_inputs_and_constants(); ++i) {
    const auto of = [&](Program& own) -> Operand& {
      return i < own.inputs.size() ? own.inputs[i] : own.constants[i - own.inputs.size()];
    };
    Program candidate = program;
    Operand& x = of(candidate);
    if (!is_tensor(x)) continue;
    if (x.layout != Layout::kDense) {
      x = explicit_operand(x);
      candidates.push_back(candidate);
    }
    if (x.fill.kind == Fill::Kind::kSpecial) {
      x.fill.kind = Fill::Kind::kUniform;
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

}  // namespace

Program shrink(const Program& program, const std::function<Results(const Program&)>& values,
               const std::function<bool(const Program&)>& fails, int budget) {
  Program best = program;
  const auto try_one = [&](Program candidate) {
    if (--budget < 0 || candidate.outputs.empty() || !fails(candidate)) return false;
    best = std::move(candidate);
    return true;
  };
  const auto all = [&] { return std::vector<bool>(best.steps.size(), true); };
  for (size_t k = program.n_inputs_and_constants(); k < program.n_values(); ++k) {
    Program single = program;
    single.outputs = {k};
    if (try_one(remove_steps(single, all()))) break;
  }
  for (bool progress = true; progress && budget > 0;) {
    progress = false;
    for (size_t i = best.outputs.size(); i-- > 0 && best.outputs.size() > 1;) {
      Program fewer = best;
      fewer.outputs.erase(fewer.outputs.begin() + static_cast<ptrdiff_t>(i));
      progress = try_one(remove_steps(fewer, all())) || try_one(fewer) || progress;
    }
    for (size_t i = 0; i < best.steps.size(); ++i) {
      const Results known = values(best);
      if (known.empty()) break;
      progress = try_one(replace_step(best, i, known)) || progress;
    }
    for (auto* candidates : {programs_with_smaller_sizes, programs_with_plainer_operands}) {
      const auto improve = [&] {
        std::vector<Program> all_of = candidates(best);
        return std::any_of(all_of.begin(), all_of.end(),
                           [&](Program& candidate) { return try_one(std::move(candidate)); });
      };
      while (budget > 0 && improve()) progress = true;
    }
  }
  return best;
}

}  // namespace tenon_kit::functions
