// The profiler.
#include <cstring>

#include "native.h"

namespace tenon_python {

namespace {

struct Profiler {
  tenon_profiler* handle = nullptr;
  ~Profiler() {
    const nb::gil_scoped_release release;
    tenon_profiler_release(handle);
  }
};

// Returns the name of a kind of span (TENON_SPAN_*).
const char* kind_name(int32_t kind) {
  constexpr const char* kNames[] = {"op", "fused", "function", "tracing", "copy"};
  return kind >= 0 && kind < 5 ? kNames[kind] : "op";
}

// Returns the name of a device clock (TENON_DEVICE_CLOCK_*).
const char* clock_name(int32_t clock) {
  constexpr const char* kNames[] = {"none", "launch", "completion", "device"};
  return clock >= 0 && clock < 4 ? kNames[clock] : "none";
}

// Returns the rows of the table as dicts.
nb::list rows(Profiler& self) {
  nb::list result;
  for (size_t i = 0; i < tenon_profiler_count_rows(self.handle); ++i) {
    tenon_profiler_row row;
    std::memset(&row, 0, sizeof row);
    row.struct_size = sizeof row;
    check(tenon_profiler_describe_row(self.handle, i, &row));
    nb::dict entry;
    entry["kind"] = kind_name(row.kind);
    entry["name"] = to_python(row.name);
    entry["inputs"] = to_python(row.inputs);
    entry["device"] = to_python(row.device);
    entry["device_clock"] = clock_name(row.device_clock);
    entry["count"] = row.count;
    entry["host_total"] = row.host_total;
    entry["host_min"] = row.host_min;
    entry["host_max"] = row.host_max;
    entry["own_total"] = row.own_total;
    entry["own_min"] = row.own_min;
    entry["own_max"] = row.own_max;
    entry["launches"] = row.launches;
    entry["device_total"] = row.device_total;
    entry["device_min"] = row.device_min;
    entry["device_max"] = row.device_max;
    entry["bytes"] = row.bytes;
    entry["flops"] = row.flops;
    result.append(entry);
  }
  return result;
}

}  // namespace

// Adds the class of profilers to the module tenon._native.
void define_profiler(nb::module_& module) {
  nb::class_<Profiler>(module, "Profiler")
      .def("__init__",
           [](Profiler* self, uint64_t max_events) {
             tenon_profiler_options options = TENON_PROFILER_OPTIONS_DEFAULT;
             options.max_events = max_events;
             tenon_profiler* handle = nullptr;
             check(tenon_profiler_start(tenon_scope_context(scope()), &options, &handle));
             new (self) Profiler{handle};
           })
      .def("stop",
           [](Profiler& self) { run_blocking([&] { return tenon_profiler_stop(self.handle); }); })
      .def("table",
           [](Profiler& self) {
             tenon_string text;
             check(tenon_profiler_table(self.handle, &text));
             return take_text(text);
           })
      .def("write_trace",
           [](Profiler& self, const std::string& path) {
             run_blocking([&] { return tenon_profiler_write_trace(self.handle, to_c(path)); });
           })
      .def("rows", &rows)
      .def_prop_ro("dropped_events",
                   [](Profiler& self) { return tenon_profiler_count_dropped_events(self.handle); });
}

}  // namespace tenon_python
