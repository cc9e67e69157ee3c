// Gathers, scatters and nonzero. Negative indices count from the end. An index out of range is
// reported; a gather then returns zero, and a scatter skips the element.

#include <algorithm>
#include <vector>

#include "plugins/ref/kernels.h"
#include "plugins/ref/scalar.h"
#include "plugins/sdk/view.h"

namespace tenon_ref {
namespace {

using tenon_sdk::data;
using tenon_sdk::IndexReader;
using tenon_sdk::strides_of;
using tenon_sdk::Walk;

// Converts a possibly negative index to one in [0, bound). If it is out of range, reports it and
// returns -1.
int64_t checked_index(const tenon_launch& launch, int64_t index, int64_t bound) {
  const int64_t found = tenon_sdk::wrap(index, bound);
  if (found < 0) tenon_sdk::report_value_error(launch, index, bound);
  return found;
}

// A modifiable copy of a view's strides.
struct Strides {
  int64_t values[TENON_MAX_RANK] = {};

  explicit Strides(const tenon_view& view) {
    for (size_t i = 0; i < view.rank; ++i) values[i] = view.strides[i];
  }
};

// The index tuples of gather_nd and scatter_nd. The last axis of `indices` holds one tuple. Its
// elements index the axes of `x` from axis `first` on.
struct Tuples {
  const tenon_launch& launch;
  const tenon_view& x;
  size_t first;
  IndexReader index{launch.inputs[1]};
  size_t rank = launch.inputs[1].rank - size_t{1};  // Number of axes of `indices` before the last.
  size_t size = static_cast<size_t>(launch.inputs[1].sizes[rank]);
  size_t rest = x.rank - first - size;  // Number of trailing axes of x that are copied whole.

  // Reads the tuple at offset `at` of `indices`, and adds to `offset` the offset of the element
  // that the tuple selects in a view with the sizes of x and these strides. Returns false if an
  // index of the tuple is out of range; only the first such index is reported.
  bool add_offset(int64_t at, const int64_t* strides, int64_t& offset) const {
    for (size_t j = 0; j < size; ++j) {
      const int64_t step = launch.inputs[1].strides[rank] * static_cast<int64_t>(j);
      const int64_t i = checked_index(launch, index[at + step], x.sizes[first + j]);
      if (i < 0) return false;
      offset += i * strides[first + j];
    }
    return true;
  }
};

// Copies x to the output, before updates are applied.
template <class T>
void copy_input_to_output(const tenon_launch& launch) {
  const tenon_view& in = launch.inputs[0];
  const tenon_view& out = launch.outputs[0];
  const T* x = data<const T>(in);
  T* y = data<T>(out);
  const Walk<2> walk(out.rank, out.sizes, {strides_of(in), out.strides});
  walk.elements([&](const auto& at) { y[at[1]] = x[at[0]]; });
}

// Accumulates float updates for scatter with reduction ADD. Sums have the next wider type (double
// for float32 and half types) and are rounded once at the end.
template <class T>
class Sums {
 public:
  explicit Sums(const tenon_view& out) : y_(data<T>(out)) {
    for (int64_t i = 0; i < tenon_sdk::count(out); ++i) sums_.push_back(widen<Wide<T>>(y_[i]));
  }
  void add(int64_t at, T update) { sums_[static_cast<size_t>(at)] += widen<Wide<T>>(update); }
  void round() const {
    for (size_t i = 0; i < sums_.size(); ++i) y_[i] = narrow<T>(sums_[i]);
  }

 private:
  T* const y_;
  std::vector<Wide<T>> sums_;
};

template <class T>
using Update = T (*)(T old, T update);

// Returns the function that combines an update with the old value; NULL if the dtype is bool and
// the reduction is not NONE.
template <class T>
Update<T> update_function(int32_t reduction) {
  // Integer sums and products wrap. Minima and maxima compare in the integer's own signedness.
  using W = std::conditional_t<kIsFloat<T>, Exact<T>, Wide<T>>;
  using C = Exact<T>;
  if (reduction == TENON_SCATTER_REDUCTION_NONE) return [](T, T update) { return update; };
  if constexpr (!std::is_same_v<T, Bool>) {
    switch (reduction) {
      case TENON_SCATTER_REDUCTION_ADD:
        return [](T old, T update) { return narrow<T>(widen<W>(old) + widen<W>(update)); };
      case TENON_SCATTER_REDUCTION_MUL:
        return [](T old, T update) { return narrow<T>(widen<W>(old) * widen<W>(update)); };
      // MIN and MAX propagate NaN.
      case TENON_SCATTER_REDUCTION_MIN:
        return [](T old, T update) {
          const C a = widen<C>(old), b = widen<C>(update);
          return a != a || a < b ? old : update;
        };
      case TENON_SCATTER_REDUCTION_MAX:
        return [](T old, T update) {
          const C a = widen<C>(old), b = widen<C>(update);
          return a != a || b < a ? old : update;
        };
    }
  }
  return nullptr;
}

// Makes a scatter kernel. `make` receives the C++ type of `dtype` and returns the loop over
// updates.
template <class Make>
Prepared scatter_kernel(tenon_dtype dtype, int32_t reduction, Make&& make) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(dtype, [&]<class T>(Type<T>) -> Prepared {
    const Update<T> update = update_function<T>(reduction);
    if (update == nullptr)
      return tenon_sdk::refuse("does not support this reduction for this dtype");
    // scatter(launch, put) calls put(offset, update) for each update.
    const auto scatter = make(Type<T>());
    return tenon_sdk::kernel(kTraits, [=](const tenon_launch& launch) {
      const tenon_view& out = launch.outputs[0];
      copy_input_to_output<T>(launch);
      if constexpr (kIsFloat<T>) {
        if (reduction == TENON_SCATTER_REDUCTION_ADD) {
          Sums<T> sums(out);
          scatter(launch, [&](int64_t to, T u) { sums.add(to, u); });
          return sums.round();
        }
      }
      T* y = data<T>(out);
      scatter(launch, [&](int64_t to, T u) { y[to] = update(y[to], u); });
    });
  });
}

}  // namespace

Prepared prepare_gather(const Request& request) {
  const auto rank = request.input(0).rank;
  const size_t axis = tenon_sdk::from_front(request.attrs<tenon_gather_attrs>().axis, rank);
  return tenon_sdk::dispatch_size(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& indices = launch.inputs[1];
      const T* x = data<const T>(in);
      T* y = data<T>(launch.outputs[0]);  // The output is dense, so it is written sequentially.
      const IndexReader index(indices);
      const size_t behind = axis + 1;
      const Walk<1> outer(axis, in.sizes, {in.strides});
      const Walk<1> picks(indices.rank, indices.sizes, {strides_of(indices)});
      const Walk<1> inner(in.rank - behind, in.sizes + behind, {in.strides + behind});
      if (tenon_sdk::count(launch.outputs[0]) == 0) return;
      outer.elements([&](const auto& out) {
        picks.elements([&](const auto& pick) {
          const int64_t i = checked_index(launch, index[pick[0]], in.sizes[axis]);
          inner.elements([&](const auto& at) {
            *y++ = i < 0 ? T{} : x[out[0] + i * in.strides[axis] + at[0]];
          });
        });
      });
    });
  });
}

Prepared prepare_gather_elements(const Request& request) {
  const auto rank = request.input(0).rank;
  const size_t axis =
      tenon_sdk::from_front(request.attrs<tenon_gather_elements_attrs>().axis, rank);
  return tenon_sdk::dispatch_size(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [axis](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& indices = launch.inputs[1];
      const T* x = data<const T>(in);
      T* y = data<T>(launch.outputs[0]);
      const IndexReader index(indices);
      Strides others(in);  // Strides of x, with 0 for the indexed axis.
      others.values[axis] = 0;
      const Walk<2> walk(indices.rank, indices.sizes, {strides_of(indices), others.values});
      walk.elements([&](const auto& at) {
        const int64_t i = checked_index(launch, index[at[0]], in.sizes[axis]);
        *y++ = i < 0 ? T{} : x[at[1] + i * in.strides[axis]];
      });
    });
  });
}

Prepared prepare_gather_nd(const Request& request) {
  const auto batch = static_cast<size_t>(request.attrs<tenon_gather_nd_attrs>().batch_dims);
  return tenon_sdk::dispatch_size(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [batch](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const tenon_view& indices = launch.inputs[1];
      const Tuples tuples{launch, in, batch};
      const T* x = data<const T>(in);
      T* y = data<T>(launch.outputs[0]);
      int64_t in_batch[TENON_MAX_RANK] = {};  // Strides of x along the batch axes.
      for (size_t axis = 0; axis < batch; ++axis) in_batch[axis] = in.strides[axis];
      const size_t whole = in.rank - tuples.rest;
      const Walk<2> outer(tuples.rank, indices.sizes, {strides_of(indices), in_batch});
      const Walk<1> inner(tuples.rest, in.sizes + whole, {in.strides + whole});
      if (tenon_sdk::count(launch.outputs[0]) == 0) return;
      outer.elements([&](const auto& tuple) {
        int64_t from = tuple[1];
        const bool inside = tuples.add_offset(tuple[0], in.strides, from);
        inner.elements([&](const auto& at) { *y++ = inside ? x[from + at[0]] : T{}; });
      });
    });
  });
}

Prepared prepare_scatter_elements(const Request& request) {
  const auto attrs = request.attrs<tenon_scatter_elements_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  const auto make = [axis]<class T>(Type<T>) {
    return [axis](const tenon_launch& launch, const auto& put) {
      const tenon_view& indices = launch.inputs[1];
      const tenon_view& updates = launch.inputs[2];
      const tenon_view& out = launch.outputs[0];
      const T* u = data<const T>(updates);
      const IndexReader index(indices);
      Strides others(out);
      others.values[axis] = 0;
      const Walk<3> walk(indices.rank, indices.sizes,
                         {strides_of(indices), strides_of(updates), others.values});
      walk.elements([&](const auto& at) {
        const int64_t i = checked_index(launch, index[at[0]], out.sizes[axis]);
        if (i < 0) return;
        put(at[2] + i * out.strides[axis], u[at[1]]);
      });
    };
  };
  return scatter_kernel(request.input(0).dtype, attrs.reduction, make);
}

Prepared prepare_scatter_nd(const Request& request) {
  const auto make = []<class T>(Type<T>) {
    return [](const tenon_launch& launch, const auto& put) {
      const tenon_view& indices = launch.inputs[1];
      const tenon_view& updates = launch.inputs[2];
      const tenon_view& out = launch.outputs[0];
      const Tuples tuples{launch, out, 0};
      const T* u = data<const T>(updates);
      const size_t whole = tuples.size;
      const int64_t* update_strides = updates.strides;
      const Walk<2> outer(tuples.rank, indices.sizes, {strides_of(indices), update_strides});
      const Walk<2> inner(tuples.rest, out.sizes + whole,
                          {update_strides + tuples.rank, out.strides + whole});
      if (tenon_sdk::count(updates) == 0) return;
      outer.elements([&](const auto& tuple) {
        int64_t to = 0;
        if (!tuples.add_offset(tuple[0], out.strides, to)) return;
        inner.elements([&](const auto& at) { put(to + at[1], u[tuple[1] + at[0]]); });
      });
    };
  };
  const int32_t reduction = request.attrs<tenon_scatter_nd_attrs>().reduction;
  return scatter_kernel(request.input(0).dtype, reduction, make);
}

Prepared prepare_nonzero(const Request& request) {
  const auto attrs = request.attrs<tenon_nonzero_attrs>();
  if (attrs.size < 0) return refuse_unsized();
  return tenon_sdk::dispatch<tenon_sdk::Any>(request.input(0).dtype, [&]<class T>(Type<T>) {
    return tenon_sdk::kernel(kTraits, [room = attrs.size,
                                       fill = attrs.fill](const tenon_launch& launch) {
      const tenon_view& in = launch.inputs[0];
      const T* x = data<const T>(in);
      int64_t* indices = data<int64_t>(launch.outputs[0]);  // The output has one row for each axis.
      std::fill_n(indices, tenon_sdk::count(launch.outputs[0]), fill);
      int64_t n_found = 0, number = 0;  // `number` is the row-major index of an element.
      const Walk<1> walk(in.rank, in.sizes, {strides_of(in)});
      walk.elements([&](const auto& at) {
        int64_t rest = number++;
        if (widen<Exact<T>>(x[at[0]]) == 0) return;
        const int64_t column = n_found++;
        if (column >= room) return;
        for (size_t axis = in.rank; axis-- > 0; rest /= in.sizes[axis]) {
          indices[static_cast<int64_t>(axis) * room + column] = rest % in.sizes[axis];
        }
      });
      *data<int64_t>(launch.outputs[1]) = n_found;
    });
  });
}

}  // namespace tenon_ref
