#include "tests/executor/checked_device/recording.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

at::TensorOptions on_device() { return at::TensorOptions().dtype(at::kDouble).device(checked_device()); }
double first(const at::Tensor& tensor) { return tensor.cpu().data_ptr<double>()[0]; }

// Behind whatever other tests have left undone.
class Recording : public testing::Test {
 protected:
  void SetUp() override { c10::impl::VirtualGuardImpl(checked_device().type()).synchronizeDevice(0); }
};

TEST_F(Recording, IsPerformedAgainOnWhatItsPlacesHold) {
  const at::Tensor input = at::full({2, 2}, 2.0, on_device()), sum = at::full({2, 2}, 1.0, on_device());
  begin_recording();
  const at::Tensor product = at::mm(input, input);
  sum.zero_().add_(product);
  const auto replay = end_recording();
  EXPECT_TRUE(std::isnan(first(product))) << "nothing is there before the first replay";
  replay();
  EXPECT_EQ(first(sum), 8);
  input.fill_(3.0);
  replay();
  EXPECT_EQ(first(sum), 18);
  EXPECT_EQ(first(product), 18);
}

TEST_F(Recording, KeepsTheHostsNumbersAndTheOldPlaces) {
  at::Tensor input = at::ones({1}, on_device());
  double factor = 2;
  begin_recording();
  const at::Tensor output = input.mul(factor);
  const auto replay = end_recording();
  factor = 5;
  const at::Tensor old = std::exchange(input, at::full({1}, 7.0, on_device()));
  replay();
  EXPECT_EQ(first(output), 2) << "as a graph: who bakes a number in, or moves a tensor, is seen";
}

// Each on its own: a recording that was refused is given up.
void expect_refused(const std::function<void(const at::Tensor&)>& what) {
  const at::Tensor numbers = at::ones({4}, on_device());
  c10::Event event(checked_device().type());
  begin_recording();
  EXPECT_THROW(what(numbers), c10::Error);
  give_up_recording();
}

TEST_F(Recording, RefusesWhatAHostWouldWaitFor) {
  expect_refused([](const at::Tensor& numbers) { static_cast<void>(numbers.cpu()); });
  expect_refused([](const at::Tensor& numbers) { numbers.copy_(at::ones({4}, at::kDouble)); });
  expect_refused([](const at::Tensor& numbers) { static_cast<void>(numbers.select(0, 0).item<double>()); });
  expect_refused([](const at::Tensor& numbers) { at::nonzero(numbers); });
  expect_refused([](const at::Tensor&) { c10::impl::VirtualGuardImpl(checked_device().type()).synchronizeDevice(0); });
  expect_refused([](const at::Tensor&) {
    c10::Event event(checked_device().type());
    event.record(c10::impl::VirtualGuardImpl(checked_device().type()).getStream(checked_device()));
    static_cast<void>(event.query());
  });
}

using Device = c10::impl::VirtualGuardImpl;
c10::Stream other_stream() { return Device(checked_device().type()).getStreamFromGlobalPool(checked_device()); }
c10::Event marked(const c10::Stream& stream) {
  c10::Event event(checked_device().type());
  event.record(stream);
  return event;
}
c10::Stream own_stream() { return Device(checked_device().type()).getStream(checked_device()); }

TEST_F(Recording, TakesInAStreamThatWaitsForIt) {
  const at::Tensor input = at::full({1}, 2.0, on_device()), sum = at::full({1}, 1.0, on_device());
  const c10::Stream other = other_stream();
  begin_recording();
  marked(own_stream()).block(other);
  {
    const c10::StreamGuard on(other);
    sum.add_(input);
  }
  marked(other).block(own_stream());
  const auto replay = end_recording();
  EXPECT_EQ(first(sum), 3) << "operators compute while they are recorded";
  replay();
  EXPECT_EQ(first(sum), 5);
}

TEST_F(Recording, RefusesAStreamThatIsNeverWaitedFor) {
  const at::Tensor sum = at::full({1}, 1.0, on_device());
  const c10::Stream other = other_stream();
  begin_recording();
  marked(own_stream()).block(other);
  {
    const c10::StreamGuard on(other);
    sum.add_(1.0);
  }
  EXPECT_THROW(end_recording(), c10::Error);
}

TEST_F(Recording, RefusesEventsOfOutsideAndMemoryOfOtherStreams) {
  const c10::Event before = marked(own_stream());
  expect_refused([&](const at::Tensor&) { before.block(own_stream()); });
  const c10::Stream other = other_stream();
  expect_refused([&](const at::Tensor&) {
    const c10::StreamGuard on(other);
    at::ones({4}, on_device());
  });
}

TEST_F(Recording, ItsEventsSayNothingToTheHostAfterwards) {
  begin_recording();
  const c10::Event inside = marked(own_stream());
  end_recording();
  EXPECT_THROW(static_cast<void>(inside.query()), c10::Error);
  EXPECT_THROW(inside.block(other_stream()), c10::Error);
}

TEST_F(Recording, RefusesToBeReplayedOnMemoryThatWasGivenUp) {
  at::Tensor input = at::ones({1}, on_device());
  const at::Tensor sum = at::ones({1}, on_device());
  begin_recording();
  sum.add_(input);
  const auto replay = end_recording();
  replay();
  input.reset();
  EXPECT_THROW(replay(), c10::Error);
}

}  // namespace
}  // namespace executor
