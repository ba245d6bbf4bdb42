#include "planner/reason.h"

#include <algorithm>
#include <array>

namespace planner {
namespace {

struct Sentence {
  std::string_view code;
  std::string_view pattern;  // {name} is replaced by the argument of that name
};

constexpr std::array kEnglish = std::to_array<Sentence>({
    {"divisibility.devices", "{devices} devices are not divisible by {value}"},
    {"divisibility.heads", "{heads} attention heads are not divisible by {tensor}"},
    {"divisibility.kv_heads", "{kv_heads} key/value heads are not divisible by {tensor}"},
    {"divisibility.groups", "{groups} groups of linear attention's heads are not divisible by {tensor}"},
    {"shape.context_sparse", "an indexer chooses among all tokens of a sample, whose scores context ranks do not exchange"},
    {"shape.tensor_scan", "steps of a selective scan are made of all channels, whose sums over tensor ranks are not lowered"},
    {"shape.pipeline_inputs", "blocks read keys, values or inputs that were made on another stage, which stages do not send"},
    {"shape.tensor_norms", "norms of what all heads put out need sums over tensor ranks, which are not lowered"},
    {"shape.context_channels", "layers of channels read tokens in front of a rank's own, which context ranks do not exchange"},
    {"divisibility.context_heads", "{heads} heads of linear attention are not divisible by context degree {context}"},
    {"divisibility.ffn", "{ffn} feed-forward columns are not divisible by {tensor}"},
    {"divisibility.vocabulary", "the vocabulary is padded to a multiple of {multiple}, which {tensor} does not divide"},
    {"divisibility.sequence", "sequence parallel: {sequence} tokens are not divisible by {tensor}"},
    {"divisibility.context", "{sequence} tokens are not divisible by context degree {context}"},
    {"divisibility.experts", "{experts} experts are not divisible by expert degree {expert}"},
    {"divisibility.expert_ranks", "{copies} data and context ranks are not divisible by expert degree {expert}"},
    {"divisibility.batch", "global batch {batch} is not divisible by data degree {data}"},
    {"divisibility.replicas", "{replicas} replicas do not cut {data} data ranks into shards"},
    {"divisibility.microbatch", "{samples} samples a data rank are not divisible by microbatch {microbatch}"},
    {"node_size", "a tensor group of {tensor} would span nodes of {devices_per_node} devices (fix the degree to plan it all the same)"},
    {"shape.product", "data {data} x tensor {tensor} x pipeline {pipeline} = {product} ranks, but the cluster has {devices} devices"},
    {"shape.product_context",
     "data {data} x context {context} x tensor {tensor} x pipeline {pipeline} = {product} ranks, but the cluster has {devices} devices"},
    {"shape.no_experts", "the model has no experts"},
    {"shape.context_dropout", "attention dropout is not known across context ranks"},
    {"shape.blocks", "pipeline {stages} x chunks {chunks} = {parts} virtual stages, but the model has {blocks} blocks"},
    {"shape.schedule", "{schedule} cannot run stages {stages}, microbatches {microbatches}, chunks {chunks}: {why}"},
    {"shape.sequence_parallel", "sequence parallel needs a tensor degree above 1"},
    {"shape.rule", "{where}: {problem}"},
    {"not_runnable", "{problem} ({where})"},
    {"memory",
     "needs at least {need} (parameters {parameters}, gradients {gradients}, optimizer {optimizer}, while computing {working}), "
     "{limit} are allowed"},
    {"risk", "runs out of memory with a chance of {chance}, {risk} is accepted"},
    {"faster", "{percent} faster"},
    {"cheaper", "{percent} less device time a step"},
    {"thriftier", "{percent} less energy a step"},
    {"shorter", "{percent} less time to train"},
    {"memory_risk", "needs at least {need} of {limit}: more likely than {risk} to run out of memory"},
    {"bound", "takes at least {bound}, the last of the ranked plans {time}"},
    {"bound.cost", "spends at least {bound} of device time a step, the last of the ranked plans {time}"},
    {"bound.energy", "takes at least {bound} a step, the last of the ranked plans {time}"},
    {"bound.training", "takes at least {bound} to train, the last of the ranked plans {time}"},
    {"slower", "{percent} slower"},
    {"as_fast", "as fast"},
    {"dearer", "{percent} more device time a step"},
    {"hungrier", "{percent} more energy a step"},
    {"longer", "{percent} more time to train"},
    {"bubble", "bubble {this} against {best}"},
    {"exposed_communication", "exposed communication {this} against {best}"},
    {"compute", "computing {this} against {best} a device"},
    {"memory_use", "memory {this} against {best}"},
});

}  // namespace

std::string filled(std::string pattern, const std::vector<Argument>& arguments) {
  for (const Argument& argument : arguments) {
    const std::string hole = "{" + argument.name + "}";
    if (const std::size_t at = pattern.find(hole); at != std::string::npos) pattern.replace(at, hole.size(), argument.value);
  }
  return pattern;
}

std::string_view pattern_of(const Reason& reason) {
  const auto known = std::find_if(kEnglish.begin(), kEnglish.end(), [&](const Sentence& s) { return s.code == reason.code; });
  return known == kEnglish.end() ? std::string_view() : known->pattern;
}

std::string_view family_of(const Reason& reason) { return std::string_view(reason.code).substr(0, reason.code.find('.')); }

std::string to_sentence(const Reason& reason) {
  if (const std::string_view pattern = pattern_of(reason); !pattern.empty()) return filled(std::string(pattern), reason.arguments);
  std::string text = reason.code;
  for (const Argument& argument : reason.arguments) text += " " + argument.name + "=" + argument.value;
  return text;
}

std::string to_sentence(const std::vector<Reason>& reasons) {
  std::string text;
  for (std::size_t at = 0; at < reasons.size(); ++at) text += (at == 0 ? "" : at == 1 ? ": " : ", ") + to_sentence(reasons[at]);
  return text;
}

}  // namespace planner
