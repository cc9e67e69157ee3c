// The definition of operations: one OpDef holds all properties and functions of an op.
//
// Every op has a file in this folder (a family whose members differ in one line is a table) that
// ends in a function `OpDef <name>_def()`, and a line in ops.def. softmax.cc is the example to
// read.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/attrs.h"
#include "core/base/error.h"
#include "core/base/shape.h"
#include "core/ops/definition/cases.h"
#include "core/tensor/tensor.h"

namespace tenon {

struct Call;
struct OpDef;
class Scope;

struct AttrDoc {
  const char* name;
  const char* doc;
};

// Text that only documents and tests read. libtenon is built without it: the compiler drops this
// part of an op's file, and everything that only this part refers to.
#if defined(TENON_WITH_DOCS)
template <class T>
using Documented = T;
#else
struct Undocumented {
  Undocumented() = default;
  template <class T>
  Undocumented(const T&) {}
  Undocumented(std::initializer_list<AttrDoc>) {}
};
template <class T>
using Documented = Undocumented;
#endif

// The types of a call's inputs, after promotion and after scalars have adopted their partner's
// dtype. An absent optional input has dtype kNone.
class TypeSpan {
 public:
  TypeSpan(const TensorType* const* types, size_t size) : types_(types), size_(size) {}
  const TensorType& operator[](size_t i) const { return *types_[i]; }
  size_t size() const { return size_; }
  bool has(size_t i) const { return i < size_ && types_[i]->dtype != DType::kNone; }

 private:
  const TensorType* const* types_;
  size_t size_;
};

using TensorTypes = SmallVector<TensorType, 3>;

// The layout of a view in its base. Strides and offset are in elements of the view's own dtype.
struct StridedLayout {
  Dims strides;
  int64_t offset = 0;
};

// Sizes and strides, in elements.
struct StridedShape {
  Dims sizes;
  Dims strides;
};

// The arguments of a derivative. Inputs and outputs are available if the op saves them; types
// always are.
class VjpArgs {
 public:
  virtual const Tensor& input(size_t i) const = 0;
  virtual const Tensor& output(size_t i) const = 0;
  virtual const TensorType& input_type(size_t i) const = 0;
  virtual const TensorType& output_type(size_t i) const = 0;
  virtual const Tensor& cotangent(size_t i) const = 0;  // Zeros if this output has none.
  virtual bool has_cotangent(size_t i) const = 0;
  virtual bool needs(size_t input) const = 0;  // False: the result for it is discarded.
  virtual size_t n_inputs() const = 0;
  virtual size_t n_outputs() const = 0;

 protected:
  ~VjpArgs() = default;
};

// The derivative of a call that tapes record as a whole. Maps the cotangents of the outputs to
// those of the inputs.
using CustomVjp = std::function<Tensors(const VjpArgs& args)>;

// The outputs of a call, with its derivative.
struct Linearized {
  Tensors outputs;
  std::shared_ptr<const CustomVjp> vjp;
  bool keeps = false;  // Whether `vjp` reads inputs and outputs.
};

// What the tape saves for the derivative. Tests fail for a derivative that reads more.
enum class Saves : uint8_t {
  kNothing,
  kInputs,
  kOutputs,
  kInputsAndOutputs,
  kFirstInput,
  kSecondInput,
  kSome
};

// Which inputs are promoted to their common dtype before `infer`.
enum class Promotes : uint8_t {
  kNothing,      // Each input has a dtype of its own; a scalar takes that of the first tensor.
  kAll,          // All inputs.
  kAllButFirst,  // where(condition, x, y).
  kToOutput      // All inputs, to the dtype of output 0: fill.
};

// The accuracy class of NUMERICS.md by which the conformance kit judges the op.
enum class Numeric : uint8_t {
  kExact,
  kRounded,
  kDivision,
  kTranscendental,
  kAccumulation,
  kComposite
};

enum class InputKind : uint8_t { kRequired, kOptional, kVariadic };

struct InputDef {
  const char* name;
  Documented<const char*> doc;
  InputKind kind = InputKind::kRequired;
};

struct OutputDef {
  const char* name;
  Documented<const char*> doc;
  bool variadic = false;  // The attributes determine the number.
};

struct Version {
  uint16_t major = 0;
  uint16_t minor = 1;
};

// A type-erased op, as the core holds it. Created by define<Attrs>().
struct OpDef {
  OpDef();
  OpDef(const OpDef&);
  OpDef(OpDef&&) noexcept;
  OpDef& operator=(const OpDef&);
  OpDef& operator=(OpDef&&) noexcept;
  ~OpDef();

  uint32_t id = 0;  // From ops.def; custom ops count from 2^31.
  std::string name;
  const AttrsType* attrs = nullptr;
  uint8_t min_inputs = 0;        // Number of required inputs.
  uint8_t max_inputs = 0;        // Without the additional ones of a variadic input.
  uint32_t optional_inputs = 0;  // Bit i: input i may be absent.
  bool variadic = false;         // The last input may be passed any number of times, at least once.
  bool elementwise = false;      // Kernels get inputs that are broadcast to output 0.
  bool is_view = false;
  bool differentiable = false;
  Promotes promotes = Promotes::kNothing;
  Saves saves = Saves::kNothing;
  uint64_t saved_inputs = 0;  // Bit i: input i is kept for the derivative.
  uint64_t saved_outputs = 0;
  Numeric numeric = Numeric::kExact;
  const char* index_rule = "";  // Label of the constraint that an index out of range breaks.
  const char* onnx = "";        // The equivalent ONNX op, if there is one.
  std::string no_gradient;      // Why it has no derivative, if it has none.

  // Throws an error if the inputs or the attributes are invalid.
  TensorTypes (*infer)(const OpDef& op, const void* attrs, TypeSpan in) = nullptr;
  // Returns one tensor for each input; an empty one where there is no gradient.
  Tensors (*vjp)(const OpDef& op, const void* attrs, const VjpArgs& args) = nullptr;
  Tensors (*decompose)(const OpDef& op, const void* attrs, TensorSpan in) = nullptr;
  // For views: computes the layout of output `index` of `type` on an input. False if strides
  // cannot.
  bool (*view)(const OpDef& op, const void* attrs, size_t index, const TensorType& type,
               const TensorType& in_type, const StridedLayout& in, StridedLayout& out) = nullptr;

  // For ops that no device runs, because they are about lists or hold graphs: runs the op now.
  Tensors (*run)(Scope& scope, const Call& call) = nullptr;
  // For ops that hold graphs: applies the op in a form that saves the residuals for the backward
  // pass with respect to the inputs that `by` marks.
  Linearized (*linearize)(Scope& scope, const Call& call, const std::vector<bool>& by) = nullptr;

  // For ops with effects: the variant that takes an order token first and returns one last. Traces
  // hold this variant (core/trace/graph/order.h).
  const OpDef* in_order = nullptr;

  // Changes the sizes and strides of operand `i` to those that kernels get, where they differ from
  // the user's. Outputs follow the inputs in the numbering. `operand` holds the operand's own
  // layout on entry.
  void (*arrange)(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) = nullptr;

  // The functions in the op's file; the four above call them.
  void (*raw_infer)() = nullptr;
  void (*raw_vjp)() = nullptr;
  void (*raw_decompose)() = nullptr;
  void (*raw_view)() = nullptr;
  std::shared_ptr<void> payload;  // Of a custom op.

  // Documentation; empty in libtenon, where nothing reads it.
  struct Doc {
    std::string summary;
    std::string formula;
    std::string details;
    std::vector<InputDef> inputs;
    std::vector<OutputDef> outputs;
    std::vector<AttrDoc> attrs;
    std::string source;  // The file that defines it.
    bool sparse_output = false;
    Version since;
  } doc;
  AnyCases (*cases)(const OpDef& op) = nullptr;
  void (*raw_cases)() = nullptr;
};

namespace ops {

// The definition in an op's file. Fields that do not apply are left out.
template <class A>
struct Definition {
  const char* name = "";
  Documented<const char*> summary = "";  // One sentence.
  Documented<const char*> formula = "";
  Documented<const char*> details = "";  // Further details: ties, NaN, empty inputs.
  std::vector<InputDef> inputs;
  std::vector<OutputDef> outputs;
  // One line for each attribute.
  Documented<std::vector<AttrDoc>> attrs_doc;
  TensorTypes (*infer)(const A&, TypeSpan) = nullptr;
  Tensors (*vjp)(const A&, const VjpArgs&) = nullptr;
  Tensors (*decompose)(const A&, TensorSpan) = nullptr;
  bool (*view)(const A&, size_t, const TensorType&, const TensorType&, const StridedLayout&,
               StridedLayout&) = nullptr;
  void (*arrange)(size_t, TypeSpan, const TensorTypes&, StridedShape&) = nullptr;
  Documented<Cases<A> (*)()> cases = nullptr;
  Saves saves = Saves::kNothing;
  uint64_t saved_inputs = 0;  // With Saves::kSome: the bits.
  uint64_t saved_outputs = 0;
  Promotes promotes = Promotes::kNothing;
  bool elementwise = false;
  Numeric numeric = Numeric::kExact;
  bool sparse_output = false;
  const char* no_gradient = "";  // One clause: "its result is an integer".
  const char* index_rule = "";   // "C2", if indices are checked when the kernel reads them.
  const char* onnx = "";         // The equivalent ONNX op, if there is one.
  Version since = {0, 1};
};

template <class A>
OpDef define(const Definition<A>& d);

}  // namespace ops
}  // namespace tenon

// Instantiated once, in define.cc, instead of in each op's file.
extern template class std::vector<tenon::AttrDoc>;
extern template class std::vector<tenon::InputDef>;
extern template class std::vector<tenon::OutputDef>;

#include "core/ops/definition/define.h"  // IWYU pragma: export
