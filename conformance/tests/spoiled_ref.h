// `ref` with a fault of a test's own: what a launch leaves is spoiled behind it.

#pragma once

#include <tenon/plugin.h>

#include "conformance/kit/session.h"

namespace tenon_kit {

using Spoil = void (*)(const tenon_launch& launch);

// A session with such a device. There is one fault at a time; NULL: none.
Session session_of_spoiled_ref(Spoil spoil);

// The oracle, as every check has it.
Session session_of_oracle();

const tenon_plugin& plain_ref();

}  // namespace tenon_kit
