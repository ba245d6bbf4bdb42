// Which words the program that a request is for can say at all: what it cannot is not enumerated. Asked of small plans, one for each word; what depends
// on the rest of a plan is asked of every plan that may win (Evaluator).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "planner/exclusion.h"
#include "planner/plan_candidate.h"

namespace planner {

// The first refusal of the plan with this word that the plain one on the same mesh does not meet; nothing: the program can say it.
std::optional<sim::Violation> why_not_sayable(const SearchRequest& request, const PlanCandidate& with_word);

// The program's refusal of this order of a pipeline (row of all_schedules()), with any number of chunks that it can have; nothing: it performs it.
std::optional<sim::Violation> why_not_performed(const SearchRequest& request, std::int32_t schedule);

// The program's refusal of tensor ranks that cut the sequence between their products, or of such that do not; nothing: it has both.
std::optional<sim::Violation> why_not_cut_so(const SearchRequest& request, bool sequence_parallel);

// Words of sharding together (ZeRO stage, accumulation, resharding, who keeps weights, weights on the host), on meshes of a kind (several stages, replicas): each
// asked once.
class SayableSharding {
 public:
  explicit SayableSharding(const SearchRequest& request) : request_(request) {}
  const std::optional<sim::Violation>& why_not(const PlanCandidate& candidate);

 private:
  using Key = std::tuple<bool, bool, std::int32_t, sim::Accumulation, bool, bool, bool>;
  const SearchRequest& request_;
  std::map<Key, std::optional<sim::Violation>> known_;
};

// Families that the program has no words for, each told once.
class UnsayableFamilies {
 public:
  explicit UnsayableFamilies(std::vector<Exclusion>& excluded) : excluded_(excluded) {}  // which must outlive it
  void tell(const std::string& family, const sim::Violation& refused);

 private:
  std::vector<Exclusion>& excluded_;
  std::set<std::string> told_;
};

}  // namespace planner
