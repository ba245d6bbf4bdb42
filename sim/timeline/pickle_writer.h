// Python's pickle format, protocol 2, written: numbers, texts, lists, dictionaries, and values that stand in several places
// (docs.python.org/3/library/pickletools). Names no classes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "sim/units/output_file.h"

namespace sim {

struct PickleMemo {
  std::uint32_t number = 0;
};

class PickleWriter {
 public:
  explicit PickleWriter(OutputFile& file) : file_(file) { file_.write("\x80\x02"); }

  void number(std::int64_t value);
  void boolean(bool value) { file_.write(value ? "\x88" : "\x89"); }
  void text(std::string_view text);  // of few: each is written once
  template <class Each>
  void list(std::size_t size, const Each& each) {  // each(position) writes an item
    constexpr std::size_t kBatch = 1000;           // as Python does: a reader that takes a batch as arguments of a function has a limit
    file_.write("]");
    for (std::size_t at = 0; at < size; ++at) {
      if (at % kBatch == 0) file_.write("(");
      each(at);
      if ((at + 1) % kBatch == 0 || at + 1 == size) file_.write("e");
    }
  }
  template <class Members>
  void dictionary(const Members& members) {  // members() writes key(), value, key(), value
    file_.write("}(");
    members();
    file_.write("u");
  }
  void key(std::string_view name) { text(name); }
  void member(std::string_view name, std::int64_t value) {
    key(name);
    number(value);
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  PickleMemo remember();  // the value just written
  void again(PickleMemo memo);
  void finish() { file_.write("."); }

 private:
  template <int kBytes>
  void little_endian(std::uint64_t value);

  OutputFile& file_;
  std::map<std::string, PickleMemo, std::less<>> texts_;
  std::uint32_t memos_ = 0;
};

}  // namespace sim
