#include "sim/cost/loss_tokens.h"

#include <cmath>

#include "sim/clock/behavior.h"

namespace sim {

std::int64_t tokens_with_loss(const ParallelPlan& plan) {
  if (plan.model.patches) return plan.microbatch_size;
  const std::int64_t tokens = of_tokens(Tokens::Target, plan.model, plan.shard_shape()).tokens();
  if (!plan.model.bidirectional || !plan.cluster.software.masked_loss) return tokens;
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(tokens) * common_behavior().masked_share));
}

}  // namespace sim
