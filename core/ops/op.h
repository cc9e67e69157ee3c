// What an operation is: one OpDef holds all that Tenon knows about it.
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
#include "core/ops/cases.h"
#include "core/tensor/tensor.h"

namespace tenon {

struct Call;
struct OpDef;
class Scope;

struct AttrDoc {
  const char* name;
  const char* doc;
};

// What only documents and tests read. libtenon is built without: whatever an op's file says there
// is dropped, and with it what nothing else refers to.
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

// The types of the inputs of a call. An absent optional input has dtype kNone. Scalars have taken
// their partner's dtype already, and promotion has happened.
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

// How a view lies in its base. Strides and offset are in elements of the view's own dtype.
struct StridedLayout {
  Dims strides;
  int64_t offset = 0;
};

// Sizes and strides, in elements.
struct StridedShape {
  Dims sizes;
  Dims strides;
};

// What a derivative may use. Inputs and outputs are there if the op says that it saves them; types
// always are.
class VjpArgs {
 public:
  virtual const Tensor& input(size_t i) const = 0;
  virtual const Tensor& output(size_t i) const = 0;
  virtual const TensorType& input_type(size_t i) const = 0;
  virtual const TensorType& output_type(size_t i) const = 0;
  virtual const Tensor& cotangent(size_t i) const = 0;  // Zeros if nothing reached this output.
  virtual bool has_cotangent(size_t i) const = 0;
  virtual bool needs(size_t input) const = 0;  // False: what is returned for it is thrown away.
  virtual size_t n_inputs() const = 0;
  virtual size_t n_outputs() const = 0;

 protected:
  ~VjpArgs() = default;
};

// The derivative of a call that tapes record whole: given the cotangents of the outputs, those of
// the inputs.
using CustomVjp = std::function<Tensors(const VjpArgs& args)>;

// The outputs of a call, with its derivative.
struct Linearized {
  Tensors outputs;
  std::shared_ptr<const CustomVjp> vjp;
  bool keeps = false;  // Whether it reads inputs and outputs.
};

// What the tape keeps for the derivative. A derivative that reads more fails its tests.
enum class Saves : uint8_t {
  kNothing,
  kInputs,
  kOutputs,
  kInputsAndOutputs,
  kFirstInput,
  kSecondInput,
  kSome
};

// Which inputs must agree in dtype: they are promoted to their common one before `infer`.
enum class Promotes : uint8_t {
  kNothing,      // Each input has a dtype of its own; a scalar takes that of the first tensor.
  kAll,          // All inputs.
  kAllButFirst,  // where(condition, x, y).
  kToOutput      // All inputs, to the dtype of output 0: fill.
};

// The class of NUMERICS.md that the kit judges it by.
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
  bool variadic = false;  // As many as the attributes say.
};

struct Version {
  uint16_t major = 0;
  uint16_t minor = 1;
};

// An op with its types erased, as the core holds it. Made by define<Attrs>().
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
  uint8_t min_inputs = 0;        // Required ones.
  uint8_t max_inputs = 0;        // Without what a variadic one adds.
  uint32_t optional_inputs = 0;  // Bit i: input i may be absent.
  bool variadic = false;         // The last input may be given any number of times, at least once.
  bool elementwise = false;      // Inputs are broadcast to output 0 before a kernel sees them.
  bool is_view = false;
  bool differentiable = false;
  Promotes promotes = Promotes::kNothing;
  Saves saves = Saves::kNothing;
  uint64_t saved_inputs = 0;  // Bit i: input i is kept for the derivative.
  uint64_t saved_outputs = 0;
  Numeric numeric = Numeric::kExact;
  const char* index_rule = "";  // The constraint's label that an index out of range breaks.
  const char* onnx = "";        // The op of ONNX that means the same, if there is one.
  std::string no_gradient;      // Why it has no derivative, if it has none.

  // Throws what the user got wrong.
  TensorTypes (*infer)(const OpDef& op, const void* attrs, TypeSpan in) = nullptr;
  // Gives one tensor for each input; an empty one where there is no gradient.
  Tensors (*vjp)(const OpDef& op, const void* attrs, const VjpArgs& args) = nullptr;
  Tensors (*decompose)(const OpDef& op, const void* attrs, TensorSpan in) = nullptr;
  // For views: lays output `index` of `type` over an input; false if no strides can say it.
  bool (*view)(const OpDef& op, const void* attrs, size_t index, const TensorType& type,
               const TensorType& in_type, const StridedLayout& in, StridedLayout& out) = nullptr;

  // Of an op that no device runs, since it is about lists or holds graphs: runs it now.
  Tensors (*run)(Scope& scope, const Call& call) = nullptr;
  // Of one that holds graphs: applies it in a form that keeps what the way back by the inputs that
  // `by` marks needs.
  Linearized (*linearize)(Scope& scope, const Call& call, const std::vector<bool>& by) = nullptr;

  // Of one that has effects: the same behind a token and with a token behind its outputs, which is
  // what a trace holds (core/trace/order.h).
  const OpDef* in_order = nullptr;

  // How a kernel sees operand `i`, an output if it is beyond the inputs, where that is not as the
  // user does: changes sizes and strides, which are the operand's own.
  void (*arrange)(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) = nullptr;

  // The functions as the op's file wrote them; the four above call them.
  void (*raw_infer)() = nullptr;
  void (*raw_vjp)() = nullptr;
  void (*raw_decompose)() = nullptr;
  void (*raw_view)() = nullptr;
  std::shared_ptr<void> payload;  // Of a custom op.

  // Documents; empty in libtenon, where nobody reads them.
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

// What an op's file says. Fields that do not apply are left out.
template <class A>
struct Definition {
  const char* name = "";
  Documented<const char*> summary = "";  // One sentence.
  Documented<const char*> formula = "";
  Documented<const char*> details = "";  // What the summary cannot hold: ties, NaN, empty inputs.
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
  const char* onnx = "";         // The op of ONNX that means the same, if there is one.
  Version since = {0, 1};
};

template <class A>
OpDef define(const Definition<A>& d);

}  // namespace ops
}  // namespace tenon

// Made in define.cc, and not once more by each op's file.
extern template class std::vector<tenon::AttrDoc>;
extern template class std::vector<tenon::InputDef>;
extern template class std::vector<tenon::OutputDef>;

#include "core/ops/define.h"  // IWYU pragma: export
