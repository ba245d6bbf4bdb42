// What this machine has, and lacks, for ranks on GPUs: one screen before a run (`meshwright-worker doctor`). Facts are gathered once; what they mean is a
// function of them, tested on a machine without a GPU. Measures nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/launch/device_choice.h"
#include "sim/units/quantity.h"

namespace executor {

struct CardFacts {
  std::string name;  // of a slice of a card with "MIG" in it
  sim::Bytes memory{};
  std::string capability;  // "9.0"
  std::string clock;       // at most: "1980 MHz"
  bool corrects_errors = true, is_for_one_process = false;
  std::string bus;
  bool has_known_cores = true;  // those of its NUMA node
};

struct MachineFacts {
  Surroundings around;
  std::string cuda = {}, driver = {};  // CUDA that this build was made with, and the newest that the driver knows: "13.0"; empty: none
  bool is_driver_older = false;
  std::string nccl = {};  // "2.28.9"; empty: this build has none
  bool build_has_mpi = true;
  std::vector<CardFacts> cards = {};
  std::vector<std::pair<std::size_t, std::size_t>> apart = {};  // cards that cannot reach each other's memory
  sim::Bytes shared_memory{};                                   // free in /dev/shm, through which NCCL joins processes of one host
};
MachineFacts look_at_machine(const Surroundings& around);

struct MachineReport {
  std::string text;      // a line each: "has", "lacks" with what to do, "note"
  bool can_run = false;  // nothing lacks
};
MachineReport report_of(const MachineFacts& facts);

}  // namespace executor
