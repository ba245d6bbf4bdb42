#include "sim/allocator/caching_allocator.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr Bytes mib(std::int64_t count) { return Bytes(count * kMiB); }
constexpr std::int32_t kStream = 0, kOther = 1;

TEST(CachingAllocator, SegmentsAreAsLargeAsTheirClass) {
  CachingAllocator allocator(DeviceAllocator::Segments);
  allocator.take(Bytes(1), kStream);
  EXPECT_EQ(allocator.reserved(), mib(2)) << "up to 1 MiB";
  allocator.take(mib(1) + Bytes(1), kStream);
  EXPECT_EQ(allocator.reserved(), mib(22)) << "below 10 MiB";
  allocator.take(mib(11), kOther);
  EXPECT_EQ(allocator.reserved(), mib(34)) << "in steps of 2 MiB";
}

TEST(CachingAllocator, WhatIsFreeIsGivenOutAgainToItsStreamAlone) {
  CachingAllocator allocator(DeviceAllocator::Segments);
  allocator.give_back(*allocator.take(mib(100), kStream));
  allocator.take(mib(60), kStream);
  EXPECT_EQ(allocator.reserved(), mib(100));
  allocator.take(mib(40), kStream);
  EXPECT_EQ(allocator.reserved(), mib(100)) << "what was left over";
  CachingAllocator second(DeviceAllocator::Segments);
  second.give_back(*second.take(mib(100), kStream));
  second.take(mib(60), kOther);
  EXPECT_EQ(second.reserved(), mib(160));
}

TEST(CachingAllocator, NeighboursAreOneBlockAgain) {
  CachingAllocator allocator(DeviceAllocator::Segments);
  allocator.give_back(*allocator.take(mib(90), kStream));
  const auto first = allocator.take(mib(30), kStream), second = allocator.take(mib(30), kStream), third = allocator.take(mib(30), kStream);
  allocator.give_back(*first);
  allocator.give_back(*third);
  allocator.take(mib(60), kStream);
  EXPECT_EQ(allocator.reserved(), mib(150)) << "two pieces of 30 are none of 60";
  allocator.give_back(*second);
  allocator.take(mib(90), kStream);
  EXPECT_EQ(allocator.reserved(), mib(150));
}

TEST(CachingAllocator, AFullDeviceTakesBackSegmentsThatNothingIsIn) {
  CachingAllocator allocator(DeviceAllocator::Segments, mib(100));
  allocator.give_back(*allocator.take(mib(60), kStream));
  EXPECT_TRUE(allocator.take(mib(80), kStream));
  EXPECT_EQ(allocator.reserved(), mib(80));
  EXPECT_FALSE(allocator.take(mib(40), kStream)) << "out of memory";
  EXPECT_EQ(allocator.most_reserved(), mib(80));
}

TEST(CachingAllocator, AGrowingSegmentTakesWhatItsEndLacks) {
  CachingAllocator allocator(DeviceAllocator::Expandable);
  allocator.give_back(*allocator.take(mib(60), kStream));
  allocator.take(mib(100), kStream);
  EXPECT_EQ(allocator.reserved(), mib(100)) << "in steps of 20 MiB";
  CachingAllocator apart(DeviceAllocator::Segments);
  apart.give_back(*apart.take(mib(60), kStream));
  apart.take(mib(100), kStream);
  EXPECT_EQ(apart.reserved(), mib(160));
}

}  // namespace
}  // namespace sim
