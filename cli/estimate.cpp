#include <fmt/format.h>

#include <optional>

#include "cli/commands.h"
#include "cli/estimate_json.h"
#include "cli/exit_code.h"
#include "cli/table.h"
#include "sim/estimate/network_config.h"
#include "sim/model/config_notes.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

planner::LayoutRequest layout_request(const EstimateOptions& options) {
  planner::LayoutRequest request;
  request.network = sim::load_network(options.model);
  request.network.sequence = options.sequence;
  request.network.effective_sequence = static_cast<double>(options.sequence);
  request.cluster = sim::load_cluster(options.cluster, sim::DeviceCount{options.devices});
  request.cluster.software = sim::load_software(options.software);
  request.global_batch = options.global_batch;
  const std::optional<sim::NumberFormat> format = sim::find_number_format(options.precision);
  if (!format)
    throw sim::InputError(
        "--precision",
        {{"", "is " + options.precision + ", accepted: " + fmt::format("{}", fmt::join(sim::kNumberFormatNames, ", ")), "choose one"}});
  request.format = *format;
  request.top = options.top;
  return request;
}

std::vector<std::string> row(const planner::EstimatedLayout& layout, const planner::LayoutRequest& request, std::size_t rank) {
  const sim::Layout& cut = layout.run.layout;
  const double tokens = static_cast<double>(request.global_batch) * request.network.effective_sequence / layout.step.time.count();
  const sim::StepParts& parts = layout.step.parts;
  const auto share = [&](double part) { return 100 * part / parts.total(); };
  return {std::to_string(rank),
          std::to_string(cut.data),
          std::to_string(cut.tensor),
          std::to_string(cut.context),
          std::to_string(cut.pipeline),
          std::to_string(cut.expert),
          cut.pipeline > 1 ? cut.schedule + (cut.chunks > 1 ? fmt::format(" v{}", cut.chunks) : "") : "-",
          fmt::format("{} x {}", cut.microbatches, cut.micro_batch),
          std::to_string(cut.zero_stage),
          std::string(sim::kRecomputeKindNames[static_cast<std::size_t>(layout.run.execution.recompute)]),
          sim::to_text(layout.step.time),
          fmt::format("{} to {}", sim::to_text(layout.step.low), sim::to_text(layout.step.high)),
          fmt::format("{:.0f}", tokens / request.cluster.devices),
          fmt::format("{:.1f} %", 100 * layout.mfu),
          fmt::format("{:.1f} GiB", layout.memory.total_gib),
          fmt::format("blocks and bubble {:.0f} %, gradients {:.0f} %, optimizer {:.0f} %, weights {:.0f} %", share(parts.pipeline),
                      share(parts.gradients), share(parts.optimizer), share(parts.gather))};
}

std::string ranking(const planner::LayoutResult& result, const planner::LayoutRequest& request) {
  std::vector<std::vector<std::string>> rows{{"#", "data", "tensor", "context", "pipeline", "expert", "schedule", "microbatches", "zero",
                                              "recompute", "step", "80 % interval", "tokens/s a GPU", "MFU", "memory", "made of"}};
  for (std::size_t at = 0; at < result.ranked.size(); ++at) rows.push_back(row(result.ranked[at], request, at + 1));
  return table_text(rows);
}

std::string verdict(const planner::LayoutResult& result) {
  std::string text = fmt::format("{} layouts: {} over memory, {} estimated\n", result.candidates, result.over_memory,
                                 result.candidates - result.over_memory);
  if (!result.ranked.empty()) return text;
  if (!result.smallest)
    return text +
           "No layout divides these GPUs, this batch and this network: try other numbers of devices or samples (a step has at most 16,384 "
           "microbatches)\n";
  return text + fmt::format(
                    "None fits: the smallest takes {:.1f} GiB of {:.1f} GiB (tensor {}, pipeline {}); add devices, or take parts with more "
                    "memory\n",
                    result.smallest->memory.total_gib, result.smallest->memory.available_gib, result.smallest->run.layout.tensor,
                    result.smallest->run.layout.pipeline);
}

}  // namespace

int run(const EstimateOptions& options, const Console& console) {
  const planner::LayoutRequest request = layout_request(options);
  const planner::LayoutResult result = planner::rank_layouts(request);
  const std::string title =
      fmt::format("{} on {} x {} under {}: sequence {}, global batch {}, {}\n\n", options.model, request.cluster.devices,
                  request.cluster.hardware.name, request.cluster.software.name, options.sequence, options.global_batch, options.precision);
  console.result(console.heading(title) + (result.ranked.empty() ? "" : ranking(result, request) + "\n") + verdict(result),
                 [&] { return estimate_document(result); });
  return result.ranked.empty() ? kNoFeasiblePlan : kSuccess;
}

}  // namespace cli
