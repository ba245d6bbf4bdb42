// The bytes of a file of any size: mapped, not read; a gzip file is unpacked into a temporary file first, so that either costs address
// space and no heap. Used by the readers of this room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gui {

struct LoadProgress {  // shared between who loads and who waits
  std::atomic<bool> cancelled{false};
  std::atomic<std::int64_t> done{0}, all{0};  // bytes
  void stopIfCancelled() const;               // throws sim::InputError
};

class TextSource {
 public:
  // Throws sim::InputError: not there, empty, a broken gzip stream, no room to unpack it.
  TextSource(const std::string& path, LoadProgress& progress);
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  std::string_view text() const { return {data_, size_}; }
  bool isCut() const { return cut_; }  // a gzip stream that ended early, a hole in the file: what came before is there

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  bool cut_ = false;
};
using SharedText = std::shared_ptr<const TextSource>;

}  // namespace gui
