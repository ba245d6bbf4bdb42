#include "sim/model/unread_networks.h"

#include <algorithm>
#include <iterator>

namespace sim {
namespace {

struct Unread {
  std::string_view family, why;
};
constexpr std::string_view kDisentangled = "scores that also meet queries and keys with distances (disentangled attention)";
constexpr std::string_view kTowers = "two networks side by side, of text and of images, whose outputs are compared";
constexpr std::string_view kShared = "blocks that share one set of weights";
constexpr std::string_view kPicked = "attention to a window and to picked places beside it";
constexpr std::string_view kDistant = "biases of scores by distance in an encoder without a decoder";
constexpr std::string_view kShrinking = "maps that shrink from stage to stage between blocks of attention";
constexpr std::string_view kSeparable = "convolutions of each channel by itself in a network of maps";
constexpr std::string_view kLightning = "linear attention whose decays are fixed by head (Lightning Attention)";
constexpr std::string_view kPairedExperts = "experts in an encoder with a decoder";
constexpr std::string_view kPairedGemma = "Gemma's blocks in an encoder and a decoder";
constexpr std::string_view kWaves = "sound as waves, which convolutions read";
constexpr std::string_view kPages = "places on a page beside positions";
constexpr std::string_view kRecurrent = "a recurrence that no rule of linear attention here says";

constexpr Unread kUnread[] = {
    {"deberta", kDisentangled},
    {"deberta-v2", kDisentangled},
    {"clip", kTowers},
    {"clip_text_model", kTowers},
    {"siglip", kTowers},
    {"siglip_text_model", kTowers},
    {"siglip2_text_model", kTowers},
    {"albert", kShared},
    {"zamba", kShared},
    {"zamba2", kShared},
    {"longformer", kPicked},
    {"led", kPicked},
    {"big_bird", kPicked},
    {"bigbird_pegasus", kPicked},
    {"mpnet", kDistant},
    {"beit", kDistant},
    {"data2vec-vision", kDistant},
    {"swin", kShrinking},
    {"swinv2", kShrinking},
    {"segformer", kShrinking},
    {"pvt", kShrinking},
    {"pvt_v2", kShrinking},
    {"hiera", kShrinking},
    {"convnext", kSeparable},
    {"convnextv2", kSeparable},
    {"efficientnet", kSeparable},
    {"mobilenet_v1", kSeparable},
    {"mobilenet_v2", kSeparable},
    {"minimax", kLightning},
    {"minimax_text_01", kLightning},
    {"bailing_moe_linear", kLightning},
    {"switch_transformers", kPairedExperts},
    {"nllb-moe", kPairedExperts},
    {"t5gemma", kPairedGemma},
    {"t5gemma2", kPairedGemma},
    {"wav2vec2", kWaves},
    {"wav2vec2-conformer", kWaves},
    {"hubert", kWaves},
    {"wavlm", kWaves},
    {"layoutlm", kPages},
    {"layoutlmv2", kPages},
    {"layoutlmv3", kPages},
    {"rwkv", kRecurrent},
    {"xlstm", kRecurrent},
    {"recurrent_gemma", kRecurrent},
    {"gemma3n_text", "streams beside each other, of which each block predicts and corrects all (AltUp)"},
    {"mllama_text_model", "blocks that attend to images"},
    {"longcat_flash", "two attentions and two feed-forwards beside experts, some of which compute nothing"},
    {"bailing_hybrid", "linear attention with bounded decays beside latent attention"},
    {"step3p5", "gates that are clamped in single blocks, and heads that differ under a window"},
    {"cohere2_moe", "experts beside attention, behind dense blocks of another width"},
    {"diffllama", "differences of two softmaxes"},
    {"jetmoe", "experts of attention"},
    {"xlnet", "two streams of attention over permuted tokens"},
    {"rembert", "a head of another width than the token table"},
};

}  // namespace

std::optional<std::string_view> why_unread(std::string_view family) {
  const auto* const found = std::ranges::find(kUnread, family, &Unread::family);
  return found == std::end(kUnread) ? std::nullopt : std::optional(found->why);
}

}  // namespace sim
