// Attributes failing cells to ops: if an op fails by itself, it explains the failures of other
// cells that launch its kernels.

#pragma once

#include <string>
#include <vector>

#include "conformance/run/row.h"

namespace tenon_kit {

// with_launched_ops() appends to a message the names of the other ops whose kernels a failing case
// launches; parse_launched_ops() parses them.
std::string with_launched_ops(const std::string& message, const std::vector<std::string>& ops);
std::vector<std::string> parse_launched_ops(const Row& row);

// Summarises the failing rows. For each op that fails by itself, lists its most specific failure
// first, then the op's other failures and the consequences in other ops. Empty if fewer than two
// rows fail.
std::string fault_summary(const std::vector<Row>& rows);

}  // namespace tenon_kit
