#include "tests/executor/checked_device/checked_device.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

at::TensorOptions there() { return at::TensorOptions().dtype(at::kDouble).device(checked_device()); }
c10::Stream another_stream() { return c10::impl::VirtualGuardImpl(checked_device().type()).getStreamFromGlobalPool(checked_device()); }
c10::Stream this_stream() { return c10::impl::VirtualGuardImpl(checked_device().type()).getStream(checked_device()); }

TEST(CheckedDevice, ComputesWhatTheCpuComputes) {
  const at::Tensor host = at::arange(12, at::kDouble).view({3, 4}), device = host.to(checked_device());
  EXPECT_TRUE(at::mm(device, device.t()).cpu().equal(at::mm(host, host.t())));
  at::Tensor row = device.select(0, 1);
  row.add_(1);
  EXPECT_EQ(device.cpu().select(0, 1).sum().item<double>(), 26);
}

TEST(CheckedDeviceDeathTest, TheHostCannotTouchItsMemory) {
  const at::Tensor device = at::ones({4}, there());
  EXPECT_DEATH(device.data_ptr<double>()[0] = 2, "");
}

TEST(CheckedDevice, RefusesAUseThatIsNotOrderedAfterTheLast) {
  const at::Tensor device = at::ones({4}, there());
  const c10::Stream other = another_stream();
  const c10::StreamGuard guard(other);
  EXPECT_THROW(device.sum(), c10::Error);
}

TEST(CheckedDevice, AnEventOrders) {
  const at::Tensor device = at::ones({4}, there());
  c10::Event made(checked_device().type());
  made.record(this_stream());
  const c10::Stream other = another_stream();
  made.block(other);
  const c10::StreamGuard guard(other);
  EXPECT_EQ(device.sum().item<double>(), 4);
}

TEST(CheckedDevice, RefusesFreedMemoryThatAnotherStreamMayStillUse) {
  at::Tensor device = at::full({512}, 3, there());
  c10::Event made(checked_device().type());
  made.record(this_stream());
  const c10::Stream other = another_stream();
  made.block(other);
  {
    const c10::StreamGuard guard(other);
    device.sum();
  }
  device.reset();
  EXPECT_THROW(at::full({512}, 4, there()), c10::Error) << "the same memory, and the other stream may still read it";
}

}  // namespace
}  // namespace executor
