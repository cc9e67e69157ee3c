// Measures where a program spends its time.
//
//   tenon::Profiler profiler;
//   ...
//   profiler.stop();
//   std::cout << profiler.table();
//   profiler.write_trace("trace.json");  // For https://ui.perfetto.dev.

#pragma once

#include <tenon/tensor.hpp>

namespace tenon {

enum class SpanKind : int32_t {
  kOp = TENON_SPAN_OP,
  kFused = TENON_SPAN_FUSED,        // Ops that a function launched as one kernel.
  kFunction = TENON_SPAN_FUNCTION,  // Including everything inside it.
  kTracing = TENON_SPAN_TRACING,
  kCopy = TENON_SPAN_COPY
};

inline const char* name_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOp:
      return "op";
    case SpanKind::kFused:
      return "fused";
    case SpanKind::kFunction:
      return "function";
    case SpanKind::kTracing:
      return "tracing";
    case SpanKind::kCopy:
      return "copy";
  }
  return "";  // The library is newer than this header.
}

// Totals of all spans with the same name, input types and device. See tenon/profiler.h for the
// fields.
struct ProfileRow {
  SpanKind kind;
  std::string name, inputs, device;
  tenon_profiler_row c;  // The C row. Its strings stay valid as long as the profiler.

  // Time in nanoseconds: device time if the row has launches, or else host time without nested
  // spans.
  uint64_t time() const { return c.launches ? c.device_total : c.own_total; }
};

// Profiles all scopes of a context, from its construction until stop() or the destruction of its
// last copy.
class Profiler {
 public:
  // Profiles the context of the current scope. Keeps at most `max_events` spans for the trace.
  explicit Profiler(uint64_t max_events = defaults().max_events, SourceLocation at = here())
      : Profiler(tenon_scope_context(current_scope(at)), max_events, at) {}
  explicit Profiler(const Context& context, uint64_t max_events = defaults().max_events,
                    SourceLocation at = here())
      : Profiler(context.get(), max_events, at) {}

  // Stops profiling, after waiting for launches that are still running.
  void stop(SourceLocation at = here()) const { check(tenon_profiler_stop(get()), at); }

  // ---- results, after stop()

  // Returns the rows as a table in plain text.
  std::string table(SourceLocation at = here()) const {
    tenon_string text = {};
    check(tenon_profiler_table(get(), &text), at);
    return detail::take_text(text);
  }

  // Writes the spans to a file for https://ui.perfetto.dev.
  void write_trace(std::string_view path, SourceLocation at = here()) const {
    check(tenon_profiler_write_trace(get(), detail::c_text(path)), at);
  }

  // Returns the rows of table(), sorted by time in descending order.
  std::vector<ProfileRow> rows(SourceLocation at = here()) const {
    std::vector<ProfileRow> rows;
    for (size_t i = 0; i < tenon_profiler_count_rows(get()); ++i) {
      tenon_profiler_row row = {};
      row.struct_size = sizeof row;
      check(tenon_profiler_describe_row(get(), i, &row), at);
      rows.push_back({static_cast<SpanKind>(row.kind), std::string(detail::view(row.name)),
                      std::string(detail::view(row.inputs)), std::string(detail::view(row.device)),
                      row});
    }
    return rows;
  }

  // Number of spans after the first `max_events`. The trace omits them; the table includes them.
  uint64_t dropped_events() const { return tenon_profiler_count_dropped_events(get()); }

  tenon_profiler* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_profiler, tenon_profiler_retain, tenon_profiler_release>;

  // Returns the default options of the C ABI.
  static tenon_profiler_options defaults() { return TENON_PROFILER_OPTIONS_DEFAULT; }

  Profiler(tenon_context* context, uint64_t max_events, SourceLocation at) {
    tenon_profiler_options options = defaults();
    options.max_events = max_events;
    handle_ = detail::make<Shared>(
        at, [&](tenon_profiler** out) { return tenon_profiler_start(context, &options, out); });
  }

  Shared handle_;
};

}  // namespace tenon
