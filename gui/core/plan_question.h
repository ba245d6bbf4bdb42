// What a person asks the planner, as typed into the window; made into the planner's request, or refused with every reason at once.
// The window's counterpart of the options of `meshwright plan`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/search.h"

namespace gui {

inline constexpr const char* kWorker = "meshwright";  // what runs plans here

struct PlanQuestion {
  std::string model;         // config.json, or a plan file: its model
  std::string cluster;       // a file (a plan's: its cluster), or a name of profiles/
  std::int32_t devices = 8;  // 0: as the cluster file says
  std::string software{};    // what runs on GPUs: a file, or a name of profiles/software; empty: our own worker
  std::int64_t global_batch = 64;
  std::int64_t sequence = 1024;
  std::string precision{};     // "bf16"; empty: bf16 on GPUs, fp32 on CPUs
  std::string memory_limit{};  // "80 GiB"; empty: the device's
  double risk = 0.05;          // chance to run out of memory up to which plans compete
  std::int32_t top = 60;       // plans to keep
  bool robust = false;         // ranked by the 90th percentile of the step, else by the step predicted
  planner::Objective objective = planner::Objective::Step;
  double tokens = 0;      // of the whole training, where its time is what plans are ranked by
  std::string mtbf{};     // likewise: mean time between failures of a device, "5.8 y"; empty: none fails
  bool fewer = false;     // fewer devices compete, too
  std::string program{};  // that shall perform the plan: kWorker, or a name of sim::all_programs(); empty: any
  bool operator==(const PlanQuestion&) const = default;
};

// The question that the plan of a file answers: its model, cluster, batch, sequence and precision; the rest as asked before. A file without a name:
// the model and the cluster were those of the question.
PlanQuestion questionOf(const sim::ParallelPlan& plan, const std::string& file, PlanQuestion asked);

std::int64_t sequenceFor(const sim::ModelConfig& model, std::int64_t asked);  // at most as many tokens as it has positions
std::optional<sim::ModelConfig> knownModel(const std::string& path);          // of a file that is there and can be simulated
sim::Cluster clusterOf(const PlanQuestion& question);                         // throws sim::InputError
planner::SearchRequest searchRequest(const PlanQuestion& question);           // reads the files; throws sim::InputError

// What a cluster file says; of a device's profile as many as were asked for. Throws sim::InputError where the file is neither.
std::int32_t devicesOf(const std::string& cluster, std::int32_t asked);

std::vector<std::string> knownClusters();  // names in profiles/hardware and profiles/clusters, sorted
std::vector<std::string> knownSoftware();  // names in profiles/software, sorted
std::string modelsFolder();                // where example configs lie
std::string exampleText();                 // a file to train on: what is known of published runs

}  // namespace gui
