// scatter_elements and scatter_nd: copy x and apply the updates in order, so that the last of
// several updates of an element remains. An update with an index out of range is dropped and
// reported. Sums of half types are computed in float32 and rounded once. Sums of many updates are
// split into chains (pairwise.h).

#include <optional>

#include "plugins/simd/kernels/dense_input.h"
#include "plugins/simd/kernels/indices.h"
#include "plugins/simd/kernels/pairwise.h"
#include "plugins/simd/kernels/through_float.h"

namespace tenon_simd {
namespace {

using tenon_sdk::IndexReader;
using tenon_sdk::Walk;

// Combines the element at `to` with an update.
using Update = void (*)(void* to, const void* update);

// The type in which updates of T are combined: float32 for half types, and a type in which
// arithmetic wraps for integers.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                std::conditional_t<std::is_same_v<T, double>, double, float>>;

// Calls make(f), where f(a, u) combines an element with an update, and returns the result. Returns
// a default-constructed result if bool does not support the reduction. Propagates NaN.
template <class T, class Make>
auto with_reduction(int32_t reduction, const Make& make) {
  const auto replace = [](T, T u) { return u; };
  if (reduction == TENON_SCATTER_REDUCTION_NONE) return make(replace);
  if constexpr (!std::is_same_v<T, Bool>) {
    using W = Wide<T>;
    using Compared = std::conditional_t<std::is_integral_v<T>, T, W>;
    switch (reduction) {
      case TENON_SCATTER_REDUCTION_ADD:
        return make([](T a, T b) { return static_cast<T>(static_cast<W>(a) + static_cast<W>(b)); });
      case TENON_SCATTER_REDUCTION_MUL:
        return make([](T a, T b) { return static_cast<T>(static_cast<W>(a) * static_cast<W>(b)); });
      case TENON_SCATTER_REDUCTION_MIN:
        return make([](T a, T b) {
          const Compared x = a, y = b;
          return x != x || x < y ? a : b;
        });
      case TENON_SCATTER_REDUCTION_MAX:
        return make([](T a, T b) {
          const Compared x = a, y = b;
          return x != x || y < x ? a : b;
        });
    }
  }
  return decltype(make(replace))();
}

// Copies x to the output, before updates are applied.
template <class T>
void copy_input_to_output(const tenon_launch& launch) {
  const tenon_view& x = launch.inputs[0];
  pack(data<const T>(x), axes_of(x), 0, count(x), data<T>(launch.outputs[0]));
}

// The elements of the output, and the updates.
template <class T>
struct Operands {
  T* y;
  const T* updates;

  explicit Operands(const tenon_launch& launch)
      : y(data<T>(launch.outputs[0])), updates(data<const T>(launch.inputs[2])) {}

  // Must be called before an update of the target whose elements begin at index `to`.
  void begin(int64_t) const {}
};

// Applies each update by calling a function. T is an unsigned integer type with the size of y's
// elements.
template <class T>
struct ByFunction : Operands<T> {
  Update update;

  // Applies the update with index `from` to the element with index `to`.
  void meet(int64_t to, int64_t from) const { update(this->y + to, this->updates + from); }
};
// Replaces elements by their updates.
template <class T>
struct ByReplacement : Operands<T> {
  void meet(int64_t to, int64_t from) const { this->y[to] = this->updates[from]; }
  void meet_run(int64_t to, int64_t from, int64_t n) const {
    std::copy_n(this->updates + from, n, this->y + to);
  }
};
// Adds updates to integers, which wrap. T is unsigned.
template <class T>
struct ByWrappingSum : Operands<T> {
  void meet(int64_t to, int64_t from) const {
    this->y[to] = static_cast<T>(this->y[to] + this->updates[from]);
  }
};
// Applies updates by adding them to y, in chains if `sums` is not NULL.
template <class T>
struct BySum : Operands<T> {
  ScatteredSums<T>* sums;  // NULL if no sum has more than kLongestChain terms.

  void begin(int64_t to) const {
    if (sums != nullptr) sums->begin_term(this->y, to);
  }
  void meet(int64_t to, int64_t from) const { this->y[to] += this->updates[from]; }
};

// Applies updates to elements of any type by calling a function for each run of elements. Compact
// builds use it for everything but sums of floats.
struct ByRun : Operands<char> {
  // Combines `n` elements with as many updates. Steps are in elements.
  using Run = void (*)(void* to, int64_t to_step, const void* updates, int64_t step, int64_t n);
  Run run;
  int64_t size;  // Bytes of an element.

  void meet(int64_t to, int64_t from) const { run(y + to * size, 0, updates + from * size, 0, 1); }
  void meet_run(int64_t to, int64_t from, int64_t n) const {
    run(y + to * size, 1, updates + from * size, 1, n);
  }
};

// Returns a run that replaces each element by Function{}(element, update).
template <class T, class Function>
ByRun::Run run_by(Function) {
  return [](void* to, int64_t to_step, const void* updates, int64_t step, int64_t n) {
    T* const y = static_cast<T*>(to);
    const T* const u = static_cast<const T*>(updates);
    for (int64_t i = 0; i < n; ++i) y[i * to_step] = Function{}(y[i * to_step], u[i * step]);
  };
}

// Combines `n` updates with elements `to_step` elements apart. `way` is passed by value, so that
// the compiler keeps its pointers in registers and vectorises the loops.
template <class Way>
void meet_all(const Way way, int64_t to, int64_t to_step, int64_t from, int64_t step, int64_t n) {
  if (to_step != 1 || step != 1) {
    for (int64_t i = 0; i < n; ++i) way.meet(to + i * to_step, from + i * step);
  } else if constexpr (requires { way.meet_run(to, from, n); }) {
    way.meet_run(to, from, n);
  } else {
    for (int64_t i = 0; i < n; ++i) way.meet(to + i, from + i);
  }
}

// Combines `n` updates with the elements that indices select. Element j is at
// to + j * to_step + indices[j] * stride. Negative indices are skipped.
template <class Way>
void meet_each(const Way way, int64_t to, int64_t to_step, const int64_t* indices, int64_t stride,
               int64_t from, int64_t step, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    if (indices[j] < 0) continue;
    const int64_t at = to + j * to_step + indices[j] * stride;
    way.begin(at);
    way.meet(at, from + j * step);
  }
}

// Prepares a scatter. The kernel calls scatter(launch, way), where `way` is one of the structs
// above, for the reduction. `updates_of(launch)` returns the maximum number of updates of a target
// and the number of elements of a target.
template <class Scatter, class UpdatesOf>
Prepared scatter_kernel(const Request& request, int32_t reduction, const UpdatesOf& updates_of,
                        const Scatter& scatter) {
  const tenon_dtype dtype = request.input(0).dtype;
  if (reduction == TENON_SCATTER_REDUCTION_ADD && is_float(dtype)) {
    return through_float(request, [=]<class T>(Type<T>, const tenon_launch& launch) {
      copy_input_to_output<T>(launch);
      const tenon_view& out = launch.outputs[0];
      const auto [n_updates, width] = updates_of(launch);
      const Operands<T> operands(launch);
      if (n_updates <= kLongestChain || width == 0) {
        return scatter(launch, BySum<T>{operands, nullptr});
      }
      ScatteredSums<T> sums(count(out) / width, width);
      scatter(launch, BySum<T>{operands, &sums});
      sums.finish(operands.y);
    });
  }
  if constexpr (kIsCompact) {
    const ByRun::Run run = dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) {
      return with_reduction<T>(reduction, [](auto f) { return run_by<T>(f); });
    });
    if (run == nullptr) return refuse("does not support this reduction for this dtype");
    return kernel(kTraits, [=](const tenon_launch& launch) {
      dispatch_bits(dtype, [&]<class U>(Type<U>) { copy_input_to_output<U>(launch); });
      const auto size = static_cast<int64_t>(size_of(dtype));
      scatter(launch, ByRun{Operands<char>(launch), run, size});
    });
  } else {
    const Update update = dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) {
      return with_reduction<T>(reduction, [](auto f) -> Update {
        return [](void* to, const void* u) {
          T& element = *static_cast<T*>(to);
          element = decltype(f){}(element, *static_cast<const T*>(u));
        };
      });
    });
    if (update == nullptr) return refuse("does not support this reduction for this dtype");
    return dispatch_bits(dtype, [&]<class U>(Type<U>) -> Prepared {
      return kernel(kTraits, [=](const tenon_launch& launch) {
        copy_input_to_output<U>(launch);
        const Operands<U> operands(launch);
        if (reduction == TENON_SCATTER_REDUCTION_NONE) {
          return scatter(launch, ByReplacement<U>{operands});
        }
        if (reduction == TENON_SCATTER_REDUCTION_ADD) {
          return scatter(launch, ByWrappingSum<U>{operands});
        }
        scatter(launch, ByFunction<U>{operands, update});
      });
    });
  }
}

struct UpdatesOf {
  int64_t n_updates, width;
};

}  // namespace

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const auto updates_of = [axis](const tenon_launch& launch) {
    return UpdatesOf{launch.inputs[1].sizes[axis], 1};
  };
  const auto scatter = [axis](const tenon_launch& launch, const auto way) {
    const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2];
    const tenon_view& out = launch.outputs[0];
    int64_t index_strides[TENON_MAX_RANK], update_strides[TENON_MAX_RANK];
    int64_t others[TENON_MAX_RANK];
    for (size_t i = 0; i < out.rank; ++i) {
      index_strides[i] = stride_of(indices, i);
      update_strides[i] = stride_of(updates, i);
      others[i] = i == axis ? 0 : out.strides[i];
    }
    const Walk<3> walk(indices.rank, indices.sizes, {index_strides, update_strides, others});
    const int64_t bound = out.sizes[axis], stride = out.strides[axis];
    walk.rows([&](int64_t n, auto at, auto steps) {
      for_index_runs(launch, indices, at[0], steps[0], bound, n,
                     [&](int64_t first, int64_t size, const int64_t* found, bool) {
                       meet_each(way, at[2] + first * steps[2], steps[2], found, stride,
                                 at[1] + first * steps[1], steps[1], size);
                     });
    });
  };
  return scatter_kernel(request, attrs.reduction, updates_of, scatter);
}

Prepared prepare_scatter_nd(const Request& request) {
  const auto updates_of = [](const tenon_launch& launch) {
    const tenon_view &indices = launch.inputs[1], &out = launch.outputs[0];
    const size_t last = indices.rank - 1u;
    const auto whole = static_cast<size_t>(indices.sizes[last]);
    return UpdatesOf{count(last, indices.sizes), count(out.rank - whole, out.sizes + whole)};
  };
  const auto scatter = [](const tenon_launch& launch, const auto way) {
    const tenon_view &indices = launch.inputs[1], &updates = launch.inputs[2];
    const tenon_view& out = launch.outputs[0];
    if (count(updates) == 0) return;
    const size_t last = indices.rank - 1u;
    const auto tuple_size = static_cast<size_t>(indices.sizes[last]);
    const IndexReader index(indices);
    int64_t index_strides[TENON_MAX_RANK], update_strides[TENON_MAX_RANK];
    for (size_t i = 0; i < last; ++i) index_strides[i] = stride_of(indices, i);
    for (size_t i = 0; i < updates.rank; ++i) update_strides[i] = stride_of(updates, i);
    const Walk<2> tuples(last, indices.sizes, {index_strides, update_strides});
    const Walk<2> rest(out.rank - tuple_size, out.sizes + tuple_size,
                       {update_strides + last, out.strides + tuple_size});
    tuples.elements([&](const auto& at) {
      int64_t to = 0;
      for (size_t j = 0; j < tuple_size; ++j) {
        const int64_t step = stride_of(indices, last) * static_cast<int64_t>(j);
        const int64_t i = checked_index(launch, index[at[0] + step], out.sizes[j]);
        if (i < 0) return;
        to += i * out.strides[j];
      }
      way.begin(to);
      rest.rows([&](int64_t n, const auto& offset, const auto& steps) {
        meet_all(way, to + offset[1], steps[1], at[1] + offset[0], steps[0], n);
      });
    });
  };
  const int32_t reduction = request.attrs<tenon_scatter_nd_attrs>().reduction;
  return scatter_kernel(request, reduction, updates_of, scatter);
}

}  // namespace tenon_simd
