#include "core/trace/control/lists.h"

#include <algorithm>
#include <mutex>

#include "core/base/error.h"
#include "core/base/immortal.h"
#include "core/dispatch/cell.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/recorder.h"
#include "core/ops/definition/formulas.h"
#include "core/tensor/tensor_list.h"
#include "core/trace/graph/order.h"

namespace tenon {
namespace {

// Copies a tensor into `all`, beginning at element `start`.
void copy_to(Scope& scope, const Tensor& x, const TensorImpl& all, int64_t start) {
  const Tensor from = dense(scope, x);
  const uint64_t size = size_of(x->type.dtype);
  const tenon_place source = {from->storage->buffer, nullptr,
                              static_cast<uint64_t>(from->offset) * size, 0};
  const tenon_place place = {all.storage->buffer, nullptr, static_cast<uint64_t>(start) * size, 0};
  Device& device = *all.storage->device;
  if (scope.recorder()) scope.recorder()->interrupted();
  device.copy(scope.stream(device), source, place,
              static_cast<uint64_t>(int64_t{count(x->shape())}) * size);
}

// Preallocated memory for the first entries of a list. Each slot is written only once, because
// other versions of the list share the memory.
class Slots {
 public:
  explicit Slots(Tensor all) : all_(std::move(all)), is_slot_used_(size_of_axis(*all_), false) {}

  // Copies x to slot `index` and returns a view of the slot. Returns x itself if the slot is
  // already used or does not exist.
  Tensor put(Scope& scope, uint64_t index, const Tensor& x) {
    {
      std::lock_guard guard(mutex_);
      if (index >= is_slot_used_.size() || is_slot_used_[index]) return x;
      is_slot_used_[index] = true;
    }
    copy_to(scope, x, *all_, start_of(index));
    return make_view(*all_, x->type, dense_strides(x->shape()), start_of(index));
  }

  // Returns the first n entries as one view of the preallocated memory, where n is the first size
  // of `type`. Returns an empty tensor unless all n entries are in their slots.
  Tensor stacked_view(const TensorList& content, const TensorType& type) const {
    for (uint64_t i = 0; i < size_of_axis(type); ++i) {
      const Tensor x = content.get(i);
      if (!x || x->storage.get() != all_->storage.get() || x->offset != start_of(i))
        return Tensor();
    }
    return make_view(*all_, type, dense_strides(type.shape), 0);
  }

 private:
  static uint64_t size_of_axis(const TensorImpl& x) { return size_of_axis(x.type); }
  static uint64_t size_of_axis(const TensorType& type) {
    return static_cast<uint64_t>(int64_t{type.shape[0]});
  }
  int64_t start_of(uint64_t index) const { return static_cast<int64_t>(index) * all_->strides[0]; }

  Tensor all_;
  std::mutex mutex_;
  std::vector<bool> is_slot_used_;
};

struct ListStorage final : NonMemoryStorage<ListStorage> {
  ListStorage(Device& lies_on, TensorList content, std::shared_ptr<Slots> slots)
      : content(std::move(content)), slots(std::move(slots)) {
    device = &lies_on;
    list = true;
  }

  TensorList content;
  std::shared_ptr<Slots> slots;  // NULL if the list has no preallocated memory.
};

// Returns the storage of a list. Fails for a traced list, which has none.
const ListStorage& storage_of(const TensorImpl& list) {
  if (list.storage && list.storage->traced) fail_traced(list);
  require_code(list.storage && list.storage->list, Code::kInternal,
               "the storage of a list has no entries");
  return static_cast<const ListStorage&>(*list.storage);
}
// Returns the entries of a list.
const TensorList& content_of(const TensorImpl& list) { return storage_of(list).content; }

// Creates a list with these entries.
Tensor make_list(const TensorType& type, Device& device, TensorList content,
                 std::shared_ptr<Slots> slots = nullptr) {
  Tensor x = Tensor::adopt(new TensorImpl);
  x->type = type;
  x->strides = dense_strides(type.shape);
  x->dense = false;  // Excludes lists from the fast path for repeated calls.
  x->storage = Ref<Storage>::adopt(new ListStorage(device, std::move(content), std::move(slots)));
  return x;
}

// Reads an index; fails if it is negative.
uint64_t index_of(TensorImpl* index) {
  const int64_t value = read_integer(Tensor::share(index));
  require(value >= 0, "the index must not be negative, but is {}", value);
  return static_cast<uint64_t>(value);
}

// Infers the output types of a call.
TensorTypes types_of(const Call& call) {
  return call.op.infer(call.op, call.attrs.data, call.types);
}

void require_list(const TensorType& type) { require(type.lists > 0, "{} is not a list", type); }
void require_index(const TensorType& type) {
  require(type.dtype == DType::kI64 && type.rank() == 0 && !type.lists,
          "the index must be i64[], but is {}", type);
}

template <class A>
const A& attrs_of(const Call& call) {
  return *static_cast<const A*>(call.attrs.data);
}

// ---- list_create

struct CreateAttrs {
  DType dtype = DType::kF32;
  Sizes shape;
  int64_t depth = 1;  // 1: a list of tensors; 2: a list of lists.
  Size capacity = 0;
  TENON_ATTRS(dtype, shape, depth, capacity)
};

TensorTypes infer_create(const CreateAttrs& attrs, TypeSpan) {
  TensorType type(attrs.dtype, to_dims(attrs.shape));
  type.lists = static_cast<uint8_t>(attrs.depth);
  return {type};
}
Tensors run_create(Scope& scope, const Call& call) {
  const TensorType type = types_of(call)[0];
  const int64_t capacity = attrs_of<CreateAttrs>(call).capacity;
  std::shared_ptr<Slots> slots;
  require(capacity >= 0, "the capacity must be at least 0, but is {}", capacity);
  if (capacity > 0 && type.lists == 1 && scope.device().synchronous()) {
    TensorType all = element_of(type);
    all.shape.insert(0, capacity);
    check_size(all);
    slots = std::make_shared<Slots>(allocate(scope.device(), all));
  }
  return {make_list(type, scope.device(), TensorList(), std::move(slots))};
}

// ---- list_set

TensorTypes infer_set(const NoAttrs&, TypeSpan in) {
  require_list(in[0]);
  require_index(in[1]);
  if (in.has(2)) {
    const TensorType element = element_of(in[0]);
    require(in[2].dtype == element.dtype && in[2].lists == element.lists,
            "the list holds {}, but x is {}", element, in[2]);
    require(in[2].shape == element.shape, "the list holds {}, but x is {}", element, in[2]);
  }
  return {in[0]};
}
Tensors run_set(Scope& scope, const Call& call) {
  const TensorType type = types_of(call)[0];
  const ListStorage& list = storage_of(*call.inputs[0]);
  const uint64_t index = index_of(call.inputs[1]);
  Tensor x = call.inputs.size() > 2 ? Tensor::share(call.inputs[2]) : Tensor();
  if (x && list.slots) x = list.slots->put(scope, index, x);
  return {make_list(type, *list.device, list.content.set(index, x), list.slots)};
}
Tensors vjp_set(const NoAttrs&, const VjpArgs& v) {
  const Tensor &dy = v.cotangent(0), &index = v.input(1);
  Tensors result = {list_set(dy, index, Tensor()), Tensor()};
  if (v.n_inputs() > 2) result.push_back(v.needs(2) ? list_get(dy, index) : Tensor());
  return result;
}

// ---- list_get

TensorTypes infer_get(const NoAttrs&, TypeSpan in) {
  require_list(in[0]);
  require_index(in[1]);
  return {element_of(in[0])};
}
Tensors run_get(Scope& scope, const Call& call) {
  const TensorType type = types_of(call)[0];
  const TensorImpl& list = *call.inputs[0];
  Tensor x = content_of(list).get(index_of(call.inputs[1]));
  // Returns an alias, because tapes must distinguish the output of an op from other tensors.
  if (x) return {alias_of(*x)};
  const Scope::OnDevice on(scope, *list.storage->device);
  return {zeros_or_empty_list(type)};
}
Tensors vjp_get(const NoAttrs&, const VjpArgs& v) {
  return {list_set(list_create(v.output_type(0)), v.input(1), v.cotangent(0)), Tensor()};
}

// ---- list_length

TensorTypes infer_length(const NoAttrs&, TypeSpan in) {
  require_list(in[0]);
  return {TensorType(DType::kI64, Dims{})};
}
Tensors run_length(Scope& scope, const Call& call) {
  const auto length = static_cast<int64_t>(content_of(*call.inputs[0]).length());
  return {from_host(scope, *call.inputs[0]->storage->device, types_of(call)[0], &length)};
}

// ---- list_add

TensorTypes infer_add(const NoAttrs&, TypeSpan in) {
  require_list(in[0]);
  require_list(in[1]);
  require(in[0].dtype == in[1].dtype && in[0].lists == in[1].lists,
          "{} and {} cannot be added, because they have different types", in[0], in[1]);
  require(in[0].shape == in[1].shape, "{} and {} cannot be added, because their shapes differ",
          in[0], in[1]);
  return {in[0]};
}
Tensors run_add(Scope&, const Call& call) {
  const TensorType type = types_of(call)[0];
  return {make_list(
      type, *call.inputs[0]->storage->device,
      TensorList::merge(content_of(*call.inputs[0]), content_of(*call.inputs[1]), add_values))};
}
Tensors vjp_add(const NoAttrs&, const VjpArgs& v) { return {v.cotangent(0), v.cotangent(0)}; }

// ---- list_stack

struct StackAttrs {
  Size length = 0;
  TENON_ATTRS(length)
};

TensorTypes infer_stack(const StackAttrs& attrs, TypeSpan in) {
  require(in[0].lists == 1, "{} is not a list of tensors", in[0]);
  require(attrs.length >= 0, "the length must not be negative, but is {}", attrs.length);
  TensorType type = element_of(in[0]);
  type.shape.insert(0, attrs.length);
  return {type};
}

// Concatenates tensors along the first axis, at most kMaxInputs at a time. This bounds the number
// of concat kernels that the device prepares, one for each number of inputs.
Tensor join_in_groups(Tensors parts) {
  constexpr size_t kMaxInputs = 8;
  while (parts.size() > 1) {
    Tensors fewer;
    for (size_t i = 0; i < parts.size(); i += kMaxInputs) {
      const TensorSpan rest = TensorSpan(parts).subspan(i);
      fewer.push_back(concat(rest.first(std::min(kMaxInputs, rest.size())), 0));
    }
    parts = std::move(fewer);
  }
  return parts[0];
}

Tensors run_stack(Scope& scope, const Call& call) {
  const TensorType type = types_of(call)[0];
  check_size(type);
  const TensorImpl& list = *call.inputs[0];
  Device& device = *list.storage->device;
  const Scope::OnDevice on(scope, device);
  const TensorList& content = content_of(list);
  const int64_t length = attrs_of<StackAttrs>(call).length;
  if (const auto& slots = storage_of(list).slots; slots && length > 0) {
    if (Tensor all = slots->stacked_view(content, type)) return {std::move(all)};
  }
  const auto n = std::min(static_cast<uint64_t>(length), content.length());
  bool is_whole = n == static_cast<uint64_t>(length);
  for (uint64_t i = 0; is_whole && i < n; ++i) is_whole = static_cast<bool>(content.get(i));
  if (!device.synchronous()) {
    Tensors parts;
    for (uint64_t i = 0; i < n; ++i) {
      const Tensor x = content.get(i);
      parts.push_back(expand_dims(x ? x : zeros(element_of(list.type)), {0}));
    }
    TensorType rest = type;
    rest.shape[0] = length - static_cast<int64_t>(n);
    if (rest.shape[0] > 0 || parts.empty()) parts.push_back(zeros(rest));
    return {join_in_groups(std::move(parts))};
  }
  Tensor all = is_whole ? allocate(device, type) : zeros(type);
  for (uint64_t i = 0; i < n; ++i) {
    const Tensor x = content.get(i);
    if (x) copy_to(scope, x, *all, static_cast<int64_t>(i) * all->strides[0]);
  }
  return {std::move(all)};
}
Tensors vjp_stack(const StackAttrs&, const VjpArgs& v) { return {list_unstack(v.cotangent(0))}; }

// ---- list_unstack

TensorTypes infer_unstack(const NoAttrs&, TypeSpan in) {
  require(!in[0].lists && in[0].rank() > 0, "x must be a tensor with at least one axis, but is {}",
          in[0]);
  TensorType type = in[0];
  type.shape.erase(0);
  return {list_of(type)};
}
Tensors run_unstack(Scope&, const Call& call) {
  const Tensor x = Tensor::share(call.inputs[0]);
  require_value(*x);
  TensorList content;
  const TensorType type = types_of(call)[0];
  for (int64_t i = 0; i < x->shape()[0]; ++i) {
    Dims strides = x->strides;
    strides.erase(0);
    content = content.set(static_cast<uint64_t>(i),
                          make_view(*x, element_of(type), strides, x->offset + i * x->strides[0]));
  }
  return {make_list(type, *x->storage->device, std::move(content))};
}
Tensors vjp_unstack(const NoAttrs&, const VjpArgs& v) {
  return {list_stack(v.cotangent(0), v.input_type(0).shape[0])};
}

// ---- the ops

// Defines an op that runs on the host by `run`.
template <class A>
OpDef list_op(ops::Definition<A> definition, Tensors (*run)(Scope&, const Call&)) {
  OpDef op = ops::define<A>(definition);
  op.run = run;
  return op;
}

const OpDef& create_op() {
  static const Immortal<OpDef> op =
      list_op<CreateAttrs>({.name = "list_create", .infer = infer_create}, run_create);
  return op;
}
const OpDef& set_op() {
  static const Immortal<OpDef> op =
      list_op<NoAttrs>({.name = "list_set",
                        .inputs = {{"list", ""}, {"index", ""}, {"x", "", InputKind::kOptional}},
                        .infer = infer_set,
                        .vjp = vjp_set,
                        .saves = Saves::kSecondInput},
                       run_set);
  return op;
}
const OpDef& get_op() {
  static const Immortal<OpDef> op = list_op<NoAttrs>({.name = "list_get",
                                                      .inputs = {{"list", ""}, {"index", ""}},
                                                      .infer = infer_get,
                                                      .vjp = vjp_get,
                                                      .saves = Saves::kSecondInput},
                                                     run_get);
  return op;
}
const OpDef& length_op() {
  static const Immortal<OpDef> op = list_op<NoAttrs>({.name = "list_length",
                                                      .inputs = {{"list", ""}},
                                                      .infer = infer_length,
                                                      .no_gradient = "its result is an integer"},
                                                     run_length);
  return op;
}
const OpDef& add_op() {
  static const Immortal<OpDef> op = list_op<NoAttrs>(
      {.name = "list_add", .inputs = {{"a", ""}, {"b", ""}}, .infer = infer_add, .vjp = vjp_add},
      run_add);
  return op;
}
const OpDef& stack_op() {
  static const Immortal<OpDef> op = list_op<StackAttrs>(
      {.name = "list_stack", .inputs = {{"list", ""}}, .infer = infer_stack, .vjp = vjp_stack},
      run_stack);
  return op;
}
const OpDef& unstack_op() {
  static const Immortal<OpDef> op = list_op<NoAttrs>(
      {.name = "list_unstack", .inputs = {{"x", ""}}, .infer = infer_unstack, .vjp = vjp_unstack},
      run_unstack);
  return op;
}

// Calls an op in the current scope and returns its only output.
Tensor call(const OpDef& op, AnyAttrs attrs, std::initializer_list<TensorImpl*> inputs) {
  return std::move(apply(current_scope(), op, attrs, {inputs.begin(), inputs.size()})[0]);
}

}  // namespace

TensorType list_of(TensorType element) {
  ++element.lists;
  element.weak = false;
  return element;
}

TensorType element_of(TensorType list) {
  --list.lists;
  return list;
}

Tensor list_create(const TensorType& element, Size capacity) {
  const CreateAttrs attrs = {element.dtype, to_sizes(element.shape), element.lists + 1, capacity};
  return call(create_op(), any_attrs(attrs), {});
}

Tensor list_set(const Tensor& list, const Tensor& index, const Tensor& x) {
  if (!x) return call(set_op(), any_attrs(NoAttrs{}), {list.get(), index.get()});
  Tensor strong = x;
  if (x->type.weak) strong = fill(x, Dims{}, list->type.dtype);
  return call(set_op(), any_attrs(NoAttrs{}), {list.get(), index.get(), strong.get()});
}

Tensor list_get(const Tensor& list, const Tensor& index) {
  return call(get_op(), any_attrs(NoAttrs{}), {list.get(), index.get()});
}

Tensor list_length(const Tensor& list) {
  return call(length_op(), any_attrs(NoAttrs{}), {list.get()});
}

Tensor list_add(const Tensor& a, const Tensor& b) {
  return call(add_op(), any_attrs(NoAttrs{}), {a.get(), b.get()});
}

Tensor list_stack(const Tensor& list, Size length) {
  return call(stack_op(), any_attrs(StackAttrs{length}), {list.get()});
}

Tensor list_unstack(const Tensor& x) { return call(unstack_op(), any_attrs(NoAttrs{}), {x.get()}); }

const OpDef* find_list_op(std::string_view name) {
  for (const OpDef* op :
       {&create_op(), &set_op(), &get_op(), &length_op(), &add_op(), &stack_op(), &unstack_op()}) {
    if (op->name == name) return op;
  }
  return nullptr;
}

Tensor zeros_or_empty_list(const TensorType& type) {
  if (type.is_token()) return make_token(current_scope().device());
  return type.lists ? list_create(element_of(type)) : zeros(type);
}

Tensor add_values(const Tensor& a, const Tensor& b) {
  return a->type.lists ? list_add(a, b) : add(a, b);
}

}  // namespace tenon
