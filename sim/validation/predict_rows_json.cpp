#include <map>
#include <utility>

#include "sim/units/json_reader.h"
#include "sim/validation/predict_rows.h"

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

PredictedRow predict(const Json& row, const std::string& id, const RowProfiles& profiles, const ReadPlan& read) {
  PredictedRow predicted{.id = id, .error = {}, .estimate = {}, .assumed = {}, .speed = {}};
  try {
    DescribedRow described = describe_row(row, id, profiles);
    settle_recompute(described);
    predicted.speed = whose_speed(described.plan.cluster);
    if (read) read(id, described.plan);
    predicted.estimate = estimate(described);
    predicted.assumed = std::move(described.assumed);
  } catch (const InputError& error) {
    predicted.error = error.what();
  }
  return predicted;
}

Json row_json(const PredictedRow& row) {
  Json json = {{"id", row.id}, {"status", row.error.empty() ? "ok" : "error"}};
  const RowEstimate& estimate = row.estimate;
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
  json["assumed"] = Json::object();
  for (const Assumption& assumption : row.assumed) json["assumed"][assumption.field] = assumption.value;
  json["reason"] = row.error;
  if (!row.speed.part.empty()) json["speed_of"] = {{"program", row.speed.program}, {"part", row.speed.part}};
  return json;
}

}  // namespace

const Json& rows_of(const Json& document, const std::string& file) {
  if (document.is_object() && document.contains("rows") && document["rows"].is_array()) return document["rows"];
  if (!document.is_array()) throw InputError(file, {{"", "holds no array of rows", "give a file like profiles/published/rows.json"}});
  return document;
}

std::vector<PredictedRow> predict_rows(const Json& rows, const std::string& file, const ReadPlan& read) {
  const SoftwareCatalog catalog = load_software_catalog();
  Devices devices;
  const RowProfiles profiles{catalog, [&](const std::string& part) -> const Device& { return devices.find(part); }};
  std::vector<PredictedRow> predictions;
  const Json& list = rows_of(rows, file);
  for (std::size_t at = 0; at < list.size(); ++at) predictions.push_back(predict(list[at], id_of(list[at], at), profiles, read));
  return predictions;
}

ValidationRows predict_file(const std::string& path, const ReadPlan& read) {
  const Json document = load_json_file(path);
  ValidationRows rows{predict_rows(document, path, read), {}};
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
