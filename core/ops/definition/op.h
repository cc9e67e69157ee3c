// The definition of an operation. An OpDef holds all properties and functions of one op.
//
// Every op is defined in a file of core/ops by a function `OpDef <name>_def()`, and has a line in
// ops.def. Ops that are very similar share a file. Read activations/softmax.cc as the example.

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

// The type of text that only the documentation and tests read. libtenon is compiled without
// TENON_WITH_DOCS: these fields are then empty, and the compiler drops the text and everything that
// only the text refers to.
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

// The types of a call's inputs, after promotion and after scalars have adopted a dtype. An absent
// optional input has dtype kNone.
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

// The layout of a view in the storage of its base. Strides and offset are in elements of the view's
// dtype.
struct StridedLayout {
  Dims strides;
  int64_t offset = 0;
};

// Sizes and strides of an operand, both in elements.
struct StridedShape {
  Dims sizes;
  Dims strides;
};

// The arguments of a derivative. An input or output can be read only if the op saves it (`saves`).
// Types can always be read.
class VjpArgs {
 public:
  virtual const Tensor& input(size_t i) const = 0;
  virtual const Tensor& output(size_t i) const = 0;
  virtual const TensorType& input_type(size_t i) const = 0;
  virtual const TensorType& output_type(size_t i) const = 0;
  // The gradient of output i; zeros if there is none.
  virtual const Tensor& cotangent(size_t i) const = 0;
  virtual bool has_cotangent(size_t i) const = 0;
  // Whether the gradient of this input is used.
  virtual bool needs(size_t input) const = 0;
  virtual size_t n_inputs() const = 0;
  virtual size_t n_outputs() const = 0;

 protected:
  ~VjpArgs() = default;
};

// The derivative of a call that a tape records as one node. Maps the cotangents of the outputs to
// those of the inputs.
using CustomVjp = std::function<Tensors(const VjpArgs& args)>;

// The outputs of a call, and the derivative at its inputs.
struct Linearized {
  Tensors outputs;
  std::shared_ptr<const CustomVjp> vjp;
  bool keeps = false;  // Whether `vjp` reads the call's inputs or outputs.
};

// The inputs and outputs that the tape saves for the derivative. If the derivative reads other
// inputs or outputs, the op's tests fail.
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
  kNothing,      // Inputs keep their dtypes; a scalar adopts that of the first tensor.
  kAll,          // All inputs.
  kAllButFirst,  // All inputs but the first, as in where(condition, x, y).
  kToOutput      // All inputs, to the dtype of output 0, as in fill.
};

// How an op treats storage dtypes (core/base/dtype.h). View ops always accept them.
enum class StorageUse : uint8_t {
  kRefused,
  kMoves,    // The op only moves elements. The core runs it on their bytes.
  kConverts  // The op's inference says which dtypes it converts.
};

// The accuracy class by which the conformance kit judges the op's results (see NUMERICS.md).
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
  bool variadic = false;  // The attributes determine the number of outputs.
};

struct Version {
  uint16_t major = 0;
  uint16_t minor = 1;
};

// An op without the type of its attributes, as the core stores it. define<Attrs>() creates it.
struct OpDef {
  OpDef();
  OpDef(const OpDef&);
  OpDef(OpDef&&) noexcept;
  OpDef& operator=(const OpDef&);
  OpDef& operator=(OpDef&&) noexcept;
  ~OpDef();

  uint32_t id = 0;  // From ops.def; custom ops have ids from 2^31 on.
  std::string name;
  const AttrsType* attrs = nullptr;
  uint8_t min_inputs = 0;        // Number of required inputs.
  uint8_t max_inputs = 0;        // Maximum number of inputs; a variadic input counts once.
  uint32_t optional_inputs = 0;  // Bit i: input i may be absent.
  bool variadic = false;         // The last input may be passed one or more times.
  bool elementwise = false;      // The core broadcasts the inputs of kernels to output 0.
  bool is_view = false;
  bool differentiable = false;
  Promotes promotes = Promotes::kNothing;
  StorageUse storage = StorageUse::kRefused;
  Saves saves = Saves::kNothing;
  uint64_t saved_inputs = 0;  // Bit i: the tape saves input i for the derivative.
  uint64_t saved_outputs = 0;
  Numeric numeric = Numeric::kExact;
  const char* index_rule = "";  // Label of the rule that an index out of range violates.
  const char* onnx = "";        // The equivalent ONNX op; empty if there is none.
  std::string no_gradient;      // Why the op has no derivative; empty if it has one.

  // Returns the types of the outputs. Throws an error if the inputs or the attributes are invalid.
  TensorTypes (*infer)(const OpDef& op, const void* attrs, TypeSpan in) = nullptr;
  // Returns one gradient for each input. An empty tensor means that there is no gradient.
  Tensors (*vjp)(const OpDef& op, const void* attrs, const VjpArgs& args) = nullptr;
  Tensors (*decompose)(const OpDef& op, const void* attrs, TensorSpan in) = nullptr;
  // For view ops: sets `out` to the layout of output `index`, which has type `type`, as a view of
  // the input. Returns false if no strides express that view; the op then copies.
  bool (*view)(const OpDef& op, const void* attrs, size_t index, const TensorType& type,
               const TensorType& in_type, const StridedLayout& in, StridedLayout& out) = nullptr;

  // For ops that the host runs because they operate on lists or hold graphs: runs the op
  // immediately.
  Tensors (*run)(Scope& scope, const Call& call) = nullptr;
  // For ops that hold graphs: runs the op and returns its derivative. Saves the residuals that the
  // backward pass needs for the gradients of those inputs i for which by[i] is true.
  Linearized (*linearize)(Scope& scope, const Call& call, const std::vector<bool>& by) = nullptr;

  // For ops with effects: the variant of the op that takes an order token as its first input and
  // returns one as its last output. Graphs contain this variant (core/trace/graph/order.h).
  const OpDef* in_order = nullptr;

  // Replaces the sizes and strides of operand `i` by those that kernels receive, if they differ
  // from the user's. Operands are the inputs, then the outputs. On entry, `operand` has the user's
  // layout.
  void (*arrange)(size_t i, TypeSpan in, const TensorTypes& out, StridedShape& operand) = nullptr;

  // The functions of the op's file with their types erased. infer, vjp, decompose and view call
  // them.
  void (*raw_infer)() = nullptr;
  void (*raw_vjp)() = nullptr;
  void (*raw_decompose)() = nullptr;
  void (*raw_view)() = nullptr;
  std::shared_ptr<void> payload;  // Data of a custom op.

  // Documentation; empty in libtenon, which does not need it.
  struct Doc {
    std::string summary;
    std::string formula;
    std::string details;
    std::vector<InputDef> inputs;
    std::vector<OutputDef> outputs;
    std::vector<AttrDoc> attrs;
    std::string source;  // The file that defines the op.
    bool sparse_output = false;
    Version since;
  } doc;
  AnyCases (*cases)(const OpDef& op) = nullptr;
  void (*raw_cases)() = nullptr;
};

namespace ops {

// The definition that an op's file passes to define(). Omit fields that do not apply.
template <class A>
struct Definition {
  const char* name = "";
  Documented<const char*> summary = "";  // One sentence.
  Documented<const char*> formula = "";
  Documented<const char*> details = "";  // Further details: ties, NaN, empty inputs.
  std::vector<InputDef> inputs;
  std::vector<OutputDef> outputs;
  // Documentation of the attributes: one entry for each.
  Documented<std::vector<AttrDoc>> attrs_doc;
  TensorTypes (*infer)(const A&, TypeSpan) = nullptr;
  Tensors (*vjp)(const A&, const VjpArgs&) = nullptr;
  Tensors (*decompose)(const A&, TensorSpan) = nullptr;
  bool (*view)(const A&, size_t, const TensorType&, const TensorType&, const StridedLayout&,
               StridedLayout&) = nullptr;
  void (*arrange)(size_t, TypeSpan, const TensorTypes&, StridedShape&) = nullptr;
  Documented<Cases<A> (*)()> cases = nullptr;
  Saves saves = Saves::kNothing;
  uint64_t saved_inputs = 0;  // If saves is kSome: bit i means that input i is saved.
  uint64_t saved_outputs = 0;
  Promotes promotes = Promotes::kNothing;
  StorageUse storage = StorageUse::kRefused;
  bool elementwise = false;
  Numeric numeric = Numeric::kExact;
  bool sparse_output = false;
  const char* no_gradient = "";  // One clause: "its result is an integer".
  const char* index_rule = "";   // Such as "C2": the rule about indices, which kernels check.
  const char* onnx = "";         // The equivalent ONNX op; empty if there is none.
  Version since = {0, 1};
};

template <class A>
OpDef define(const Definition<A>& d);

}  // namespace ops
}  // namespace tenon

// define.cc instantiates these templates once, so that the op files need not.
extern template class std::vector<tenon::AttrDoc>;
extern template class std::vector<tenon::InputDef>;
extern template class std::vector<tenon::OutputDef>;

#include "core/ops/definition/define.h"  // IWYU pragma: export
