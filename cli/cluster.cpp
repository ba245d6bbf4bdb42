// What the tools of a machine say, as a cluster file.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/outputs.h"
#include "sim/cluster/machine_cluster.h"
#include "sim/units/counted.h"
#include "sim/units/text_file.h"

namespace cli {

int run(const ClusterOptions& options, const Console& console) {
  require_outputs({{options.output, sim::OwnFile::Profile}}, options.from);
  std::vector<sim::MachineFacts> facts;
  for (const std::string& file : options.from) facts.push_back(sim::read_machine_facts(file));
  const sim::DescribedCluster described =
      sim::describe_cluster(sim::load_hardware_profile(options.hardware), facts, sim::NodeCount{options.nodes});
  const sim::Cluster& cluster = described.cluster;
  if (!options.output.empty()) sim::save_text_file(cluster_document(cluster) + "\n", options.output);
  std::string text = fmt::format("{} x {}: {} a node, {}\n", cluster.devices, cluster.hardware.name, cluster.devices_per_node(),
                                 sim::counted(cluster.nodes(), "node"));
  for (const std::string& line : described.taken) text += "  " + line + "\n";
  if (described.taken.empty()) text += "  all as the hardware profile says\n";
  if (!options.output.empty()) text += fmt::format("The cluster is in {}: give it to --cluster\n", options.output);
  console.result(text, [&] { return cluster_document(cluster); });
  return kSuccess;
}

}  // namespace cli
