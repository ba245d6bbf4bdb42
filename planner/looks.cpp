#include "planner/looks.h"

namespace planner {
namespace {

constexpr std::int32_t kFewChunks = 2;

}  // namespace

bool is_plain(const PlanCandidate& candidate) {
  const bool is_usual_sum =
      candidate.accumulation == sim::Accumulation::ReduceLast || candidate.zero_stage == 3;  // which is taken to hold least
  return candidate.scope == sim::RecomputeScope{} && is_usual_sum && candidate.token_dispatcher == sim::TokenDispatcher::AsTheProgram &&
         candidate.layers_per_unit == 1 && candidate.zero_stage != 2;
}

bool is_first(const PlanCandidate& shape, std::int32_t smallest) { return shape.microbatch == smallest && shape.chunks <= kFewChunks; }

}  // namespace planner
