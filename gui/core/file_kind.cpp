#include "gui/core/file_kind.h"

#include <filesystem>
#include <fstream>

#include "sim/recipe/recipe.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr std::size_t kHead = 1 << 20;  // the format of our files stands in front

std::string headOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(sim::count_of(std::max<std::streamsize>(0, file.gcount())));
  return head;
}

bool isPickle(const std::string& head) { return head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

// Of another program or of ours, plain or gzip.
bool isTrace(const std::string& head) {
  if (head.rfind("\x1f\x8b", 0) == 0 || head.find("\"traceEvents\"") != std::string::npos) return true;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string::npos && head[first] == '[' && head.find("\"ph\"") != std::string::npos;
}

}  // namespace

FileKind kindOfFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return FileKind::RunFolder;
  if (!std::filesystem::is_regular_file(status))
    throw sim::InputError(path, {{"", "is not there, or is no file",
                                  "open a Hugging Face config.json, a plan file, a cluster file, a run folder, a trace or memory snapshot "
                                  "of PyTorch, or a configuration of another trainer"}});
  const std::string head = headOf(path);
  if (isTrace(head)) return FileKind::Trace;
  if (isPickle(head)) return FileKind::Snapshot;
  if (head.rfind("PK\x03\x04", 0) == 0) return FileKind::Bundle;
  if (head.find("\"meshwright.plan/") != std::string::npos) return FileKind::Plan;
  if (head.find("\"meshwright.view/") != std::string::npos) return FileKind::View;
  if (head.find("\"meshwright.hardware/") != std::string::npos || head.find("\"meshwright.cluster/") != std::string::npos)
    return FileKind::Cluster;
  if (head.find("\"model_type\"") != std::string::npos) return FileKind::Model;
  if (sim::program_of(head) != nullptr) return FileKind::Recipe;
  throw sim::InputError(path, {{"", "is nothing that can be opened: no model_type, and no format of Meshwright's own",
                                "open a Hugging Face config.json, a plan file, a cluster file, a run folder, a trace or memory snapshot of "
                                "PyTorch, or a configuration of another trainer"}});
}

}  // namespace gui
