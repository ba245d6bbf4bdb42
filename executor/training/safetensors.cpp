#include "executor/training/safetensors.h"

#include <ATen/ops/from_blob.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "executor/training/refusal.h"
#include "sim/units/at.h"

namespace executor {
namespace {

constexpr std::size_t kLengthBytes = 8;

class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_ < 0) fail();
  }
  ~OutputFile() { close(file_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t written = ::write(file_, at, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail();
      at += written;
      bytes -= sim::count_of(written);
    }
  }
  void flush() {
    if (fsync(file_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    refuse(path_, std::string("cannot be written: ") + std::strerror(errno), "free space on the disk, or name a folder on another one");
  }
  std::string path_;
  int file_;
};

}  // namespace

std::int64_t safetensors_bytes(std::span<const NamedTensor> tensors) {
  std::int64_t bytes = kLengthBytes;
  for (const NamedTensor& tensor : tensors) bytes += static_cast<std::int64_t>(tensor.values.nbytes()) + 160;  // a header entry is shorter
  return bytes;
}

void write_safetensors(const std::string& path, std::span<const NamedTensor> tensors) {
  const std::string header = safetensors_header(tensors);
  const std::uint64_t length = header.size();
  OutputFile file(path);
  file.write(&length, kLengthBytes);
  file.write(header.data(), header.size());
  for (const NamedTensor& tensor : tensors) file.write(tensor.values.data_ptr(), tensor.values.nbytes());
  file.flush();
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const std::string remedy = "restore the file, or remove this checkpoint to use the one before it";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno), remedy);
  const auto size = sim::count_of(status.st_size);
  void* const memory = size > kLengthBytes ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) refuse(path, fmt::format("is no safetensors file ({} bytes)", size), remedy);
  file_ = {static_cast<const std::byte*>(memory), size};
  std::uint64_t length = 0;
  std::memcpy(&length, file_.data(), kLengthBytes);
  if (length > size - kLengthBytes) refuse(path, fmt::format("is truncated: its header takes {} bytes of {}", length, size), remedy);
  data_begin_ = kLengthBytes + length;
  entries_ = parse_safetensors_header({reinterpret_cast<const char*>(file_.data()) + kLengthBytes, length}, path);
  for (const auto& [name, entry] : entries_)
    if (entry.begin > entry.end || entry.end > size - data_begin_)
      refuse(path, fmt::format("is truncated: tensor {} ends at byte {} of {}", name, entry.end, size - data_begin_), remedy);
}

SafetensorsFile::~SafetensorsFile() { munmap(const_cast<std::byte*>(file_.data()), file_.size()); }

std::string_view SafetensorsFile::header() const {
  return {reinterpret_cast<const char*>(file_.data()) + kLengthBytes, data_begin_ - kLengthBytes};
}

std::span<const std::byte> SafetensorsFile::bytes(const std::string& name) const {
  const Entry& entry = entries_.at(name);
  return file_.subspan(data_begin_ + entry.begin, entry.end - entry.begin);
}

at::Tensor SafetensorsFile::tensor(const std::string& name) const {
  const Entry& entry = entries_.at(name);
  return at::from_blob(const_cast<std::byte*>(bytes(name).data()), entry.shape, at::TensorOptions().dtype(entry.type));
}

}  // namespace executor
