#include "sim/model/encoder_form_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kStack{1, 4000};
constexpr std::int64_t kBuckets = 32, kFarthest = 128;  // of T5Config

struct FeedForwardName {
  std::string_view name;
  Activation activation;
  bool is_gated;
};
constexpr std::array kFeedForwards = std::to_array<FeedForwardName>({{"relu", Activation::Relu, false},
                                                                     {"gated-gelu", Activation::GeluTanh, true},
                                                                     {"gated-silu", Activation::Silu, true},
                                                                     {"gated-relu", Activation::Relu, true},
                                                                     {"gelu", Activation::Gelu, false},
                                                                     {"gelu_new", Activation::GeluTanh, false},
                                                                     {"silu", Activation::Silu, false}});

std::size_t place_of_feed_forward(const ModelConfig& model) {
  return position_in(kFeedForwards, std::ranges::find_if(kFeedForwards, [&](const FeedForwardName& one) {
                       return one.activation == model.activation && one.is_gated == model.gated_mlp;
                     }));
}

// Of both stacks the same: what a row of the plan's tables holds is one number.
std::int64_t of_both(const JsonReader& config, const std::string& of_encoder, const std::string& of_decoder, JsonReader::Range range) {
  const std::int64_t here = config.integer(of_encoder, {}, range), there = config.integer(of_decoder, {here}, range);
  if (here != there)
    config.violate(of_decoder, fmt::format("is {}, and {} is {}: stacks of different width are not read", there, of_encoder, here),
                   "plan a network with the same of both");
  return here;
}

void with_stacks(ModelConfig& model, EncoderForm form) {
  model.layers = form.blocks();
  model.encoder = form;
  model.halves.clear();
  for (std::int64_t block = 0; block < form.blocks(); ++block)
    model.halves.push_back(block >= form.layers && (block - form.layers) % 2 == 0 ? BlockHalf::Mixer : BlockHalf::Both);
}

}  // namespace

void read_t5_stacks(const JsonReader& config, ModelConfig& model) {
  EncoderForm form = model.encoder.value_or(EncoderForm{});
  form.layers = config.integer("num_layers", {}, kStack);
  form.decoder_layers = config.integer("num_decoder_layers", {form.layers}, kStack);
  form.relative_buckets = config.integer("relative_attention_num_buckets", kBuckets, {2, 1e6});
  form.farthest = config.integer("relative_attention_max_distance", kFarthest, {1, 1e9});
  with_stacks(model, form);
  const bool scales = config.boolean("scale_decoder_outputs", model.logit_factor != 1 && model.tied_embeddings);
  model.logit_factor = scales && model.hidden > 0 ? 1 / std::sqrt(static_cast<double>(model.hidden)) : 1;
}

void write_t5_stacks(Json& json, const ModelConfig& model) {
  json["num_layers"] = model.encoder->layers;
  json["num_decoder_layers"] = model.encoder->decoder_layers;
  json["relative_attention_num_buckets"] = model.encoder->relative_buckets;
  json["relative_attention_max_distance"] = model.encoder->farthest;
  json["scale_decoder_outputs"] = model.logit_factor != 1;
}

void read_bart_stacks(const JsonReader& config, ModelConfig& model) {
  EncoderForm form = model.encoder.value_or(EncoderForm{});
  form.layers = config.integer("encoder_layers", {}, kStack);
  form.decoder_layers = config.integer("decoder_layers", {}, kStack);
  model.heads = model.kv_heads = of_both(config, "encoder_attention_heads", "decoder_attention_heads", {1, 1e5});
  model.head_dim = model.heads > 0 ? model.hidden / model.heads : 0;
  model.ffn = of_both(config, "encoder_ffn_dim", "decoder_ffn_dim", {1, 1e7});
  if (const std::int64_t rows = config.integer("decoder_vocab_size", model.vocabulary, {1, 1e9}); rows != model.vocabulary)
    config.violate("decoder_vocab_size", fmt::format("is {}, and vocab_size is {}: two token tables are not read", rows, model.vocabulary),
                   "plan a network with one vocabulary");
  with_stacks(model, form);
}

void write_bart_stacks(Json& json, const ModelConfig& model) {
  json["encoder_layers"] = model.encoder->layers;
  json["decoder_layers"] = model.encoder->decoder_layers;
  for (const char* key : {"encoder_attention_heads", "decoder_attention_heads"}) json[key] = model.heads;
  for (const char* key : {"encoder_ffn_dim", "decoder_ffn_dim"}) json[key] = model.ffn;
}

void read_sound(const JsonReader& config, ModelConfig& model) {
  model.encoder->frame_width = config.integer("num_mel_bins", model.encoder->frame_width, {1, 1e6});
  model.encoder->frames = config.integer("max_source_positions", model.encoder->frames, {1, 1e9});
}

void write_sound(Json& json, const ModelConfig& model) {
  json["num_mel_bins"] = model.encoder->frame_width;
  json["max_source_positions"] = model.encoder->frames;
}

void read_t5_feed_forward(const JsonReader& config, ModelConfig& model) {
  std::array<std::string_view, kFeedForwards.size()> names;
  std::ranges::transform(kFeedForwards, names.begin(), &FeedForwardName::name);
  const FeedForwardName& found = kFeedForwards[config.choice("feed_forward_proj", names, place_of_feed_forward(model))];
  model.activation = found.activation;
  model.gated_mlp = found.is_gated;
}

void write_t5_feed_forward(Json& json, const ModelConfig& model) {
  json["feed_forward_proj"] = std::string(kFeedForwards[place_of_feed_forward(model)].name);
}

void read_local_radius(const JsonReader& config, ModelConfig& model) {
  model.window = 2 * config.integer("local_radius", (model.window - 1) / 2, {1, 1e9}) + 1;
  model.windowed.assign(model.halves.size(), false);
  std::fill_n(model.windowed.begin(), model.encoder->layers, true);
}

void write_local_radius(Json& json, const ModelConfig& model) { json["local_radius"] = (model.window - 1) / 2; }

void read_scaled_embedding(const JsonReader& config, ModelConfig& model) {
  const bool scales = config.boolean("scale_embedding", model.embedding_factor != 1);
  model.embedding_factor = scales ? std::sqrt(static_cast<double>(model.hidden)) : 1;
}

void write_scaled_embedding(Json& json, const ModelConfig& model) { json["scale_embedding"] = model.embedding_factor != 1; }

}  // namespace sim
