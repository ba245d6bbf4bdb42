#include "gui/core/knobs.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sim/units/input_error.h"

namespace gui {
namespace {

using Plan = sim::ParallelPlan;

// They follow from others, or have a picture of their own.
constexpr std::array<std::string_view, 4> kNoKnobs = {"data", "microbatches", "order", "cut"};

std::vector<Knob> makeKnobs() {
  std::vector<Knob> knobs;
  for (const sim::PlanField& field : sim::plan_fields()) {
    if (field.role != sim::FieldRole::Layout || std::find(kNoKnobs.begin(), kNoKnobs.end(), field.name) != kNoKnobs.end()) continue;
    knobs.push_back({&field, field.name == "vocabulary_multiple"});
  }
  return knobs;
}

void shareDevices(Plan& plan) {
  plan.mesh.data = std::max(1, plan.cluster.devices / std::max(1, plan.mesh.tensor * plan.mesh.pipeline * plan.mesh.context));
  const std::int32_t copies = plan.mesh.copies();
  if (copies % plan.mesh.replicas != 0 || plan.mesh.replicas >= copies) plan.mesh.replicas = 1;
  if (copies % plan.mesh.expert != 0) plan.mesh.expert = 1;
}

void takeChunksOfSchedule(Plan& plan) {
  const sim::Schedule* schedule = sim::find_schedule(plan.schedule);
  if (schedule == nullptr || canHave(*schedule, plan, plan.chunks)) return;
  for (const std::int32_t chunks : {1, 2})
    if (canHave(*schedule, plan, chunks)) plan.chunks = chunks;
}

void takeScheduleOfChunks(Plan& plan) {
  const sim::Schedule* schedule = sim::find_schedule(plan.schedule);
  if (schedule == nullptr || canHave(*schedule, plan, plan.chunks)) return;
  for (const sim::Schedule& other : sim::all_schedules())
    if (canHave(other, plan, plan.chunks)) plan.schedule = other.name;
  const sim::Schedule* usual = sim::find_schedule(Plan().schedule);
  if (canHave(*usual, plan, plan.chunks)) plan.schedule = usual->name;
}

void cutAnew(Plan& plan) {
  if (static_cast<std::int64_t>(plan.mesh.pipeline) * plan.chunks <= plan.model.inner_layers())
    plan.cut = sim::even_cut(plan.model.inner_layers(), plan.pipeline_shape());
}

}  // namespace

bool canHave(const sim::Schedule& schedule, const sim::ParallelPlan& plan, std::int32_t chunks) {
  sim::PipelineShape shape = plan.pass_shape();
  shape.chunks = chunks;
  return !schedule.why_unsupported(shape);
}

std::span<const Knob> allKnobs() {
  static const std::vector<Knob> knobs = makeKnobs();
  return knobs;
}

sim::ParallelPlan turned(sim::ParallelPlan plan, const Turn& turn) {
  const std::int32_t stages = plan.mesh.pipeline, chunks = plan.chunks;
  const sim::Recompute recompute = plan.recompute;
  const std::vector<sim::Violation> faults = sim::plan_field(turn.name).access.set(plan, turn.value);
  if (!faults.empty()) throw sim::InputError("", faults);
  plan.predictions.reset();
  shareDevices(plan);
  if (plan.mesh.pipeline == 1 && stages > 1) plan.chunks = 1;
  if (plan.recompute != recompute) plan.recompute_scope = {};  // modules are a word of "selective", blocks one of "full"
  if (turn.name == "schedule")
    takeChunksOfSchedule(plan);
  else if (turn.name == "chunks" || turn.name == "pipeline")
    takeScheduleOfChunks(plan);
  if (plan.mesh.pipeline != stages || plan.chunks != chunks || turn.name == "mtp_apart") cutAnew(plan);
  return plan;
}

std::int64_t stepped(const sim::ParallelPlan& plan, const Knob& knob, int steps) {
  constexpr std::int64_t kFarthest = 1024;  // values that are tried
  auto value = std::get<std::int64_t>(knob.field->access.get(plan));
  const std::int64_t by = steps < 0 ? -1 : 1;
  const auto within = [&](std::int64_t wanted) {
    return std::clamp(wanted, static_cast<std::int64_t>(knob.field->range.low), static_cast<std::int64_t>(knob.field->range.high));
  };
  for (int step = 0; step < std::abs(steps); ++step) {
    if (knob.doubles) {
      value = within(by > 0 ? 2 * value : value / 2);
      continue;
    }
    std::int64_t next = value + by;
    const auto is_tried = [&] { return std::abs(next - value) <= kFarthest && within(next) == next; };
    const auto can_be = [&](std::int64_t wanted) { return sim::violations(turned(plan, {knob.field->name, wanted})).empty(); };
    while (is_tried() && !can_be(next)) next += by;
    if (is_tried())
      value = next;
    else if (!can_be(value))
      value = within(value + by);
  }
  return value;
}

sim::ParallelPlan movedBoundary(sim::ParallelPlan plan, const Boundary& boundary) {
  std::vector<sim::LayerIndex>& first = plan.cut.first;
  if (boundary.part == 0 || boundary.part >= first.size()) return plan;
  const bool last = boundary.part + 1 == first.size();
  const auto behind = last ? plan.head().value() + (plan.model.predicts_apart() ? 1 : 0)
                           : first[boundary.part + 1].value();  // a head alone: behind predictions
  const std::int32_t least = first[boundary.part - 1].value() + 1, most = behind - 1;
  if (least > most) return plan;
  first[boundary.part] = sim::LayerIndex(std::clamp(boundary.first.value(), least, most));
  plan.predictions.reset();
  return plan;
}

}  // namespace gui
