// Tests of buffers of imported host memory: shaders access it in place and do not change the memory
// around it.

#include <sys/mman.h>

#include <algorithm>

#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/testing/vulkan_testing.h"

namespace tenon_vulkan::testing {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kBytes = 64 << 10;
constexpr size_t kWords = kBytes / 4;

// Pages of memory from the operating system.
class Pages {
 public:
  explicit Pages(size_t size)
      : size_(size),
        data_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(data_, MAP_FAILED);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(data_, size_); }
  uint32_t* words(size_t offset = 0) const {
    return reinterpret_cast<uint32_t*>(static_cast<std::byte*>(data_) + offset);
  }
  void fill(uint32_t word) const { std::fill_n(words(), size_ / 4, word); }
  void protect() const { EXPECT_EQ(mprotect(data_, size_, PROT_READ), 0); }

 private:
  size_t size_;
  void* data_;
};

class VulkanImport : public OnDriver {
 protected:
  void SetUp() override {
    OnDriver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if ((bench().properties().features & TENON_FEATURE_IMPORT_HOST) == 0) {
      GTEST_SKIP() << "the driver takes no memory of the host's";
    }
  }
  Failure import(void* data, uint64_t size, tenon_buffer_p** buffer) const {
    return take(calls().import_host(bench().device(), data, size, buffer));
  }
  Memory imported(void* data, uint64_t size) const {
    tenon_buffer_p* buffer = nullptr;
    const Failure failure = import(data, size, &buffer);
    EXPECT_EQ(failure.code, TENON_OK) << failure.message;
    return Memory(buffer);
  }
  uint64_t allocated() const {
    tenon_memory_statistics statistics = {};
    statistics.struct_size = sizeof statistics;
    EXPECT_SUCCESS(calls().memory_statistics(bench().device(), &statistics));
    return statistics.allocated_bytes;
  }
};

TEST_P(VulkanImport, ImportedMemoryIsReadAndWrittenInPlace) {
  const Queue stream(bench());
  AddKernel add(bench().device());
  for (const size_t offset : {size_t{0}, size_t{16}, kPage - 16}) {
    const Pages from(kBytes + 2 * kPage), to(kBytes + 2 * kPage);
    from.fill(40);
    to.fill(7);
    const Memory a = imported(from.words(offset), kBytes), b = imported(to.words(offset), kBytes);
    EXPECT_EQ(calls().map(a.get()), from.words(offset));
    AddLaunch launch({&a, 0, kWords}, {&a, 0, kWords}, {&b, 0, kWords});
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
    stream.wait();
    Words want((kBytes + 2 * kPage) / 4, 7);
    std::fill_n(want.begin() + static_cast<ptrdiff_t>(offset / 4), kWords, 80);
    EXPECT_EQ(Words(to.words(), to.words() + want.size()), want) << offset;
    // The device must read bytes that the host writes later.
    from.words(offset)[100] = 1;
    EXPECT_SUCCESS(calls().launch(add.handle(), stream.get(), &launch.get()));
    stream.wait();
    EXPECT_EQ(to.words(offset)[100], 2u) << offset;
  }
}

// An allocator may place two tensors on one page.
TEST_P(VulkanImport, TwoImportedBuffersMayShareAPage) {
  const Queue stream(bench());
  const Pages pages(3 * kBytes);
  const Memory first = imported(pages.words(), kBytes + 1024),
               second = imported(pages.words(kBytes + 1024), kBytes);
  stream.fill(first, 0, kBytes + 1024, 1, 4);
  stream.fill(second, 0, kBytes, 2, 4);
  stream.wait();
  EXPECT_EQ(pages.words(kBytes)[255], 1u);
  EXPECT_EQ(pages.words(kBytes)[256], 2u);
  EXPECT_EQ(pages.words(2 * kBytes + 1024)[-1], 2u);
  EXPECT_EQ(pages.words(2 * kBytes + 1024)[0], 0u);
}

// The device does not count imported memory as allocated, and never allocates buffers in it.
TEST_P(VulkanImport, ReleasedImportedMemoryIsNotReusedForBuffers) {
  const Queue stream(bench());
  const uint64_t before = allocated();
  for (const size_t size : {kBytes, size_t{1} << 20, size_t{64} << 20}) {
    const Pages pages(size);
    pages.fill(5);
    {
      const Memory lent = imported(pages.words(), size);
      EXPECT_EQ(allocated(), before);
      const Memory other(bench(), 4096);
      stream.fill(other, 0, 4096, 6, 4);
      stream.wait();
    }
    EXPECT_EQ(allocated(), before);
    const Memory own(bench(), kBytes), large(bench(), size);
    stream.fill(own, 0, kBytes, 6, 4);
    stream.fill(large, 0, size, 6, 4);
    stream.wait();
    EXPECT_EQ(std::count(pages.words(), pages.words() + size / 4, 5u),
              static_cast<ptrdiff_t>(size / 4));
  }
}

TEST_P(VulkanImport, ReadOnlyMemoryIsImportedOrRefused) {
  const Pages pages(kBytes);
  pages.fill(3);
  pages.protect();
  tenon_buffer_p* buffer = nullptr;
  const Failure failure = import(pages.words(), kBytes, &buffer);
  if (failure.code != TENON_OK) {
    // A driver may refuse read-only memory.
    EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED) << failure.message;
    return;
  }
  const Memory lent(buffer);
  EXPECT_EQ(Queue(bench()).words(lent, kWords), Words(kWords, 3));
}

// If an import is refused, the host copies the memory.
TEST_P(VulkanImport, ImportOfPartialWordsOrSmallMemoryIsRefused) {
  const Pages pages(2 * kBytes);
  const struct {
    size_t offset;
    uint64_t size;
  } places[] = {{1, kBytes},     {4, kBytes}, {8, kBytes},
                {0, kBytes + 2}, {0, 4},      {0, bench().properties().max_buffer_bytes + 4}};
  for (const auto& [offset, size] : places) {
    tenon_buffer_p* buffer = nullptr;
    const Failure failure =
        import(reinterpret_cast<std::byte*>(pages.words()) + offset, size, &buffer);
    EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED) << offset << ' ' << size;
    EXPECT_EQ(buffer, nullptr);
  }
}

TEST_P(VulkanImport, ImportIsRefusedIfTheDriverRejectsTheMemory) {
  const Pages pages(kBytes);
  tenon_buffer_p* buffer = nullptr;
  const DeviceFunctions kept = functions();
  functions().AllocateMemory = [](VkDevice, const VkMemoryAllocateInfo*,
                                  const VkAllocationCallbacks*,
                                  VkDeviceMemory*) { return VK_ERROR_INVALID_EXTERNAL_HANDLE; };
  Failure failure = import(pages.words(), kBytes, &buffer);
  functions() = kept;
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED);
  EXPECT_NE(failure.message.find("VK_ERROR_INVALID_EXTERNAL_HANDLE"), std::string::npos)
      << failure.message;

  // The driver reports that no memory type can hold imported memory.
  functions().GetMemoryHostPointerPropertiesEXT = [](VkDevice, VkExternalMemoryHandleTypeFlagBits,
                                                     const void*,
                                                     VkMemoryHostPointerPropertiesEXT* properties) {
    properties->memoryTypeBits = 0;
    return VK_SUCCESS;
  };
  failure = import(pages.words(), kBytes, &buffer);
  functions() = kept;
  EXPECT_EQ(failure.code, TENON_UNIMPLEMENTED) << failure.message;
  EXPECT_EQ(buffer, nullptr);
  const Memory lent = imported(pages.words(), kBytes);
}

INSTANTIATE_TEST_SUITE_P(, VulkanImport, ::testing::Values(Settings{}, Settings{{"validate", "1"}}),
                         name_of_settings);

// With the option `visible` off, the device behaves like a discrete GPU, whose memory is not host
// memory.
TEST(VulkanImports, DeviceWithoutHostVisibleMemoryDoesNotDeclareImport) {
  const TestDevice bench(Settings{{"visible", "0"}, {"cache", ""}});
  if (!bench.is_open()) GTEST_SKIP() << bench.failure().message;
  EXPECT_EQ(bench.properties().features & TENON_FEATURE_IMPORT_HOST, 0u);
}

}  // namespace
}  // namespace tenon_vulkan::testing
