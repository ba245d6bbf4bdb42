#include "gui/import/run_bundle.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "gui/import/text_source.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace gui {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint16_t kVersion = 20, kDeflate = 8;
constexpr std::size_t kEndLength = 22, kCentralLength = 46, kLocalLength = 30;
constexpr std::uint64_t kMost = 0xfffffff0;  // of one file and of all: beyond, another format would be needed

[[noreturn]] void refuseBundle(const std::string& path, const std::string& problem) {
  throw sim::InputError(path, {{"", problem, "export the run again (Export the run as a bundle), or open its folder"}});
}

struct Packed {
  std::string name, data;  // data: deflated
  std::uint32_t sum = 0, size = 0, offset = 0;
};

void put16(std::string& text, std::uint16_t value) {
  text += static_cast<char>(value & 255);
  text += static_cast<char>(value >> 8);
}
void put32(std::string& text, std::uint32_t value) {
  put16(text, static_cast<std::uint16_t>(value & 0xffff));
  put16(text, static_cast<std::uint16_t>(value >> 16));
}

// What both headers share: version, flags, method, time, sum, sizes, lengths.
void putFacts(std::string& text, const Packed& file) {
  put16(text, kVersion);
  put16(text, 0);
  put16(text, kDeflate);
  put16(text, 0);     // no time: equal runs are equal bundles
  put16(text, 0x21);  // 1980-01-01
  put32(text, file.sum);
  put32(text, static_cast<std::uint32_t>(file.data.size()));
  put32(text, file.size);
  put16(text, static_cast<std::uint16_t>(file.name.size()));
  put16(text, 0);
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

Packed pack(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file || text.size() > kMost) refuseBundle(path.string(), "cannot be packed: it cannot be read, or is larger than 4 GiB");
  return {path.filename().string(), deflated(text), sumOf(text), static_cast<std::uint32_t>(text.size()), 0};
}

class BundleReader {
 public:
  BundleReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::vector<Packed> run() {
    if (text_.size() < kEndLength || number(text_.size() - kEndLength, 4) != kEnd) refuseBundle(path_, "is no bundle, or was cut");
    const std::size_t files = number(text_.size() - kEndLength + 10, 2);
    std::size_t at = number(text_.size() - kEndLength + 16, 4);
    std::vector<Packed> found;
    for (std::size_t file = 0; file < files; ++file) at = read(at, found);
    return found;
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    if (at > text_.size() || bytes > text_.size() - at) refuseBundle(path_, "is cut");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text_[at + i])) << (8 * i);
    return value;
  }
  std::string piece(std::size_t at, std::size_t length) const {
    if (at > text_.size() || length > text_.size() - at) refuseBundle(path_, "is cut");
    return std::string(text_.substr(at, length));
  }

  std::size_t read(std::size_t at, std::vector<Packed>& found) const {
    if (number(at, 4) != kCentral || number(at + 10, 2) != kDeflate) refuseBundle(path_, "was not made by Meshwright");
    const std::size_t name = number(at + 28, 2), local = number(at + 42, 4);
    Packed file{piece(at + kCentralLength, name), {}, number(at + 16, 4), number(at + 24, 4), 0};
    const bool plain = !file.name.empty() && file.name.find_first_of("/\\") == std::string::npos && file.name[0] != '.';
    if (!plain) refuseBundle(path_, fmt::format("holds a file that would leave its folder: '{}'", file.name));
    file.data = piece(local + kLocalLength + number(local + 26, 2) + number(local + 28, 2), number(at + 20, 4));
    constexpr std::uint64_t kMostPacked = 1032;  // deflate cannot do better
    if (file.size > kMostPacked * (file.data.size() + 1)) refuseBundle(path_, "promises more than it holds");
    found.push_back(std::move(file));
    return at + kCentralLength + name + number(at + 30, 2) + number(at + 32, 2);
  }

  std::string_view text_;
  const std::string& path_;
};

}  // namespace

void writeBundle(const std::string& run_folder, const std::string& path) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder, none))
    if (entry.is_regular_file()) files.push_back(entry.path());
  if (files.empty()) refuseBundle(run_folder, "holds no file to pack");
  std::sort(files.begin(), files.end());
  std::string bundle, directory;
  for (const std::filesystem::path& name : files) {
    Packed file = pack(name);
    file.offset = static_cast<std::uint32_t>(bundle.size());
    put32(bundle, kLocal);
    putFacts(bundle, file);
    bundle += file.name + file.data;
    put32(directory, kCentral);
    put16(directory, kVersion);
    putFacts(directory, file);
    directory += std::string(10, '\0');  // comment, disk, attributes
    put32(directory, file.offset);
    directory += file.name;
    if (bundle.size() > kMost) refuseBundle(run_folder, "is larger than 4 GiB");
  }
  const auto begin = static_cast<std::uint32_t>(bundle.size()), length = static_cast<std::uint32_t>(directory.size());
  bundle += directory;
  put32(bundle, kEnd);
  put32(bundle, 0);  // disks
  put16(bundle, static_cast<std::uint16_t>(files.size()));
  put16(bundle, static_cast<std::uint16_t>(files.size()));
  put32(bundle, length);
  put32(bundle, begin);
  put16(bundle, 0);
  sim::save_text_file(bundle, path);
}

void unpackBundle(const std::string& path, const std::string& folder) {
  LoadProgress progress;
  const TextSource source(path, progress);
  const std::vector<Packed> files = BundleReader(source.text(), path).run();
  std::filesystem::create_directories(folder);
  for (const Packed& file : files) {
    std::string text(file.size, '\0');
    if (!inflated(file.data, text) || sumOf(text) != file.sum) refuseBundle(path, fmt::format("is damaged: '{}' does not unpack", file.name));
    sim::save_text_file(text, folder + "/" + file.name);
  }
}

}  // namespace gui
