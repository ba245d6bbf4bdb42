// A memory snapshot written opcode by opcode, protocol 2, for tests of its reader and of what shows it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/sim/timeline/timelines.h"

namespace gui::test {

inline std::string number(std::int64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}
inline std::string pickled(std::int64_t value) { return "\x8a\x08" + number(value, 8); }
inline std::string pickled(const std::string& text) { return "X" + number(static_cast<std::int64_t>(text.size()), 4) + text; }
inline std::string dictionary(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "}(";
  for (const auto& [key, value] : members) text += pickled(key) + value;
  return text + "u";
}
inline std::string list(const std::vector<std::string>& items) {
  std::string text = "](";
  for (const std::string& item : items) text += item;
  return text + "e";
}

inline std::string allocatorEvent(const std::string& action, std::int64_t address, std::int64_t size, std::int64_t time,
                                  const std::string& frames = list({})) {
  return dictionary(
      {{"action", pickled(action)}, {"addr", pickled(address)}, {"size", pickled(size)}, {"time_us", pickled(time)}, {"frames", frames}});
}

// 800 bytes that were there; 100 allocated in forward and freed, 200 in backward and kept.
inline std::string smallSnapshot() {
  const auto frame = [](const char* name, const char* file, std::int64_t line) {
    return dictionary({{"name", pickled(std::string(name))}, {"filename", pickled(std::string(file))}, {"line", pickled(line)}});
  };
  const std::string forward = list({frame("block", "/home/me/train.py", 3), frame("forward", "/usr/torch/nn/module.py", 7)});
  const std::string backward = list({frame("torch::autograd::Engine", "engine.cpp", 0), frame("step", "/home/me/train.py", 9)});
  const std::string trace =
      list({allocatorEvent("segment_alloc", 1, 4096, 1000), allocatorEvent("alloc", 10, 100, 1000, forward),
            allocatorEvent("alloc", 20, 200, 1010, backward), allocatorEvent("free_requested", 10, 100, 1020),
            allocatorEvent("free_completed", 10, 100, 1020), allocatorEvent("free_completed", 99, 50, 1021), dictionary({})});
  const std::string segment = dictionary({{"device", pickled(0)}, {"total_size", pickled(4096)}, {"allocated_size", pickled(1000)}});
  return "\x80\x02" + dictionary({{"segments", list({segment})}, {"device_traces", list({trace})}}) + ".";
}

}  // namespace gui::test
