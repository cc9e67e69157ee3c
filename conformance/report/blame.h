// Attributes failing cells to ops: an op that fails by itself explains the failures of those that
// launch its kernels.

#pragma once

#include <string>
#include <vector>

#include "conformance/run/row.h"

namespace tenon_kit {

// Appends the names of other ops whose kernels a failing case launches, and reads them back.
std::string with_kernels(const std::string& message, const std::vector<std::string>& ops);
std::vector<std::string> kernels_of(const Row& row);

// The failing rows as a summary: for each op that fails by itself its most specific failure, with
// the others of the op and the consequences in other ops folded below. Empty with fewer than two
// failing rows.
std::string fault_summary(const std::vector<Row>& rows);

}  // namespace tenon_kit
