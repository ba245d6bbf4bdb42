#include "tests/gui/import/readers.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gui/core/file_kind.h"
#include "gui/core/metrics.h"
#include "gui/core/view_state.h"
#include "gui/import/imported_trace.h"
#include "gui/import/memory_snapshot.h"
#include "gui/import/run_bundle.h"
#include "sim/cluster/cluster.h"
#include "sim/model/model_config.h"
#include "sim/plan/parallel_plan.h"
#include "sim/recipe/recipe.h"
#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "tests/gui/import/snapshots.h"

namespace gui::test {
namespace {

const std::string& scratch() {
  static const std::string folder = [] {
    const std::string name = std::filesystem::temp_directory_path().string() + "/meshwright_readers_" + std::to_string(::getpid());
    std::filesystem::create_directories(name);
    return name;
  }();
  return folder;
}

std::string bytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string written(void (*write)(const std::string& path)) {
  const std::string path = scratch() + "/example";
  write(path);
  return bytesOf(path);
}

std::string traceExample() {
  return R"({"distributedInfo": {"rank": 1}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2,)"
         R"( "args": {"stream": 7}}, {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": "3", "dur": 1}]})";
}
std::string bundleExample() {
  return written([](const std::string& path) {
    const std::string run = scratch() + "/run";
    std::filesystem::create_directories(run);
    std::ofstream(run + "/plan.json") << "{}";
    std::ofstream(run + "/trace.0.json") << traceExample();
    writeBundle(run, path);
  });
}
std::string metricsExample() { return "{\"step\": 1, \"loss\": 2.5, \"tokens_per_second\": 10}\n{\"step\": 2, \"loss\": 2}\n"; }
std::string viewExample() {
  return written([](const std::string& path) { saveView({.marks = {{sim::SimTime(1), "note"}}, .search = "x"}, path); });
}
sim::ParallelPlan examplePlan() {
  sim::ParallelPlan plan;
  plan.model = sim::load_model_config("profiles/models/tiny-gpt2.json");
  plan.cluster = sim::load_cluster("a100-80gb-sxm", sim::DeviceCount{1});
  plan.workload = {.sequence = 64, .global_batch = 8, .precision = sim::Precision::Bf16, .optimizer = sim::OptimizerKind::AdamW};
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}
std::string planExample() {
  return written([](const std::string& path) { sim::save_plan(examplePlan(), path); });
}
std::string rankTraceExample() {
  return written([](const std::string& path) {
    sim::Span span;
    span.end = sim::SimTime(5000);
    sim::RankTrace trace{
        .rank = sim::Rank(0), .plan_hash = "0123456789abcdef", .steps = {{.step = 1, .spans = {span}, .ledger = {{}}}}, .mesh = {}};
    sim::write_rank_trace(trace, path);
  });
}
std::string modelExample() { return bytesOf("profiles/models/tiny-gpt2.json"); }
std::string clusterExample() { return bytesOf("profiles/hardware/a100-80gb-sxm.json"); }

void readTrace(const std::string& path) {
  LoadProgress progress;
  const SharedTrace trace = importTrace({path}, progress);
  for (std::uint32_t span = 0; span < std::min<std::size_t>(3, trace->name.size()); ++span) membersOf(*trace, span);
}
void readSnapshot(const std::string& path) {
  LoadProgress progress;
  importSnapshot(path, progress);
}
void readBundle(const std::string& path) {
  unpackBundle(path, scratch() + "/unpacked");
  std::filesystem::remove_all(scratch() + "/unpacked");
}
void readMetrics(const std::string& path) {
  const std::string run = scratch() + "/followed";
  std::filesystem::create_directories(run);
  std::filesystem::remove(run + "/metrics.ndjson");
  std::filesystem::create_symlink(std::filesystem::absolute(path), run + "/metrics.ndjson");
  MetricsFollower(run).look();
}

std::string recipeExample(const char* program) {
  if (program == std::string("torchtitan"))  // whose recipe builds no GPT-2: an older file of its
    return "[training]\nseq_len = 64\nlocal_batch_size = 8\n[parallelism]\ndata_parallel_shard_degree = -1\n[activation_checkpoint]\nmode "
           "= \"full\"\n";
  sim::ParallelPlan plan = examplePlan();
  plan.zero_stage = program == std::string("accelerate") ? 3 : 0;
  return sim::make_recipe(*sim::find_program(program), plan).files.front().text;
}
void readRecipe(const std::string& path) {
  static const sim::ParallelPlan plan = examplePlan();
  sim::import_recipe(path, {.model = plan.model, .cluster = plan.cluster, .sequence = 64, .global_batch = 8, .microbatch = 1});
}

constexpr Reader kReaders[] = {
    {"megatron", [] { return recipeExample("megatron"); }, readRecipe},
    {"deepspeed", [] { return recipeExample("deepspeed"); }, readRecipe},
    {"accelerate", [] { return recipeExample("accelerate"); }, readRecipe},
    {"torchtitan", [] { return recipeExample("torchtitan"); }, readRecipe},
    {"trace", traceExample, readTrace},
    {"snapshot", smallSnapshot, readSnapshot},
    {"bundle", bundleExample, readBundle},
    {"metrics", metricsExample, readMetrics},
    {"view", viewExample, [](const std::string& path) { loadView(path); }},
    {"plan", planExample, [](const std::string& path) { sim::load_plan(path); }},
    {"rank_trace", rankTraceExample, [](const std::string& path) { sim::read_rank_trace(path); }},
    {"model", modelExample, [](const std::string& path) { sim::load_model_config(path); }},
    {"cluster", clusterExample, [](const std::string& path) { sim::load_cluster(path, sim::DeviceCount{2}); }},
    {"kind", modelExample, [](const std::string& path) { kindOfFile(path); }},
};

}  // namespace

std::span<const Reader> allReaders() { return kReaders; }

void readBytes(const Reader& reader, const std::string& bytes) {
  const std::string path = scratch() + "/input";
  std::filesystem::remove(path);  // a new file: overwriting one would wait for the disk
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    reader.read(path);
  } catch (const sim::InputError&) {
  }
}

}  // namespace gui::test
