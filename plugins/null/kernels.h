// Declares the functions that kernels.def names.

#pragma once

#include "plugins/sdk/kernel.h"

namespace tenon_null {

tenon_sdk::Prepared prepare_copy(const tenon_sdk::Request& request);
tenon_sdk::Prepared prepare_fill(const tenon_sdk::Request& request);
tenon_sdk::Prepared prepare_add(const tenon_sdk::Request& request);

}  // namespace tenon_null
