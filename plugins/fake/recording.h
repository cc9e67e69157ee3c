// Recordings: copies of launches. A replay sets their operands and runs them as one job.

#pragma once

#include "plugins/fake/device.h"

namespace tenon_fake {

// Returns the device that made the recording.
Device& device_of(tenon_recording_p* recording);
tenon_error* record(tenon_device_p* device, const tenon_record_request* request,
                    tenon_recording_p** out_recording, tenon_string* out_reason);
tenon_error* replay(tenon_recording_p* recording, tenon_stream_p* stream,
                    const tenon_replay* replay);
void release_recording(tenon_recording_p* recording);

}  // namespace tenon_fake
