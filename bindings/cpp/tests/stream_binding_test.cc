// Streams of asynchronous devices, and events.

#include <gtest/gtest.h>

#include <tenon/async.hpp>
#include <tenon/tenon.hpp>

namespace tenon {
namespace {

#ifdef TENON_FAKE_PLUGIN
// A context in which the stream that was opened last runs first, unless events order the streams.
Context out_of_order_context() {
  return Context({.plugin_paths = {TENON_FAKE_PLUGIN},
                  .plugin_options = {{"fake", "out_of_order", "1"}, {"fake", "delay_us", "500"}}});
}

TEST(StreamBindingTest, ResultsOfOneStreamAreInputsOnAnother) {
  const Context context = out_of_order_context();
  const Scope first(context, "fake"), second(context, "fake");
  second.set_stream(Stream(second.device()));
  const Tensor x = [&] {
    const ScopeGuard in(first);
    return vector<float>({1, 2}) * 2;
  }();
  const ScopeGuard in(second);
  EXPECT_EQ((x + 1).to_vector<float>(), (std::vector<float>{3, 5}));
}

TEST(StreamBindingTest, AnEventIsReachedAfterTheEarlierWork) {
  const Context context = out_of_order_context();
  const Scope scope(context, "fake");
  const ScopeGuard in(scope);
  const Stream initial = scope.stream();
  const Stream other(scope.device());
  const Tensor x = -vector<float>({1, 2});
  const Event event = initial.record_event();
  other.wait_event(event);
  const Event last = other.record_event();
  wait_async(last).get();
  EXPECT_TRUE(event.is_reached());
  EXPECT_TRUE(last.is_reached());
  last.wait();
}

TEST(StreamBindingTest, AScopeReturnsToTheDefaultStream) {
  const Context context = out_of_order_context();
  const Scope scope(context, "fake");
  const ScopeGuard in(scope);
  const Tensor x = vector<float>({1, 2});
  scope.set_stream(Stream(scope.device()));
  const Tensor y = -x;
  scope.reset_streams();
  EXPECT_EQ((-y).to_vector<float>(), (std::vector<float>{1, 2}));
}
#endif

TEST(StreamBindingTest, ASynchronousDeviceAcceptsStreams) {
  const Scope scope(Context::shared(), "ref");
  const ScopeGuard in(scope);
  const Stream stream(scope.device());
  scope.set_stream(stream);
  const Tensor x = vector<float>({1, 2}) * 2;
  const Event event = stream.record_event();
  stream.wait_event(event);
  event.wait();
  EXPECT_TRUE(event.is_reached());
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace tenon
