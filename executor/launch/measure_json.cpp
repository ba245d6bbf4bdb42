#include "executor/launch/measure.h"
#include "sim/units/json_reader.h"
#include "sim/units/told.h"

namespace executor {

void measure_to_file(Transport transport, const std::string& path, const MeasureOptions& options) {
  const std::int32_t rank = transport.place().rank;
  MeasureOptions telling = options;
  if (rank == 0) telling.told = sim::tell_beside(path);
  const sim::HardwareProfile profile = measure_machine(std::move(transport), telling);
  if (rank == 0) sim::save_json_file(sim::to_json(profile), path);
}

}  // namespace executor
