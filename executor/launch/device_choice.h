// Where a rank computes and what joins it to the others, decided from the plan, the options and what is found around the process; or refused, with all
// reasons at once. A function of values: every case is tested on a machine without a GPU.
#pragma once

#include <c10/core/Device.h>

#include <optional>
#include <string>

#include "executor/launch/rank_environment.h"
#include "sim/cluster/hardware_profile.h"

namespace executor {

enum class Joint { Alone, Mpi, StagedMpi, Nccl };
struct DeviceChoice {
  c10::Device device = c10::kCPU;
  Joint joint = Joint::Alone;
  std::string why;  // one line
};

struct DeviceWish {
  std::string device = "auto";         // auto | cpu | cuda | cuda:1
  std::string communication = "auto";  // auto | mpi | nccl
  sim::DeviceKind planned = sim::DeviceKind::Cpu;
};

struct Surroundings {
  RankEnvironment place;
  bool has_mpi = false;        // MPI has started
  bool knows_gpus = false;     // this build
  std::int32_t gpus = 0;       // that this process may use
  std::string no_gpu_because;  // the driver's words
  std::optional<bool> shares_card =
      {};  // any rank with another, by the cards' UUIDs; nothing: nobody could be asked, and numbers have to tell
};
// The UUID of the card that this rank would take; empty: none.
std::string card_of(const DeviceWish& wish, const Surroundings& around);
Surroundings look_around(const RankEnvironment& place, bool has_mpi);

// Throws sim::InputError.
DeviceChoice choose_device(const DeviceWish& wish, const Surroundings& around);

}  // namespace executor
