// profiles/behavior/memory.json -> MemoryNovelty.
#include "sim/cost/memory_novelty.h"
#include "sim/units/json_reader.h"
#include "sim/units/profile_search.h"

namespace sim {
namespace {

constexpr std::string_view kNoveltyFormat = "meshwright.memory_novelty/1";

struct MemoryForm {
  const char* name;
  double MemoryNovelty::*member;
};
constexpr MemoryForm kMemoryForms[] = {{"slices", &MemoryNovelty::slices}, {"host_activations", &MemoryNovelty::host_activations}};

void require_text(const JsonReader& entry, const std::string& key) {
  if (entry.text(key).empty()) entry.violate(key, "is empty", "say it");
}

double value_of(const JsonReader& entry) {
  require_text(entry, "source");
  return entry.number("value", {}, {0, 2});
}

}  // namespace

ProgramMemory MemoryNovelty::of(const std::string& program) const {
  const auto found = programs.find(program);
  return found == programs.end() ? ProgramMemory{.novelty = unknown_program} : found->second;
}

MemoryNovelty memory_novelty_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  reader.choice("format", std::span(&kNoveltyFormat, 1));
  reader.text("name");
  require_text(reader, "source");
  MemoryNovelty novelty;
  const JsonReader programs = reader.child("programs"), forms = reader.child("forms");
  for (const std::string& name : programs.keys()) {
    const JsonReader entry = programs.child(name);
    novelty.programs[name] = {.novelty = value_of(entry), .holds_reductions = entry.boolean("holds_reductions", false)};
  }
  novelty.unknown_program = value_of(reader.child("unknown_program"));
  for (const MemoryForm& form : kMemoryForms) {
    const JsonReader entry = forms.child(form.name);
    novelty.*form.member = value_of(entry);
    require_text(entry, "meaning");
  }
  reader.refuse_unknown();
  reader.finish();
  return novelty;
}

const MemoryNovelty& memory_novelty() {
  static const MemoryNovelty novelty = [] {
    const std::string path = find_profile("memory", {"behavior"});
    return memory_novelty_from_json(load_json_file(path), path);
  }();
  return novelty;
}

}  // namespace sim
