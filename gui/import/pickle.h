// The data of a pickle: none, numbers, texts, lists and dictionaries, protocols 0x80 2 to 5. Nothing in it is ever run: a pickle that names a
// class or a function is refused. Memory is bounded by the file: at most one value an opcode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gui/import/text_source.h"

namespace gui {

enum class PickleKind : std::uint8_t { None, Boolean, Integer, Real, Text, List, Dictionary };  // tuples are lists, bytes texts

struct PickleId {
  std::uint32_t value = 0;
};

class Pickle {
 public:
  // The text must outlive it. Throws sim::InputError: cut, not a pickle, or with something that would have to be run.
  Pickle(std::string_view bytes, const std::string& path, Progress& progress);

  PickleId root() const { return root_; }
  PickleKind kind(PickleId id) const { return values_[id.value].kind; }
  std::int64_t integer(PickleId id) const;   // 0 of what is no number
  std::string_view text(PickleId id) const;  // empty of what is no text
  std::size_t size(PickleId id) const;       // of a list; 0 of what is none
  PickleId item(PickleId list, std::size_t at) const;
  PickleId member(PickleId dictionary, std::string_view key) const;  // none() where there is none
  PickleId none() const { return {0}; }

 private:
  friend class PickleReader;
  struct Value {
    std::int64_t number = 0;   // text: where it begins; list and dictionary: which of children_
    std::uint32_t length = 0;  // of the text
    PickleKind kind{};
  };
  std::string_view bytes_;
  std::vector<Value> values_;
  std::vector<std::vector<std::uint32_t>> children_;  // a dictionary's: key, value, key, value
  PickleId root_;
};

}  // namespace gui
