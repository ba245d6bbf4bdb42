#include "gui/import/trace_parser.h"

#include <algorithm>

#include "gui/import/json_cursor.h"
#include "gui/import/kernel_kind.h"

namespace gui {
namespace {

struct TrackHash {
  std::size_t operator()(const TraceTrack& track) const {
    return std::hash<std::string_view>()(track.process) * 31 + std::hash<std::string_view>()(track.thread);
  }
};

struct RawEvent {
  std::string_view phase, category, name, begin, length, process, thread, arguments, id;
};

// Names of Meshwright's own tasks begin with their phase.
constexpr std::pair<std::string_view, WorkKind> kPhases[] = {{"forward.", WorkKind::Forward},
                                                             {"backward.", WorkKind::Backward},
                                                             {"weight.", WorkKind::Weight},
                                                             {"recompute.", WorkKind::Recompute},
                                                             {"step.", WorkKind::Optimizer}};

WorkKind kindOfEvent(const RawEvent& event) {
  for (const auto& [prefix, kind] : kPhases)
    if (event.name.substr(0, prefix.size()) == prefix) return kind;
  if (event.category.substr(0, 7) == "gpu_mem") return WorkKind::Copy;
  return WorkKind::Host;
}

// Puts `value` where the key says; keys that do not matter are passed by.
bool keep(RawEvent& event, std::string_view key, JsonCursor& cursor) {
  std::string_view* const place = key == "ph"     ? &event.phase
                                  : key == "cat"  ? &event.category
                                  : key == "name" ? &event.name
                                  : key == "ts"   ? &event.begin
                                  : key == "dur"  ? &event.length
                                  : key == "pid"  ? &event.process
                                  : key == "tid"  ? &event.thread
                                                  : nullptr;
  const std::optional<std::string_view> value = place != nullptr ? cursor.scalar() : cursor.value();
  if (value && place != nullptr) *place = *value;
  if (value && key == "args") event.arguments = *value;
  if (value && key == "id") event.id = *value;
  return value.has_value();
}

bool readEvent(RawEvent& event, JsonCursor& cursor) {
  if (!cursor.take('{')) return false;
  if (cursor.take('}')) return true;
  do {
    const std::optional<std::string_view> key = cursor.string();
    if (!key || !cursor.take(':') || !keep(event, *key, cursor)) return false;
  } while (cursor.take(','));
  return cursor.take('}');
}

std::string_view argument(std::string_view arguments, std::string_view wanted) {
  JsonCursor cursor(arguments);
  if (!cursor.take('{')) return {};
  do {
    const std::optional<std::string_view> key = cursor.string();
    if (!key || !cursor.take(':')) return {};
    const std::optional<std::string_view> value = *key == wanted ? cursor.scalar() : cursor.value();
    if (!value) return {};
    if (*key == wanted) return *value;
  } while (cursor.take(','));
  return {};
}

class PartParser {
 public:
  PartParser(std::string_view text, PartRange range, Progress& progress)
      : text_(text), cursor_(text), range_(range), progress_(progress), reported_(range.begin) {
    cursor_.seek(range.begin);
    part_.events.reserve((range.end - range.begin) / 200);
  }

  TracePart run() && {
    while (!cursor_.atEnd() && cursor_.position() < range_.end) {
      report();
      if (cursor_.take(']')) {
        part_.closed = true;
        break;
      }
      if (cursor_.take(',')) continue;
      const std::size_t offset = cursor_.position();
      RawEvent event;
      const bool whole = readEvent(event, cursor_);
      if (whole && take(event, offset)) continue;
      ++part_.malformed;
      if (!whole) cursor_.seek(nextEvent(text_, offset + 1));
    }
    part_.end = cursor_.position();
    return std::move(part_);
  }

 private:
  void report() {
    constexpr std::size_t kOften = 1 << 20;
    if (cursor_.position() < reported_ + kOften) return;
    progress_.done += static_cast<std::int64_t>(cursor_.position() - reported_);
    reported_ = cursor_.position();
    progress_.stopIfCancelled();
  }

  bool take(const RawEvent& event, std::size_t offset) {
    const char phase = event.phase.size() == 1 ? event.phase[0] : '\0';
    if (phase == '\0') return false;
    if (phase == 'M') {
      part_.said.push_back(
          {{event.process, event.thread}, event.name, argument(event.arguments, event.name == "process_labels" ? "labels" : "name")});
      return true;
    }
    if ((phase == 's' || phase == 'f') && !event.id.empty()) return takeFlow(event, phase == 's');
    if (phase != 'X' && phase != 'B' && phase != 'E') {
      ++part_.not_drawn;
      return true;
    }
    const std::optional<std::int64_t> begin = nanosecondsOf(event.begin);
    const std::optional<std::int64_t> length = phase == 'X'   ? nanosecondsOf(event.length)
                                               : phase == 'B' ? std::optional(kOpened)
                                                              : std::optional(kCloses);
    if (!begin || !length || (phase == 'X' && *length < 0)) return false;
    const std::uint32_t name = number(names_, part_.names, event.name);
    part_.events.push_back({*begin, *length, offset, name, number(tracks_, part_.tracks, TraceTrack{event.process, event.thread}),
                            event.category == "kernel" ? kindOfName(name) : kindOfEvent(event)});
    return true;
  }

  bool takeFlow(const RawEvent& event, bool begins) {
    const std::optional<std::int64_t> time = nanosecondsOf(event.begin);
    if (!time) return false;
    const std::hash<std::string_view> hash;
    part_.flows.push_back(
        {hash(event.id) * 31 + hash(event.name), *time, number(tracks_, part_.tracks, TraceTrack{event.process, event.thread}), begins});
    return true;
  }

  template <class Map, class Value>
  static std::uint32_t number(Map& known, std::vector<Value>& all, const Value& value) {
    const auto [entry, is_new] = known.try_emplace(value, static_cast<std::uint32_t>(all.size()));
    if (is_new) all.push_back(value);
    return entry->second;
  }

  std::string_view text_;
  JsonCursor cursor_;
  PartRange range_;
  Progress& progress_;
  std::size_t reported_;
  TracePart part_;
  // Of a kernel: its words are looked for once.
  WorkKind kindOfName(std::uint32_t name) {
    while (kinds_.size() < part_.names.size()) kinds_.push_back(kindOfKernel(part_.names[kinds_.size()]));
    return kinds_[name];
  }

  std::unordered_map<std::string_view, std::uint32_t> names_;
  std::vector<WorkKind> kinds_;  // by name, were it a kernel's
  std::unordered_map<TraceTrack, std::uint32_t, TrackHash> tracks_;
};

}  // namespace

TracePart parsePart(std::string_view text, PartRange range, Progress& progress) { return PartParser(text, range, progress).run(); }

std::size_t nextEvent(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("\"ph\"", from); at != std::string_view::npos; at = text.find("\"ph\"", at + 1)) {
    std::size_t brace = at;
    while (brace > from && (text[brace - 1] == ' ' || text[brace - 1] == '\n' || text[brace - 1] == '\r' || text[brace - 1] == '\t'))
      --brace;
    if (brace > from && text[brace - 1] == '{') return brace - 1;
  }
  return text.size();
}

}  // namespace gui
