#include "plugins/vulkan/testing/vulkan_testing.h"

#include <unistd.h>

#include <algorithm>
#include <spirv-tools/libspirv.hpp>

#include "plugins/vulkan/driver/device.h"

namespace tenon_vulkan::testing {
namespace {

std::atomic<size_t> live_errors{0};

Failure* failure_of(const tenon_error* error) {
  return reinterpret_cast<Failure*>(const_cast<tenon_error*>(error));
}

tenon_error* make_error(tenon_code code, tenon_string message) {
  ++live_errors;
  return reinterpret_cast<tenon_error*>(new Failure{code, std::string(tenon_sdk::text(message))});
}
void release_error(tenon_error* error) {
  if (error == nullptr) return;
  --live_errors;
  delete failure_of(error);
}
tenon_code error_code(const tenon_error* error) { return error ? failure_of(error)->code : 0; }
tenon_string error_message(const tenon_error* error) {
  return tenon_sdk::to_c(failure_of(error)->message);
}
void log(void*, int32_t, tenon_string message) {
  std::lock_guard guard(heard().mutex);
  heard().log.emplace_back(tenon_sdk::text(message));
}
void launch_failed(void*, uint64_t ticket, tenon_error* error) {
  const Failure failure = take(error);
  std::lock_guard guard(heard().mutex);
  heard().failed[ticket] = failure;
}

constexpr tenon_host kHost = {
    .struct_size = sizeof(tenon_host),
    .provides = TENON_HOST_FEATURE_ERROR_RECORDS | TENON_HOST_FEATURE_BROADCAST_VIEWS,
    .make_error = make_error,
    .release_error = release_error,
    .error_code = error_code,
    .error_message = error_message,
    .log = log,
    .launch_failed = launch_failed,
};

constexpr const char* kAddShader = R"(
               OpCapability Shader
               OpExtension "SPV_KHR_storage_buffer_storage_class"
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main" %id
               OpExecutionMode %main LocalSize 64 1 1
               OpDecorate %id BuiltIn GlobalInvocationId
               OpDecorate %array ArrayStride 4
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %block Block
               OpMemberDecorate %place 0 Offset 0
               OpDecorate %place Block
               OpDecorate %parameters DescriptorSet 0
               OpDecorate %parameters Binding 0
               OpDecorate %a DescriptorSet 0
               OpDecorate %a Binding 1
               OpDecorate %b DescriptorSet 0
               OpDecorate %b Binding 2
               OpDecorate %out DescriptorSet 0
               OpDecorate %out Binding 3
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
      %uint3 = OpTypeVector %uint 3
      %array = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %array
      %place = OpTypeStruct %uint
  %ptr_block = OpTypePointer StorageBuffer %block
   %ptr_word = OpTypePointer StorageBuffer %uint
  %ptr_place = OpTypePointer PushConstant %place
  %ptr_first = OpTypePointer PushConstant %uint
     %ptr_id = OpTypePointer Input %uint3
         %id = OpVariable %ptr_id Input
 %parameters = OpVariable %ptr_block StorageBuffer
          %a = OpVariable %ptr_block StorageBuffer
          %b = OpVariable %ptr_block StorageBuffer
        %out = OpVariable %ptr_block StorageBuffer
       %push = OpVariable %ptr_place PushConstant
         %c0 = OpConstant %uint 0
         %c1 = OpConstant %uint 1
         %c2 = OpConstant %uint 2
         %c3 = OpConstant %uint 3
         %c4 = OpConstant %uint 4
      %type  = OpTypeFunction %void
       %main = OpFunction %void None %type
      %entry = OpLabel
        %xyz = OpLoad %uint3 %id
          %i = OpCompositeExtract %uint %xyz 0
        %pf  = OpAccessChain %ptr_first %push %c0
      %first = OpLoad %uint %pf
         %p0 = OpAccessChain %ptr_word %parameters %c0 %first
    %byte_a  = OpLoad %uint %p0
         %n1 = OpIAdd %uint %first %c1
         %p1 = OpAccessChain %ptr_word %parameters %c0 %n1
    %byte_b  = OpLoad %uint %p1
         %n2 = OpIAdd %uint %first %c2
         %p2 = OpAccessChain %ptr_word %parameters %c0 %n2
    %byte_o  = OpLoad %uint %p2
         %n3 = OpIAdd %uint %first %c3
         %p3 = OpAccessChain %ptr_word %parameters %c0 %n3
          %n = OpLoad %uint %p3
         %n4 = OpIAdd %uint %first %c4
         %p4 = OpAccessChain %ptr_word %parameters %c0 %n4
       %step = OpLoad %uint %p4
     %inside = OpULessThan %bool %i %n
               OpSelectionMerge %done None
               OpBranchConditional %inside %work %done
       %work = OpLabel
     %word_a = OpShiftRightLogical %uint %byte_a %c2
     %word_b = OpShiftRightLogical %uint %byte_b %c2
     %word_o = OpShiftRightLogical %uint %byte_o %c2
       %at_a = OpIAdd %uint %word_a %i
        %i_b = OpIMul %uint %i %step
       %at_b = OpIAdd %uint %word_b %i_b
       %at_o = OpIAdd %uint %word_o %i
       %in_a = OpAccessChain %ptr_word %a %c0 %at_a
       %in_b = OpAccessChain %ptr_word %b %c0 %at_b
       %in_o = OpAccessChain %ptr_word %out %c0 %at_o
          %x = OpLoad %uint %in_a
          %y = OpLoad %uint %in_b
        %sum = OpIAdd %uint %x %y
               OpStore %in_o %sum
               OpBranch %done
       %done = OpLabel
               OpReturn
               OpFunctionEnd
)";

tenon_place place_in(const Memory& memory, uint64_t offset) {
  return {memory.get(), nullptr, offset, 0};
}
tenon_place place_at(const void* data) { return {nullptr, const_cast<void*>(data), 0, 0}; }

}  // namespace

HostReports& heard() {
  static HostReports all;
  return all;
}
size_t count_errors() { return live_errors; }

Failure take(tenon_error* error) {
  if (error == nullptr) return {};
  const Failure failure = *failure_of(error);
  release_error(error);
  return failure;
}

// ---- the device

const tenon_plugin& TestDevice::plugin() {
  static const tenon_plugin* const found = [] {
    const tenon_plugin* plugin = nullptr;
    EXPECT_SUCCESS(tenon_plugin_query_v1_vulkan(&kHost, &plugin));
    return plugin;
  }();
  return *found;
}

tenon_error* TestDevice::create(const Settings& settings, tenon_instance_p** out_instance) {
  std::vector<tenon_string> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(tenon_sdk::to_c(key));
    values.push_back(tenon_sdk::to_c(value));
  }
  const tenon_instance_options options = {.struct_size = sizeof options,
                                          .threads = 0,
                                          .log_context = nullptr,
                                          .option_keys = keys.data(),
                                          .option_values = values.data(),
                                          .n_options = keys.size()};
  return plugin().create(&kHost, &options, out_instance);
}

Failure TestDevice::try_create(const Settings& settings) {
  tenon_instance_p* instance = nullptr;
  const Failure failure = take(create(settings, &instance));
  EXPECT_EQ(instance != nullptr, failure.code == TENON_OK);
  if (instance != nullptr) calls().destroy(instance);
  return failure;
}

TestDevice::TestDevice(const Settings& settings) {
  failure_ = take(create(settings, &instance_));
  if (instance_ != nullptr) failure_ = take(calls().open_device(instance_, 0, &device_));
}

TestDevice::~TestDevice() {
  if (device_ != nullptr) calls().close_device(device_);
  if (instance_ != nullptr) calls().destroy(instance_);
}

tenon_device_properties TestDevice::properties() const {
  tenon_device_properties properties = {};
  properties.struct_size = sizeof properties;
  EXPECT_SUCCESS(calls().describe_device(device_, &properties));
  return properties;
}

Memory::Memory(const TestDevice& bench, uint64_t size) {
  EXPECT_SUCCESS(TestDevice::calls().allocate(bench.device(), size, &handle_));
}
Memory::~Memory() {
  if (handle_ != nullptr) TestDevice::calls().release(handle_);
}

// ---- streams

Queue::Queue(const TestDevice& bench) {
  EXPECT_SUCCESS(TestDevice::calls().open_stream(bench.device(), &handle_));
}
Queue::~Queue() { TestDevice::calls().close_stream(handle_); }

void Queue::write(const Memory& to, uint64_t offset, const void* data, uint64_t size) const {
  const tenon_copy_region region = {place_at(data), place_in(to, offset), size, 0};
  EXPECT_SUCCESS(TestDevice::calls().copy(handle_, &region));
}
void Queue::read(const Memory& from, uint64_t offset, void* data, uint64_t size) const {
  const tenon_copy_region region = {place_in(from, offset), place_at(data), size, 0};
  EXPECT_SUCCESS(TestDevice::calls().copy(handle_, &region));
}
void Queue::copy(const Memory& from, uint64_t from_offset, const Memory& to, uint64_t to_offset,
                 uint64_t size) const {
  const tenon_copy_region region = {place_in(from, from_offset), place_in(to, to_offset), size, 0};
  EXPECT_SUCCESS(TestDevice::calls().copy(handle_, &region));
}
void Queue::fill(const Memory& to, uint64_t offset, uint64_t size, uint64_t pattern,
                 uint32_t pattern_size) const {
  const tenon_fill_region region = {to.get(), offset, size, pattern, pattern_size, 0};
  EXPECT_SUCCESS(TestDevice::calls().fill(handle_, &region));
}
void Queue::wait() const { EXPECT_SUCCESS(TestDevice::calls().wait(handle_)); }

Bytes Queue::bytes(const Memory& from, uint64_t size) const {
  Bytes result(size);
  read(from, 0, result.data(), size);
  wait();
  return result;
}
Words Queue::words(const Memory& from, size_t n) const {
  Words result(n);
  read(from, 0, result.data(), n * sizeof(uint32_t));
  wait();
  return result;
}
void Queue::write(const Memory& to, const Words& words) const {
  write(to, 0, words.data(), words.size() * sizeof(uint32_t));
}

// ---- a test of a device

DeviceFunctions& functions_of(const TestDevice& bench) {
  return const_cast<DeviceFunctions&>(from_c(bench.device()).driver().vk());
}

void ExpectsNoReportsTest::SetUp() {
  heard().log.clear();
  heard().failed.clear();
}

void ExpectsNoReportsTest::TearDown() {
  for (const std::string& line : heard().log) ADD_FAILURE() << line;
  EXPECT_EQ(count_errors(), 0u);
}

void OnDriver::SetUp() {
  ExpectsNoReportsTest::SetUp();
  Settings settings = GetParam();
  settings["cache"] = "";
  bench_ = std::make_unique<TestDevice>(settings);
  if (!bench_->is_open()) GTEST_SKIP() << bench_->failure().message;
}

void OnDriver::TearDown() {
  close();
  ExpectsNoReportsTest::TearDown();
}

std::string name_of_settings(const ::testing::TestParamInfo<Settings>& info) {
  const auto has = [&](const char* key, const char* value) {
    const auto found = info.param.find(key);
    return found != info.param.end() && found->second == value;
  };
  std::string name;
  if (has("visible", "0")) name += "Invisible";
  if (has("timeline", "0")) name += "WithFences";
  if (has("names", "1")) name += "Named";
  if (has("validate", "1")) name += "Validated";
  return name.empty() ? "AsItIs" : name;
}

std::atomic<int> n_dispatches{0};

namespace {

std::atomic<int> n_pools_refused{0};
PFN_vkCmdDispatch dispatch_of_driver = nullptr;
PFN_vkCreateCommandPool create_pool_of_driver = nullptr;

VKAPI_ATTR void VKAPI_CALL count_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                          uint32_t z) {
  ++n_dispatches;
  dispatch_of_driver(commands, x, y, z);
}
VKAPI_ATTR VkResult VKAPI_CALL makes_no_pool(VkDevice, const VkCommandPoolCreateInfo*,
                                             const VkAllocationCallbacks*, VkCommandPool*) {
  ++n_pools_refused;
  return VK_ERROR_OUT_OF_HOST_MEMORY;
}

}  // namespace

void CountsDispatches::SetUp() {
  OnDriver::SetUp();
  if (IsSkipped()) return;
  n_dispatches = 0;
  dispatch_of_driver = std::exchange(functions().CmdDispatch, count_dispatch);
}

NoCommandPools::NoCommandPools(DeviceFunctions& functions) : functions_(functions) {
  n_pools_refused = 0;
  create_pool_of_driver = std::exchange(functions.CreateCommandPool, makes_no_pool);
}
int NoCommandPools::n_refused() { return n_pools_refused; }
NoCommandPools::~NoCommandPools() { functions_.CreateCommandPool = create_pool_of_driver; }

Folder::Folder(const char* name)
    : path_(std::filesystem::temp_directory_path() /
            ("tenon_vulkan_" + std::to_string(getpid()) + "_" + name)) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}
Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

// ---- kernels

PreparedKernel::PreparedKernel(const TestDevice& bench, uint32_t op, const void* attrs,
                               std::span<const tenon_operand> inputs, const tenon_operand& output) {
  const tenon_kernel* const line = line_of(op);
  EXPECT_NE(line, nullptr);
  if (line == nullptr) return;
  const tenon_kernel_request request = {.struct_size = sizeof request,
                                        .flags = 0,
                                        .line = line,
                                        .attrs = attrs,
                                        .n_inputs = static_cast<uint32_t>(inputs.size()),
                                        .n_outputs = 1,
                                        .inputs = inputs.data(),
                                        .outputs = &output};
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_string reason = {};
  EXPECT_SUCCESS(line->prepare(bench.device(), &request, &handle_, &traits, &reason));
}

PreparedKernel::PreparedKernel(const TestDevice& bench, const tenon_loop_request& request) {
  tenon_kernel_traits traits = {.struct_size = sizeof traits, .flags = 0};
  tenon_string reason = {};
  EXPECT_SUCCESS(
      TestDevice::calls().prepare_loop(bench.device(), &request, &handle_, &traits, &reason));
}

const tenon_kernel* PreparedKernel::line_of(uint32_t op) {
  const tenon_plugin& plugin = TestDevice::plugin();
  const std::span lines(plugin.kernels, plugin.n_kernels);
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const tenon_kernel& each) { return each.op == op; });
  return line == lines.end() ? nullptr : &*line;
}

PreparedKernel::~PreparedKernel() {
  if (handle_ != nullptr) TestDevice::calls().release_kernel(handle_);
}

std::vector<uint32_t> add_shader() {
  std::vector<uint32_t> words;
  const spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_1);
  EXPECT_TRUE(tools.Assemble(kAddShader, &words));
  EXPECT_TRUE(tools.Validate(words));
  return words;
}

AddKernel::AddKernel(tenon_device_p* device, uint64_t products) : products_(products) {
  EXPECT_SUCCESS(make_pipeline(device, add_shader(), 3, &pipeline_));
}

tenon_error* AddKernel::enqueue(Encoder& encoder, const tenon_launch& launch) const {
  const Operand operands[] = {operand_of(launch, 0), operand_of(launch, 1), operand_of(launch, 2)};
  const auto n = static_cast<uint32_t>(launch.outputs[0].sizes[0]);
  const bool repeats = launch.inputs[1].strides_class == TENON_STRIDES_UNIFORM;
  const uint32_t words[] = {n, repeats ? 0u : 1u};
  return encoder.dispatch({.pipeline = pipeline_.get(),
                           .operands = operands,
                           .words = words,
                           .groups = {(n + 63) / 64, 1, 1},
                           .products = products_});
}

AddLaunch::AddLaunch(const Place& a, const Place& b, const Place& out) : views_(), launch_() {
  const Place* const places[] = {&a, &b, &out};
  for (size_t i = 0; i < 3; ++i) {
    const Place& place = *places[i];
    sizes_[i] = place.n;
    views_[i].buffer = place.memory == nullptr ? nullptr : place.memory->get();
    views_[i].byte_offset = place.offset;
    views_[i].data = const_cast<uint32_t*>(place.value);
    views_[i].sizes = &sizes_[i];
    views_[i].strides = &stride_;
    views_[i].dtype = TENON_UINT32;
    views_[i].rank = 1;
    views_[i].strides_class = place.n == 1 ? TENON_STRIDES_UNIFORM : TENON_STRIDES_DENSE;
  }
  launch_.struct_size = sizeof launch_;
  launch_.n_inputs = 2;
  launch_.n_outputs = 1;
  launch_.inputs = views_;
  launch_.outputs = views_ + 2;
}

}  // namespace tenon_vulkan::testing
