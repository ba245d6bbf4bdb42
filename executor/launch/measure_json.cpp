#include <fstream>

#include "executor/launch/measure.h"
#include "sim/units/json_reader.h"

namespace executor {

std::string told_file(const std::string& profile) { return profile + ".told"; }

void measure_to_file(Transport transport, const std::string& path, const MeasureOptions& options) {
  const std::int32_t rank = transport.place().rank;
  MeasureOptions telling = options;
  if (rank == 0)
    telling.told = [file = told_file(path)](const sim::HowFar& far) { std::ofstream(file) << far.done << ' ' << far.all << '\n'; };
  const sim::HardwareProfile profile = measure_machine(std::move(transport), telling);
  if (rank == 0) sim::save_json_file(sim::to_json(profile), path);
}

}  // namespace executor
