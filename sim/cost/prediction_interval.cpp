#include "sim/cost/prediction_interval.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <set>
#include <sstream>
#include <string>

#include "sim/clock/behavior.h"
#include "sim/cost/host_share.h"
#include "sim/cost/modelled_kernels.h"
#include "sim/cost/plan_likeness.h"

namespace sim {
namespace {

// Four of five of a normal error lie within 1.6 times its mean size. Mean sizes: examples/figures.py (README), plans of two ranks on a CPU.
constexpr double kFourOfFive = 1.6;
constexpr double kMeasured = kFourOfFive * 0.08;     // after `measure`
constexpr double kCalibrated = kFourOfFive * 0.045;  // after `calibrate` by two other plans
constexpr double kDataSheet = 0.4;                   // a roofline: 15.9 to 26 % mean error on published runs

// Of the quotient of two predictions, in standard deviations of one: what remains where the plans are alike, and what is added where they are not.
constexpr double kOwn = 0.3, kApart = 1.0;
constexpr double kHalfWidths = 1.2816;  // standard deviations of a normal to either side that hold 80 %

// The share of Student's distribution of three degrees that is below.
double below_of_student(double value) {
  const double at = value / std::numbers::sqrt3;
  return 0.5 + (at / (1 + at * at) + std::atan(at)) / std::numbers::pi;
}

struct Form {
  std::string_view name;
  bool (*stands)(const ParallelPlan&);
  double Behavior::*novelty = nullptr;  // how much wider it makes the interval where no fitted run had it; null: they had
  double Behavior::*late = nullptr;     // the same of the upper end alone
};

bool has_host(const ParallelPlan& plan) {  // of a CPU it is itself
  return plan.cluster.hardware.kind == DeviceKind::Gpu && (plan.offload_optimizer || plan.keeps_on_host());
}

constexpr Form kForms[] = {
    {"data", [](const ParallelPlan& plan) { return plan.mesh.data > 1; }},
    {"sharded", [](const ParallelPlan& plan) { return plan.zero_stage > 1; }},
    {"tensor", [](const ParallelPlan& plan) { return plan.mesh.tensor > 1; }},
    {"pipeline", [](const ParallelPlan& plan) { return plan.mesh.pipeline > 1; }},
    {"nodes", [](const ParallelPlan& plan) { return plan.cluster.nodes() > 1; }},
    {"context", [](const ParallelPlan& plan) { return plan.mesh.context > 1; }, &Behavior::novel_context},
    {"experts", [](const ParallelPlan& plan) { return plan.model.experts.has_value(); }, &Behavior::novel_experts, &Behavior::late_experts},
    {"adapters", [](const ParallelPlan& plan) { return plan.model.adapters.has_value(); }, &Behavior::novel_low_rank},
    {"latent", [](const ParallelPlan& plan) { return plan.model.attention.kind == AttentionKind::Latent; }, &Behavior::novel_latent},
    {"sparse", [](const ParallelPlan& plan) { return plan.model.attention.is_sparse(); }, &Behavior::novel_sparse},
    {"linear", [](const ParallelPlan& plan) { return plan.model.linear.has_value(); }, &Behavior::novel_linear},
    {"window", [](const ParallelPlan& plan) { return plan.model.window > 0; }, &Behavior::novel_sliding},
    {"convolutions",
     [](const ParallelPlan& plan) { return plan.model.convolution && plan.model.convolution->kind != ConvolutionKind::Residual; },
     &Behavior::novel_convolution},
    {"offload", has_host, &Behavior::novel_offload, &Behavior::late_offload},
    {"pair", [](const ParallelPlan& plan) { return plan.model.encoder.has_value() && !plan.model.bidirectional; }, &Behavior::novel_pair},
    {"slices", [](const ParallelPlan& plan) { return plan.slices > 1; }, &Behavior::novel_slices}};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// A program whose constants come of runs on other parts, and a part that runs of other programs were fitted to: what of the program's speed was those
// parts' is not known. The interval of a part that no run was fitted to says as much by itself.
bool never_met(const Cluster& cluster) {
  constexpr double kFittedPart = 0.05;  // the widest interval of a part that rows were fitted to
  const SoftwareStack& stack = cluster.software;
  const bool both_are_fitted = !stack.fitted_parts.empty() && cluster.hardware.kernels->interval <= kFittedPart;
  return both_are_fitted && stack.learned_interval == 0 && !words_of(stack.fitted_parts).contains(cluster.hardware.name);
}

}  // namespace

double PredictionInterval::below() const { return std::min(0.95, std::hypot(half_width, faster)); }
double PredictionInterval::above() const { return std::hypot(half_width, late, slower); }

PredictionInterval prediction_interval(const Cluster& cluster) {
  const HardwareProfile& hardware = cluster.hardware;
  if (!hardware.corrections.empty()) return {kCalibrated, "calibrated by runs on this device"};
  if (!hardware.measured.empty()) return {kMeasured, "kernels measured on this device"};
  if (is_modelled(hardware))
    return {std::hypot(cluster.software.interval, hardware.kernels->interval),
            "published runs, of this GPU model and software as far as there are any"};
  return {kDataSheet, "a data sheet alone"};
}

std::vector<std::string_view> forms_of(const ParallelPlan& plan) {
  std::vector<std::string_view> forms;
  for (const Form& form : kForms)
    if (form.stands(plan)) forms.push_back(form.name);
  return forms;
}

PredictionInterval prediction_interval(const ParallelPlan& plan) {
  PredictionInterval interval = prediction_interval(plan.cluster);
  const std::set<std::string> learned = words_of(plan.cluster.software.learned_forms);
  const bool has_learned = plan.cluster.software.learned_interval > 0;
  const bool all_learned = has_learned && std::ranges::all_of(kForms, [&](const Form& form) {
                             return form.novelty || !form.stands(plan) || learned.contains(std::string(form.name));
                           });
  if (all_learned) interval = {plan.cluster.software.learned_interval, "runs of this program on this machine"};
  double square = interval.half_width * interval.half_width, late = 0;
  for (const Form& form : kForms) {
    if (!form.novelty || !form.stands(plan) || (all_learned && learned.contains(std::string(form.name)))) continue;
    const double width = common_behavior().*form.novelty;
    square += width * width;
    if (form.late) late = std::hypot(late, common_behavior().*form.late);
  }
  interval.half_width = std::sqrt(square);
  interval.late = late;
  if (all_learned || !is_modelled(plan.cluster.hardware)) return interval;
  if (is_unread(plan.cluster.software)) interval.late = std::hypot(interval.late, common_behavior().late_program);
  if (never_met(plan.cluster)) interval.late = std::hypot(interval.late, common_behavior().late_part);
  const HostDoubt host = host_doubt(plan);
  interval.slower = host.slower;
  interval.faster = host.faster;
  return interval;
}

ForeseenStep foreseen(const PredictedStep& step) { return {step.time, prediction_interval(step.plan).half_width, likeness_of(step.plan)}; }

double chance_faster(const ForeseenStep& step, const ForeseenStep& than) {
  const double width = std::log1p(std::max(step.half_width, than.half_width)) / kHalfWidths;
  const double left = width * std::sqrt(kOwn * kOwn + kApart * kApart * 2 * (1 - alike(step.like, than.like)));
  return below_of_student(std::log(than.time / step.time) / left);
}

double chance_faster(const PredictedStep& step, const PredictedStep& than) { return chance_faster(foreseen(step), foreseen(than)); }

}  // namespace sim
