#include "gui/pages/memory_source.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <mutex>

#include "gui/models/cells.h"
#include "gui/models/plan_tables.h"
#include "gui/models/trace_tables.h"
#include "sim/cost/memory_interval.h"
#include "sim/units/at.h"

namespace gui {
namespace {

QString phrase(const char* text) { return QCoreApplication::translate("MemorySource", text); }

std::vector<std::pair<QString, sim::MemoryCategory>> snapshotLegend() {
  return {{phrase("before the recording"), memoryOf(AllocatedIn::Before)},
          {phrase("in forward"), memoryOf(AllocatedIn::Forward)},
          {phrase("in backward"), memoryOf(AllocatedIn::Backward)},
          {phrase("in the optimizer"), memoryOf(AllocatedIn::Optimizer)},
          {phrase("elsewhere"), memoryOf(AllocatedIn::Elsewhere)}};
}

// Four of five are expected in it.
MemoryBand plannedBand(const SimulatedPlan& plan, sim::DeviceId device) {
  const sim::DeviceResult& result = plan.result.devices[device.position()];
  const sim::MemoryInterval interval = sim::memory_interval(plan.plan, result.at_peak);
  return {.share = interval.half_width,
          .above = interval.high(sim::Bytes{}),
          .name = phrase("80 % interval"),
          .out_of_memory = interval.chance_above(result.peak_memory, sim::usable_memory(plan.plan.cluster))};
}

// Made when they are first asked for, on whatever thread.
class PlannedBlocks {
 public:
  explicit PlannedBlocks(SharedPlan plan) : plan_(std::move(plan)) {}
  const std::vector<sim::MemoryBlock>& of(int device) {
    std::call_once(once_, [this] { ranks_ = blocksOf(*plan_); });
    return ranks_[sim::at(plan_->shown().devices.devices(), device).source.position()].blocks;
  }

 private:
  SharedPlan plan_;
  std::once_flag once_;
  std::vector<sim::RankMemory> ranks_;
};

}  // namespace

MeasuredMemory measuredBy(const SharedRun& run) {
  const auto level = [run](sim::Rank rank) {
    std::vector<sim::MemorySample> samples;
    for (const sim::RankTrace& trace : run->traces)
      for (const sim::MeasuredStep& step : trace.steps)
        if (trace.rank == rank && step.step == run->step && step.peak_memory > sim::Bytes(0))
          samples.push_back({.device = {}, .time = {}, .alive = {step.peak_memory}});
    return MemoryCurve(std::move(samples));
  };
  const sim::Comparison& all = run->comparison;
  const bool known = all.memory_measured > sim::Bytes(0);
  return {phrase("measured peak"), level, known ? std::abs(all.memory_simulated / all.memory_measured - 1) : 0};
}

MeasuredMemory measuredBy(const SharedSnapshot& snapshot) {
  const auto curve = [snapshot](sim::Rank rank) {
    for (const SnapshotDevice& device : snapshot->devices)
      if (device.number == rank.value()) return MemoryCurve(device.curve);
    return snapshot->devices.size() == 1 ? MemoryCurve(snapshot->devices.front().curve) : MemoryCurve();
  };
  return {phrase("measured by the snapshot"), curve};
}

MemorySource memoryOfPlan(const SharedPlan& plan, const MeasuredMemory& measured) {
  MemorySource source;
  for (const ShownDevice& shown : plan->shown().devices.devices()) {
    const sim::GraphDevice& device = shown.device;
    const QString name = device.multiplicity > 1 ? phrase("stage %1 (%2 ranks)").arg(device.stage.value()).arg(device.multiplicity)
                                                 : phrase("rank %1, stage %2").arg(device.representative.value()).arg(device.stage.value());
    source.devices << phrase("%1: peak %2").arg(name, bytesCell(plan->result.devices[shown.source.position()].peak_memory).text);
  }
  source.picture = [plan, measured](int device) {
    const ShownDevice& shown = sim::at(plan->shown().devices.devices(), device);
    MemoryPicture picture{MemoryCurve(plan->result.timeline, shown.source),
                          {sim::SimTime(0), plan->result.step_time},
                          sim::usable_memory(plan->plan.cluster)};
    picture.band = plannedBand(*plan, shown.source);
    if (!measured.curve) return picture;
    picture.measured = measured.curve(shown.device.representative);
    picture.measured_name = measured.name;
    if (measured.error > 0) picture.band = {.share = measured.error, .name = phrase("as far off as the run")};
    picture.all.end = std::max(picture.all.end, picture.measured.end());
    return picture;
  };
  source.alive = [plan](int device, sim::SimTime time) {
    return aliveTable(aliveAt(*plan, {sim::at(plan->shown().devices.devices(), device).source, time}));
  };
  const auto blocks = std::make_shared<PlannedBlocks>(plan);
  source.by_layer = [plan, blocks](int device, sim::SimTime time) {
    return tensorsTable(tensorsAt(blocks->of(device), time), plan->model.head());
  };
  source.stripes = [blocks](int device) {
    std::vector<MemoryStripe> stripes;
    for (LayerStripe& stripe : stripesOf(blocks->of(device))) stripes.push_back({stripe.category, MemoryCurve(std::move(stripe.samples))});
    return stripes;
  };
  return source;
}

MemorySource memoryOfSnapshot(const SharedSnapshot& snapshot) {
  MemorySource source;
  std::int64_t malformed = 0;
  for (const SnapshotDevice& device : snapshot->devices) {
    source.devices << phrase("device %1: %2")
                          .arg(device.number)
                          .arg(countText(std::ssize(device.allocations), phrase("1 allocation"), phrase("%L1 allocations")));
    malformed += device.malformed;
  }
  source.picture = [snapshot](int at) {
    const SnapshotDevice& device = sim::at(snapshot->devices, at);
    return MemoryPicture{MemoryCurve(device.curve),
                         {sim::SimTime(0), device.length + sim::SimTime(1)},
                         device.most_reserved,
                         phrase("reserved from the driver"),
                         snapshotLegend()};
  };
  source.alive = [snapshot](int at, sim::SimTime time) {
    const SnapshotDevice& device = sim::at(snapshot->devices, at);
    return ownedTable(aliveAt(device, time), snapshot->owners, device.before);
  };
  source.note = QFileInfo(QString::fromStdString(snapshot->path)).fileName();
  if (malformed > 0) source.note += phrase("; malformed events left out: %L1").arg(malformed);
  return source;
}

}  // namespace gui
