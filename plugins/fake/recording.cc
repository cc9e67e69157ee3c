#include "plugins/fake/recording.h"

#include <memory>
#include <vector>

#include "plugins/fake/device.h"
#include "plugins/fake/launch.h"
#include "plugins/fake/own_launch.h"
#include "plugins/fake/stream.h"

namespace tenon_fake {
namespace {

struct Recording {
  struct Launch {
    tenon_kernel_p* kernel;  // The kernel of plugin `ref`.
    OwnLaunch launch;
    std::vector<tenon_recorded_operand> operands;
  };
  Device& device;
  std::vector<Launch> launches;
};

Recording& from_c(tenon_recording_p* recording) { return *reinterpret_cast<Recording*>(recording); }

// Returns a copy of the recorded launch with the operands of a replay.
OwnLaunch replayed_launch(const Recording::Launch& recorded, const tenon_replay& replay) {
  OwnLaunch launch = recorded.launch;
  for (size_t i = 0; i < recorded.operands.size(); ++i) {
    const tenon_recorded_operand& operand = recorded.operands[i];
    if (operand.kind == TENON_OPERAND_IN_SLOT) {
      launch.set_slot(i, replay.slots[operand.number], operand.offset);
    } else if (operand.kind == TENON_OPERAND_BY_VALUE) {
      launch.set_value(i, replay.values[operand.number]);
    }
  }
  launch.set_record(replay);
  launch.locate();
  return launch;
}

}  // namespace

tenon_error* record(tenon_device_p* self, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string* out_reason) {
  *out_recording = nullptr;
  Device& device = tenon_fake::from_c(self);
  if (!device.options().records) {
    *out_reason = TENON_STR("does not record, because option records is 0");
    return nullptr;
  }
  auto made = std::make_unique<Recording>(Recording{device, {}});
  for (size_t i = 0; i < request->n_launches; ++i) {
    const tenon_recorded_launch& given = request->launches[i];
    OwnLaunch launch(*given.launch);
    const size_t n = launch.n_operands();
    made->launches.push_back(
        {tenon_fake::from_c(given.kernel).kernel, launch, {given.operands, given.operands + n}});
  }
  *out_recording = reinterpret_cast<tenon_recording_p*>(made.release());
  return nullptr;
}

tenon_error* replay(tenon_recording_p* self, tenon_stream_p* where, const tenon_replay* given) {
  const Recording& recording = from_c(self);
  Stream& stream = tenon_fake::from_c(where);
  const Faults faults(stream.device(), recording.launches.size());
  if (tenon_error* error = faults.enqueue_error()) return error;

  const auto launches = std::make_shared<std::vector<OwnLaunch>>();
  for (const Recording::Launch& each : recording.launches) {
    launches->push_back(replayed_launch(each, *given));
  }
  return stream.enqueue([&stream, &recording, faults, launches, work = given->work,
                         ticket = given->ticket]() -> tenon_error* {
    for (size_t i = 0; i < launches->size(); ++i) {
      tenon_error* error = faults.launch_error(i);
      if (!error) {
        error = inner().launch(recording.launches[i].kernel, stream.inner(), &(*launches)[i].get());
      }
      if (error) return faults.report_failure(error, work, ticket);
    }
    return nullptr;
  });
}

Device& device_of(tenon_recording_p* recording) { return from_c(recording).device; }

void release_recording(tenon_recording_p* recording) { delete &from_c(recording); }

}  // namespace tenon_fake
