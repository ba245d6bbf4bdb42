// Rules of networks whose layers, tokens or samples are of a kind of their own: scans, indexers, further predictions, patches, maps.
#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/parallel_plan.h"
#include "sim/plan/rules.h"

namespace sim {
namespace {

// Statistics of all data ranks: those of a shard group meet, and a task that they cut is cut once.
void check_batch_norms(const ParallelPlan& plan, Rules& rules) {
  if (!plan.sync_batch_norm) return;
  const std::string where = "/sync_batch_norm";
  if (!plan.model.convolution) return rules.must(false, where, "is of batch norms, and this network has none", "leave it out");
  rules.must(plan.model.convolution->kind != ConvolutionKind::Cells, where,
             "a cell of amoebanet has several norms, whose statistics are each rank's own", "leave it out");
  rules.must(plan.mesh.replicas == 1, where,
             fmt::format("statistics are shared by the ranks of a shard group, and there are {} of them", plan.mesh.replicas),
             "use replicas 1, or leave it out");
}

// Context ranks deal the heads of a scan out among them for all of its tokens. Groups of Mamba-2's heads may be fewer than they: each has a copy.
void check_dealt_heads(const ParallelPlan& plan, Rules& rules) {
  const LinearForm& form = *plan.model.linear;
  const std::int64_t context = plan.mesh.context, ranks = plan.mesh.tensor * context, groups = form.groups / plan.mesh.tensor;
  if (context == 1) return;
  if (form.is_of_channels())
    return rules.must(false, "/mesh/context",
                      "layers of channels read tokens in front of a rank's own, which context ranks do not exchange here", "use context 1");
  const bool are_copied = form.rule == LinearRule::StateSpace && groups > 0 && context % groups == 0;
  rules.must(form.heads % ranks == 0 && (form.groups % ranks == 0 || are_copied), "/mesh/context",
             fmt::format("{} heads of linear attention in {} groups are not dealt out to tensor {} x context {} ranks", form.heads,
                         form.groups, plan.mesh.tensor, context),
             "use a context degree that divides them");
  rules.must(!plan.context_by_document, "/context_by_document", "scans are dealt out to all context ranks, whatever document they are of",
             "leave it out");
}

}  // namespace

// What a sample hands on from token to token is handed on within a rank; its heads, and the groups that share keys, are dealt whole.
void check_linear(const ParallelPlan& plan, Rules& rules) {
  if (!plan.model.linear) return;
  const LinearForm& form = *plan.model.linear;
  const std::int64_t tensor = plan.mesh.tensor, least = form.is_of_channels() ? form.heads : std::min(form.heads, form.groups);
  if (form.is_of_channels())
    rules.must(form.heads % tensor == 0, "/mesh/tensor",
               fmt::format("{} channels are not divisible by tensor degree {}", form.heads, tensor),
               fmt::format("use a tensor degree that divides {}", least));
  else
    rules.must(
        form.heads % tensor == 0 && form.groups % tensor == 0, "/mesh/tensor",
        fmt::format("{} heads of linear attention in {} groups are not divisible by tensor degree {}", form.heads, form.groups, tensor),
        fmt::format("use a tensor degree that divides {}", least));
  rules.must(form.rule != LinearRule::Selective || tensor == 1, "/mesh/tensor",
             "steps of a selective scan are made of all channels, whose sums over tensor ranks are not lowered", "use tensor degree 1");
  check_dealt_heads(plan, rules);
}

// Which tokens a query attends to is told when all of its sample is scored.
void check_sparse(const ParallelPlan& plan, Rules& rules) {
  if (!plan.model.attention.is_sparse()) return;
  rules.must(plan.mesh.context == 1, "/mesh/context",
             "an indexer chooses among all tokens of a sample, whose scores context ranks do not exchange here", "use context 1");
  rules.must(!plan.workload.samples.has_documents(), "/workload/samples",
             "an indexer chooses among all tokens of a sample, and not of a document", "leave samples out");
  rules.must(plan.model.attention_dropout == 0, "/model/attention_dropout", "attention to chosen tokens has no kernel with dropout",
             "set it to 0");
}

void check_samples(const ParallelPlan& plan, Rules& rules) {
  const SamplesPolicy& samples = plan.workload.samples;
  rules.must(!samples.has_documents() || (!plan.model.convolution && !plan.model.patches), "/workload/samples",
             "says how documents fill rows, and this network's samples are images", "leave it out");
  rules.must(!samples.end_token || *samples.end_token < plan.model.vocabulary, "/workload/samples",
             fmt::format("documents end with token {}, and the vocabulary has {}", samples.end_token.value_or(0), plan.model.vocabulary),
             "use a token of the vocabulary");
  rules.must(!samples.has_documents() || plan.model.mtp_layers == 0, "/workload/samples",
             "further tokens would be predicted across the ends of documents", "leave mtp_layers or samples out");
}

// Norms over all heads add up squares over tensor ranks, each of which has whole heads.
void check_joint_norms(const ParallelPlan& plan, Rules& rules) {
  const std::int64_t tensor = plan.mesh.tensor;
  if (plan.model.qk_norm != QkNorm::Joint || tensor == 1) return;
  rules.must(plan.model.norm == Norm::RmsNorm, "/mesh/tensor",
             "norms of means of all heads' queries together need two sums over tensor ranks, one after the other, which are not lowered",
             "use tensor degree 1");
  rules.must(!shares_keys(plan.model, tensor), "/mesh/tensor",
             "norms of all heads' keys together are not lowered where tensor ranks share a head of keys",
             "use a tensor degree that divides the key/value heads");
}

// What blocks read of others is there on one stage.
void check_shared_between_blocks(const ParallelPlan& plan, Rules& rules) {
  const bool shares = plan.model.shared_kv_layers > 0 || plan.model.layer_inputs > 0;
  rules.must(!shares || plan.mesh.pipeline == 1, "/mesh/pipeline",
             "blocks read keys, values or inputs that were made on another stage, which stages do not send", "use pipeline degree 1");
}

// Apart from the head they read the token table on their own stage: a head that reads it, too, would be a third place of it.
void check_predictions(const ParallelPlan& plan, Rules& rules) {
  constexpr const char* kApart = "/workload/mtp_apart";
  rules.must(!plan.model.mtp_apart || plan.model.mtp_layers > 0, kApart, "is of layers that predict further tokens, and there are none",
             "use mtp_layers=1, or leave it out");
  rules.must(!plan.model.predicts_apart() || !plan.model.tied_embeddings, kApart,
             "goes with a head of its own matrix: copies of a token table on three stages are not summed", "leave it out");
  if (plan.model.mtp_layers == 0) return;
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(holds, "/workload/mtp_layers", problem, remedy);
  };
  needs(!plan.model.convolution && !plan.model.patches && !plan.model.bidirectional,
        "predict tokens that follow, and this network sees them", "leave it out");
  needs(!plan.model.encoder, "follow a decoder without an encoder", "leave it out");
  needs(plan.model.halves.empty(), "are whole blocks, and the last one of this network is half of one", "leave it out");
  needs(!plan.model.adapters, "have no adapters beside their products", "leave one of both out");
  needs(plan.model.embedding_width == 0, "read a token table of the blocks' width", "leave it out");
}

void check_patches(const ParallelPlan& plan, Rules& rules) {
  if (!plan.model.patches) return;
  const std::int64_t tokens = plan.model.patches->tokens();
  rules.must(plan.workload.sequence == tokens, "/workload/sequence",
             fmt::format("is {}, and an image has {} tokens: its patches, and {} in front", plan.workload.sequence, tokens,
                         plan.model.patches->leading + plan.model.patches->registers),
             fmt::format("use sequence {}", tokens));
  rules.must(plan.model.patches->width() % plan.mesh.tensor == 0, "/mesh/tensor",
             fmt::format("{} numbers of a patch are not divisible by tensor degree {}", plan.model.patches->width(), plan.mesh.tensor),
             fmt::format("use a tensor degree that divides {}", plan.model.patches->width()));
}

// Layers of maps: a sample is one token, and ranks share no part of it.
void check_maps(const ParallelPlan& plan, Rules& rules) {
  check_batch_norms(plan, rules);
  if (!plan.model.convolution) return;
  const auto only = [&](bool holds, const char* where, const char* problem, const char* remedy) {
    rules.must(holds, where, std::string("of a convolutional network ") + problem, remedy);
  };
  const DeviceMesh& mesh = plan.mesh;
  only(mesh.tensor == 1, "/mesh/tensor", "no operator is cut over tensor ranks", "use tensor degree 1, and more data or pipeline ranks");
  only(mesh.context == 1, "/mesh/context", "samples have no sequence to cut", "use context degree 1");
  only(mesh.expert == 1, "/mesh/expert", "no layer has experts", "use expert degree 1");
  only(plan.workload.sequence == 1, "/workload/sequence", "a sample is one image, of the config's image_size", "use sequence 1");
  only(plan.recompute != Recompute::Selective, "/recompute", "layers have no modules to select", "use recompute full or none");
  only(!plan.offload_activations, "/offload_activations", "maps stay on the device", "leave it out");
  only(!plan.splits_backward(), "/schedule", "weight gradients are not put off", "use 1f1b, interleaved or gpipe");
  const std::vector<LayerIndex>& first = plan.cut.first;
  only(std::adjacent_find(first.begin(), first.end()) == first.end(), "/cut", "each chunk has a layer", "give it one");
}

}  // namespace sim
