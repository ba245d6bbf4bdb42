#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/outputs.h"
#include "cli/process.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"
#include "sim/units/told.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

// Each run measures into a folder of its own, which goes when we go.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    path_ = std::filesystem::temp_directory_path(error) / fmt::format("meshwright-measure-{}", getpid());
    if (!error) std::filesystem::create_directories(path_, error);
    if (error)
      throw sim::InputError("TMPDIR", {{"", "names no folder that can be written: " + error.message(), "set it to one, or unset it"}});
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string words(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Pass {
  std::string device;
  std::int32_t ranks = 1;
  std::int64_t number = 1, of = 1;
};

sim::HardwareProfile measure_in(const Pass& pass, const ScratchFolder& scratch, Progress& progress) {
  const std::int32_t ranks = pass.ranks;
  const std::string profile = scratch.file(fmt::format("profile.{}.json", ranks)), said = scratch.file("stderr.txt");
  const std::string details = sim::counted(ranks, "rank") + " at once";
  const int status =
      launch({.ranks = ranks,
              .arguments = {"measure", "--out", profile, "--device", pass.device},
              .error_file = said,
              .on_gpus = pass.device.starts_with("cuda")},
             [&] {
               const sim::HowFar far = sim::how_far_beside(profile);
               if (far.all > 0)
                 progress.update({.done = (pass.number - 1) * far.all + far.done, .all = pass.of * far.all, .details = details});
               return true;
             });
  if (interrupted()) return {};  // however its ranks ended
  if (status != kSuccess)
    throw RankFailure(fmt::format("measuring with {} failed (mpirun ended with {}):\n{}", details, status, words(said)));
  return sim::load_hardware_profile(profile);
}

std::string profile_text(const sim::HardwareProfile& profile, const std::string& output) {
  return table_text({{"cores", std::to_string(profile.cores_per_node)},
                     {"memory", sim::to_text(profile.memory)},
                     {"memory bandwidth", sim::to_text(profile.memory_bandwidth)},
                     {"fp32 matrix products", sim::to_text(sim::at(profile.peak, sim::Precision::Fp32))},
                     {"one operator call", sim::to_text(profile.kernel_overhead)},
                     {"measured points", std::to_string(profile.measured.size())}}) +
         "Hardware profile: " + output;
}

}  // namespace

int run(const MeasureOptions& options, const Console& console) {
  require_outputs({{options.output, sim::OwnFile::Profile}}, {});
  const ScratchFolder scratch;
  Progress progress("measure: shape");
  sim::HardwareProfile profile;
  std::int64_t number = 0;
  for (const std::int32_t ranks : options.ranks) {
    const sim::HardwareProfile measured =
        measure_in({.device = options.device, .ranks = ranks, .number = ++number, .of = static_cast<std::int64_t>(options.ranks.size())},
                   scratch, progress);
    if (interrupted()) {
      console.say("interrupted: nothing was written");
      return kInterrupted;
    }
    if (profile.measured.empty())
      profile = measured;
    else
      profile.measured.insert(profile.measured.end(), measured.measured.begin(), measured.measured.end());
  }
  profile.name = "this-machine";
  save_hardware_profile(profile, options.output);
  console.result(profile_text(profile, options.output), [&] { return profile_document(profile); });
  return kSuccess;
}

}  // namespace cli
