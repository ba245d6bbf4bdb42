#include "sim/recipe/megatron_hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/model/model_text.h"
#include "sim/recipe/block_pattern.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::string_view kMixers = "M*G", kFeedForwards = "-E";
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kExpand = 2, kTaps = 4, kChunk = 128;  // MambaMixer's own, without arguments

std::string pattern_said(const Draft& draft) {
  std::string text = text_of(draft, "hybrid-override-pattern", "");
  std::erase_if(text, [](char c) { return c == '"' || c == '\'' || c == ' '; });
  return text;
}

// Of the layers that are Mamba-2 still, one after each `distance` becomes another; what is left of a distance is carried on.
void deal(std::string& letters, double distance, char letter) {
  double left = distance;
  for (char& one : letters) {
    if (one != 'M') continue;
    const bool is_next = left < 0.5;
    left += is_next ? distance : -1;
    if (is_next) one = letter;
  }
}

// Attention evenly between stretches of Mamba-2, then feed-forwards at the ends of theirs.
std::string letters_of_shares(std::int64_t layers, double attention, double feed_forward) {
  std::string letters(count_of(layers), 'M');
  const double all = static_cast<double>(layers), attending = std::nearbyint(all * attention), forward = std::nearbyint(all * feed_forward);
  if (attending > 0) deal(letters, (all - attending) / (attending + 1), '*');
  if (forward > 0) deal(letters, (all - attending - forward) / forward, '-');
  return letters;
}

bool are_pairs(const std::string& letters) {
  for (std::size_t at = 0; at < letters.size(); ++at)
    if ((at % 2 == 0 ? kMixers : kFeedForwards).find(letters[at]) == std::string_view::npos) return false;
  return letters.size() % 2 == 0;
}

// One letter a layer, or one a mixer with the feed-forward behind it.
struct Layers {
  std::string mixers, feed_forwards;  // by block; ' ': it has none
};
Layers layers_of(const std::string& letters, bool whole) {
  Layers layers;
  for (std::size_t at = 0; at < letters.size(); at += whole ? 2 : 1) {
    const bool mixes = kMixers.find(letters[at]) != std::string_view::npos;
    layers.mixers += mixes ? letters[at] : ' ';
    layers.feed_forwards += whole ? letters[at + 1] : mixes ? ' ' : letters[at];
  }
  return layers;
}

LinearForm mamba_of(const Draft& draft, const ModelConfig& model) {
  LinearForm form{.rule = LinearRule::StateSpace, .convolution_bias = true};
  form.convolution = size_said(draft, "mamba-d-conv", kTaps);
  form.chunk = size_said(draft, "mamba-chunk-size", kChunk);
  form.groups = size_said(draft, "mamba-num-groups", 8);
  form.key = size_said(draft, "mamba-state-dim", 128);
  form.value = size_said(draft, "mamba-head-dim", 64);
  form.heads =
      size_said(draft, "mamba-num-heads", size_said(draft, "mamba-expand", kExpand) * model.hidden / std::max<std::int64_t>(1, form.value));
  return form;
}
LinearForm delta_of(const Draft& draft) {
  LinearForm form{.rule = LinearRule::GatedDelta};
  form.heads = size_said(draft, "linear-num-value-heads", 32);
  form.groups = size_said(draft, "linear-num-key-heads", 16);
  form.key = size_said(draft, "linear-key-head-dim", 128);
  form.value = size_said(draft, "linear-value-head-dim", 128);
  form.convolution = size_said(draft, "linear-conv-kernel-dim", kTaps);
  return form;
}

constexpr const char* kPattern = "hybrid-override-pattern";

void judge_letters(const std::string& letters, Draft& draft) {
  if (letters == "true") return draft.wrong.push_back({kPattern, "has no value", "give a letter for each layer"});
  if (text_of(draft, "experimental-attention-variant", "") == "gated_delta_net")
    draft.wrong.push_back(
        {kPattern, "stands beside --experimental-attention-variant gated_delta_net, which says layers otherwise", "leave one out"});
  const std::size_t other = letters.find_first_not_of("M*-EG");
  if (other != std::string::npos)
    draft.wrong.push_back(
        {kPattern, fmt::format("has a layer '{}'; a plan knows M, *, -, E and G", letters[other]), "leave other layers out"});
  const bool both = letters.find('M') != std::string::npos && letters.find('G') != std::string::npos;
  if (both) draft.wrong.push_back({kPattern, "has Mamba-2 beside gated delta nets; a plan's network has one of them", "leave one out"});
  const std::int64_t layers = size_said(draft, "num-layers", std::ssize(letters));
  if (layers != std::ssize(letters))
    draft.wrong.push_back(
        {kPattern, fmt::format("has {} letters, and there are {} layers", letters.size(), layers), "correct one of them"});
  if (letters.find('E') != std::string::npos && size_said(draft, "num-experts", 0) == 0)
    draft.wrong.push_back({kPattern, "has layers of experts, and --num-experts is missing", "add it"});
  const std::string text = pattern_said(draft);
  const std::size_t predictions = text.find('/');
  if (draft.mtp_layers > 0 || (predictions != std::string::npos && predictions + 1 < text.size()))
    draft.lost.push_back(
        {"mtp-num-layers", "layers of letters that predict further tokens; the plan has none of them", "mind their time and memory"});
  draft.mtp_layers = 0;
}

// "M-|M*": the letters of each stage, in halves or whole blocks.
void read_stages(bool whole, Draft& draft) {
  const std::string all = pattern_said(draft), text = all.substr(0, all.find('/'));
  if (text.find('|') == std::string::npos) return;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    const auto letters = static_cast<std::int64_t>(end - at);
    if (whole && letters % 2 != 0)
      return draft.wrong.push_back(
          {kPattern, fmt::format("a stage '{}' ends inside a block", text.substr(at, end - at)), "end it behind a feed-forward"});
    draft.blocks.push_back(letters / (whole ? 2 : 1));
    at = end + 1;
  }
  const auto parts = std::ssize(draft.blocks);
  if (parts % draft.plan.mesh.pipeline != 0)
    draft.wrong.push_back({kPattern, fmt::format("marks {} stages, and the pipeline has {}", parts, draft.plan.mesh.pipeline),
                           "let the number be a multiple of --pipeline-model-parallel-size"});
  if (parts % draft.plan.mesh.pipeline == 0) draft.plan.chunks = static_cast<std::int32_t>(parts / draft.plan.mesh.pipeline);
}

// Sizes of layers that nothing asks for.
void tell_unused(Draft& draft) {
  constexpr std::string_view kSizes[] = {"linear-attention-freq", "linear-conv-kernel-dim", "linear-key-head-dim", "linear-value-head-dim",
                                         "linear-num-key-heads",  "linear-num-value-heads", "mamba-state-dim",     "mamba-head-dim",
                                         "mamba-num-groups",      "mamba-num-heads"};
  for (const std::string_view key : kSizes)
    if (draft.said.contains(std::string(key)))
      draft.lost.push_back({std::string(key),
                            "is of layers that neither a pattern nor --experimental-attention-variant asks for; the plan has attention",
                            "add --hybrid-override-pattern or --experimental-attention-variant, if they are meant"});
}

bool is_even_inside(const std::vector<std::int64_t>& blocks) {
  return blocks.size() < 3 || std::all_of(blocks.begin() + 1, blocks.end() - 1, [&](std::int64_t one) { return one == blocks[1]; });
}

}  // namespace

std::string letters_of_hybrid(const Draft& draft) {
  std::string letters = pattern_said(draft);
  letters = letters.substr(0, std::min(letters.find('/'), std::size_t{2} * kMostLayers));
  std::erase(letters, '|');
  if (!letters.empty()) return letters;
  const double attention = number_of(draft, "hybrid-attention-ratio", 0), feed_forward = number_of(draft, "hybrid-mlp-ratio", 0);
  const bool is_stack =
      text_of(draft, "spec", "").find("mamba_stack_spec") != std::string::npos || said(draft, "is-hybrid-model") != nullptr;
  if (attention <= 0 && feed_forward <= 0 && !is_stack) return {};
  return letters_of_shares(std::clamp<std::int64_t>(size_said(draft, "num-layers", 0), 0, kMostLayers), attention, feed_forward);
}

void read_hybrid(const std::string& letters, Draft& draft, ModelConfig& model) {
  judge_letters(letters, draft);
  const bool has_mamba = letters.find('M') != std::string::npos, whole = !has_mamba && are_pairs(letters);
  const Layers layers = layers_of(letters, whole);
  model.layers = std::ssize(layers.mixers);
  for (const char mixer : layers.mixers) model.linear_layers.push_back(mixer == 'M' || mixer == 'G');
  if (has_mamba)
    model.linear = mamba_of(draft, model);
  else if (letters.find('G') != std::string::npos)
    model.linear = delta_of(draft);
  else
    model.linear_layers.clear();
  if (!whole)
    for (const char mixer : layers.mixers) model.halves.push_back(mixer == ' ' ? BlockHalf::FeedForward : BlockHalf::Mixer);
  if (model.experts) {
    model.experts->first_dense_layers = 0;
    model.experts->dense_layers.clear();
    for (std::int64_t block = 0; block < model.layers; ++block)
      if (layers.feed_forwards[count_of(block)] == '-') model.experts->dense_layers.push_back(block);
  }
  if (letters.find('E') == std::string::npos) model.experts.reset();
  read_stages(whole, draft);
}

void read_delta(Draft& draft, const RecipeContext& context, ModelConfig& model) {
  constexpr const char* kBlocks = "linear-attention-freq";
  if (text_of(draft, "experimental-attention-variant", "") != "gated_delta_net") return tell_unused(draft);
  model.linear = delta_of(draft);
  const bool says_blocks = draft.said.contains(kBlocks);
  if (!says_blocks && context.model && std::ssize(context.model->linear_layers) == model.layers) {
    model.linear_layers = context.model->linear_layers;
    return;
  }
  if (!says_blocks)
    draft.wrong.push_back({kBlocks, "is missing: which blocks are gated delta nets", "add it, or give the network with --model"});
  const std::vector<int> pattern = pattern_of(draft, kBlocks, model.layers, [](BlockOfMany one) {
    return (one.block + 1) % one.every == 0 ? 0 : 1;  // every so many blocks, one attends
  });
  model.linear_layers.assign(pattern.begin(), pattern.end());
}

void compare_letters(const std::string& letters, const ModelConfig& given, Draft& draft) {
  const bool can_be_compared = is_hybrid(given) || letters.find('M') != std::string::npos;
  if (can_be_compared && letters != letters_of_layers(given))
    draft.wrong.push_back({kPattern, fmt::format("is '{}', and the network beside it has '{}'", letters, letters_of_layers(given)),
                           "give the config.json of the network that this trains"});
}

bool is_hybrid(const ModelConfig& model) { return !model.halves.empty() && !model.encoder; }
bool has_delta(const ModelConfig& model) { return model.linear && model.linear->rule == LinearRule::GatedDelta; }

std::string delta_text(const ModelConfig& model) {
  std::vector<int> pattern;
  for (std::int64_t block = 0; block < model.layers; ++block) pattern.push_back(is_linear(model, block) ? 1 : 0);
  const std::int64_t every = std::distance(pattern.begin(), std::ranges::find(pattern, 0)) + 1;
  for (std::int64_t block = 0; block < model.layers; ++block)
    if (at(pattern, block) != ((block + 1) % every == 0 ? 0 : 1)) return pattern_text(pattern);
  return every > model.layers ? pattern_text(pattern) : std::to_string(every);
}

void refuse_hybrids(const ParallelPlan& plan, Judgement& judgement) {
  const ModelConfig& model = plan.model;
  const LinearForm form = model.linear.value_or(LinearForm{});
  const bool is_mamba = is_hybrid(model) && form.rule == LinearRule::StateSpace && form.gate_norm && form.convolution_bias &&
                        form.convolution == kTaps && form.chunk == kChunk;
  const bool is_delta = !is_hybrid(model) && has_delta(model) && !form.convolution_bias;
  judgement.refuse(
      model.linear && (form.biases || form.beside || (!is_mamba && !is_delta)), "/model",
      "linear layers are Mamba-2 by halves of blocks there (four taps, chunks of 128 tokens), or gated delta nets in whole blocks",
      "export to another program");
  judgement.note(has_delta(model) && plan.mesh.context > 1, "/mesh/context",
                 "context ranks deal out the heads of gated delta nets since Megatron-Core 0.17; 0.16 refuses them",
                 "use 0.17, or context=1");
  if (!is_hybrid(model)) return;
  judgement.refuse(plan.mesh.pipeline > 1 && plan.chunks > 1, "/schedule", "hybrids have one chunk a stage there",
                   "plan with --fix schedule=1f1b");
  judgement.refuse(!is_even_inside(blocks_of(plan)), "/cut", "hybrids are cut evenly there, but for the first and the last stage",
                   "leave cut out of the plan");
}

}  // namespace sim
