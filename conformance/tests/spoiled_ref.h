// `ref` with an injected fault: a function that corrupts the outputs after each launch.

#pragma once

#include <tenon/plugin.h>

#include "conformance/kit/session.h"

namespace tenon_kit {

using Spoil = void (*)(const tenon_launch& launch);

// Returns a session on `ref`. If `spoil` is not NULL, it corrupts the outputs of each launch. A
// process has at most one such fault at a time.
Session session_of_spoiled_ref(Spoil spoil);

// A session with the oracle that every check uses.
Session session_of_oracle();

const tenon_plugin& plain_ref();

}  // namespace tenon_kit
