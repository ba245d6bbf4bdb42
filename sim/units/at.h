// An element by a number with a sign, or by an enumerator: plans and indices count in those, containers in std::size_t. The cast stands here alone.
#pragma once

#include <cstddef>
#include <utility>

namespace sim {

// `container[position]`; position is not negative, and below the container's size.
template <class Container, class Position>
constexpr decltype(auto) at(Container&& container, Position position) {
  return std::forward<Container>(container)[static_cast<std::size_t>(position)];
}

}  // namespace sim
