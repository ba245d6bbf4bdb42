#include "executor/launch/measure.h"
#include "sim/units/json_reader.h"

namespace executor {

void measure_to_file(Transport transport, const std::string& path, const MeasureOptions& options) {
  const std::int32_t rank = transport.place().rank;
  const sim::HardwareProfile profile = measure_machine(std::move(transport), options);
  if (rank == 0) sim::save_json_file(sim::to_json(profile), path);
}

}  // namespace executor
