// The zip format (PKWARE's application note), as far as run bundles need it: deflated files beside each other, without a date, below 4 GiB.
// Reading trusts nothing: names are plain, sizes are what was promised, sums agree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/output_file.h"

namespace gui {

struct ZipEntry {
  std::string name;
  std::string_view packed;  // deflated
  std::uint32_t sum = 0, size = 0;
};

class ZipWriter {
 public:
  // Errors name `source`, which is packed.
  ZipWriter(sim::OutputFile& file, const std::string& source) : file_(file), source_(source) {}
  void add(const std::string& name, std::string_view content);  // throws sim::InputError: beyond 4 GiB, or 65,535 files
  void finish();

 private:
  void put(std::string_view text);

  sim::OutputFile& file_;
  const std::string& source_;
  std::string directory_;
  std::uint64_t written_ = 0;
  std::size_t files_ = 0;
};

inline constexpr std::uint64_t kMostZipped = 0xfffffff0;  // of one file and of all: beyond, another format would be needed

// Both throw sim::InputError. The text must outlive the entries.
std::vector<ZipEntry> readZip(std::string_view text, const std::string& path);
std::string unpacked(const ZipEntry& entry, const std::string& path);

[[noreturn]] void refuseZip(const std::string& path, const std::string& problem);

}  // namespace gui
