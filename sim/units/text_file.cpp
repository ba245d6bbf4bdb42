#include "sim/units/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

constexpr mode_t kReadableByAll = 0666;  // less the umask

// Closes on every way out; close() itself is called where its result matters.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_reading(const std::string& path, const std::string& why, const std::string& remedy) {
  throw InputError(path, {{"", fmt::format("cannot be read: {}", why), remedy}});
}

[[noreturn]] void refuse_writing(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw InputError(path, {{"", fmt::format("cannot be written: {}", reason(error)),
                           full ? "free some space or choose another place; an older file is unchanged"
                                : missing ? "create its folder first" : "choose a place that can be written"}});
}

bool write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_directly(std::string_view text, const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open() || !write_all(file, text) || !file.close()) refuse_writing(path, errno);
}

void flush_folder(const std::filesystem::path& folder) {  // makes the rename durable; not every file system can, and none is worse off
  const Descriptor open_folder(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open_folder.is_open()) ::fsync(open_folder.number());
}

// A link keeps pointing where it did: what it names is replaced.
std::filesystem::path behind_links(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::canonical(path, ignored);
  return ignored ? std::filesystem::path(path) : target;
}

struct Target {
  explicit Target(const std::string& asked_for) : asked(asked_for), path(behind_links(asked_for)), aside(fmt::format("{}.{}.part", path.string(), ::getpid())) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) refuse_writing(asked, EISDIR);
    is_special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  }
  std::string asked;
  std::filesystem::path path;
  std::string aside;         // the process number keeps two writers of the same file apart
  bool is_special = false;   // a pipe or a terminal: written as it is
};

Descriptor open_aside(const Target& target) {
  const int file = ::open(target.aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
  if (file < 0) refuse_writing(target.asked, errno);
  return Descriptor(file);
}

}  // namespace

std::string load_text_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) refuse_reading(path, reason(errno), "check the path");
  struct stat state {};
  if (::fstat(file.number(), &state) == 0 && S_ISDIR(state.st_mode)) refuse_reading(path, reason(EISDIR), "name a file in it");

  std::string text;
  for (std::size_t used = 0;;) {
    if (Bytes(state.st_size) > kLargestTextFile || Bytes(static_cast<std::int64_t>(used)) > kLargestTextFile)
      refuse_reading(path, fmt::format("it is larger than {}", to_text(kLargestTextFile)), "check that this is the right file");
    text.resize(std::max<std::size_t>(used + (std::size_t{64} << 10), used * 2));
    const ssize_t count = ::read(file.number(), text.data() + used, text.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_reading(path, reason(errno), "check the disk");
    used += static_cast<std::size_t>(count);
    if (count == 0) {
      text.resize(used);
      return text;
    }
  }
}

void require_writable(const std::string& path) {
  const Target target(path);
  if (target.is_special) return;
  const Descriptor file = open_aside(target);
  ::unlink(target.aside.c_str());
}

void save_text_file(std::string_view text, const std::string& path) {
  const Target target(path);
  if (target.is_special) return write_directly(text, path);
  Descriptor file = open_aside(target);
  if (!write_all(file, text) || ::fsync(file.number()) != 0 || !file.close() || ::rename(target.aside.c_str(), target.path.c_str()) != 0) {
    const int error = errno;
    ::unlink(target.aside.c_str());
    refuse_writing(path, error);
  }
  flush_folder(target.path.parent_path());
}

}  // namespace sim
