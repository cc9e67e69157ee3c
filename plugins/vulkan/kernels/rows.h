// Loops over rows of an invocation's variables.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// Emits `body` once and runs it for each row of variables in turn: the current row is always the
// first, and the others move up after each iteration. A body that stores may be long, and compile
// time grows with the number of copies.
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
