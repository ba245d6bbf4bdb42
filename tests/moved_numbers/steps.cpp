#include "steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/cost/memory_interval.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/engine/simulate.h"
#include "sim/units/at.h"

namespace moved {
namespace {

constexpr std::int64_t kBlocks = 4;

template <class Value>
Value known(const std::string& name, Value (*load)(const std::string&)) {
  static std::map<std::string, Value> all;
  const auto found = all.find(name);
  return found != all.end() ? found->second : all.emplace(name, load(name)).first->second;
}

// So that a step has few tasks.
sim::ModelConfig first_blocks(const std::string& name) {
  sim::ModelConfig model = sim::load_model_config(name);
  if (model.convolution) return model;
  model.layers = std::min(model.layers, kBlocks);
  for (std::vector<bool>* by_block : {&model.windowed, &model.linear_layers, &model.unturned})
    if (!by_block->empty()) by_block->resize(static_cast<std::size_t>(model.layers));
  return model;
}

bool has(const sim::HardwareProfile& hardware, sim::Precision precision) { return sim::at(hardware.peak, precision).value() > 0; }

double real(sim::Bytes amount) { return static_cast<double>(amount.value()); }

}  // namespace

sim::HardwareProfile hardware_named(const std::string& name) { return known(name, sim::load_hardware_profile); }
sim::SoftwareStack software_named(const std::string& name) { return known(name, sim::load_software); }

sim::ParallelPlan plan_of(const Run& run, const Words& words, const Stand& stand) {
  sim::ParallelPlan plan;
  plan.model = known(run.network, first_blocks);
  plan.cluster.hardware = stand.hardware != nullptr ? *stand.hardware : hardware_named(run.hardware);
  plan.cluster.software = stand.software != nullptr ? *stand.software : software_named(run.software);
  plan.cluster.devices = run.devices;
  sim::deal_out(plan.cluster.hardware, run.devices);
  plan.mesh.data = run.devices;
  plan.workload = {.sequence = 1024, .global_batch = 8 * run.devices, .precision = sim::Precision::Bf16};
  plan.microbatch_size = 4;
  words(plan);
  if (plan.workload.precision == sim::PrecisionPolicy(sim::Precision::Bf16) && !has(plan.cluster.hardware, sim::Precision::Bf16))
    plan.workload.precision = sim::Precision::Fp16;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

Answer simulated(const sim::ParallelPlan& plan) {
  if (std::vector<sim::Violation> found = sim::violations(plan); !found.empty()) throw sim::InputError("plan", std::move(found));
  const sim::SimulationResult result = sim::simulate(sim::make_model_graph(plan), plan);
  const sim::MemoryInterval memory = sim::memory_interval(plan, sim::fullest_device(result)->at_peak);
  return {static_cast<double>(result.step_time.count()),
          real(result.peak_memory),
          real(result.host_memory),
          result.fits ? 1.0 : 0.0,
          sim::out_of_memory_chance(plan, result),
          sim::prediction_interval(plan).below(),
          sim::prediction_interval(plan).above(),
          real(memory.low(result.peak_memory)),
          real(memory.high(result.peak_memory))};
}

Question step(const std::string& name, const Run& run, const Words& words) {
  return {name, [run, words](const Stand& stand) { return simulated(plan_of(run, words, stand)); }};
}

Answer answer(const Question& question, const Stand& stand) {
  try {
    return question.ask(stand);
  } catch (const sim::InputError&) {
    return {};  // what is refused has no numbers
  }
}

bool differ(const Answer& one, const Answer& other) {
  constexpr double kMillionth = 1e-6, kNothing = 1e-3;
  const auto apart = [](double a, double b) { return std::abs(a - b) > kMillionth * std::max({std::abs(a), std::abs(b), kNothing}); };
  return one.size() != other.size() || !std::ranges::equal(one, other, [&](double a, double b) { return !apart(a, b); });
}

Answer answer_of(const sim::Cluster& cluster) {
  const Run run{"gpt2", "", "", cluster.devices};
  const sim::SoftwareStack software = software_named("plain");
  return simulated(plan_of(run, [](sim::ParallelPlan&) {}, {&cluster.hardware, &software}));
}

Asked::Asked(const Stand& stand) {
  for (const Question& question : questions()) known_.push_back({&question, answer(question, stand)});
}

bool Asked::moves(const Stand& stand) {
  const auto found = std::ranges::find_if(known_, [&](const Known& one) { return differ(answer(*one.question, stand), one.answer); });
  if (found == known_.end()) return false;
  std::rotate(known_.begin(), found, found + 1);
  return true;
}

const std::vector<Question>& questions() {
  static const std::vector<Question> all = [] {
    std::vector<Question> some;
    for (const auto& more : {of_layouts(), of_kernels(), of_experts(), of_memory(), of_rows()})
      some.insert(some.end(), more.begin(), more.end());
    return some;
  }();
  return all;
}

}  // namespace moved
