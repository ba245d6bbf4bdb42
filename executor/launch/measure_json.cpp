#include "executor/launch/measure.h"
#include "sim/units/json_reader.h"

namespace executor {

void measure_to_file(std::shared_ptr<MpiSession> session, const std::string& path, const MeasureOptions& options) {
  int rank = 0;
  if (session) check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  const sim::HardwareProfile profile = measure_machine(std::move(session), options);
  if (rank == 0) sim::save_json_file(sim::to_json(profile), path);
}

}  // namespace executor
