#include "core/dispatch/operands.h"

#include "core/base/error.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/storage_ops.h"
#include "core/ops/definition/formulas.h"

namespace tenon {
namespace {

const TensorType kAbsent;

// Throws unless the op accepts n inputs.
void check_arity(const OpDef& op, size_t n) {
  const bool ok = n >= op.min_inputs && (op.variadic || n <= op.max_inputs);
  if (ok) [[likely]]
    return;
  if (op.variadic) {
    fail(Code::kInvalidArgument, "takes at least {} inputs, but got {}", {op.min_inputs + 0u, n});
  }
  if (op.min_inputs == op.max_inputs) {
    fail(Code::kInvalidArgument, "takes {} inputs, but got {}", {op.min_inputs + 0u, n});
  }
  fail(Code::kInvalidArgument, "takes {} to {} inputs, but got {}",
       {op.min_inputs + 0u, op.max_inputs + 0u, n});
}

}  // namespace

// Returns the dtype of an inline scalar if no other operand determines it.
DType default_dtype(const TensorImpl& scalar) { return scalar.type.dtype; }

Operands::Operands(const OpDef& op, Inputs inputs) {
  check_arity(op, inputs.size());
  bool needs_promotion = false, has_storage = false;
  DType first = DType::kNone;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TensorImpl* x = inputs[i];
    if (!x) [[unlikely]] {
      require(i < 32 && op.optional_inputs >> i & 1, "input {} is not optional, but is NULL", i);
      inputs_.push_back(nullptr);
      types_.push_back(&kAbsent);
      continue;
    }
    require(x->donation != Donation::kConsumed || x->storage,
            "input {} was donated to an earlier call and cannot be used again", i);
    inputs_.push_back(x);
    types_.push_back(&x->type);
    if (first == DType::kNone) first = x->type.dtype;
    has_storage = has_storage || is_storage(x->type.dtype);
    needs_promotion = needs_promotion || x->type.weak || x->type.dtype != first;
  }
  if (has_storage) [[unlikely]]
    require_accepts_storage(op, types());
  if (needs_promotion) [[unlikely]]
    promote(op, inputs);
}

// Sets the dtype that inline scalar i adopts.
void Operands::adopt(size_t i, DType dtype) {
  TensorType* type = nullptr;
  if (n_adopted_ < std::size(adopted_)) {
    type = &adopted_[n_adopted_++];
  } else {
    type = more_adopted_.emplace_back(std::make_unique<TensorType>()).get();
  }
  *type = *types_[i];
  type->dtype = dtype;
  type->weak = false;
  types_[i] = type;
}

void Operands::promote(const OpDef& op, Inputs inputs) {
  const size_t from = op.promotes == Promotes::kAllButFirst ? 1 : 0;
  const bool all = op.promotes == Promotes::kAll || op.promotes == Promotes::kAllButFirst;

  // `common` is the promoted dtype of the tensors. `scalars` is the dtype of the inline scalars,
  // which is used if there are no tensors.
  DType common = DType::kNone, scalars = DType::kNone, first_floating = DType::kNone;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const TensorType& type = inputs[i]->type;
    if (!type.weak && is_floating(type.dtype) && first_floating == DType::kNone) {
      first_floating = type.dtype;
    }
    if (!all || i < from) continue;
    if (type.weak) {
      if (scalars == DType::kNone || is_floating(type.dtype)) scalars = type.dtype;
      continue;
    }
    const DType joined = common == DType::kNone ? type.dtype : tenon::promote(common, type.dtype);
    require(joined != DType::kNone,
            "the inputs' dtypes {} and {} have no common dtype: convert one of them with cast",
            common, type.dtype);
    common = joined;
  }

  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const TensorType& type = inputs[i]->type;
    if (!all || i < from) {
      if (!type.weak) continue;
      const bool floats = is_floating(type.dtype) && first_floating != DType::kNone;
      adopt(i, floats ? first_floating : default_dtype(*inputs[i]));
      continue;
    }
    if (type.weak) {
      const DType to = common != DType::kNone ? common : scalars;
      const bool fits = is_floating(to)      ? type.dtype != DType::kBool
                        : to == DType::kBool ? type.dtype == DType::kBool
                                             : type.dtype == DType::kI64;
      require(fits, "input {}: a {} scalar does not fit {} tensors: convert them with cast", i,
              is_floating(type.dtype) ? "floating" : name_of(type.dtype), to);
      adopt(i, to);
    } else if (type.dtype != common) {
      casts_.push_back(cast(Tensor::share(inputs[i]), common));
      inputs_[i] = casts_.back().get();
      types_[i] = &casts_.back()->type;
    }
  }
}

}  // namespace tenon
