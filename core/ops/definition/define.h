// define<Attrs>(): converts the Definition<Attrs> in an op's file to a type-erased OpDef. Authors
// of ops need not read this file.

#pragma once

#include "core/ops/definition/op.h"

namespace tenon::ops {
namespace detail {

// Restores the type of attributes that were passed as a pointer to void.
template <class A>
const A& as(const void* attrs) {
  if constexpr (std::is_empty_v<A>) {
    static constexpr A kNone;  // Attribute structs without fields are not stored.
    return kNone;
  } else {
    return *static_cast<const A*>(attrs);
  }
}

// Erases the type of a function pointer.
template <class Function>
void (*erase(Function function))() {
  return reinterpret_cast<void (*)()>(function);
}

// The fields of a Definition<A> that do not depend on A.
struct Untyped {
  const char* name;
  Promotes promotes;
  StorageUse storage;
  bool elementwise;
  Numeric numeric;
  const char *no_gradient, *index_rule, *onnx;
  void (*arrange)(size_t, TypeSpan, const TensorTypes&, StridedShape&);
  Saves saves;
  uint64_t saved_inputs, saved_outputs;
  const std::vector<InputDef>& inputs;
};
// Copies the fields of `d` to `op`.
void set(OpDef& op, const Untyped& d);

#if defined(TENON_WITH_DOCS)
struct UntypedDoc {
  const char *summary, *formula, *details;
  const std::vector<InputDef>& inputs;
  const std::vector<OutputDef>& outputs;
  const std::vector<AttrDoc>& attrs;
  bool sparse_output;
  Version since;
};
// Copies the documentation in `d` to `op`.
void set(OpDef& op, const UntypedDoc& d);
#endif

}  // namespace detail

template <class A>
OpDef define(const Definition<A>& d) {
  using detail::as;
  OpDef op;
  op.attrs = &attrs_type<A>();
  detail::set(op, detail::Untyped{d.name, d.promotes, d.storage, d.elementwise, d.numeric,
                                  d.no_gradient, d.index_rule, d.onnx, d.arrange, d.saves,
                                  d.saved_inputs, d.saved_outputs, d.inputs});

  op.raw_infer = detail::erase(d.infer);
  op.infer = [](const OpDef& self, const void* attrs, TypeSpan in) {
    const auto infer = reinterpret_cast<TensorTypes (*)(const A&, TypeSpan)>(self.raw_infer);
    return infer(as<A>(attrs), in);
  };
  if (d.vjp) {
    op.raw_vjp = detail::erase(d.vjp);
    op.vjp = [](const OpDef& self, const void* attrs, const VjpArgs& args) {
      const auto vjp = reinterpret_cast<Tensors (*)(const A&, const VjpArgs&)>(self.raw_vjp);
      return vjp(as<A>(attrs), args);
    };
  }
  if (d.decompose) {
    op.raw_decompose = detail::erase(d.decompose);
    op.decompose = [](const OpDef& self, const void* attrs, TensorSpan in) {
      const auto decompose =
          reinterpret_cast<Tensors (*)(const A&, TensorSpan)>(self.raw_decompose);
      return decompose(as<A>(attrs), in);
    };
  }
  if (d.view) {
    op.is_view = true;
    op.raw_view = detail::erase(d.view);
    op.view = [](const OpDef& self, const void* attrs, size_t index, const TensorType& type,
                 const TensorType& in_type, const StridedLayout& in, StridedLayout& out) {
      const auto view =
          reinterpret_cast<bool (*)(const A&, size_t, const TensorType&, const TensorType&,
                                    const StridedLayout&, StridedLayout&)>(self.raw_view);
      return view(as<A>(attrs), index, type, in_type, in, out);
    };
  }
#if defined(TENON_WITH_DOCS)
  detail::set(op, detail::UntypedDoc{d.summary, d.formula, d.details, d.inputs, d.outputs,
                                     d.attrs_doc, d.sparse_output, d.since});
  if (d.cases) {
    op.raw_cases = detail::erase(d.cases);
    op.cases = [](const OpDef& self) -> AnyCases {
      return reinterpret_cast<Cases<A> (*)()>(self.raw_cases)();
    };
  }
#endif
  return op;
}

}  // namespace tenon::ops
