#include "sim/task_graph/task.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>

#include "sim/units/at.h"

namespace sim {
namespace {

template <class Tag>
std::string number(Index<Tag> index) {
  return index.exists() ? std::to_string(index.value()) : std::string("-");
}

bool read_number(std::string_view text, std::int32_t& value) {
  if (text == "-") {
    value = -1;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0;
}

template <class Tag>
bool read_index(std::string_view text, char prefix, Index<Tag>& index) {
  if (text.empty() || text.front() != prefix) return false;
  std::int32_t value = 0;
  if (!read_number(text.substr(1), value)) return false;
  index = Index<Tag>(value);
  return true;
}

template <class Enum>
bool read_name(std::string_view text, std::span<const std::string_view> names, Enum& value) {
  for (std::size_t at = 0; at < names.size(); ++at)
    if (names[at] == text) {
      value = static_cast<Enum>(at);
      return true;
    }
  return false;
}

template <class Enum, std::size_t N>
std::string_view name_of(Enum value, const std::string_view (&names)[N]) {
  return static_cast<std::size_t>(value) < N ? sim::at(names, value) : "?";  // of a file that is damaged
}

// "forward", "forward@1"
bool read_phase(std::string_view text, TaskKey& key) {
  const std::size_t mark = text.find('@');
  key.slice = SliceIndex::none();
  if (mark == std::string_view::npos) return read_name(text, kPhaseNames, key.phase);
  return read_name(text.substr(0, mark), kPhaseNames, key.phase) && read_index(text.substr(mark), '@', key.slice) && key.slice.exists();
}

}  // namespace

std::string to_text(const TaskKey& key) {
  const std::string slice = key.slice.exists() ? fmt::format("@{}", key.slice.value()) : std::string();
  return fmt::format("s{}.c{}.m{}.l{}.{}{}.{}.{}.{}", number(key.stage), number(key.chunk), number(key.microbatch), number(key.layer),
                     name_of(key.phase, kPhaseNames), slice, name_of(key.operation, kOperationNames), name_of(key.group, kMeshAxisNames),
                     key.sequence);
}

bool parse_task_key(std::string_view text, TaskKey& key) {
  std::array<std::string_view, 8> parts;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::size_t dot = at + 1 < parts.size() ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return false;
    parts[at] = text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return read_index(parts[0], 's', key.stage) && read_index(parts[1], 'c', key.chunk) && read_index(parts[2], 'm', key.microbatch) &&
         read_index(parts[3], 'l', key.layer) && read_phase(parts[4], key) && read_name(parts[5], kOperationNames, key.operation) &&
         read_name(parts[6], kMeshAxisNames, key.group) && read_number(parts[7], key.sequence) && key.sequence >= 0;
}

std::string kind_text(const TaskKey& key) {
  std::string text = fmt::format("{}.{}", name_of(key.phase, kPhaseNames), name_of(key.operation, kOperationNames));
  if (key.group != MeshAxis::None) text += fmt::format(".{}", name_of(key.group, kMeshAxisNames));
  return text;
}

}  // namespace sim
