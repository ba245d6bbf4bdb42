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

// Of equal layers' parameters, whose places in the model differ.
bool take_the_same(const sim::ModelGraph& model, const sim::Bucket& a, const sim::Bucket& b);

BucketPrice bucket_price(const Pricer& pricer, const sim::ParallelPlan& plan, const BucketPlace& place);

}  // namespace planner
