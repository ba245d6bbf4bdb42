#include "cli/reliability.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "planner/plan_candidate.h"
#include "sim/cost/resident_memory.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Violations = std::vector<sim::Violation>;

sim::Seconds positive_duration(const std::string& option, const std::string& text, Violations& violations) {
  const std::size_t before = violations.size();
  const sim::Seconds time = duration_of(option, text, violations);
  if (time.count() == 0 && violations.size() == before)
    violations.push_back({option, "is 0: devices that always fail never train", "give a time above 0, or leave it out: nothing fails"});
  return time;
}

sim::Bytes state_of_element(const planner::SearchRequest& request, const sim::PrecisionPolicy& precision) {
  sim::Workload workload = request.workload;
  workload.precision = precision;
  const sim::Precision weights = precision.compute();
  const sim::Bytes own = sim::is_sixteen_bit(weights) ? sim::Bytes{} : sim::bytes_per_element(weights);
  return sim::optimizer_bytes_per_element(workload, sim::habits_of(request.cluster)) + own;
}

// What a checkpoint holds: moments and masters of what is trained, or weights where they are their own masters; units in full precision have their own.
sim::Bytes state_of(const planner::SearchRequest& request) {
  const sim::PrecisionPolicy& precision = request.workload.precision;
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, precision);
  std::int64_t in_full = 0;
  for (std::size_t at = 0; at < model.layers.size(); ++at)
    if (precision.is_full_layer(sim::LayerIndex(static_cast<std::int32_t>(at)), request.model.layers))
      for (const sim::Parameter& parameter : model.layers[at].parameters) in_full += parameter.elements();
  const sim::Bytes others = state_of_element(request, precision),
                   full = state_of_element(request, sim::PrecisionPolicy(sim::Precision::Fp32));
  return others * sim::num_parameters(model) + (full - others) * in_full;
}

std::int64_t steps_of(const ObjectiveOptions& options, const sim::Workload& workload, Violations& violations) {
  if (options.tokens == 0) return options.steps;
  if (!(options.tokens > 0 && options.tokens <= 1e18))
    violations.push_back({"--tokens", fmt::format("is {}, which is no number above 0 and up to 1e18", options.tokens), "correct it"});
  else if (workload.global_batch > 0 && workload.sequence > 0)
    return std::llround(std::ceil(options.tokens / static_cast<double>(workload.global_batch) / static_cast<double>(workload.sequence)));
  return 0;
}

sim::Seconds save_time(const ObjectiveOptions& options, const planner::SearchRequest& request, Violations& violations) {
  const auto rate = sim::parse_bytes_per_second(options.write_bandwidth);
  if (rate && rate->value() > 0) return sim::Seconds(static_cast<double>(state_of(request).value()) / rate->value());
  violations.push_back({"--write-bandwidth", "\"" + options.write_bandwidth + "\" is no rate", "write it with its unit, like \"40 GB/s\""});
  return {};
}

}  // namespace

sim::Seconds duration_of(const std::string& option, const std::string& text, Violations& violations) {
  const auto time = sim::parse_duration(text);
  if (time && time->count() >= 0 && time->count() <= 1e12) return *time;
  violations.push_back({option, fmt::format("\"{}\" is no time from 0 s to 31,700 y", text),
                        "write it with its unit, like \"10 min\", \"6 h\" or \"5.8 y\""});
  return {};
}

sim::Reliability reliability_of(const FailureOptions& options, Violations& violations) {
  sim::Reliability rates;
  if (!options.mean_time_between_failures.empty())
    rates.mean_time_between_failures = positive_duration("--mtbf", options.mean_time_between_failures, violations);
  rates.restart = duration_of("--restart-time", options.restart_time, violations);
  rates.save = duration_of("--checkpoint-time", options.checkpoint_time, violations);
  if (!options.repair_time.empty()) rates.repair = duration_of("--repair-time", options.repair_time, violations);
  rates.spares = options.spares;
  return rates;
}

planner::WholeTraining whole_training_of(const ObjectiveOptions& options, const planner::SearchRequest& request, Violations& violations) {
  planner::WholeTraining whole;
  const bool is_asked = request.objective == planner::Objective::TimeToTrain;
  if (!is_asked && (options.tokens != 0 || options.steps != 0 || !options.write_bandwidth.empty() || options.failures != FailureOptions{}))
    violations.push_back({"--objective", "is not time-to-train, and tokens, steps, failures, saves and spare nodes count for that alone",
                          "add --objective time-to-train, or leave them out"});
  if (!is_asked) return whole;
  whole.steps = steps_of(options, request.workload, violations);
  whole.reliability = reliability_of(options.failures, violations);
  whole.most_spares = std::exchange(whole.reliability.spares, 0);
  whole.reliability.checkpoint_interval = options.checkpoint_interval;
  if (!options.write_bandwidth.empty()) whole.reliability.save = save_time(options, request, violations);
  return whole;
}

}  // namespace cli
