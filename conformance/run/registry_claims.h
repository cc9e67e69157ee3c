// What a plugin could claim: every op of the registry, in the dtypes that `ref` has a loop for or
// that its own cases show.

#pragma once

#include "conformance/kit/claims.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

// Adds to `claims` what the registry has beyond them, each marked as not claimed.
void add_unclaimed(const Session& oracle, Claims& claims);

}  // namespace tenon_kit
