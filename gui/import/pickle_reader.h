// Performs the opcodes of a pickle on a stack, as far as they are data (docs.python.org/3/library/pickletools). Used by Pickle alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/import/pickle.h"

namespace gui {

class PickleReader {
 public:
  PickleReader(Pickle& into, const std::string& path, LoadProgress& progress)
      : pickle_(into), bytes_(into.bytes_), path_(path), progress_(progress) {
    add({});  // none()
  }

  void run();  // throws sim::InputError

 private:
  using Value = Pickle::Value;

  [[noreturn]] void refuse(const std::string& problem) const;

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) refuse("ends in the middle: it was cut, or is still being written");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t number(std::size_t bytes) {  // little endian
    const std::string_view text = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    return value;
  }

  std::uint32_t add(const Value& value) {
    constexpr std::size_t kMost = 0xfffffff0;
    if (pickle_.values_.size() >= kMost) refuse("holds more values than can be numbered");
    pickle_.values_.push_back(value);
    return static_cast<std::uint32_t>(pickle_.values_.size() - 1);
  }
  void push(const Value& value) { stack_.push_back(add(value)); }
  std::uint32_t pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) refuse("is no valid pickle: it takes what was never put");
    const std::uint32_t id = stack_.back();
    stack_.pop_back();
    return id;
  }
  std::uint32_t top() const {
    if (stack_.empty()) refuse("is no valid pickle: it takes what was never put");
    return stack_.back();
  }
  std::vector<std::uint32_t> popToMark() {
    if (marks_.empty()) refuse("is no valid pickle: a mark is missing");
    std::vector<std::uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void text(std::uint64_t length) {
    constexpr std::uint64_t kMost = 0xffffffff;
    const std::size_t begin = at_;
    take(length);
    if (length > kMost) refuse("holds a text of more than 4 GiB");
    push({static_cast<std::int64_t>(begin), static_cast<std::uint32_t>(length), PickleKind::Text});
  }
  void integer(std::int64_t value) { push({value, 0, PickleKind::Integer}); }
  void container(PickleKind kind, std::vector<std::uint32_t> items = {}) {
    pickle_.children_.push_back(std::move(items));
    push({static_cast<std::int64_t>(pickle_.children_.size() - 1), 0, kind});
  }
  void tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    container(PickleKind::List, std::move(items));
  }
  void extend(PickleKind kind, const std::vector<std::uint32_t>& items) {
    const Value& into = pickle_.values_[top()];
    if (into.kind != kind || (kind == PickleKind::Dictionary && items.size() % 2 != 0))
      refuse("is no valid pickle: items without their list");
    std::vector<std::uint32_t>& all = pickle_.children_[static_cast<std::size_t>(into.number)];
    all.insert(all.end(), items.begin(), items.end());
  }
  void setItem() {
    const std::uint32_t value = pop(), key = pop();
    extend(PickleKind::Dictionary, {key, value});
  }
  void longInteger(std::uint64_t bytes);
  void real();
  void remember(std::uint64_t place) {
    if (place > bytes_.size()) refuse("is no valid pickle: it remembers more than it holds");
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = top();
    memoized_ = std::max(memoized_, place + 1);
  }
  void recall(std::uint64_t place) {
    if (place >= memo_.size()) refuse("is no valid pickle: it recalls what it never saw");
    stack_.push_back(memo_[place]);
  }

  void perform(unsigned char opcode);
  void performValue(unsigned char opcode);
  void performContainer(unsigned char opcode);

  Pickle& pickle_;
  std::string_view bytes_;
  const std::string& path_;
  LoadProgress& progress_;
  std::size_t at_ = 0, steps_ = 0;
  std::uint64_t memoized_ = 0;
  bool done_ = false;
  std::vector<std::uint32_t> stack_, memo_;
  std::vector<std::size_t> marks_;
};

}  // namespace gui
