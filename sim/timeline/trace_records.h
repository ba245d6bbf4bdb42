// A trace file as flat records, one after the other, without holding the document: what the reader of traces listens to.
// Numbers stay as their digits, because a double of absolute microseconds loses nanoseconds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sim {

// The scalar members of an object; those of its member "args" as "args.<name>".
class TraceRecord {
 public:
  void clear() { fields_.clear(); }
  void add(std::string name, std::string text) { fields_.emplace_back(std::move(name), std::move(text)); }
  std::optional<std::string_view> find(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct TracePlace {
  std::string_view list;     // "traceEvents", "ledger"; "meshwright" for the header, which is one object
  std::size_t position = 0;  // in the list
};

// Calls `listen` for each record in the order of the file. Throws InputError for text that is no JSON.
using TraceListener = std::function<void(const TracePlace&, const TraceRecord&)>;
void read_trace_records(std::string_view text, const std::string& file, const TraceListener& listen);

}  // namespace sim
