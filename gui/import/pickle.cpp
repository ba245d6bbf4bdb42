#include "gui/import/pickle.h"

#include "sim/units/at.h"

namespace gui {

std::int64_t Pickle::integer(PickleId id) const {
  const PickleKind is = kind(id);
  return is == PickleKind::Integer || is == PickleKind::Real || is == PickleKind::Boolean ? values_[id.value].number : 0;
}

std::string_view Pickle::text(PickleId id) const {
  const Value& value = values_[id.value];
  return value.kind == PickleKind::Text ? bytes_.substr(static_cast<std::size_t>(value.number), value.length) : std::string_view();
}

std::size_t Pickle::size(PickleId id) const {
  return kind(id) == PickleKind::List ? sim::at(children_, values_[id.value].number).size() : 0;
}

PickleId Pickle::item(PickleId list, std::size_t at) const { return {sim::at(children_, values_[list.value].number)[at]}; }

PickleId Pickle::member(PickleId dictionary, std::string_view key) const {
  if (kind(dictionary) != PickleKind::Dictionary) return none();
  const std::vector<std::uint32_t>& items = sim::at(children_, values_[dictionary.value].number);
  for (std::size_t at = 0; at + 1 < items.size(); at += 2)
    if (text({items[at]}) == key) return {items[at + 1]};
  return none();
}

}  // namespace gui
