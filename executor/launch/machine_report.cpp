#include "executor/launch/machine_report.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "executor/communication/nccl_library.h"
#include "executor/communication/transport.h"
#include "executor/launch/numa_binding.h"
#include "executor/launch/run_versions.h"
#include "sim/units/unit_text.h"

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

constexpr sim::Bytes kSharedForNccl{std::int64_t{1} << 30};

sim::Bytes free_shared_memory() {
  struct statvfs state {};
  if (statvfs("/dev/shm", &state) != 0) return {};
  return sim::Bytes(static_cast<std::int64_t>(state.f_bavail) * static_cast<std::int64_t>(state.f_frsize));
}

#if MESHWRIGHT_CUDA

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

CardFacts card_facts(int device) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  constexpr int kKilohertz = 1000;
  const std::string bus = bus_of(c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device)));
  return {.name = properties.name,
          .memory = sim::Bytes(static_cast<std::int64_t>(properties.totalGlobalMem)),
          .capability = fmt::format("{}.{}", properties.major, properties.minor),
          .clock = fmt::format("{} MHz", attribute(cudaDevAttrClockRate, device) / kKilohertz),
          .corrects_errors = attribute(cudaDevAttrEccEnabled, device) != 0,
          .is_for_one_process = attribute(cudaDevAttrComputeMode, device) == cudaComputeModeExclusiveProcess,
          .bus = bus,
          .has_known_cores = !cores_beside(bus, allowed_cores()).empty()};
}

void look_at_cards(MachineFacts& facts) {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || cudaRuntimeGetVersion(&runtime) != cudaSuccess) return;
  facts.cuda = cuda_version_text(runtime);
  facts.driver = cuda_version_text(driver);
  facts.is_driver_older = driver / 1000 < runtime / 1000;  // of one major version all run
  for (int card = 0; card < facts.around.gpus; ++card) facts.cards.push_back(card_facts(card));
  for (int one = 0; one < facts.around.gpus; ++one)
    for (int other = one + 1; other < facts.around.gpus; ++other) {
      int reaches = 0;
      C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&reaches, one, other));
      if (reaches == 0) facts.apart.emplace_back(one, other);
    }
}

#else

void look_at_cards(MachineFacts&) {}

#endif

// Lines of a report, as they come.
class Lines {
 public:
  void has(const std::string& what) { text_ += "  has    " + what + "\n"; }
  void note(const std::string& what) { text_ += "  note   " + what + "\n"; }
  void lacks(const std::string& what, const std::string& remedy) {
    text_ += "  lacks  " + what + "\n         -> " + remedy + "\n";
    lacks_ = true;
  }
  MachineReport taken() && {
    return {.text = (lacks_ ? "This machine cannot run ranks on GPUs yet.\n" : "This machine can run ranks on GPUs.\n") + text_,
            .can_run = !lacks_};
  }

 private:
  std::string text_;
  bool lacks_ = false;
};

void say_software(const MachineFacts& facts, Lines& lines) {
  if (!facts.around.knows_gpus) lines.lacks("a build for GPUs", "cmake --preset cuda && cmake --build --preset cuda");
  if (facts.driver.empty())
    lines.lacks("a driver", "install NVIDIA's, or start the container with its GPUs");
  else if (facts.is_driver_older)
    lines.lacks(fmt::format("a driver for CUDA {}: it knows {}", facts.cuda, facts.driver), "install a newer one");
  else
    lines.has(fmt::format("a driver for CUDA {}, built with {}", facts.driver, facts.cuda));
  if (!facts.driver.empty() && facts.cards.empty())
    lines.lacks("a GPU that this process may use: " + facts.around.no_gpu_because, "let it see one (CUDA_VISIBLE_DEVICES)");
  if (!facts.build_has_mpi) lines.note("built without MPI: ranks are started by torchrun's variables");
}

void say_card(const CardFacts& card, std::size_t number, Lines& lines) {
  lines.has(fmt::format("cuda:{}  {}, {}, compute {}, at most {}{}", number, card.name, sim::to_text(card.memory), card.capability,
                        card.clock, card.corrects_errors ? ", ECC" : ""));
  const auto note = [&](bool is_so, std::string_view what) {
    if (is_so) lines.note(fmt::format("cuda:{}  {}", number, what));
  };
  note(card.name.find("MIG") != std::string::npos, "is a slice of a card (MIG): NCCL joins no slices, its rates are no card's");
  note(!card.corrects_errors, "ECC is off: bits that change in memory are not seen");
  note(card.is_for_one_process, "takes one process: ranks cannot share it");
  note(!card.has_known_cores, "its NUMA node is not known: ranks are bound to no cores");
}

void say_joints(const MachineFacts& facts, Lines& lines) {
  if (facts.cards.size() < 2) return;
  if (facts.nccl.empty())
    lines.lacks("NCCL", "build with the wheel's: cmake/setup.sh cuda");
  else
    lines.has("NCCL " + facts.nccl);
  if (facts.shared_memory < kSharedForNccl)
    lines.note(fmt::format("/dev/shm has {} free, and NCCL wants {} there: start a container with --shm-size",
                           sim::to_text(facts.shared_memory), sim::to_text(kSharedForNccl)));
  for (const auto& [one, other] : facts.apart)
    lines.note(fmt::format("cuda:{} and cuda:{} do not reach each other's memory: what they exchange goes through the host", one, other));
}

}  // namespace

MachineFacts look_at_machine(const Surroundings& around) {
  MachineFacts facts{.around = around, .nccl = nccl_version(), .build_has_mpi = has_mpi(), .shared_memory = free_shared_memory()};
  look_at_cards(facts);
  return facts;
}

MachineReport report_of(const MachineFacts& facts) {
  Lines lines;
  say_software(facts, lines);
  for (std::size_t card = 0; card < facts.cards.size(); ++card) say_card(facts.cards[card], card, lines);
  say_joints(facts, lines);
  return std::move(lines).taken();
}

}  // namespace executor
