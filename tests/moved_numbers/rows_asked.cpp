// Published runs as questions, and machines that their own tools describe.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/cluster/machine_cluster.h"
#include "sim/validation/simulated_row.h"
#include "steps.h"

namespace moved {
namespace {

using sim::Json;

constexpr std::int64_t kFirstYear = 2016, kLastYear = 2027;

// A node of V100s with the links of a row, faster than sold.
Json row_of(const Json& workload, const Json& plan, std::int64_t devices) {
  Json row = {{"id", "asked"}, {"source", {{"key", "asked"}}}, {"workload", workload}};
  row["plan"] = {{"dp", devices},      {"tp", 1}, {"pp", 1}, {"zero_stage", 0}, {"recompute", "none"}, {"schedule", "none"},
                 {"precision", "fp16"}};
  row["plan"].update(plan);
  row["hardware"] = {{"gpu", "V100-SXM2-32GB"},
                     {"total_gpus", devices},
                     {"gpus_per_node", devices},
                     {"nodes", 1},
                     {"intra_node", {{"type", "nvlink2"}, {"GBps_per_gpu", 200}}}};
  return row;
}

Json with_links(Json row, double gigabytes) {
  row["hardware"]["intra_node"]["GBps_per_gpu"] = gigabytes;
  return row;
}

// Small ones make a device wait for the host that decodes them.
Json images(std::int64_t devices, std::int64_t size) {
  return row_of({{"model", "ResNet-50"}, {"kind", "cnn"}, {"architecture", "resnet50"}, {"image", {3, size, size}}},
                {{"micro_batch", 64}, {"global_batch", 64 * devices}}, devices);
}

Json tokens(const char* kind, const Json& plan) {
  Json all = {{"micro_batch", 4}, {"global_batch", 64}};
  all.update(plan);
  return row_of({{"model", "GPT"},
                 {"kind", kind},
                 {"layers", 4},
                 {"hidden", 1024},
                 {"heads", 16},
                 {"vocab", 51200},
                 {"seq_len", 1024},
                 {"activation", "gelu"},
                 {"attention", {{"kind", "full"}}}},
                all, 8);
}

Json of_the_device(Json row) {
  row["asked"]["memory_kind"] = "device total";
  return row;
}

// Of the program's catalogue with the one that stands in.
sim::SoftwareCatalog catalog_with(const sim::SoftwareStack* stand) {
  static const std::vector<std::string> names{"plain", "pytorch-ddp"};
  std::vector<sim::SoftwareStack> stacks;
  for (const std::string& name : names)
    if (stand == nullptr || stand->name != name) stacks.push_back(software_named(name));
  stacks.push_back(stand != nullptr ? *stand : software_named("megatron-core"));
  return sim::SoftwareCatalog(std::move(stacks));
}

Json experts(std::int64_t samples) {
  Json row = tokens("decoder", {{"micro_batch", samples}, {"global_batch", 8 * samples}, {"ep", 8}});
  row["workload"]["moe"] = {{"experts", 16}, {"topk", 2}, {"expert_ffn", 1024}, {"dispatch", "dropless"}};
  return row;
}

// `program`: where none stands in.
Answer estimated(Json row, const Stand& stand, std::int64_t year, const std::string& program) {
  const bool has_word = stand.software != nullptr && !stand.software->frameworks.empty();
  row["plan"]["software"] = {{"framework", has_word ? stand.software->frameworks.front() : program}, {"year", year}};
  const sim::SoftwareCatalog catalog = catalog_with(stand.software);
  const sim::Device device(stand.hardware != nullptr ? *stand.hardware : hardware_named("v100-32gb-sxm2"));
  const sim::RowEstimate found =
      sim::estimate(sim::describe_row(row, "asked", {catalog, [&](const std::string&) -> const sim::Device& { return device; }}));
  return {found.time.count(),   found.low.count(),     found.high.count(),        found.memory_gib,
          found.memory_low_gib, found.memory_high_gib, found.out_of_memory_chance};
}

Question row_asked(const std::string& name, const Json& row, std::int64_t year, const std::string& program = "pytorch-ddp") {
  return {name, [=](const Stand& stand) { return estimated(row, stand, year, program); }};
}

// Nodes as their tools say they are.
Question described(const std::string& name, const sim::MachineFacts& facts, sim::NodeCount nodes) {
  return {name, [=](const Stand& stand) {
            const sim::HardwareProfile profile = stand.hardware != nullptr ? *stand.hardware : hardware_named("h100-80gb-sxm");
            const sim::Cluster cluster = sim::describe_cluster(profile, {facts}, nodes).cluster;
            const Run run{"gpt2", "h100-80gb-sxm", "plain", cluster.devices};
            return simulated(plan_of(run, [](sim::ParallelPlan& plan) { plan.zero_stage = 3; }, {&cluster.hardware, stand.software}));
          }};
}

std::vector<Question> described_machines() {
  sim::MachineFacts links, adapters, speeds, buses;
  links.nvlinks = links.most_nvlinks = 6;
  adapters.adapters = 4;
  speeds.adapter_speed = sim::BytesPerSecond(12.5e9);
  buses.measured = sim::MeasuredBus{.bandwidth = sim::BytesPerSecond(5e9), .ranks = 16, .hosts = 2};
  return {described("fewer links", links, {1}), described("fewer adapters", adapters, {4}), described("slower adapters", speeds, {4}),
          described("a measured bus", buses, {4})};
}

}  // namespace

std::vector<Question> of_rows() {
  const Json separate = {{"fused_cross_entropy", false}}, fused = {{"fused_cross_entropy", true}};
  const Json cut = {{"fused_cross_entropy", false}, {"dp", 4}, {"tp", 2}}, eager = {{"compiled", false}, {"micro_batch", 1}};
  const Json stages = {{"dp", 4}, {"pp", 2}, {"schedule", "1f1b"}};
  std::vector<Question> all = described_machines();
  const auto ask = [&](const std::string& name, const Json& row) { all.push_back(row_asked(name, row, kLastYear)); };
  ask("images on a node", images(8, 64));
  ask("images on a device", images(1, 64));
  ask("blocks alone", tokens("decoder_layer", Json::object()));
  for (const std::int64_t samples : {16, 20, 24, 28, 32, 40, 48, 56, 64})
    ask(fmt::format("memory of {} samples", samples), tokens("decoder", {{"micro_batch", samples}, {"global_batch", 8 * samples}}));
  ask("memory of the whole device", of_the_device(tokens("decoder", Json::object())));
  all.push_back(row_asked("scratch of experts' products", experts(4), kLastYear, "megatron-core"));
  ask("a loss of several kernels", tokens("decoder", separate));
  ask("a loss of one kernel", tokens("decoder", fused));
  ask("a cut loss", tokens("decoder", cut));
  ask("eager", tokens("decoder", eager));
  ask("stages in a row", tokens("decoder", stages));
  ask("stages on slow links", with_links(tokens("decoder", stages), 20));
  for (const std::int64_t ranks : {3, 5, 6, 7}) ask(fmt::format("{} devices of a node", ranks), images(ranks, 224));
  for (std::int64_t year = kFirstYear; year <= kLastYear; ++year)
    all.push_back(row_asked(fmt::format("tokens in {}", year), tokens("decoder", Json::object()), year));
  return all;
}

}  // namespace moved
