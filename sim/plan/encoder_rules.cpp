// Rules of networks with an encoder and a decoder: which tokens are whose, and who may share them.
#include <fmt/format.h>

#include "sim/plan/rules.h"

namespace sim {

// Ranks that share a sample would have to deal out the source and the target each by itself.
void check_encoder(const ParallelPlan& plan, Rules& rules) {
  const std::string where = "/workload/source_tokens";
  rules.must(!plan.direct_source || plan.model.encoder, "/direct_source", "is of a network with an encoder and a decoder, and this is none",
             "leave it out");
  rules.must(!plan.direct_source || plan.chunks == 1, "/direct_source",
             "goes to stages, and a stage of several chunks would be sent it for each", "use chunks=1, or leave it out");
  if (!plan.model.encoder)
    return rules.must(plan.model.source_tokens == 0, where, "is of a network with an encoder and a decoder, and this is none",
                      "leave it out");
  const std::int64_t source = tokens_in(Tokens::Source, plan.model, plan.workload.sequence), target = plan.workload.sequence - source;
  rules.must(source >= 1 && target >= 1, where,
             fmt::format("leaves {} of {} tokens to the decoder, and {} to the encoder", target, plan.workload.sequence, source),
             "use less than the sequence, which holds both");
  const bool hears = plan.model.encoder->hears();
  rules.must(!hears || source == plan.model.encoder->frames, where,
             fmt::format("is {}, and this encoder reads all of its {} places of sound", source, plan.model.encoder->frames),
             "leave it out");
  rules.must(!plan.sequence_parallel || (source % plan.mesh.tensor == 0 && target % plan.mesh.tensor == 0), "/sequence_parallel",
             fmt::format("{} tokens of the source and {} of the target are not both divisible by tensor degree {}", source, target,
                         plan.mesh.tensor),
             "switch it off, or change source_tokens");
  rules.must(plan.mesh.context == 1, "/mesh/context", "context ranks share the tokens of one stream, and attention to a source reads two",
             "use context 1");
  rules.must(plan.slices == 1, "/slices", "cut one stream of tokens, and a decoder waits for all of its source", "use slices=1");
  rules.must(!plan.workload.samples.has_documents(), "/workload/samples",
             "says how documents fill rows, and a row here is a source with its target", "leave it out");
  rules.must(!plan.model.adapters, "/workload/adapters", "are not known beside attention to a source", "leave them out");
}

}  // namespace sim
