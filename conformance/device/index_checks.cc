// Checks how kernels handle an index out of range, without the core. They must read zeros or drop
// the update, write an error record, and leave all other elements unaffected.

#include <cstring>

#include "conformance/device/device_check.h"
#include "conformance/device/launching.h"
#include "conformance/kit/dtypes.h"

namespace tenon_kit::device {
namespace {

constexpr int64_t kRows = 5, kColumns = 2;

// Returns valid indices and, at both ends of the valid range, indices that are out of range: by
// one, and the smallest and largest values of the dtype.
std::vector<int64_t> mixed_indices(tenon_dtype dtype) {
  const auto most = static_cast<int64_t>(greatest(dtype));
  return {1, kRows, -1, -kRows - 1, 0, most, -most - 1};
}

// Returns the bytes of an array of `dtype` that contains each index `times` times in a row.
Bytes bytes_of(const std::vector<int64_t>& indices, int64_t times, tenon_dtype dtype) {
  Reals values;
  for (const int64_t index : indices)
    values.insert(values.end(), static_cast<size_t>(times), index);
  const std::vector<std::byte> encoded = encode(values, dtype);
  Bytes bytes(encoded.size());
  std::memcpy(bytes.data(), encoded.data(), bytes.size());
  return bytes;
}

// Returns the row that an index selects; -1 if the index is out of range.
int64_t row_of(int64_t index) {
  const int64_t row = index < 0 ? index + kRows : index;
  return row >= 0 && row < kRows ? row : -1;
}

// An op whose indices select rows of axis 0, or elements in these rows.
struct Form {
  uint32_t op;
  const char* name;
  bool scatters;
  bool by_element;  // Whether an index selects an element; otherwise it selects a whole row.
  bool in_tuples;   // Whether each index is a tuple with one element (gather_nd, scatter_nd).
};
constexpr Form kForms[] = {
    {TENON_OP_gather, "gather", false, false, false},
    {TENON_OP_gather_elements, "gather_elements", false, true, false},
    {TENON_OP_gather_nd, "gather_nd", false, false, true},
    {TENON_OP_scatter_elements, "scatter_elements", true, true, false},
    {TENON_OP_scatter_nd, "scatter_nd", true, false, true},
};

struct Case {
  const Form& form;
  tenon_dtype dtype, index;
  std::vector<Arg> in, out;
  Bytes want;
};

// Makes the operands and the expected output of an op, with data of `dtype` and indices of `index`.
Case make_case(const Form& form, tenon_dtype dtype, tenon_dtype index) {
  const std::vector<int64_t> indices = mixed_indices(index);
  const auto n = static_cast<int64_t>(indices.size());
  const size_t row_bytes = static_cast<size_t>(kColumns) * facts(dtype).size;
  Arg x = {dtype, {kRows, kColumns}, {}, false};
  x.bytes = pseudorandom_bytes(x.size(), 1);
  Arg places = {index, {n}, bytes_of(indices, form.by_element ? kColumns : 1, index), false};
  if (form.by_element) places.sizes.push_back(kColumns);
  if (form.in_tuples) places.sizes.push_back(1);
  Arg rows = {dtype, {n, kColumns}, {}, false};  // The gathered rows, or the updates.
  Case c = {form, dtype, index, {x, places}, {rows}, {}};
  if (form.scatters) {
    rows.bytes = pseudorandom_bytes(rows.size(), 2);
    c.in.push_back(rows);
    c.out = {{dtype, x.sizes, {}, false}};
    c.want = x.bytes;
  } else {
    c.want = Bytes(rows.size(), 0);
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t row = row_of(indices[i]);
    if (row < 0) continue;
    const size_t of_x = static_cast<size_t>(row) * row_bytes, of_rows = i * row_bytes;
    const unsigned char* const from = form.scatters ? &rows.bytes[of_rows] : &x.bytes[of_x];
    std::memcpy(&c.want[form.scatters ? of_x : of_rows], from, row_bytes);
  }
  return c;
}

// Default attributes of all these ops: axis 0 or no batch axes, and no reduction.
struct Attrs {
  tenon_gather_attrs gather = TENON_GATHER_ATTRS_DEFAULT;
  tenon_gather_elements_attrs gather_elements = TENON_GATHER_ELEMENTS_ATTRS_DEFAULT;
  tenon_gather_nd_attrs gather_nd = TENON_GATHER_ND_ATTRS_DEFAULT;
  tenon_scatter_elements_attrs scatter_elements = TENON_SCATTER_ELEMENTS_ATTRS_DEFAULT;
  tenon_scatter_nd_attrs scatter_nd = TENON_SCATTER_ND_ATTRS_DEFAULT;

  const void* of(uint32_t op) const {
    switch (op) {
      case TENON_OP_gather:
        return &gather;
      case TENON_OP_gather_elements:
        return &gather_elements;
      case TENON_OP_gather_nd:
        return &gather_nd;
      case TENON_OP_scatter_elements:
        return &scatter_elements;
      default:
        return &scatter_nd;
    }
  }
};

// Runs a case. Returns false if the plugin does not claim its op with its dtypes.
bool test_case(const Bench& bench, const Stream& stream, const Case& c) {
  std::vector<tenon_dtype> dtypes;
  for (const Arg& arg : c.in) dtypes.push_back(arg.dtype);
  const std::optional<size_t> line = line_of(bench.plugin(), c.form.op, dtypes);
  if (!line) return false;
  const Attrs attrs;
  const Prepared kernel(bench, *line, attrs.of(c.form.op), c.in, c.out);
  if (!kernel.get()) return false;
  Launching launching(bench, stream, kernel, c.in, c.out);
  const std::string what =
      fmt::format("{} of {} by {}", c.form.name, name_of(c.dtype), name_of(c.index));
  expect_success(launching.launch(), what.c_str());
  expect_bytes(launching.output(0), c.want, what + " with indices out of range");
  const tenon_error_record record = launching.record();
  require(record.state == 1, "{}: no out-of-range index was recorded in the error record", what);
  require(record.bound == kRows && row_of(record.index) < 0,
          "{}: the record has index {} of {}, which is not out of range", what, record.index,
          record.bound);
  return true;
}

// Checks that kernels read zeros at indices out of range, and drop updates there.
void test_values(const Subject& subject) {
  const Bench bench(subject);
  const Stream stream(bench);
  bool any = false;
  for (const Form& form : kForms) {
    for (const tenon_dtype index : {TENON_INT32, TENON_INT64}) {
      for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_UINT8, TENON_FLOAT16, TENON_INT64}) {
        any = test_case(bench, stream, make_case(form, dtype, index)) || any;
      }
    }
  }
  if (!any) throw Unsupported("the plugin has no kernel with index inputs");
  const std::vector<FailedLaunch> failed = take_failed_launches();
  if (!failed.empty()) throw Fault("a launch failed: " + failed[0].failure.message);
}

}  // namespace

std::vector<DeviceCheck> index_checks() {
  return {
      {"launches", "index_values", 1,
       "Out-of-range indices read zeros, and their updates are dropped.", test_values},
  };
}

}  // namespace tenon_kit::device
