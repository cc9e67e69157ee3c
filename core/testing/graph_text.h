// Compares graphs by their text: parses and prints both sides.

#pragma once

#include "core/testing/test.h"
#include "core/trace/graph/text_form.h"

namespace tenon::testing {

// Parses the text of a graph and prints the graph.
inline std::string reprinted_text(std::string_view text) {
  return to_text(*parse_graph(current_scope(), text));
}

// Returns the text of a graph with its values renamed to %0, %1 and so on.
inline std::string text_without_names(std::string_view text) {
  const std::unique_ptr<Graph> graph = parse_graph(current_scope(), text);
  size_t n = 0;
  for (Node& node : graph->nodes()) {
    for (uint32_t i = 0; i < node.types.size(); ++i) {
      graph->rename(node.output(i), "%" + std::to_string(n++));
    }
  }
  return to_text(*graph);
}

#define EXPECT_GRAPH(got, want) \
  EXPECT_EQ(::tenon::testing::text_without_names(got), ::tenon::testing::text_without_names(want))

}  // namespace tenon::testing
