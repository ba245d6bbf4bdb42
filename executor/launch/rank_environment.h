// Who this process is in its job, from the launcher's environment (mpirun, srun, torchrun-style variables). Known before MPI starts, so that
// the first words already go to the rank's own file.
#pragma once

#include "sim/units/index.h"

namespace executor {

struct RankEnvironment {
  sim::Rank rank{0};
  std::int32_t size = 1;
  std::int32_t local_rank = 0, local_size = 1;  // on this host
  bool is_launched = false;                     // some launcher named a rank
};

RankEnvironment read_rank_environment();

}  // namespace executor
