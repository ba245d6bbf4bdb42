#include "sim/cost/prediction_interval.h"

#include <algorithm>
#include <cmath>

#include "sim/clock/behavior.h"
#include "sim/clock/spread.h"
#include "sim/cost/modelled_kernels.h"

namespace sim {
namespace {

// Four of five of a normal error lie within 1.6 times its mean size. Mean sizes: examples/figures.py (README), plans of two ranks on a CPU.
constexpr double kFourOfFive = 1.6;
constexpr double kMeasured = kFourOfFive * 0.08;     // after `measure`
constexpr double kCalibrated = kFourOfFive * 0.045;  // after `calibrate` by two other plans
constexpr double kDataSheet = 0.4;                   // a roofline: 15.9 to 26 % mean error on published runs

}  // namespace

PredictionInterval prediction_interval(const Cluster& cluster) {
  const HardwareProfile& hardware = cluster.hardware;
  if (!hardware.corrections.empty()) return {kCalibrated, "calibrated by runs on this device"};
  if (!hardware.measured.empty()) return {kMeasured, "kernels measured on this device"};
  if (is_modelled(hardware))
    return {std::hypot(cluster.software.interval, hardware.kernels->interval),
            "published runs, of this part and software as far as there are any"};
  return {kDataSheet, "a data sheet alone"};
}

PredictionInterval prediction_interval(const ParallelPlan& plan) {
  PredictionInterval interval = prediction_interval(plan.cluster);
  const Behavior& known = common_behavior();
  const double context = plan.mesh.context > 1 ? known.novel_context : 0, experts = plan.model.experts ? known.novel_experts : 0;
  const double windows = plan.model.window > 0 ? known.novel_sliding : 0, adapters = plan.model.adapters ? known.novel_low_rank : 0;
  const double latent = plan.model.attention.kind == AttentionKind::Latent ? known.novel_latent : 0;
  const bool has_host =
      plan.cluster.hardware.kind == DeviceKind::Gpu && (plan.offload_optimizer || plan.offload_activations);  // of a CPU it is itself
  interval.half_width = std::hypot(std::hypot(interval.half_width, context, experts), latent,
                                   std::hypot(windows, adapters, has_host ? known.novel_offload : 0));
  return interval;
}

double chance_faster(const PredictedStep& step, const PredictedStep& than) {
  const double wider = std::max(prediction_interval(step.plan).half_width, prediction_interval(than.plan).half_width);
  return 1 - chance_above(FourOfFive{step.time.count() / (1 + wider), step.time.count() * (1 + wider)}, than.time.count());
}

}  // namespace sim
