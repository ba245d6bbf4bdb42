// What moving a stage's bucket takes, in each way that a plan moves it: gathered, reduced, to the host and back. Each alone on its links.
#pragma once

#include <vector>

#include "planner/plan_prices.h"

namespace planner {

struct BucketPlace {
  const std::vector<sim::Bucket>& buckets;  // of the stage
  sim::StageIndex stage;
  sim::BucketIndex index;
};

BucketPrice bucket_price(const Pricer& pricer, const sim::ParallelPlan& plan, const BucketPlace& place);

}  // namespace planner
