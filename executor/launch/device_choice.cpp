#include "executor/launch/device_choice.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "sim/units/input_error.h"

#if MESHWRIGHT_CUDA
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

using Refusals = std::vector<sim::Violation>;

// "cuda" -> -1: any; "cuda:2" -> 2; otherwise nothing.
std::optional<std::int32_t> gpu_named(const std::string& device) {
  if (device == "cuda") return -1;
  std::int32_t index = 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  const auto [end, error] = std::from_chars(device.data() + 5, device.data() + device.size(), index);
  return error == std::errc{} && end == device.data() + device.size() && index >= 0 ? std::optional(index) : std::nullopt;
}

// Of a machine that has some: the one that is named, else one by the rank's place on its host.
std::int32_t gpu_of(const DeviceWish& wish, const Surroundings& around) {
  const std::int32_t named = gpu_named(wish.device).value_or(-1);
  return named >= 0 ? named : around.place.local_rank % around.gpus;
}

void check_words(const DeviceWish& wish, Refusals& refusals) {
  if (wish.device != "auto" && wish.device != "cpu" && !gpu_named(wish.device))
    refusals.push_back({"--device", fmt::format("\"{}\" is no device", wish.device), "auto, cpu, cuda, or one GPU as cuda:0"});
  if (wish.communication != "auto" && wish.communication != "mpi" && wish.communication != "nccl")
    refusals.push_back({"--communication", fmt::format("\"{}\" joins no ranks", wish.communication), "auto, mpi or nccl"});
}

void check_gpu(const DeviceWish& wish, const Surroundings& around, Refusals& refusals) {
  const std::string remedy = "or run it on CPU ranks: --device cpu";
  if (!around.knows_gpus)
    refusals.push_back({"--device", "this build knows no GPUs", "build it: cmake --preset cuda && cmake --build --preset cuda; " + remedy});
  else if (around.gpus == 0)
    refusals.push_back({"--device", "no GPU can be used: " + around.no_gpu_because,
                        "install the driver, or let this process see a GPU (CUDA_VISIBLE_DEVICES); " + remedy});
  else if (gpu_named(wish.device).value_or(-1) >= around.gpus)
    refusals.push_back({"--device", fmt::format("{} is not there: {} GPUs are", wish.device, around.gpus), "name another one"});
}

// A launcher may let each rank see a card of its own, all of them number 0: then fewer are seen than there are ranks.
bool shares_gpu(const DeviceWish& wish, const Surroundings& around) {
  if (around.shares_card) return around.place.size > 1 && *around.shares_card;
  const bool names_one = gpu_named(wish.device).value_or(-1) >= 0;
  return around.place.size > 1 && (around.place.local_size > around.gpus || (names_one && around.place.local_size > 1));
}

void check_joint(const DeviceWish& wish, const Surroundings& around, bool on_gpu, Refusals& refusals) {
  const bool is_alone = around.place.size == 1;
  if (is_alone || !refusals.empty()) return;
  if (!on_gpu && wish.communication == "nccl")
    refusals.push_back({"--communication", "NCCL joins GPUs, and these ranks compute on CPUs", "--communication mpi, or --device cuda"});
  if (wish.communication == "mpi" && !around.has_mpi)
    refusals.push_back({"--communication", "these ranks were not started by mpirun or srun with PMIx: each would be alone in MPI",
                        "start them with mpirun"});
  if (!on_gpu && wish.communication == "auto" && !around.has_mpi)
    refusals.push_back(
        {"RANK, WORLD_SIZE",
         fmt::format("{} CPU ranks were started by environment variables alone, and only MPI joins CPU ranks", around.place.size),
         "start them with mpirun (meshwright run does)"});
  if (!on_gpu || !shares_gpu(wish, around)) return;
  const std::string problem =
      fmt::format("{} ranks on this host share {} GPU{}, and NCCL takes one rank a GPU (\"Duplicate GPU detected\")",
                  around.place.local_size, around.gpus, around.gpus == 1 ? "" : "s");
  if (wish.communication == "nccl" || !around.has_mpi)
    refusals.push_back({"--communication", problem,
                        "plan for as many ranks as GPUs; for a proof of correctness start with mpirun and --communication mpi, which "
                        "stages through the host"});
}

std::string reason(const DeviceWish& wish, const Surroundings& around, const DeviceChoice& choice) {
  const std::string device = wish.device != "auto"    ? fmt::format("as --device {} says", wish.device)
                             : choice.device.is_cpu() ? std::string("the plan is for CPU ranks")
                                                      : fmt::format("the plan is for GPUs, and {} can be used", around.gpus);
  switch (choice.joint) {
    case Joint::Alone: return device;
    case Joint::Mpi: return device + "; ranks joined by MPI";
    case Joint::StagedMpi: return device + "; ranks joined by MPI, staged through the host: right, but no measure of GPUs that talk";
    default: return device + "; ranks joined by NCCL";
  }
}

}  // namespace

Surroundings look_around(const RankEnvironment& place, bool has_mpi) {
  Surroundings around{.place = place, .has_mpi = has_mpi, .knows_gpus = false, .gpus = 0, .no_gpu_because = {}};
#if MESHWRIGHT_CUDA
  around.knows_gpus = true;
  try {
    around.gpus = c10::cuda::device_count_ensure_non_zero();
  } catch (const c10::Error& error) {
    around.no_gpu_because = error.what_without_backtrace();  // no driver, a driver too old (with its version), no device
  }
#endif
  return around;
}

std::string card_of([[maybe_unused]] const DeviceWish& wish, [[maybe_unused]] const Surroundings& around) {
#if MESHWRIGHT_CUDA
  const std::int32_t index = around.gpus > 0 ? gpu_of(wish, around) : 0;
  cudaDeviceProp properties{};
  if (index >= around.gpus || cudaGetDeviceProperties(&properties, index) != cudaSuccess) return {};
  std::string text;
  for (const char byte : properties.uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
#else
  return {};
#endif
}

DeviceChoice choose_device(const DeviceWish& wish, const Surroundings& around) {
  Refusals refusals;
  check_words(wish, refusals);
  const bool on_gpu = gpu_named(wish.device).has_value() || (wish.device == "auto" && wish.planned == sim::DeviceKind::Gpu);
  if (refusals.empty() && on_gpu) check_gpu(wish, around, refusals);
  check_joint(wish, around, on_gpu, refusals);
  if (!refusals.empty()) throw sim::InputError("", refusals);
  DeviceChoice choice;
  if (on_gpu) {
    choice.device = c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(gpu_of(wish, around)));
  }
  if (around.place.size > 1) {
    const bool stages = on_gpu && (wish.communication == "mpi" || shares_gpu(wish, around));
    choice.joint = !on_gpu ? Joint::Mpi : stages ? Joint::StagedMpi : Joint::Nccl;
  }
  choice.why = reason(wish, around, choice);
  return choice;
}

}  // namespace executor
