#include "sim/cost/plan_likeness.h"

#include <cmath>

#include "sim/units/at.h"

namespace sim {
namespace {

// In logarithms: a factor of four of a degree, of tokens or nodes makes half a difference, a factor of two of the width, twenty of the devices.
constexpr double kDegree = 1.4, kWidth = 0.7, kDevices = 3;

double units(std::int64_t count, double unit) { return std::log(static_cast<double>(std::max<std::int64_t>(1, count))) / unit; }

}  // namespace

Likeness likeness_of(const ParallelPlan& plan) {
  const ModelConfig& model = plan.model;
  Likeness like;
  if (model.experts) like.kind += "experts ";
  if (model.convolution) like.kind += "convolutions ";
  if (model.window > 0) like.kind += "window ";
  if (model.attention.kind == AttentionKind::Latent) like.kind += "latent ";
  if (model.adapters) like.kind += "adapters";
  like.numbers = to_text(plan.workload.precision);
  if (model.adapters) like.numbers += sim::at(kBaseFormatNames, model.adapters->base);
  like.at = {units(plan.mesh.tensor, kDegree),     units(plan.mesh.pipeline, kDegree),   units(plan.mesh.expert, kDegree),
             units(plan.cluster.nodes(), kDegree), units(plan.microbatch_size, kDegree), units(plan.workload.sequence, kDegree),
             units(model.hidden, kWidth),          units(plan.mesh.ranks(), kDevices)};
  return like;
}

}  // namespace sim
