#include "cli/timeline_file.h"

#include "sim/cost/port_load.h"
#include "sim/timeline/dependencies.h"

namespace cli {

sim::NamedTimeline simulated_timeline(const std::string& name, const sim::ModelGraph& model, const sim::ParallelPlan& plan,
                                      const sim::TaskGraph& graph, const sim::Timeline& timeline) {
  const sim::Dependencies step = sim::dependencies_of(graph, timeline, sim::stream_order(plan));
  return {name, timeline, sim::port_loads({model, plan, graph, timeline, step.span_of})};
}

}  // namespace cli
