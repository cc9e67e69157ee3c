#include "core/ops/elementwise/binary_cases.h"

namespace tenon::ops {

Cases<NoAttrs> with_binary_cases(Cases<NoAttrs> own) {
  return joined(
      std::move(own),
      {
          {.name = "no_elements", .inputs = {uniform({0, 3}, 0.5, 2), uniform({3}, 0.5, 2)}},
          {.name = "both_are_broadcast",
           .inputs = {uniform({2, 1, 3}, 0.5, 2), uniform({4, 1}, 2, 3)}},
          {.name = "bool_is_not_numeric", .inputs = {boolean({1}), boolean({1})}, .error = "C1"},
          {.name = "shapes_that_do_not_broadcast",
           .inputs = {uniform({2, 3}), uniform({2})},
           .error = "C2"},
      });
}

}  // namespace tenon::ops
