// How a row of plan_fields reaches its member: the kind follows from the member's type.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/plan/plan_fields.h"
#include "sim/units/at.h"

namespace sim {

// The member of an object at the end of a path of members.
template <auto... Members>
constexpr auto& member(auto& object) {
  return (object.*....*Members);
}
template <auto... Members>
using MemberType = std::remove_reference_t<decltype(member<Members...>(std::declval<ParallelPlan&>()))>;

// What FieldValue holds for it: all whole numbers as std::int64_t.
template <class Type>
using HeldType = std::conditional_t<std::is_integral_v<Type> && !std::is_same_v<Type, bool>, std::int64_t, Type>;

template <class Type>
constexpr FieldKind kind_of() {
  if (std::is_same_v<Type, bool>) return FieldKind::Switch;
  if (std::is_same_v<Type, double>) return FieldKind::Number;
  if (std::is_same_v<Type, Bytes>) return FieldKind::Amount;
  return std::is_integral_v<Type> ? FieldKind::Integer : FieldKind::Text;
}

// A number, a switch, an amount or a text.
template <auto... Members>
constexpr FieldAccess at() {
  using Type = MemberType<Members...>;
  return {.kind = kind_of<Type>(),
          .get = [](const ParallelPlan& plan) -> FieldValue { return static_cast<HeldType<Type>>(member<Members...>(plan)); },
          .set =
              [](ParallelPlan& plan, const FieldValue& value) {
                member<Members...>(plan) = static_cast<Type>(std::get<HeldType<Type>>(value));
                return std::vector<Violation>();
              },
          .names = nullptr};
}

template <const auto& Names>
std::vector<std::string_view> names_of() {
  return {std::begin(Names), std::end(Names)};
}

// An enum beside its table of names.
template <const auto& Names, auto... Members>
constexpr FieldAccess named() {
  using Type = MemberType<Members...>;
  return {.kind = FieldKind::Text,
          .get = [](const ParallelPlan& plan) -> FieldValue { return std::string(sim::at(Names, member<Members...>(plan))); },
          .set =
              [](ParallelPlan& plan, const FieldValue& value) {
                const auto* const name = std::find(std::begin(Names), std::end(Names), std::get<std::string>(value));
                member<Members...>(plan) = static_cast<Type>(name - std::begin(Names));
                return std::vector<Violation>();
              },
          .names = names_of<Names>};
}

}  // namespace sim
