// An element by a number with a sign, or by an enumerator: plans and indices count in those, containers in std::size_t. The casts stand here alone.
#pragma once

#include <cassert>
#include <cstddef>
#include <iterator>
#include <utility>

namespace sim {

// `container[position]`; position is not negative, and below the container's size.
template <class Container, class Position>
constexpr decltype(auto) at(Container&& container, Position position) {
  return std::forward<Container>(container)[static_cast<std::size_t>(position)];
}

// As many as a number with a sign says: what a container is made for. Not negative.
template <class Number>
constexpr std::size_t count_of(Number number) {
  assert(!(number < Number{}));
  return static_cast<std::size_t>(number);
}

// Of what an iterator stands at, or its container's size.
template <class Container, class Iterator>
constexpr std::size_t position_in(const Container& container, Iterator at) {
  return static_cast<std::size_t>(at - std::begin(container));
}

}  // namespace sim
