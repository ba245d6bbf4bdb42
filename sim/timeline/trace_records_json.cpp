#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/timeline/trace_records.h"
#include "sim/units/input_error.h"
#include "sim/units/json_fwd.h"

namespace sim {
namespace {

// Follows the parser through the document. Depth 0 is outside, 1 the document, 2 a list or the header, 3 a record, 4 its "args".
class Listener {
 public:
  Listener(std::string file, const TraceListener& listen) : file_(std::move(file)), listen_(listen) {}

  bool null() { return true; }
  bool boolean(bool value) { return scalar(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return scalar(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return scalar(std::to_string(value)); }
  bool number_float(double, const std::string& digits) { return scalar(digits); }
  bool string(std::string& value) { return scalar(std::move(value)); }
  bool binary(Json::binary_t&) { return true; }
  bool key(std::string& name) {
    if (depth_ == 1) list_ = name;
    if (depth_ <= 4) name_ = std::move(name);
    return true;
  }

  bool start_object(std::size_t) {
    ++depth_;
    if (depth_ == kRecord) in_args_ = false;
    if (depth_ == kArgs) in_args_ = name_ == "args";
    is_header_ = is_header_ || (depth_ == 2 && list_ == "meshwright");
    if (depth_ == 2) in_list_ = false;
    return true;
  }
  bool end_object() {
    if (depth_ == kArgs) in_args_ = false;
    if (depth_ == kRecord && in_list_) tell(position_++);
    if (depth_ == 2 && is_header_) tell(0);
    if (depth_ == 2) is_header_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    ++depth_;
    if (depth_ == 2) {
      in_list_ = true;
      position_ = 0;
    }
    return true;
  }
  bool end_array() {
    --depth_;
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception&) {
    throw InputError(file_, {{"", fmt::format("is not JSON at byte {}", position), "check that it was written completely"}});
  }

 private:
  static constexpr int kRecord = 3, kArgs = 4;

  bool scalar(std::string text) {
    if ((depth_ == 2 && is_header_) || (depth_ == kRecord && in_list_))
      record_.add(name_, std::move(text));
    else if (depth_ == kArgs && in_list_ && in_args_)
      record_.add("args." + name_, std::move(text));
    return true;
  }
  void tell(std::size_t position) {
    listen_({list_, position}, record_);
    record_.clear();
  }

  std::string file_;
  const TraceListener& listen_;
  TraceRecord record_;
  std::string list_, name_;
  std::size_t position_ = 0;
  int depth_ = 0;
  bool in_list_ = false, is_header_ = false, in_args_ = false;
};

}  // namespace

std::optional<std::string_view> TraceRecord::find(std::string_view name) const {
  for (const auto& [known, text] : fields_)
    if (known == name) return text;
  return std::nullopt;
}

void read_trace_records(std::string_view text, const std::string& file, const TraceListener& listen) {
  Listener listener(file, listen);
  Json::sax_parse(text.begin(), text.end(), &listener);
}

}  // namespace sim
