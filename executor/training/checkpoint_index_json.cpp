#include "executor/training/checkpoint.h"
#include "executor/training/content_hash.h"
#include "sim/units/json_reader.h"

namespace executor {
namespace {

constexpr const char *kFormat = "meshwright.checkpoint/2", *kFirstFormat = "meshwright.checkpoint/1";  // the first had no hash of itself
constexpr const char* kOwnHash = "hash_of_this_index";

// Of all but the hash itself, whatever spaces stand between.
std::string hash_of(sim::Json index) {
  index.erase(kOwnHash);
  const std::string text = index.dump();
  return hash_text(content_hash(std::as_bytes(std::span(text))));
}

void require_own_hash(const sim::JsonReader& reader, const sim::Json& json) {
  if (reader.text(kOwnHash, "") != hash_of(json))
    reader.violate(kOwnHash, "is of another content: this index was changed or is damaged",
                   "remove its folder to resume from the checkpoint before it");
}

sim::Json loss_scale_json(const LossScaleState& state) {
  return {{"scale", state.scale}, {"good_steps", state.good_steps}, {"forgiven", state.forgiven}, {"skipped_steps", state.skipped_steps}};
}

LossScaleState loss_scale_from(const sim::JsonReader& reader) {
  return {.scale = reader.number("scale"),
          .good_steps = reader.integer("good_steps"),
          .forgiven = reader.integer("forgiven"),
          .skipped_steps = reader.integer("skipped_steps")};
}

std::vector<float> scale_history_from(const sim::JsonReader& reader) {
  std::vector<float> history;
  for (const sim::JsonReader& maximum : reader.children("scale_history"))
    if (maximum.json().is_number())
      history.push_back(maximum.json().get<float>());
    else
      reader.violate("scale_history", "holds what is no number", "remove its folder to resume from the checkpoint before it");
  return history;
}

}  // namespace

void save_index(const CheckpointIndex& index, const std::string& path) {
  sim::Json files = sim::Json::object();
  for (const auto& [file, tensors] : index.hashes)
    for (const auto& [name, hash] : tensors) files[file][name] = hash;
  sim::Json json = {{"format", kFormat},
                    {"steps", index.state.steps.value},
                    {"loss_scale", loss_scale_json(index.state.loss_scale)},
                    {"data", index.state.data},
                    {"hash", "xxh64"},
                    {"plan", sim::to_json(index.plan)},
                    {"files", files},
                    {"headers", index.headers}};
  if (index.state.samples) json["samples"] = index.state.samples->value;
  if (!index.state.scale_history.empty()) json["scale_history"] = index.state.scale_history;
  json[kOwnHash] = hash_of(json);
  sim::save_json_file(json, path);
}

CheckpointIndex load_index(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  const std::string format = reader.text("format");
  if (format != kFormat && format != kFirstFormat)
    reader.violate("format", "is not " + std::string(kFormat), "name a folder that meshwright run wrote");
  if (format != kFirstFormat || reader.has(kOwnHash)) require_own_hash(reader, json);
  CheckpointIndex index{.state = {.steps = {reader.integer("steps")}, .loss_scale = {}}, .plan = {}, .hashes = {}};
  if (reader.has("loss_scale")) index.state.loss_scale = loss_scale_from(reader.child("loss_scale"));
  if (reader.has("samples")) index.state.samples = {reader.integer("samples")};
  index.state.scale_history = scale_history_from(reader);
  index.state.data = reader.text("data", "");
  const sim::JsonReader files = reader.child("files");
  for (const std::string& file : files.keys())
    for (const std::string& name : files.child(file).keys()) index.hashes[file][name] = files.child(file).text(name);
  if (reader.has("headers"))
    for (const std::string& file : reader.child("headers").keys()) index.headers[file] = reader.child("headers").text(file);
  reader.finish();
  index.plan = sim::plan_from_json(reader.child("plan").json(), path);
  return index;
}

}  // namespace executor
