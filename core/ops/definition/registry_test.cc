#include "core/ops/definition/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tenon {
namespace {

// Lists the fields of an attribute struct with their values as text.
class Fields final : public AttrVisitor {
 public:
  explicit Fields(AnyAttrs attrs) {
    if (!attrs.empty()) attrs.type->visit(attrs.data, *this);
  }
  void on_int(std::string_view name, int64_t v) override { add(name, std::to_string(v)); }
  void on_float(std::string_view name, double v) override { add(name, std::to_string(v)); }
  void on_bool(std::string_view name, bool v) override { add(name, v ? "true" : "false"); }
  void on_dtype(std::string_view name, DType v) override { add(name, std::string(name_of(v))); }
  void on_enum(std::string_view name, int32_t v, const EnumInfo& info) override {
    add(name, std::to_string(v));
    n_values.emplace_back(name, info.values.size());
  }
  void on_ints(std::string_view name, std::span<const int64_t> v) override {
    add(name, to_string(Dims(v)));
  }
  void on_string(std::string_view name, std::string_view v) override { add(name, std::string(v)); }
  std::vector<std::pair<std::string, std::string>> all;
  // The number of values of each enumeration.
  std::vector<std::pair<std::string, size_t>> n_values;

 private:
  void add(std::string_view name, std::string value) { all.emplace_back(name, std::move(value)); }
};

OwnedAttrs defaults_of(const OpDef& op) {
  std::vector<std::max_align_t> memory(op.attrs->size / sizeof(std::max_align_t) + 1);
  op.attrs->init(memory.data());
  OwnedAttrs result(AnyAttrs{op.attrs, memory.data()});
  op.attrs->destroy(memory.data());
  return result;
}

TEST(Registry, FindsEveryOpByIdAndByName) {
  for (const OpDef& op : all_ops()) {
    EXPECT_EQ(find_op(op.id), &op) << op.name;
    EXPECT_EQ(find_op(op.name), &op) << op.name;
  }
  EXPECT_EQ(find_op("no_such_op"), nullptr);
  EXPECT_EQ(find_op(uint32_t{0}), nullptr);
}

TEST(Registry, DocumentsEveryInputOutputAndAttribute) {
  for (const OpDef& op : all_ops()) {
    SCOPED_TRACE(op.name);
    EXPECT_TRUE(op.doc.summary.size() > 1 && op.doc.summary.back() == '.') << op.doc.summary;
    EXPECT_FALSE(op.doc.outputs.empty());
    for (const InputDef& input : op.doc.inputs) EXPECT_STRNE(input.doc, "") << input.name;
    for (const OutputDef& output : op.doc.outputs) EXPECT_STRNE(output.doc, "") << output.name;
    const OwnedAttrs defaults = defaults_of(op);
    const Fields fields(defaults.view());
    ASSERT_EQ(op.doc.attrs.size(), fields.all.size());
    for (size_t i = 0; i < fields.all.size(); ++i) {
      EXPECT_EQ(op.doc.attrs[i].name, fields.all[i].first);
      EXPECT_STRNE(op.doc.attrs[i].doc, "") << op.doc.attrs[i].name;
    }
  }
}

TEST(Registry, HasCasesForEveryAttributeAndForSuccessAndFailure) {
  for (const OpDef& op : all_ops()) {
    SCOPED_TRACE(op.name);
    ASSERT_TRUE(op.cases);
    const AnyCases cases = op.cases(op);
    std::set<std::string> names, moved;
    bool fails = false, succeeds = false;
    const OwnedAttrs defaults = defaults_of(op);
    const Fields unset(defaults.view());
    for (const AnyCase& c : cases) {
      EXPECT_TRUE(names.insert(c.name).second) << c.name << " is the name of two cases";
      (c.error.empty() ? succeeds : fails) = true;
      if (!c.error.empty()) continue;
      const Fields set(c.attrs.view());
      for (size_t i = 0; i < set.all.size(); ++i) {
        if (set.all[i].second != unset.all[i].second) moved.insert(set.all[i].first);
      }
    }
    EXPECT_TRUE(succeeds);
    EXPECT_TRUE(fails || op.doc.inputs.empty()) << "no case fails";
    for (const auto& [name, value] : unset.all) {
      // An attribute `mode` may be an enumeration with a single value.
      if (name == "mode") continue;
      EXPECT_TRUE(moved.count(name)) << "no case sets " << name;
    }
  }
}

// A composite is compared with its own decomposition on `ref`, which cannot detect a wrong formula.
// Literal expected values can; tools/expectations records their sources.
TEST(Registry, HasLiteralExpectationsForEveryAttributeOfAComposite) {
  for (const OpDef& op : all_ops()) {
    if (!op.decompose) continue;
    SCOPED_TRACE(op.name);
    bool has_literals = false;
    std::map<std::string, std::set<std::string>> judged;
    for (const AnyCase& c : op.cases(op)) {
      if (c.expect.empty()) continue;
      has_literals = true;
      const Fields set(c.attrs.view());
      for (const auto& [name, value] : set.all) judged[name].insert(value);
    }
    EXPECT_TRUE(has_literals);
    const OwnedAttrs defaults = defaults_of(op);
    const Fields unset(defaults.view());
    for (const auto& [name, value] : unset.all) {
      judged[name].erase(value);
      EXPECT_FALSE(judged[name].empty()) << "no case with `expect` sets " << name;
    }
    for (const auto& [name, n] : unset.n_values) {
      EXPECT_EQ(judged[name].size(), n - 1) << "not each value of " << name << " has literals";
    }
  }
}

// The summary is shown in lists of ops. The formula defines what the op computes.
TEST(Registry, HasASummaryAndAFormulaForEveryOp) {
  for (const OpDef& op : all_ops()) {
    SCOPED_TRACE(op.name);
    const std::string& summary = op.doc.summary;
    EXPECT_TRUE(!summary.empty() && summary.size() <= 140) << summary;
    EXPECT_EQ(summary.find('\n'), std::string::npos) << summary;
    EXPECT_FALSE(op.doc.formula.empty());
    EXPECT_TRUE(op.doc.details.empty() || op.doc.details.back() == '.') << op.doc.details;
  }
}

// Each op with a derivative must have a case with finite floating inputs, so that finite
// differences can check the derivative. Exempt are step functions, whose derivative is a convention
// (derivatives_test.cc, layer_derivatives_test.cc).
TEST(Registry, HasAGradientCheckedCaseForEveryDerivative) {
  const std::set<std::string> by_convention = {"sign",  "floor",         "ceil",         "round",
                                               "trunc", "stop_gradient", "fake_quantize"};
  for (const OpDef& op : all_ops()) {
    if (!op.differentiable || by_convention.contains(op.name)) continue;
    SCOPED_TRACE(op.name);
    EXPECT_TRUE(op.vjp || op.decompose) << "it has no derivative";
    const AnyCases cases = op.cases(op);
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [](const AnyCase& c) {
      const bool floats = std::any_of(c.inputs.begin(), c.inputs.end(), [](const CaseTensor& x) {
        return x.fill != CaseTensor::Fill::kAbsent && is_floating(x.type.dtype);
      });
      return c.error.empty() && c.check_gradient && floats;
    })) << "no case checks it";
  }
}

TEST(Registry, HasAReasonForEveryOpWithoutADerivative) {
  for (const OpDef& op : all_ops()) {
    const bool has_derivative = op.vjp || op.decompose;
    EXPECT_TRUE(op.differentiable == op.no_gradient.empty()) << op.name;
    EXPECT_TRUE(has_derivative || !op.no_gradient.empty()) << op.name;
  }
}

}  // namespace
}  // namespace tenon
