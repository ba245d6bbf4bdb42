// What was measured, for the score alone. Reads nothing that a prediction is made from.
#include <fmt/format.h>

#include "sim/units/json_reader.h"
#include "sim/validation/published_row.h"

namespace sim {
namespace {

// A sweep: equal model, machine size, batch and precision from one source.
std::string sweep_of(const JsonReader& row, const std::string& source) {
  const JsonReader workload = row.child("workload"), hardware = row.child("hardware"), plan = row.child("plan");
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", source, workload.text("model", ""), hardware.integer("total_gpus", 0),
                     plan.integer("global_batch", 0), workload.integer("seq_len", 0), hardware.text("gpu", ""), plan.text("precision", ""));
}

}  // namespace

RowTarget read_target(const Json& row, const std::string& id) {
  const JsonReader reader(row, id);
  RowTarget target;
  if (reader.has("source")) target.source = reader.child("source").text("key", "");
  target.headline = reader.boolean("headline", false);
  if (!reader.has("target")) return target;
  const JsonReader values = reader.child("target");
  if (values.has("iteration_time_s")) target.time = values.number("iteration_time_s");
  if (values.has("memory_gb")) target.memory_gib = values.number("memory_gb");
  if (values.has("oom")) target.out_of_memory = values.boolean("oom");
  if (reader.has("measured")) target.memory_kind = reader.child("measured").text("memory_kind", "");
  target.sweep = sweep_of(reader, target.source);
  return target;
}

}  // namespace sim
