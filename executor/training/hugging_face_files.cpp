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

void write_weights(const std::vector<NamedTensor>& tensors, const std::string& folder, const std::string& name) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const std::string weights = folder + "/" + name, aside = weights + ".part";
  write_safetensors(aside, tensors);
  fs::rename(aside, weights);
}

void copy_tokenizer(const std::string& from, const std::string& to) {
  constexpr std::array<std::string_view, 9> kNames = {
      "tokenizer.json", "tokenizer_config.json", "tokenizer.model",    "vocab.json", "merges.txt", "special_tokens_map.json",
      "vocab.txt",      "added_tokens.json",     "chat_template.jinja"};
  std::error_code error;
  for (const std::string_view name : kNames) {
    const fs::path file = fs::path(from) / name, copy = fs::path(to) / name;
    if (!fs::exists(file, error) || fs::equivalent(file, copy, error)) continue;
    fs::create_directories(to, error);
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing, error);
    if (error) refuse(copy, "cannot be written: " + error.message(), "free space on the disk, or name another folder");
  }
}

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
