// Joins this process to the others of its job, as its device choice says.
#pragma once

#include <memory>

#include "executor/communication/transport.h"
#include "executor/launch/device_choice.h"

namespace executor {

// Collective over all ranks of the job. mpi: null where it has not started. Throws CollectiveError.
Transport join_job(const DeviceChoice& choice, const RankEnvironment& place, std::shared_ptr<MpiSession> mpi,
                   const CommunicationOptions& options = {});

}  // namespace executor
