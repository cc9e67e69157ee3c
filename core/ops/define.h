// How define<Attrs>() turns what an op's file says into an OpDef. Nothing here is of interest to
// who writes an op.

#pragma once

#include "core/ops/op.h"

namespace tenon::ops {
namespace detail {

template <class A>
const A& as(const void* attrs) {
  if constexpr (std::is_empty_v<A>) {
    static constexpr A kNone;  // Nobody keeps an object of no fields.
    return kNone;
  } else {
    return *static_cast<const A*>(attrs);
  }
}

template <class Function>
void (*erase(Function function))() {
  return reinterpret_cast<void (*)()>(function);
}

// What of a definition does not depend on the attributes' type.
void set_saves(OpDef& op, Saves saves, uint64_t inputs, uint64_t outputs);
void set_inputs(OpDef& op, const std::vector<InputDef>& inputs);

}  // namespace detail

template <class A>
OpDef define(const Definition<A>& d) {
  using detail::as;
  OpDef op;
  op.name = d.name;
  op.attrs = &attrs_type<A>();
  op.elementwise = d.elementwise;
  op.promotes = d.promotes;
  op.numeric = d.numeric;
  op.no_gradient = d.no_gradient;
  op.index_rule = d.index_rule;
  op.onnx = d.onnx;
  op.arrange = d.arrange;
  detail::set_saves(op, d.saves, d.saved_inputs, d.saved_outputs);
  detail::set_inputs(op, d.inputs);

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
  op.differentiable = op.no_gradient.empty();

#if defined(TENON_WITH_DOCS)
  op.doc.summary = d.summary;
  op.doc.formula = d.formula;
  op.doc.details = d.details;
  op.doc.inputs = d.inputs;
  op.doc.outputs = d.outputs;
  op.doc.attrs = d.attrs_doc;
  op.doc.sparse_output = d.sparse_output;
  op.doc.since = d.since;
  if (d.cases) {
    op.raw_cases = detail::erase(d.cases);
    op.cases = [](const OpDef& self) {
      return erase_cases(reinterpret_cast<Cases<A> (*)()>(self.raw_cases)());
    };
  }
#endif
  return op;
}

}  // namespace tenon::ops
