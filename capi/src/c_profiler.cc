#include <tenon/profiler.h>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"

using namespace tenon::capi;
using tenon::Profile;
using tenon::Profiler;

tenon_error* tenon_profiler_start(tenon_context* context, const tenon_profiler_options* options,
                                  tenon_profiler** out_profiler) {
  clear_output(out_profiler);
  return boundary([&] {
    tenon::Context& self = get(context, "context");
    require_pointer(out_profiler, "out_profiler");
    const tenon_profiler_options given =
        read_struct(options, tenon_profiler_options TENON_PROFILER_OPTIONS_DEFAULT, "options");
    if (given.reserved != 0) {
      fail_argument("options", "has fields that only a newer version of Tenon supports");
    }
    give(Profiler::start(self, given.max_events), out_profiler);
  });
}

tenon_error* tenon_profiler_stop(tenon_profiler* profiler) {
  return boundary([&] { get(profiler, "profiler").stop(); });
}

void tenon_profiler_retain(tenon_profiler* profiler) { retain_handle(profiler); }

void tenon_profiler_release(tenon_profiler* profiler) { release_handle(profiler); }

tenon_error* tenon_profiler_table(const tenon_profiler* profiler, tenon_string* out_text) {
  clear_output(out_text);
  return boundary([&] {
    const Profiler& self = get(profiler, "profiler");
    require_pointer(out_text, "out_text");
    *out_text = copy_text(self.profile().table());
  });
}

tenon_error* tenon_profiler_write_trace(const tenon_profiler* profiler, tenon_string path) {
  return boundary([&] {
    get(profiler, "profiler").profile().write_trace(std::string(get_text(path, "path")));
  });
}

size_t tenon_profiler_count_rows(const tenon_profiler* profiler) {
  const Profiler* self = get_or_null(profiler);
  const Profile* profile = self ? self->find_profile() : nullptr;
  return profile ? profile->rows.size() : 0;
}

tenon_error* tenon_profiler_describe_row(const tenon_profiler* profiler, size_t index,
                                         tenon_profiler_row* out_row) {
  return boundary([&] {
    const Profile& profile = get(profiler, "profiler").profile();
    tenon::require_code(index < profile.rows.size(), tenon::Code::kOutOfRange,
                        "row {} was requested, but there are {}", index, profile.rows.size());
    const Profile::Row& row = profile.rows[index];
    const tenon::SpanTimes& times = row.times;
    tenon_profiler_row made = {};
    made.kind = static_cast<int32_t>(row.kind);
    made.name = borrow_text(row.name);
    made.inputs = borrow_text(row.inputs);
    made.device = borrow_text(row.device);
    made.device_clock = static_cast<int32_t>(times.clock);
    made.count = times.host.count;
    made.host_total = times.host.total;
    made.host_min = times.host.least;
    made.host_max = times.host.most;
    made.own_total = times.own.total;
    made.own_min = times.own.least;
    made.own_max = times.own.most;
    made.launches = times.device.count;
    made.device_total = times.device.total;
    made.device_min = times.device.least;
    made.device_max = times.device.most;
    made.bytes = times.bytes;
    made.flops = times.flops;
    write_struct(made, out_row, "out_row");
  });
}

uint64_t tenon_profiler_count_dropped_events(const tenon_profiler* profiler) {
  const Profiler* self = get_or_null(profiler);
  const Profile* profile = self ? self->find_profile() : nullptr;
  return profile ? profile->n_dropped : 0;
}
