#include "sim/units/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

constexpr mode_t kReadableByAll = 0666;  // less the umask
constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void refuse_writing(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw InputError(path, {{"", fmt::format("cannot be written: {}", std::generic_category().message(error)),
                           full      ? "free some space or choose another place; an older file is unchanged"
                           : missing ? "create its folder first"
                                     : "choose a place that can be written"}});
}

void flush_folder(const std::filesystem::path& folder) {  // makes the rename durable; not every file system can, and none is worse off
  const int open_folder = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (open_folder < 0) return;
  ::fsync(open_folder);
  ::close(open_folder);
}

// A link keeps pointing where it did: what it names is replaced.
std::string behind_links(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::canonical(path, ignored);
  return ignored ? path : target.string();
}

bool is_special(const std::string& path) {  // a pipe or a terminal
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : asked_(path), target_(behind_links(path)) {
  std::error_code ignored;
  if (std::filesystem::is_directory(target_, ignored)) refuse_writing(asked_, EISDIR);
  if (is_special(target_)) return;                          // a pipe would wait for its reader: opened when there is something to write
  aside_ = fmt::format("{}.{}.part", target_, ::getpid());  // two writers of the same file stay apart
  open(aside_, O_CREAT | O_TRUNC);
}

OutputFile::~OutputFile() {
  if (is_open()) ::close(file_);
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void OutputFile::open(const std::string& path, int flags) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, kReadableByAll);
  if (!is_open()) refuse_writing(asked_, errno);
}

void OutputFile::write(std::string_view piece) {
  if (waiting_.size() + piece.size() >= kPiece) {
    put(waiting_);
    waiting_.clear();
  }
  if (piece.size() < kPiece)
    waiting_ += piece;
  else
    put(piece);
}

void OutputFile::put(std::string_view text) {
  if (!is_open()) open(target_, 0);
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_writing(asked_, errno);
    text.remove_prefix(count_of(written));
  }
}

void OutputFile::finish() {
  put(waiting_);
  if (!aside_.empty() && ::fsync(file_) != 0) refuse_writing(asked_, errno);
  if (::close(std::exchange(file_, -1)) != 0) refuse_writing(asked_, errno);
  if (aside_.empty()) return;
  if (::rename(aside_.c_str(), target_.c_str()) != 0) refuse_writing(asked_, errno);
  aside_.clear();
  flush_folder(std::filesystem::path(target_).parent_path());
}

}  // namespace sim
