// `ref` with an injected fault: a function that corrupts the outputs after each launch.

#pragma once

#include <tenon/plugin.h>

#include "conformance/kit/session.h"

namespace tenon_kit {

using Spoil = void (*)(const tenon_launch& launch);

// A session with such a device. There is one fault at a time; NULL for none.
Session session_of_spoiled_ref(Spoil spoil);

// The same oracle as in every check.
Session session_of_oracle();

const tenon_plugin& plain_ref();

}  // namespace tenon_kit
