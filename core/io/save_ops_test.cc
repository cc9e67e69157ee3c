// Saves every test case of every op as a program. If TENON_SAVED_OPS names a folder, the programs
// and Tenon's results stay there for tools/onnxruntime/compare.py.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/io/safetensors.h"
#include "core/io/save_program.h"
#include "core/testing/folder.h"
#include "core/testing/op_problem.h"
#include "core/trace/function.h"

namespace tenon {
namespace {

using testing::OpProblem;

// Ops that are neither ONNX ops nor decomposed into ONNX ops.
constexpr std::string_view kInexpressible[] = {
    "nextafter", "cholesky", "triangular_solve", "qr", "svd", "eigh", "solve", "inv", "slogdet"};
// Ops on bit representations, which can be exported for float32 and integers only.
constexpr std::string_view kOfSomeDTypes[] = {"bitcast", "erfinv", "truncated_normal"};

template <size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class OpsAsOnnx : public testing::CoreTest, public ::testing::WithParamInterface<testing::OpParam> {
 protected:
  OpsAsOnnx() {
    const char* kept = std::getenv("TENON_SAVED_OPS");
    is_kept_ = kept != nullptr;
    folder_ = is_kept_ ? kept : own_folder_.path().string();
    std::filesystem::create_directories(folder_);
  }
  const OpDef& op() const { return *GetParam().op; }

  // Saves a case as a program. Returns false, and stores the reason in `why_`, if ONNX cannot
  // express it.
  bool save(const AnyCase& c, bool sizes_unknown) {
    const OpProblem problem(op(), c);
    const Tensors inputs = problem.inputs();
    Tensors given;
    FunctionOptions options{.has_signature = true};
    for (const Tensor& x : inputs) {
      if (!x) continue;
      given.push_back(x);
      InputSpec spec{.dtype = x->type.dtype, .weak = x->type.weak};
      for (const Size size : x->shape()) {
        const bool open = sizes_unknown && !identical(size, 1);
        spec.sizes.push_back(open ? InputSpec::kUnknown : int64_t{size});
      }
      options.signature.push_back(std::move(spec));
    }
    const auto f = Ref<Function>::adopt(new Function(
        context(), op().name,
        [&](Scope&, TensorSpan in, const Statics&) {
          Tensors all;
          size_t next = 0;
          for (const Tensor& x : inputs) all.push_back(x ? in[next++] : Tensor());
          return problem.call(all);
        },
        std::move(options)));
    const std::string name = op().name + "." + c.name + (sizes_unknown ? ".open" : "");
    const std::string path = folder_ + "/" + name;
    Tensors outputs;
    FunctionToSave one{name, nullptr};
    try {
      outputs = f->call(scope(), given, {});
      one.trace = f->traces()[0];
    } catch (const Error&) {
      return true;  // Other tests cover ops that cannot be traced.
    }
    try {
      save_program(scope(), path, {&one, 1});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kUnimplemented) << error.what();
      EXPECT_FALSE(std::filesystem::exists(path)) << path;
      why_ = error.what();
      return false;
    }
    if (is_kept_) keep(path, given, outputs);
    if (!is_kept_) std::filesystem::remove_all(path);
    return true;
  }

  std::string why_;

 private:
  void keep(const std::string& path, const Tensors& inputs, const Tensors& outputs) {
    std::vector<TensorToStore> all;
    const auto add = [&](const std::string& name, const Tensor& x) {
      Tensor held = x;
      if (x->is_scalar_value()) held = fill(x, Dims{}, x->type.dtype);
      all.push_back({name, TensorType(held->type.dtype, held->shape()),
                     [this, held](void* to, uint64_t size) { to_host(scope(), held, to, size); }});
    };
    for (size_t i = 0; i < inputs.size(); ++i) add("call.0.in." + std::to_string(i), inputs[i]);
    for (size_t i = 0; i < outputs.size(); ++i) add("call.0.out." + std::to_string(i), outputs[i]);
    save_safetensors(path + ".safetensors", std::move(all), {});
  }

  bool is_kept_;
  testing::Folder own_folder_;
  std::string folder_;  // own_folder_, or the folder that TENON_SAVED_OPS names.
};

TEST_P(OpsAsOnnx, AreExportedOrReportedAsInexpressible) {
  size_t n_said = 0, n_refused = 0;
  std::string refusals;
  for (const AnyCase& c : op().cases(op())) {
    if (!c.error.empty()) continue;
    for (const bool sizes_unknown : {false, true}) {
      SCOPED_TRACE("case " + c.name + (sizes_unknown ? ", sizes unknown" : ""));
      const bool said = save(c, sizes_unknown);
      if (sizes_unknown) continue;  // Some decompositions need known sizes.
      ++(said ? n_said : n_refused);
      if (!said) refusals += why_ + "\n";
    }
  }
  EXPECT_EQ(n_said > 0, !is_one_of(kInexpressible, op().name)) << refusals;
  if (is_one_of(kInexpressible, op().name) || is_one_of(kOfSomeDTypes, op().name)) {
    EXPECT_GT(n_refused, 0u) << "It is no exception any more.";
  } else {
    EXPECT_EQ(n_refused, 0u) << refusals;
  }
}

INSTANTIATE_TEST_SUITE_P(Ref, OpsAsOnnx, ::testing::ValuesIn(testing::ops_with_cases()),
                         [](const auto& info) { return info.param.op->name; });

}  // namespace
}  // namespace tenon
