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
  const ModelConfig& model = plan.model;
  const bool has_host =
      plan.cluster.hardware.kind == DeviceKind::Gpu && (plan.offload_optimizer || plan.offload_activations);  // of a CPU it is itself
  double square = interval.half_width * interval.half_width;
  const auto add = [&](bool is_new, double width) { square += is_new ? width * width : 0; };
  add(plan.mesh.context > 1, known.novel_context);
  add(model.experts.has_value(), known.novel_experts);
  add(model.adapters.has_value(), known.novel_low_rank);
  add(model.attention.kind == AttentionKind::Latent, known.novel_latent);
  add(model.window > 0, known.novel_sliding);
  add(model.convolution && model.convolution->kind != ConvolutionKind::Residual, known.novel_convolution);
  add(has_host, known.novel_offload);
  interval.half_width = std::sqrt(square);
  return interval;
}

double chance_faster(const PredictedStep& step, const PredictedStep& than) {
  const double wider = std::max(prediction_interval(step.plan).half_width, prediction_interval(than.plan).half_width);
  return 1 - chance_above(FourOfFive{step.time.count() / (1 + wider), step.time.count() * (1 + wider)}, than.time.count());
}

}  // namespace sim
