#include "executor/training/checkpoint.h"
#include "sim/units/json_reader.h"

namespace executor {
namespace {

constexpr const char* kFormat = "meshwright.checkpoint/1";

void collect(const std::string& pointer, const sim::Json& saved, const sim::Json& now, std::vector<std::string>& found) {
  if (saved == now) return;
  if (!saved.is_object() || !now.is_object()) {
    found.push_back(pointer + ": " + saved.dump() + " in the checkpoint, " + now.dump() + " now");
    return;
  }
  for (const auto& [key, value] : saved.items()) collect(pointer + "/" + key, value, now.contains(key) ? now[key] : sim::Json(), found);
  for (const auto& [key, value] : now.items())
    if (!saved.contains(key)) collect(pointer + "/" + key, sim::Json(), value, found);
}

// What may change between parts of one run without changing its numbers.
sim::Json binding_fields(const sim::ParallelPlan& plan) {
  sim::Json json = sim::to_json(plan);
  json.erase("predictions");
  for (const char* key : {"checkpoint_interval", "keep_last"})
    if (json.contains("training")) json["training"].erase(key);
  return json;
}

}  // namespace

void save_index(const CheckpointIndex& index, const std::string& path) {
  sim::Json files = sim::Json::object();
  for (const auto& [file, tensors] : index.hashes)
    for (const auto& [name, hash] : tensors) files[file][name] = hash;
  sim::save_json_file(
      {{"format", kFormat}, {"steps", index.steps.value}, {"hash", "xxh64"}, {"plan", sim::to_json(index.plan)}, {"files", files}}, path);
}

CheckpointIndex load_index(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  if (reader.text("format") != kFormat)
    reader.violate("format", "is not " + std::string(kFormat), "name a folder that meshwright run wrote");
  CheckpointIndex index{.steps = {reader.integer("steps")}, .plan = {}, .hashes = {}};
  const sim::JsonReader files = reader.child("files");
  for (const std::string& file : files.keys())
    for (const std::string& name : files.child(file).keys()) index.hashes[file][name] = files.child(file).text(name);
  reader.finish();
  index.plan = sim::plan_from_json(reader.child("plan").json(), path);
  return index;
}

std::vector<std::string> plan_differences(const sim::ParallelPlan& saved, const sim::ParallelPlan& now) {
  std::vector<std::string> found;
  collect("", binding_fields(saved), binding_fields(now), found);
  return found;
}

}  // namespace executor
