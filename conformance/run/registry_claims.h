// Lists what a plugin could claim: every op of the registry, in the dtypes that `ref` or the op's
// own cases support.

#pragma once

#include "conformance/kit/claims.h"
#include "conformance/kit/session.h"

namespace tenon_kit {

// Adds all other signatures of the registry to `claims`, marked as not claimed.
void add_unclaimed(const Session& oracle, Claims& claims);

}  // namespace tenon_kit
