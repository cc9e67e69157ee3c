// Rows of what an invocation has computed.

#pragma once

#include <span>

#include "plugins/vulkan/spirv/code.h"

namespace tenon_vulkan {

// Does something with each row of variables in turn, with the text of one: a row is the first when
// it is done, and those behind it move up. What is stored may be long, and drivers take the longer
// to compile it the more often it is there.
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
