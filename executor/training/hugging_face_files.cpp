#include "executor/training/hugging_face_files.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "executor/training/refusal.h"

namespace executor {
namespace {

namespace fs = std::filesystem;

// Not weights: computed from the configuration, and saved all the same by old versions of transformers.
constexpr std::array<std::string_view, 3> kComputed = {".rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias"};

bool is_computed(std::string_view name) {
  return std::ranges::any_of(kComputed, [name](std::string_view ending) { return name.ends_with(ending); });
}

std::string short_name(const std::string& name) { return name.substr(std::min(name.find('.') + 1, name.size())); }

std::vector<std::string> safetensors_of(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  std::ranges::sort(files);
  if (files.empty()) refuse(path, "holds no .safetensors file", "name the folder of a model, or one file");
  return files;
}

}  // namespace

HuggingFaceFiles::HuggingFaceFiles(const std::string& path) {
  for (const std::string& file : safetensors_of(path)) files_.push_back(std::make_unique<SafetensorsFile>(file));
}

at::Tensor HuggingFaceFiles::find(const std::string& name) const {
  for (const std::string& spelling : {name, short_name(name)})
    for (const auto& file : files_)
      if (file->has(spelling)) return file->tensor(spelling);
  return {};
}

std::vector<std::string> HuggingFaceFiles::left_over(const std::set<std::string>& known) const {
  std::set<std::string> spellings;
  for (const std::string& name : known) spellings.insert({name, short_name(name)});
  std::vector<std::string> names;
  for (const auto& file : files_)
    for (const auto& [name, entry] : file->entries())
      if (!spellings.contains(name) && !is_computed(name)) names.push_back(name);
  return names;
}

}  // namespace executor
