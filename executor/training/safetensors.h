// The safetensors format: an 8-byte little-endian header length, a JSON header (name -> dtype, shape, data_offsets), the data without gaps.
// Other tools read these files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace executor {

struct NamedTensor {
  std::string name;
  at::Tensor values;  // contiguous CPU
};

std::int64_t safetensors_bytes(std::span<const NamedTensor> tensors);  // of the file, within a few bytes of padding

// Writes and flushes to disk. Throws sim::InputError naming the disk's reason (full, not writable).
void write_safetensors(const std::string& path, std::span<const NamedTensor> tensors);

class SafetensorsFile {
 public:
  // Maps the file. Throws sim::InputError: truncated, a header that lies about the file.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  struct Entry {
    c10::ScalarType type{};
    std::vector<std::int64_t> shape;
    std::size_t begin = 0, end = 0;  // in the data
  };
  const std::map<std::string, Entry>& entries() const { return entries_; }
  bool has(const std::string& name) const { return entries_.count(name) > 0; }
  std::string_view header() const;  // as it stands in the file
  std::span<const std::byte> bytes(const std::string& name) const;
  at::Tensor tensor(const std::string& name) const;  // a view of the mapped file

 private:
  std::string path_;
  std::span<const std::byte> file_;
  std::size_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
};

// In safetensors_json.cpp.
std::string safetensors_header(std::span<const NamedTensor> tensors);
std::map<std::string, SafetensorsFile::Entry> parse_safetensors_header(std::string_view header, const std::string& path);

}  // namespace executor
