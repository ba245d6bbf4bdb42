// Which degrees a model, a cluster and a workload allow, each "no" with its numbers.
// One axis at a time; what only a whole plan can break is sim::violations().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/reason.h"
#include "planner/search.h"
#include "sim/plan/device_mesh.h"

namespace planner {

// What no layout could mend (a sequence beyond the positions, a precision without a rate) is wrong with the question, not with each plan:
// the rules of a plan, asked for one device.
std::vector<sim::Violation> workload_violations(const SearchRequest& request);

// "80 GiB" as an option or a field of a form holds it; empty text: none is asked for, the device's own holds.
struct WrittenLimit {
  std::string where, value;
};
std::optional<sim::Bytes> memory_limit_of(const WrittenLimit& written, std::vector<sim::Violation>& violations);
// None is one that is printed as 0.0 %: no plan's chance is nothing, and of less the width of an interval says nothing.
double accepted_risk(double asked);

// Every constraint that the degree breaks; empty: allowed. A tensor group may leave its node only when the degree is fixed.
std::vector<Reason> why_not_tensor(const SearchRequest& request, std::int32_t tensor);
std::vector<Reason> why_not_pipeline(const SearchRequest& request, std::int32_t pipeline);
std::vector<Reason> why_not_context(const SearchRequest& request, std::int32_t context);
std::vector<Reason> why_not_expert(const SearchRequest& request, std::int32_t expert);
std::vector<Reason> why_not_data(const SearchRequest& request, std::int32_t data);

std::vector<std::int32_t> divisors(std::int64_t number);  // ascending

// The allowed value (or mesh) nearest to the refused one, by ratio, as a fix: "tensor=8"; empty: none is allowed.
using DegreeRule = std::vector<Reason> (*)(const SearchRequest&, std::int32_t);
struct RefusedDegree {
  std::string_view axis;
  std::int32_t degree = 1;
};
std::string nearest_degree(const SearchRequest& request, DegreeRule rule, const RefusedDegree& refused);
std::string nearest_mesh(const SearchRequest& request, const sim::DeviceMesh& refused);

}  // namespace planner
