#include "executor/training/device_streams.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

TEST(DeviceStreams, ACpuHasOneAndNothingToWaitFor) {
  const DeviceStreams streams(c10::kCPU);
  EXPECT_FALSE(streams.are_concurrent());
  EXPECT_FALSE(streams.now_on(DeviceStream::Reduce));
  streams.wait(DeviceStream::Compute, {});
  streams.join();
}

TEST(DeviceStreams, AWaitOrdersWhatIsIssuedLater) {
  const DeviceStreams streams(checked_device());
  const at::Tensor numbers = at::ones({4}, at::TensorOptions().dtype(at::kDouble).device(checked_device()));
  streams.make_current(DeviceStream::Reduce);
  EXPECT_THROW(numbers.add_(1), c10::Error) << "computing filled it";
  streams.wait(DeviceStream::Reduce, streams.now_on(DeviceStream::Compute));
  numbers.add_(1);
  streams.make_current(DeviceStream::Compute);
  EXPECT_THROW(numbers.add_(1), c10::Error) << "reducing wrote to it";
  streams.join();
  numbers.add_(1);
  streams.make_current(DeviceStream::Gather);
  EXPECT_THROW(numbers.sum(), c10::Error);
  streams.split();
  EXPECT_EQ(numbers.sum().item<double>(), 12);
  streams.make_current(DeviceStream::Compute);
}

TEST(DeviceStreams, EventsAreUsedAgain) {
  const DeviceStreams streams(checked_device());
  const DeviceStreams::Moment held = streams.now_on(DeviceStream::Compute);
  const c10::Event* used = streams.now_on(DeviceStream::Gather).get();
  for (int time = 0; time < 3; ++time) {
    const DeviceStreams::Moment again = streams.now_on(DeviceStream::Reduce);
    EXPECT_EQ(again.get(), used);
    EXPECT_NE(again.get(), held.get());
  }
  streams.join();
}

TEST(DeviceStreams, TheHostItselfWaits) {
  const DeviceStreams streams(checked_device());
  const at::Tensor numbers = at::ones({4}, at::TensorOptions().dtype(at::kDouble).device(checked_device())),
                   host = at::zeros({4}, at::kDouble);
  streams.split();
  streams.make_current(DeviceStream::ToHost);
  host.copy_(numbers, /*non_blocking=*/true);
  const DeviceStreams::Moment copied = streams.now_on(DeviceStream::ToHost);
  streams.make_current(DeviceStream::Compute);
  EXPECT_FALSE(host.equal(at::ones({4}, at::kDouble))) << "not there yet";
  EXPECT_FALSE(streams.now_on(DeviceStream::Host));
  streams.wait(DeviceStream::Host, copied);
  EXPECT_TRUE(host.equal(at::ones({4}, at::kDouble)));
}

}  // namespace
}  // namespace executor
