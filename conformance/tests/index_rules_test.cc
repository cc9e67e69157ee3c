// Tests that generators produce no index out of range, for any requested size.

#include "conformance/kit/index_rules.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/generate/generate.h"
#include "conformance/run/registry_claims.h"
#include "conformance/tests/spoiled_ref.h"

namespace tenon_kit {
namespace {

const Session& oracle() {
  static const Session session = session_of_oracle();
  return session;
}

// Claims in float32 of every op that takes indices.
const std::vector<Claim>& claims() {
  static const std::vector<Claim> rows = [] {
    Claims all;
    add_unclaimed(oracle(), all);
    std::erase_if(all.rows, [](const Claim& claim) {
      const auto& inputs = claim.inputs;
      return claim.op->index_rule.empty() ||
             std::find(inputs.begin(), inputs.end(), TENON_FLOAT32) == inputs.end();
    });
    return all.rows;
  }();
  return rows;
}

TEST(IndexRules, ExistForEveryOpThatTakesIndices) {
  for (const OpFacts& op : all_ops()) {
    EXPECT_EQ(index_rule_of(op) != nullptr, !op.index_rule.empty()) << op.name;
  }
}

TEST(IndexRules, HoldForValidProblems) {
  for (const Claim& claim : claims()) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      for (const Problem& problem : valid_problems(claim, 24, seed, oracle())) {
        EXPECT_NO_THROW(oracle().run(problem)) << to_line(problem);
      }
    }
  }
}

TEST(IndexRules, HoldForEachRequestedSize) {
  for (const Claim& claim : claims()) {
    for (const int64_t size : edge_sizes()) {
      for (int64_t turn = 0; turn < kTurns; ++turn) {
        const auto problem = generate_for(claim, {.size = size, .turn = turn}, 1, oracle());
        if (!problem) continue;
        EXPECT_NO_THROW(oracle().run(*problem)) << to_line(*problem);
      }
    }
  }
}

// Resized cases keep their indices in range even before generated problems are filtered. Otherwise
// filtering would remove the small sizes.
TEST(IndexRules, HoldForResizedCases) {
  for (const char* op : {"embedding", "nll", "reverse_sequence", "segment_reduce",
                         "sparse_softmax_cross_entropy", "rotary_embedding"}) {
    size_t n = 0;
    for (const Claim& claim : claims()) {
      if (claim.op->name != op) continue;
      for (Problem& problem : generate_problems(claim, 64, 1)) {
        try {
          oracle().infer(problem);
        } catch (const tenon::Error&) {
          continue;
        }
        ++n;
        EXPECT_NO_THROW(oracle().run(problem)) << to_line(problem);
      }
    }
    EXPECT_GT(n, 0u) << op;
  }
}

}  // namespace
}  // namespace tenon_kit
