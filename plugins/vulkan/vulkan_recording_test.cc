// Tests of recordings: cached commands execute replays with moved slots, and all other replays
// return the same results as separate dispatches.

#include <algorithm>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

// Replaces vkQueueSubmit by a function that rejects the submission.
VKAPI_ATTR VkResult VKAPI_CALL has_no_memory(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}
VKAPI_ATTR VkResult VKAPI_CALL is_lost(VkQueue, uint32_t, const VkSubmitInfo*, VkFence) {
  return VK_ERROR_DEVICE_LOST;
}

std::atomic<int> n_submitted{0};
PFN_vkQueueSubmit submit_of_driver = nullptr;
VKAPI_ATTR VkResult VKAPI_CALL counts_submission(VkQueue queue, uint32_t n,
                                                 const VkSubmitInfo* infos, VkFence fence) {
  ++n_submitted;
  return submit_of_driver(queue, n, infos, fence);
}

struct Slot {
  const Memory& memory;
  uint64_t offset = 0;
};

constexpr int64_t kCount = 100;

// A recording of two launches over `n` words: slot 1 = slot 0 + value 0, then slot 2 = slot 1 +
// slot 0.
class TwoAdds {
 public:
  TwoAdds(const TestDevice& bench, AddKernel& add) {
    const Memory memory(bench, 3 * 4096);
    const uint32_t value = 1;
    AddLaunch first({&memory, 0, kCount}, {nullptr, 0, 1, &value}, {&memory, 4096, kCount});
    AddLaunch second({&memory, 4096, kCount}, {&memory, 0, kCount}, {&memory, 8192, kCount});
    const tenon_recorded_operand of_first[] = {{TENON_OPERAND_IN_SLOT, 0, 0},
                                               {TENON_OPERAND_BY_VALUE, 0, 0},
                                               {TENON_OPERAND_IN_SLOT, 1, 0}};
    const tenon_recorded_operand of_second[] = {{TENON_OPERAND_IN_SLOT, 1, 0},
                                                {TENON_OPERAND_IN_SLOT, 0, 0},
                                                {TENON_OPERAND_IN_SLOT, 2, 0}};
    const tenon_recorded_launch launches[] = {{add.handle(), &first.get(), of_first, 3},
                                              {add.handle(), &second.get(), of_second, 3}};
    const tenon_record_request request = {sizeof request, 0, 2, 3, 1, launches};
    tenon_string reason = {};
    EXPECT_SUCCESS(TestDevice::calls().record(bench.device(), &request, &handle_, &reason));
  }
  TwoAdds(const TwoAdds&) = delete;
  ~TwoAdds() { TestDevice::calls().release_recording(handle_); }

  tenon_error* replay(const Queue& stream, Slot a, Slot b, Slot c, uint32_t value,
                      uint64_t ticket = 0) {
    const tenon_slot slots[] = {{a.memory.get(), a.offset, nullptr, 0},
                                {b.memory.get(), b.offset, nullptr, 0},
                                {c.memory.get(), c.offset, nullptr, 0}};
    const tenon_element values[] = {{{value, 0}}};
    const tenon_replay replay = {.struct_size = sizeof replay,
                                 .n_slots = 3,
                                 .n_values = 1,
                                 .slots = slots,
                                 .values = values,
                                 .work = this,
                                 .ticket = ticket};
    return TestDevice::calls().replay(handle_, stream.get(), &replay);
  }

 private:
  tenon_recording_p* handle_ = nullptr;
};

class VulkanRecording : public CountsDispatches {
 protected:
  // Returns memory in a separate block.
  Memory apart() const { return Memory(bench(), kBlock); }

  static Words words(const Queue& stream, const Slot& slot) {
    Words result(kCount);
    stream.read(slot.memory, slot.offset, result.data(), result.size() * sizeof(uint32_t));
    stream.wait();
    return result;
  }
  static constexpr uint64_t kBlock = uint64_t{65} << 20;
};

TEST_P(VulkanRecording, CommandsAreEncodedOnceForRepeatedReplays) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  stream.write(a, Words(1024, 5));
  for (uint32_t i = 0; i < 200; ++i) {
    // The values change, and the second half of the replays uses other offsets in the same blocks.
    const uint64_t offset = i < 100 ? 0 : 64 * (i % 5);
    EXPECT_SUCCESS(two.replay(stream, {a, offset}, {b, offset}, {c, 2 * offset}, i));
    if (i % 50 == 49) {
      EXPECT_EQ(words(stream, {c, 2 * offset}), Words(kCount, 10 + i));
    }
  }
  EXPECT_EQ(n_dispatches, 2);
}

// Results of a replay are read while other replays are in flight. No replay may use the parameters
// of a different replay.
TEST_P(VulkanRecording, ManyReplaysMayBeInFlight) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 8192);
  stream.write(a, Words(1024, 5));
  std::vector<Words> seen(100, Words(kCount));
  for (uint32_t i = 0; i < seen.size(); ++i) {
    const uint64_t offset = 448 * (i % 16);
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c, offset}, i));
    stream.read(c, offset, seen[i].data(), kCount * sizeof(uint32_t));
  }
  stream.wait();
  for (uint32_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], Words(kCount, 10 + i)) << i;
}

// A batch is submitted as soon as it reaches max_products_per_submission, so each replay is one
// submission.
TEST_P(VulkanRecording, ReplayThatReachesTheWorkLimitIsSubmitted) {
  const Queue stream(bench());
  AddKernel add(bench().device(),
                capabilities_of(bench().device()).max_products_per_submission / 2);
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  n_submitted = 0;
  submit_of_driver = std::exchange(functions().QueueSubmit, counts_submission);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, i));
  EXPECT_EQ(n_submitted, 20);
  stream.wait();
  functions().QueueSubmit = submit_of_driver;
}

TEST_P(VulkanRecording, ReplayReadsTheResultsOfThePreviousReplay) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  stream.write(a, Words(1024, 1));
  uint32_t want = 1;
  for (uint32_t i = 0; i < 30; ++i) {
    const bool goes_forth = i % 2 == 0;
    EXPECT_SUCCESS(two.replay(stream, {goes_forth ? a : c}, {b}, {goes_forth ? c : a}, i));
    want = 2 * want + i;
  }
  EXPECT_EQ(words(stream, {a}), Words(kCount, want));
}

TEST_P(VulkanRecording, OutputsMayAlternateBetweenMemoryBlocks) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), even = apart(), odd = apart();
  stream.write(a, Words(1024, 3));
  for (uint32_t i = 0; i < 40; ++i) {
    const Memory& c = i % 2 ? odd : even;
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c, 64 * i}, i));
    if (i >= 38) {
      EXPECT_EQ(words(stream, {c, 64 * i}), Words(kCount, 6 + i));
    }
  }
  EXPECT_EQ(n_dispatches, 4);
}

TEST_P(VulkanRecording, ReplaysWithMoreBlocksThanCachedCommandsAreCorrect) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096);
  stream.write(a, Words(1024, 3));
  std::vector<Memory> blocks;
  for (int i = 0; i < 6; ++i) blocks.push_back(apart());
  for (uint32_t i = 0; i < 60; ++i) {
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {blocks[i % 6]}, i));
    EXPECT_EQ(words(stream, {blocks[i % 6]}), Words(kCount, 6 + i));
  }
}

TEST_P(VulkanRecording, RecordingIsUsableAfterTheBlocksOfAReplayAreFreed) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096);
  stream.write(a, Words(1024, 3));
  for (uint32_t i = 0; i < 10; ++i) {
    const Memory c = apart();
    for (uint32_t k = 0; k < 3; ++k) {
      EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c, 64 * k}, i));
    }
    EXPECT_EQ(words(stream, {c, 128}), Words(kCount, 6 + i));
  }
}

// Slots overlap, for example, if a training step updates a parameter in place.
TEST_P(VulkanRecording, CachedCommandsAreUsedIfSlotsOverlapAtTheSameDistance) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 8192), c(bench(), 4096);
  stream.write(a, Words(2048, 1));
  uint32_t want = 1;
  for (uint32_t i = 0; i < 20; ++i) {
    const uint64_t moved = 64 * (i % 3);
    EXPECT_SUCCESS(two.replay(stream, {a}, {a}, {c, moved}, i));
    want += i;
    EXPECT_EQ(words(stream, {c, moved}), Words(kCount, 2 * want));
  }
  EXPECT_EQ(n_dispatches, 2);
  // Both slots move and do not overlap.
  EXPECT_SUCCESS(two.replay(stream, {a, 4096}, {a, 4096}, {c}, 5));
  EXPECT_EQ(words(stream, {c}), Words(kCount, 12));
  stream.write(a, Words(2048, 1));
  EXPECT_SUCCESS(two.replay(stream, {a}, {a, 4096}, {c}, 5));
  EXPECT_EQ(words(stream, {c}), Words(kCount, 7));
  EXPECT_EQ(n_dispatches, 2);
  // In this replay the slots overlap differently than before, so both dispatches are encoded again.
  EXPECT_SUCCESS(two.replay(stream, {a}, {a, 4096}, {a}, 5));
  EXPECT_EQ(words(stream, {a}), Words(kCount, 7));
  EXPECT_EQ(n_dispatches, 4);
}

// Cached commands have barriers for conflicts within one slot. If slots overlap that did not
// overlap before, more barriers may be needed, so the cached commands must not be executed.
TEST_P(VulkanRecording, DispatchesAreEncodedOneByOneIfSlotsOverlapDifferently) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  for (uint32_t i = 0; i < 20; ++i) {
    stream.write(a, Words(1024, 7));
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, i));
    EXPECT_EQ(words(stream, {c}), Words(kCount, 14 + i));
    EXPECT_EQ(n_dispatches, 2 + 4 * static_cast<int>(i));
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {b}, i));
    EXPECT_EQ(words(stream, {b}), Words(kCount, 14 + i));
    EXPECT_SUCCESS(two.replay(stream, {a}, {a}, {c}, i));
    EXPECT_EQ(words(stream, {c}), Words(kCount, 2 * (7 + i)));
  }
}

TEST_P(VulkanRecording, RecordingIsReplayedOnTwoStreamsConcurrently) {
  const Queue first(bench()), second(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  const Memory x(bench(), 4096), y(bench(), 4096), z(bench(), 4096);
  first.write(a, Words(1024, 1));
  second.write(x, Words(1024, 2));
  for (uint32_t i = 0; i < 50; ++i) {
    EXPECT_SUCCESS(two.replay(first, {a}, {b}, {c}, i));
    EXPECT_SUCCESS(two.replay(second, {x}, {y}, {z}, 2 * i));
  }
  EXPECT_EQ(words(first, {c}), Words(kCount, 2 + 49));
  EXPECT_EQ(words(second, {z}), Words(kCount, 4 + 98));
}

// ---- failures

TEST_P(VulkanRecording, ReplayAfterARejectedReplayIsCorrect) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 8192);
  stream.write(a, Words(1024, 5));
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, 1));
  stream.wait();
  const auto submit = std::exchange(functions().QueueSubmit, has_no_memory);
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c, 4096}, 2, 77));
  stream.wait();
  functions().QueueSubmit = submit;
  {
    std::lock_guard guard(heard().mutex);
    ASSERT_EQ(heard().failed.size(), 1u);
    EXPECT_EQ(heard().failed[77].code, TENON_OUT_OF_MEMORY);
  }
  EXPECT_EQ(words(stream, {c}), Words(kCount, 11));
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c, 4096}, 2));
  EXPECT_EQ(words(stream, {c, 4096}), Words(kCount, 12));
  EXPECT_EQ(n_dispatches, 2);
}

TEST_P(VulkanRecording, DispatchesAreEncodedOneByOneIfCommandsCannotBeCached) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  stream.write(a, Words(1024, 5));
  {
    const NoCommandPools none(functions());
    EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, 1));
    EXPECT_EQ(words(stream, {c}), Words(kCount, 11));
  }
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, 2));
  EXPECT_EQ(words(stream, {c}), Words(kCount, 12));
}

TEST_P(VulkanRecording, ReplayReportsALostDevice) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  TwoAdds two(bench(), add);
  const Memory a(bench(), 4096), b(bench(), 4096), c(bench(), 4096);
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, 1));
  stream.wait();
  const auto submit = std::exchange(functions().QueueSubmit, is_lost);
  EXPECT_SUCCESS(two.replay(stream, {a}, {b}, {c}, 1));
  EXPECT_EQ(take(TestDevice::calls().wait(stream.get())).code, TENON_DEVICE_LOST);
  EXPECT_EQ(take(two.replay(stream, {a}, {b}, {c}, 1)).code, TENON_DEVICE_LOST);
  functions().QueueSubmit = submit;
}

constexpr const char* kModes[] = {"AsItIs", "Invisible", "WithFences", "Validated",
                                  "InvisibleValidated"};

INSTANTIATE_TEST_SUITE_P(, VulkanRecording,
                         ::testing::Values(Settings{}, Settings{{"visible", "0"}},
                                           Settings{{"timeline", "0"}}, Settings{{"validate", "1"}},
                                           Settings{{"visible", "0"}, {"validate", "1"}}),
                         [](const auto& info) { return kModes[info.index]; });

}  // namespace
}  // namespace tenon_vulkan::testing
