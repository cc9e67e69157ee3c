// sort, argsort, top_k and searchsorted.

#include "plugins/cuda/kernels/embedded.h"

namespace tenon_cuda {
namespace {

std::string sort_source(const Request& request) {
  return embedded_source(type_line(type_name(request.input(0).dtype), "T"), "sort.cu");
}

struct Order {
  size_t axis;
  bool is_descending;
  // Whether the selected elements are output in sorted order; otherwise in order of their indices.
  bool is_sorted = true;
  int values, indices;  // Index of the output for values and for indices; -1: none.
};

// Returns the size in bytes of one of the two index lists. Merge passes read one list and write the
// other alternately.
uint64_t list_bytes(const tenon_launch& launch) {
  const uint64_t bytes = 4 * static_cast<uint64_t>(tenon_sdk::count(launch.inputs[0]));
  return (bytes + 255) / 256 * 256;
}
uint64_t sort_workspace(const tenon_launch& launch) { return 2 * list_bytes(launch); }

// Pushes x and a description of its lines along the axis.
void push_line(Parameters& parameters, const tenon_view& x, size_t axis) {
  parameters.push_view(x);
  parameters.push(static_cast<int64_t>(axis));
  parameters.push(count_lines(x, axis));
  parameters.push_list(line_sizes(x, axis));
}

class Sorting {
 public:
  Sorting(const Dispatcher& dispatcher, const tenon_launch& launch, const Order& order)
      : dispatcher_(dispatcher), launch_(launch), order_(order) {
    const uint64_t lists = address_of(launch.workspace);
    lists_[0] = lists;
    lists_[1] = lists + list_bytes(launch);
  }

  // Sorts the first `length` elements of the current permutation of each line, by value or by
  // index.
  tenon_error* sort(int64_t length, bool by_index) {
    const tenon_view& x = launch_.inputs[0];
    for (int64_t width = 1; width < length; width *= 2) {
      const uint64_t to = current_ == lists_[0] ? lists_[1] : lists_[0];
      Parameters parameters;
      push_line(parameters, x, order_.axis);
      parameters.push(length);
      parameters.push(width);
      parameters.push(order_.is_descending ? 1 : 0);
      parameters.push(by_index ? 1 : 0);
      parameters.push_address(current_);
      parameters.push_address(to);
      const int64_t n = count_lines(x, order_.axis) * length;
      if (tenon_error* error = dispatcher_.run_over(0, n, parameters)) return error;
      current_ = to;
    }
    return nullptr;
  }

  tenon_error* place(int64_t kept) {
    const tenon_view& x = launch_.inputs[0];
    const tenon_view& y = launch_.outputs[0];
    const auto output = [&](int i) { return i < 0 ? 0 : address_of(launch_.outputs[i]); };
    Parameters parameters;
    push_line(parameters, x, order_.axis);
    parameters.push(kept);
    parameters.push_address(current_);
    parameters.push_address(output(order_.values));
    parameters.push_address(output(order_.indices));
    parameters.push_list({y.strides, y.rank});
    return dispatcher_.run_over(1, count_lines(x, order_.axis) * kept, parameters);
  }

 private:
  const Dispatcher& dispatcher_;
  const tenon_launch& launch_;
  const Order& order_;
  uint64_t lists_[2];
  uint64_t current_ = 0;  // Device address of the current permutation; 0: the identity.
};

// Prepares a kernel that sorts lines and outputs their first values or indices.
Prepared prepare_sort_kernel(const Request& request, const Order& order) {
  return embedded_kernel<2>(
      request, {"merge", "place"}, sort_source(request),
      [order](const Dispatcher& dispatcher, const tenon_launch& launch) -> tenon_error* {
        const int64_t length = launch.inputs[0].sizes[order.axis];
        const int64_t kept = launch.outputs[0].sizes[order.axis];
        if (tenon_sdk::count(launch.outputs[0]) == 0) return nullptr;
        if (length > UINT32_MAX) {
          return make_error(dispatcher.device(), TENON_UNIMPLEMENTED,
                            "cuda: sorts at most 4294967295 elements along an axis");
        }
        Sorting sorting(dispatcher, launch, order);
        if (tenon_error* error = sorting.sort(length, false)) return error;
        if (!order.is_sorted) {
          if (tenon_error* error = sorting.sort(kept, true)) return error;
        }
        return sorting.place(kept);
      },
      sort_workspace, kTraits | TENON_KERNEL_WORKSPACE);
}

}  // namespace

Prepared prepare_sort(const Request& request) {
  const auto attrs = request.attrs<tenon_sort_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return prepare_sort_kernel(
      request, {.axis = axis, .is_descending = attrs.descending, .values = 0, .indices = -1});
}

Prepared prepare_argsort(const Request& request) {
  const auto attrs = request.attrs<tenon_argsort_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return prepare_sort_kernel(
      request, {.axis = axis, .is_descending = attrs.descending, .values = -1, .indices = 0});
}

Prepared prepare_top_k(const Request& request) {
  const auto attrs = request.attrs<tenon_top_k_attrs>();
  const size_t axis = tenon_sdk::from_front(attrs.axis, request.input(0).rank);
  return prepare_sort_kernel(request, {.axis = axis,
                                       .is_descending = attrs.largest,
                                       .is_sorted = attrs.sorted,
                                       .values = 0,
                                       .indices = 1});
}

Prepared prepare_searchsorted(const Request& request) {
  const bool is_right =
      request.attrs<tenon_searchsorted_attrs>().side == TENON_SEARCHSORTED_SIDE_RIGHT;
  return embedded_kernel<1>(request, {"searchsorted"}, sort_source(request),
                            [is_right](const Dispatcher& dispatcher, const tenon_launch& launch) {
                              const int64_t n = tenon_sdk::count(launch.outputs[0]);
                              Parameters parameters;
                              parameters.push_view(launch.inputs[0]);
                              parameters.push_view(launch.inputs[1]);
                              parameters.push(n);
                              parameters.push(is_right ? 1 : 0);
                              parameters.push_address(address_of(launch.outputs[0]));
                              return dispatcher.run_over(0, n, parameters);
                            });
}

}  // namespace tenon_cuda
