#include "gui/import/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <vector>

#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

[[noreturn]] void refuseFile(const std::string& path, const std::string& problem, const std::string& remedy) {
  throw sim::InputError(path, {{"", problem, remedy}});
}

struct OpenFile {
  explicit OpenFile(int descriptor) : number(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  int number;
};

struct Unpacker {
  gzFile file;
  explicit Unpacker(const std::string& path) : file(gzopen(path.c_str(), "rb")) {}
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() {
    if (file != nullptr) gzclose(file);
  }
};

bool isPacked(int descriptor) {
  unsigned char magic[2] = {};
  return ::pread(descriptor, magic, sizeof magic, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

// True: the whole stream. What was unpacked before an error stays.
bool unpack(const std::string& path, std::FILE* into, Progress& progress) {
  constexpr std::size_t kPiece = 1 << 20;
  const Unpacker packed(path);
  std::vector<char> piece(kPiece);
  for (;;) {
    progress.stopIfCancelled();
    const int read = packed.file == nullptr ? -1 : gzread(packed.file, piece.data(), kPiece);
    if (read <= 0) {
      int error = Z_OK;
      if (packed.file != nullptr) gzerror(packed.file, &error);
      return read == 0 && error == Z_OK;
    }
    if (std::fwrite(piece.data(), 1, sim::count_of(read), into) != sim::count_of(read))
      refuseFile(path, "cannot be unpacked: the temporary folder is full", "free some space in it, or unpack the file with gunzip");
    progress.done = gzoffset(packed.file);
  }
}

}  // namespace

TextSource::TextSource(const std::string& path, Progress& progress) : path_(path), opened_(stampOf(path)) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode))
    refuseFile(path, "cannot be read", "check that it is a file and that you may read it");
  progress.all = status.st_size;
  int mapped = file.number;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> unpacked(
      isPacked(file.number) ? std::tmpfile() : nullptr, [](std::FILE* opened) { return opened == nullptr ? 0 : std::fclose(opened); });
  if (isPacked(file.number)) {
    if (unpacked == nullptr) refuseFile(path, "cannot be unpacked: there is no temporary folder", "set TMPDIR to a folder with room");
    cut_ = !unpack(path, unpacked.get(), progress);
    std::fflush(unpacked.get());
    is_ours_ = true;
    mapped = ::fileno(unpacked.get());
    ::fstat(mapped, &status);
    progress.done = 0;
    progress.all = status.st_size;
  }
  const off_t hole = ::lseek(mapped, 0, SEEK_HOLE);  // where nothing was ever written: the rest of a file that was not completed
  cut_ |= hole >= 0 && hole < status.st_size;
  const auto size = sim::count_of(hole >= 0 ? hole : status.st_size);
  if (size == 0) refuseFile(path, cut_ ? "is no gzip file, or a broken one" : "is empty", "write it again");
  mapped_ = std::make_unique<const MappedFile>(FileDescriptor{mapped}, size);
  if (mapped_->text().empty()) refuseFile(path, "cannot be mapped into memory", "check the limits of the address space (ulimit -v)");
}

// What was unpacked, or lies under another name by now, nobody else writes to.
bool TextSource::isAsOpened() const {
  const FileStamp now = stampOf(path_);
  return is_ours_ || (!mapped_->isTorn() && (now == opened_ || !now.isSameFile(opened_)));
}

}  // namespace gui
