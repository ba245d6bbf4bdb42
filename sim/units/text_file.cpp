#include "sim/units/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "sim/units/at.h"
#include "sim/units/input_error.h"
#include "sim/units/output_file.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

// Closes on every way out.
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

 private:
  int number_;
};

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse_reading(const std::string& path, const std::string& why, const std::string& remedy) {
  throw InputError(path, {{"", fmt::format("cannot be read: {}", why), remedy}});
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
    used += count_of(count);
    if (count == 0) {
      text.resize(used);
      return text;
    }
  }
}

std::string load_edited_text_file(const std::string& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string text = load_text_file(path);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

void require_writable(const std::string& path) { const OutputFile tried(path); }

void save_text_file(std::string_view text, const std::string& path) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace sim
