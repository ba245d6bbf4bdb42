#include "executor/communication/solo_communicator.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(SoloCommunicator, EveryOperationIsACopyOrNothing) {
  SoloCommunicator solo;
  const at::Tensor values = at::arange(10, at::kFloat), expected = values.clone(), result = at::zeros({10}, at::kFloat);
  solo.all_reduce(values, ReduceOperation::Sum, {})->wait();
  solo.broadcast(values, 0, {})->wait();
  EXPECT_TRUE(at::equal(values, expected));
  solo.reduce_scatter(result, values, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  result.zero_();
  solo.all_gather(result, values, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  solo.all_gather(result, result, {})->wait();  // in place
  EXPECT_TRUE(at::equal(result, expected));
  solo.gather_from_owners({result, {10}}, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  result.zero_();
  solo.reduce_to_owners(result, {values, {10}}, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  const at::Tensor rows = values.view({5, 2}), back = at::zeros({5, 2}, at::kFloat);
  solo.exchange({.sent = rows, .received = back, .to = {5}, .from = {5}}, {})->wait();
  EXPECT_TRUE(at::equal(back, rows));
  result.zero_();
  solo.all_to_all(result, values, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  result.zero_();
  solo.ring_hop(result, values, {})->wait();
  EXPECT_TRUE(at::equal(result, expected));
  EXPECT_EQ(solo.size(), 1);
  EXPECT_EQ(solo.rank(), 0);
}

TEST(SoloCommunicator, RefusesTransfers) {
  SoloCommunicator solo;
  EXPECT_THROW(solo.send(at::zeros({1}), 0, {}), CollectiveError);
  EXPECT_THROW(solo.receive(at::zeros({1}), 0, {}), CollectiveError);
}

}  // namespace
}  // namespace executor
