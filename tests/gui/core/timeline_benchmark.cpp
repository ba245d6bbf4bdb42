// Prints what a frame of the timeline costs: rows of random slices, the whole trace visible, 1920 pixels wide. Times are of finding and
// writing one line of pixels a row, in processor time, which a busy machine does not stretch; p99 of a hundred zooms and moves. And what a
// turned knob costs.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>

#include "gui/core/simulated_plan.h"
#include "gui/core/timeline_core.h"

namespace {

gui::TimelineCore randomCore(std::size_t slices, std::size_t rows) {
  std::mt19937_64 random(1);
  std::vector<gui::SliceRow> made(rows);
  for (gui::SliceRow& row : made) {
    std::int64_t time = 0;
    for (std::size_t at = 0; at < slices / rows; ++at) {
      time += static_cast<std::int64_t>(random() % 400);
      row.slices->start.push_back(time);
      time += 1 + static_cast<std::int64_t>(random() % 2000);
      row.slices->end.push_back(time);
      row.slices->kind.push_back(static_cast<gui::WorkKind>(random() % 8));
      row.slices->span.push_back(static_cast<std::uint32_t>(at));
    }
  }
  return gui::TimelineCore(std::move(made));
}

double frame(const gui::TimelineCore& core, const gui::TimeAxis& axis) {
  std::vector<std::uint32_t> line(static_cast<std::size_t>(axis.width().value));
  const std::clock_t begin = std::clock();
  for (gui::RowIndex row{0}; row.value < core.rows().size(); ++row.value) core.paint(row, axis, line);
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void measure(std::size_t slices, std::size_t rows) {
  const gui::TimelineCore core = randomCore(slices, rows);
  std::vector<double> times;
  gui::TimeRange shown = core.range();
  for (int at = 0; at < 100; ++at) {
    times.push_back(frame(core, {shown, {1920}}));
    shown = at % 10 == 9 ? core.range() : gui::zoomed(shown, {shown.begin + shown.length() / 3, 0.6}, core.range());
  }
  std::sort(times.begin(), times.end());
  std::printf("%8zu slices  %3zu rows   median %6.2f ms   p99 %6.2f ms\n", slices, rows, times[50], times[98]);
}

// From a turned knob to all that the pages show of it: GPT-3 on 1,024 devices. From the repository's root.
void measureKnob(gui::Ranks ranks) {
  sim::ParallelPlan plan;
  plan.model = sim::load_model_config("profiles/models/gpt3-175b.json");
  plan.cluster = sim::load_cluster("profiles/clusters/dgx-h100-1024.json", {});
  plan.workload = {.sequence = 2048, .global_batch = 1024, .precision = sim::Precision::Bf16};
  plan.mesh = {.data = 16, .pipeline = 8, .tensor = 8};
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  double worst = 0;
  std::size_t tasks = 0, devices = 0;
  for (int round = 0; round < 10; ++round) {
    const std::clock_t begin = std::clock();
    const gui::SharedPlan simulated = gui::simulatePlan(plan, ranks);
    tasks = simulated->shown().devices.numSpans();
    devices = simulated->shown().devices.devices().size();
    worst = std::max(worst, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::printf("a turned knob, %zu devices, %zu tasks: worst of 10 %6.1f ms\n", devices, tasks, worst);
}

}  // namespace

int main() {
  measureKnob(gui::Ranks::Folded);
  measureKnob(gui::Ranks::OneByOne);
  for (const std::size_t slices : {1'000'000, 4'000'000, 16'000'000})
    for (const std::size_t rows : {64, 256}) measure(slices, rows);
}
