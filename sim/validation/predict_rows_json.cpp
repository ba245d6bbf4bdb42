#include <map>
#include <utility>

#include "sim/estimate/memory_estimate.h"
#include "sim/units/json_reader.h"
#include "sim/validation/lowered_row.h"
#include "sim/validation/predict_rows.h"
#include "sim/validation/resolve.h"

namespace sim {
namespace {

class Devices {
 public:
  const Device& find(const std::string& part) {
    const auto known = devices_.find(part);
    return known != devices_.end() ? known->second : devices_.emplace(part, load_device(part)).first->second;
  }

 private:
  std::map<std::string, Device> devices_;
};

std::string id_of(const Json& row, std::size_t at) {
  const bool has_one = row.is_object() && row.contains("id") && row["id"].is_string();
  return has_one ? row["id"].get<std::string>() : "row " + std::to_string(at);
}

double gib(Bytes amount) { return real(amount.value()) / (1 << 30); }

MemoryEstimate memory_estimate(const LoweredRow& row, const MemoryQuestion& asked, const Setting& setting) {
  const CountedMemory memory = counted_memory(row, asked);
  const double available = gib(setting.device.profile.memory) * setting.device.behavior.driver_share;
  return {.total_gib = std::min(gib(memory.shown), std::max(available, gib(row.result.peak_memory))),
          .needed_gib = gib(memory.needed),
          .available_gib = available};
}

// A run whose recomputation is open is out of memory only where all of it does not fit: as settle_memory().
MemoryEstimate settled_memory(const LoweredRow& row, const DescribedRow& described, const Setting& setting) {
  MemoryEstimate memory = memory_estimate(row, described.asked, setting);
  const bool is_open = described.recompute_open || described.recompute_parts_open;
  if (!is_open || memory.needed_gib <= memory.available_gib) return memory;
  RunDescription least = described.run;
  least.execution.recompute = RecomputeKind::Full;
  const double shown = std::min(memory.total_gib, memory.available_gib);
  memory = memory_estimate(simulated_row(least, setting, described.words), described.asked, setting);
  memory.total_gib = std::max(memory.total_gib, shown);
  return memory;
}

// The interval keeps its width.
void take_simulated(PredictedRow& predicted, const DescribedRow& described, const Setting& setting) {
  if (const std::string why = why_not_lowered(described.run); !why.empty())
    throw InputError(predicted.id, {{"", "cannot be lowered to tasks: it " + why, "predict it without --engine"}});
  StepEstimate& estimate = predicted.estimate;
  const LoweredRow row = simulated_row(described.run, setting, described.words);
  const Seconds simulated = row.step();
  const double ratio = simulated / std::exchange(estimate.time, simulated);
  predicted.is_simulated = true;
  estimate.low *= ratio;
  estimate.high *= ratio;
  take_memory(settled_memory(row, described, setting), setting.device.behavior, estimate);
}

void simulate_if_possible(PredictedRow& predicted, const DescribedRow& described, const Setting& setting) {
  if (!why_not_lowered(described.run).empty()) return;
  try {
    take_simulated(predicted, described, setting);
  } catch (const InputError&) {  // its plan breaks a rule
  }
}

void refuse_missing_units(const RunDescription& run, const Setting& setting, const std::string& id) {
  if (!is_scaled(run.execution.format)) return;
  const std::string why = why_not_scaled(setting.device.profile, run.execution.scales);
  if (!why.empty()) throw InputError(id, {{"/plan/precision", why, "correct the precision or the part"}});
}

PredictedRow predict(const Json& row, const std::string& id, const SoftwareCatalog& catalog, Devices& devices, PredictedBy by) {
  PredictedRow predicted{.id = id, .error = {}, .estimate = {}, .assumed = {}};
  try {
    DescribedRow described = describe_row(row, id, catalog);
    const Setting setting{devices.find(described.run.machine.part), catalog.named(described.run.stack)};
    refuse_missing_units(described.run, setting, id);
    settle_recompute(described, setting);
    predicted.assumed = std::move(described.assumed);
    predicted.estimate = estimate_step(described.run, setting);
    settle_memory(described, setting, predicted.estimate);
    by == PredictedBy::Engine ? take_simulated(predicted, described, setting) : simulate_if_possible(predicted, described, setting);
  } catch (const InputError& error) {
    predicted.error = error.what();
  }
  return predicted;
}

Json row_json(const PredictedRow& row) {
  Json json = {{"id", row.id}, {"status", row.error.empty() ? "ok" : "error"}};
  const StepEstimate& estimate = row.estimate;
  if (row.error.empty())
    json["predicted"] = {{"iteration_time_s", estimate.time.count()},
                         {"iteration_time_low_s", estimate.low.count()},
                         {"iteration_time_high_s", estimate.high.count()},
                         {"memory_gb", estimate.memory_gib},
                         {"memory_low_gb", estimate.memory_low_gib},
                         {"memory_high_gb", estimate.memory_high_gib},
                         {"out_of_memory_chance", estimate.out_of_memory_chance},
                         {"oom", estimate.out_of_memory}};
  else
    json["predicted"] = {
        {"iteration_time_s", nullptr}, {"iteration_time_low_s", nullptr}, {"iteration_time_high_s", nullptr}, {"memory_gb", nullptr},
        {"memory_low_gb", nullptr},    {"memory_high_gb", nullptr},       {"out_of_memory_chance", nullptr},  {"oom", nullptr}};
  json["parts"] = {{"pipeline_s", estimate.parts.pipeline},
                   {"gradients_s", estimate.parts.gradients},
                   {"optimizer_s", estimate.parts.optimizer},
                   {"gather_s", estimate.parts.gather},
                   {"overhead_s", estimate.parts.overhead}};
  json["assumed"] = Json::object();
  for (const Assumption& assumption : row.assumed) json["assumed"][assumption.field] = assumption.value;
  json["reason"] = row.error;
  return json;
}

}  // namespace

const Json& rows_of(const Json& document, const std::string& file) {
  if (document.is_object() && document.contains("rows") && document["rows"].is_array()) return document["rows"];
  if (!document.is_array()) throw InputError(file, {{"", "holds no array of rows", "give a file like profiles/published/rows.json"}});
  return document;
}

std::vector<PredictedRow> predict_rows(const Json& rows, const std::string& file, PredictedBy by) {
  const SoftwareCatalog catalog = load_software_catalog();
  Devices devices;
  std::vector<PredictedRow> predictions;
  const Json& list = rows_of(rows, file);
  for (std::size_t at = 0; at < list.size(); ++at) predictions.push_back(predict(list[at], id_of(list[at], at), catalog, devices, by));
  return predictions;
}

ValidationRows predict_file(const std::string& path, PredictedBy by) {
  const Json document = load_json_file(path);
  ValidationRows rows{predict_rows(document, path, by), {}};
  for (std::size_t at = 0; at < rows.predictions.size(); ++at)
    rows.targets.push_back(read_target(rows_of(document, path)[at], rows.predictions[at].id));
  return rows;
}

std::string predictions_document(const std::vector<PredictedRow>& rows) {
  Json document = {{"format", "meshwright.row_predictions/1"}};
  document["rows"] = Json::array();
  for (const PredictedRow& row : rows) document["rows"].push_back(row_json(row));
  return document.dump(1) + "\n";
}

}  // namespace sim
