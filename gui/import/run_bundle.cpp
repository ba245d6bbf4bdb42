#include "gui/import/run_bundle.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "gui/import/text_source.h"
#include "gui/import/zip.h"
#include "sim/units/text_file.h"

namespace gui {
namespace {

std::string contentOf(const std::filesystem::path& path) {
  std::error_code unknown;
  const bool is_small = std::filesystem::file_size(path, unknown) <= kMostZipped && !unknown;
  std::ifstream file(path, std::ios::binary);
  if (!file || !is_small) refuseZip(path.string(), "cannot be packed: it cannot be read, or is larger than 4 GiB");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void writeBundle(const std::string& run_folder, const std::string& path, Progress& progress) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(run_folder, none))
    if (entry.is_regular_file()) files.push_back(entry.path());
  if (files.empty()) refuseZip(run_folder, "holds no file to pack");
  std::sort(files.begin(), files.end());
  sim::OutputFile file(path);
  ZipWriter zip(file, run_folder);
  for (const std::filesystem::path& name : files) progress.all += static_cast<std::int64_t>(std::filesystem::file_size(name, none));
  for (const std::filesystem::path& name : files) {
    progress.stopIfCancelled();
    const std::string content = contentOf(name);
    zip.add(name.filename().string(), content);
    progress.done += static_cast<std::int64_t>(content.size());
  }
  zip.finish();
  file.finish();
}

void unpackBundle(const std::string& path, const std::string& folder, const sim::Told& told) {
  Progress whole;  // it is mapped at once: what takes long is unpacking
  const TextSource source(path, whole);
  const std::vector<ZipEntry> entries = readZip(source.text(), path);
  std::filesystem::create_directories(folder);
  sim::HowFar far;
  for (const ZipEntry& entry : entries) far.all += entry.size;
  for (const ZipEntry& entry : entries) {
    if (told) told(far);
    sim::save_text_file(unpacked(entry, path), folder + "/" + entry.name);
    far.done += entry.size;
  }
}

}  // namespace gui
