#include "executor/launch/numa_binding.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>

#if MESHWRIGHT_CUDA
#include <cuda_runtime_api.h>
#endif

namespace executor {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0-3,8" -> 0 1 2 3 8
std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> numbers;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0, last = 0;
    const auto begun = std::from_chars(at, end, first);
    if (begun.ec != std::errc{}) break;
    last = first;
    at = begun.ptr;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    for (int number = first; number <= last; ++number) numbers.push_back(number);
    if (at < end) ++at;  // the comma
  }
  return numbers;
}

}  // namespace

std::vector<int> allowed_cores() {
  cpu_set_t set;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::vector<int> cores_beside(const std::string& bus, const std::vector<int>& allowed, const std::string& sys) {
  std::string small = bus;
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::string node = first_line(fmt::format("{}/bus/pci/devices/{}/numa_node", sys, small));
  if (node.empty() || node.starts_with('-')) return {};  // -1: one node, or unknown
  std::vector<int> beside;
  for (const int core : numbers_of(first_line(fmt::format("{}/devices/system/node/node{}/cpulist", sys, node))))
    if (std::find(allowed.begin(), allowed.end(), core) != allowed.end()) beside.push_back(core);
  return beside;
}

#if MESHWRIGHT_CUDA
std::string bus_of(c10::Device device) {
  constexpr int kLength = 32;
  std::array<char, kLength> bus{};
  if (cudaDeviceGetPCIBusId(bus.data(), kLength, device.index()) != cudaSuccess) return {};
  return bus.data();
}

std::string bind_beside(c10::Device device) {
  if (!device.is_cuda()) return {};
  const std::vector<int> allowed = allowed_cores(), beside = cores_beside(bus_of(device), allowed);
  if (beside.empty() || beside.size() == allowed.size()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : beside) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return {};
  return fmt::format("bound to the {} cores beside {}", beside.size(), device.str());
}
#else
std::string bus_of(c10::Device) { return {}; }
std::string bind_beside(c10::Device) { return {}; }
#endif

}  // namespace executor
