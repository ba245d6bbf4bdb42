// The bytes of a file of any size: mapped, not read; a gzip file is unpacked into a temporary file first, so that either costs address
// space and no heap. The file may be cut or written to while it is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "gui/core/file_stamp.h"
#include "gui/core/progress.h"
#include "gui/import/mapped_file.h"

namespace gui {

class TextSource {
 public:
  // Throws sim::InputError: not there, empty, a broken gzip stream, no room to unpack it.
  TextSource(const std::string& path, Progress& progress);

  std::string_view text() const { return mapped_->text(); }
  bool isCut() const { return cut_ || mapped_->isTorn(); }  // a gzip stream that ended early, a hole in the file: what came before is there
  bool isAsOpened() const;                                  // false: somebody wrote to the file; places that were known hold something else

 private:
  std::string path_;
  FileStamp opened_;
  std::unique_ptr<const MappedFile> mapped_;
  bool cut_ = false, is_ours_ = false;  // ours: a temporary file
};
using SharedText = std::shared_ptr<const TextSource>;

}  // namespace gui
