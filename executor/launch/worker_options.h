// The command line of meshwright-worker. `meshwright` writes it; people rarely do.
//
//   meshwright-worker run --plan plan.json --data tokens.bin --steps N --out run/ [--resume] [--weights model.safetensors]
//                         [--device auto|cpu|cuda|cuda:0] [--communication auto|mpi|nccl] [--memory-snapshot memory.pickle] [--no-checkpoint]
//                         [--cuda-graphs] [--deterministic] [--hang-limit seconds] [--folder-is-locked] [--token-type uint16|uint32]
//   meshwright-worker export --out run/ --weights folder/      the newest checkpoint as Hugging Face names it
//   meshwright-worker measure --out profile.json [--device cuda]
//   meshwright-worker report --out run/ --ranks N        what each rank was doing last, from its heartbeat
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/units/index.h"

namespace executor {

struct WorkerOptions {
  std::string command;
  std::string plan, data, out;
  std::string weights;              // of Hugging Face: to start from, or to write
  std::string token_type = "auto";  // of a token file that does not say it itself
  std::string device = "auto", communication = "auto";
  std::string memory_snapshot;  // where LibTorch's allocator writes what it holds, and held: read by pytorch.org/memory_viz and our GUI
  std::int64_t steps = 0;
  std::int32_t ranks = 1;
  std::int32_t hang_limit = 120;  // seconds that a rank waits for another
  bool resume = false;
  bool no_checkpoint = false;     // of runs that are only timed
  bool deterministic = false;     // on a GPU: the same bits from run to run
  bool cuda_graphs = false;       // a step's computing is captured once and replayed
  bool folder_is_locked = false;  // by the program that started the ranks: else rank 0 keeps other runs out
  std::string kill_at;            // tests alone, like the next
  sim::Rank kill_rank{0};
};

// The options, or what is wrong with them (exit code 2).
struct ParsedOptions {
  std::optional<WorkerOptions> options;
  std::string problem;
};
ParsedOptions parse_options(const std::vector<std::string>& words);

}  // namespace executor
