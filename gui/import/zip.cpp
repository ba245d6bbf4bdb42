#include "gui/import/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint16_t kVersion = 20, kDeflate = 8;
constexpr std::size_t kEndLength = 22, kCentralLength = 46, kLocalLength = 30, kMostFiles = 0xffff;

void put16(std::string& text, std::uint16_t value) {
  text += static_cast<char>(value & 255);
  text += static_cast<char>(value >> 8);
}
void put32(std::string& text, std::uint32_t value) {
  put16(text, static_cast<std::uint16_t>(value & 0xffff));
  put16(text, static_cast<std::uint16_t>(value >> 16));
}

// What both headers share: version, flags, method, time, sum, sizes, lengths.
std::string factsOf(const ZipEntry& entry) {
  std::string text;
  put16(text, kVersion);
  put16(text, 0);
  put16(text, kDeflate);
  put16(text, 0);     // no time: equal runs are equal bundles
  put16(text, 0x21);  // 1980-01-01
  put32(text, entry.sum);
  put32(text, static_cast<std::uint32_t>(entry.packed.size()));
  put32(text, entry.size);
  put16(text, static_cast<std::uint16_t>(entry.name.size()));
  put16(text, 0);
  return text;
}

std::string deflated(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

bool inflated(std::string_view packed, std::string& text) {  // to exactly the size it has
  z_stream stream{};
  inflateInit2(&stream, -MAX_WBITS);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const bool ended = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == text.size();
  inflateEnd(&stream);
  return ended;
}

std::uint32_t sumOf(std::string_view text) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

class ZipReader {
 public:
  ZipReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::vector<ZipEntry> run() {
    if (text_.size() < kEndLength || number(text_.size() - kEndLength, 4) != kEnd) refuseZip(path_, "is no bundle, or was cut");
    const std::size_t files = number(text_.size() - kEndLength + 10, 2);
    std::size_t at = number(text_.size() - kEndLength + 16, 4);
    std::vector<ZipEntry> found;
    for (std::size_t file = 0; file < files; ++file) at = read(at, found);
    return found;
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    const std::string_view digits = piece(at, bytes);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(digits[i])) << (8 * i);
    return value;
  }
  std::string_view piece(std::size_t at, std::size_t length) const {
    if (at > text_.size() || length > text_.size() - at) refuseZip(path_, "is cut");
    return text_.substr(at, length);
  }

  std::size_t read(std::size_t at, std::vector<ZipEntry>& found) const {
    if (number(at, 4) != kCentral || number(at + 10, 2) != kDeflate) refuseZip(path_, "was not made by Meshwright");
    const std::size_t name = number(at + 28, 2), local = number(at + 42, 4);
    ZipEntry entry{std::string(piece(at + kCentralLength, name)), {}, number(at + 16, 4), number(at + 24, 4)};
    const bool plain = !entry.name.empty() && entry.name.find_first_of("/\\") == std::string::npos && entry.name[0] != '.';
    if (!plain) refuseZip(path_, fmt::format("holds a file that would leave its folder: '{}'", entry.name));
    entry.packed = piece(local + kLocalLength + number(local + 26, 2) + number(local + 28, 2), number(at + 20, 4));
    constexpr std::uint64_t kMostPacked = 1032;  // deflate cannot do better
    if (entry.size > kMostPacked * (entry.packed.size() + 1)) refuseZip(path_, "promises more than it holds");
    found.push_back(std::move(entry));
    return at + kCentralLength + name + number(at + 30, 2) + number(at + 32, 2);
  }

  std::string_view text_;
  const std::string& path_;
};

}  // namespace

void refuseZip(const std::string& path, const std::string& problem) {
  throw sim::InputError(path, {{"", problem, "export the run again (Export the run as a bundle), or open its folder"}});
}

void ZipWriter::put(std::string_view text) {
  file_.write(text);
  written_ += text.size();
}

void ZipWriter::add(const std::string& name, std::string_view content) {
  if (content.size() > kMostZipped) refuseZip(source_ + "/" + name, "is larger than 4 GiB");
  const std::string packed = deflated(content);
  if (written_ + packed.size() > kMostZipped) refuseZip(source_, "is larger than 4 GiB");
  if (++files_ > kMostFiles) refuseZip(source_, fmt::format("holds more than {} files", kMostFiles));
  const ZipEntry entry{name, packed, sumOf(content), static_cast<std::uint32_t>(content.size())};
  const std::string facts = factsOf(entry);
  put32(directory_, kCentral);
  put16(directory_, kVersion);
  directory_ += facts + std::string(10, '\0');  // comment, disk, attributes
  put32(directory_, static_cast<std::uint32_t>(written_));
  directory_ += name;
  std::string head;
  put32(head, kLocal);
  put(head + facts + name);
  put(packed);
}

void ZipWriter::finish() {
  if (written_ + directory_.size() > kMostZipped) refuseZip(source_, "is larger than 4 GiB");
  std::string end;
  put32(end, kEnd);
  put32(end, 0);  // disks
  put16(end, static_cast<std::uint16_t>(files_));
  put16(end, static_cast<std::uint16_t>(files_));
  put32(end, static_cast<std::uint32_t>(directory_.size()));
  put32(end, static_cast<std::uint32_t>(written_));
  put16(end, 0);
  put(directory_);
  put(end);
}

std::vector<ZipEntry> readZip(std::string_view text, const std::string& path) { return ZipReader(text, path).run(); }

std::string unpacked(const ZipEntry& entry, const std::string& path) {
  std::string text(entry.size, '\0');
  if (!inflated(entry.packed, text) || sumOf(text) != entry.sum)
    refuseZip(path, fmt::format("is damaged: '{}' does not unpack", entry.name));
  return text;
}

}  // namespace gui
