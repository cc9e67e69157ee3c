// A shader loop over the local variables of an invocation. A row is a group of variables; all rows
// have the same size.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// Emits a loop that runs `body` for each of `n_rows` rows of variables. SPIR-V cannot index local
// variables, so `body` always uses the first row, and each iteration ends by moving the other rows
// up by one. Unrolling would emit one copy of `body` per row, and compile time grows with the
// number of copies.
template <class Variable, class Body>
void for_each_row(spirv::Code& code, std::span<const Variable> rows, uint32_t n_rows,
                  const Body& body) {
  const size_t each = rows.size() / n_rows;
  code.for_(code.u32(0), code.u32(n_rows), code.u32(1), [&](spirv::U32 row) {
    body(row, rows.first(each));
    for (size_t k = each; k < rows.size(); ++k) rows[k - each].set(rows[k].get());
  });
}

}  // namespace tenon_vulkan
