#include "executor/training/checkpoint.h"
#include "sim/units/json_reader.h"

namespace executor {
namespace {

constexpr const char* kFormat = "meshwright.checkpoint/1";

sim::Json loss_scale_json(const LossScaleState& state) {
  return {{"scale", state.scale}, {"good_steps", state.good_steps}, {"forgiven", state.forgiven}, {"skipped_steps", state.skipped_steps}};
}

LossScaleState loss_scale_from(const sim::JsonReader& reader) {
  return {.scale = reader.number("scale"),
          .good_steps = reader.integer("good_steps"),
          .forgiven = reader.integer("forgiven"),
          .skipped_steps = reader.integer("skipped_steps")};
}

}  // namespace

void save_index(const CheckpointIndex& index, const std::string& path) {
  sim::Json files = sim::Json::object();
  for (const auto& [file, tensors] : index.hashes)
    for (const auto& [name, hash] : tensors) files[file][name] = hash;
  sim::save_json_file({{"format", kFormat},
                       {"steps", index.state.steps.value},
                       {"loss_scale", loss_scale_json(index.state.loss_scale)},
                       {"hash", "xxh64"},
                       {"plan", sim::to_json(index.plan)},
                       {"files", files}},
                      path);
}

CheckpointIndex load_index(const std::string& path) {
  const sim::Json json = sim::load_json_file(path);
  const sim::JsonReader reader(json, path);
  if (reader.text("format") != kFormat)
    reader.violate("format", "is not " + std::string(kFormat), "name a folder that meshwright run wrote");
  CheckpointIndex index{.state = {.steps = {reader.integer("steps")}, .loss_scale = {}}, .plan = {}, .hashes = {}};
  if (reader.has("loss_scale")) index.state.loss_scale = loss_scale_from(reader.child("loss_scale"));
  const sim::JsonReader files = reader.child("files");
  for (const std::string& file : files.keys())
    for (const std::string& name : files.child(file).keys()) index.hashes[file][name] = files.child(file).text(name);
  reader.finish();
  index.plan = sim::plan_from_json(reader.child("plan").json(), path);
  return index;
}

}  // namespace executor
