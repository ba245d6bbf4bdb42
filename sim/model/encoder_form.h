// An encoder, and a decoder that reads what it puts out (Vaswani et al. 2017). A sample's tokens are those of the source, then those of the target, and
// the stream has a row for each from the embedding on. Blocks of the encoder change rows of the source, blocks of the decoder rows of the target:
//
//   block            rows that it changes    attention
//   encoder          source                  of the source to itself, both ways; feed-forward
//   decoder, first   target                  of the target to itself, back alone; no feed-forward
//   decoder, second  target                  of the target to the source; feed-forward
//
// So a layer of the decoder is two blocks, and what crosses stages, with its gradient, holds the encoder's output, as Megatron-LM sends it along.
// A field of ModelConfig.
#pragma once

#include <cstdint>

namespace sim {

// Angles of position p fall from p by a factor: 10000^(-2i/d) of i < d/2 (Vaswani et al. 2017), or so that the last one is p/10000 (tensor2tensor, fairseq).
enum class Sines : std::uint8_t { None, Vaswani, ToTheLongest };
enum class Tokens : std::uint8_t { All, Source, Target };  // of a sample; All: also where there is no source

struct EncoderForm {
  std::int64_t layers = 0, decoder_layers = 0;
  bool final_norm = false;  // behind the last block of the encoder
  bool late_positions =
      false;  // of the target: added behind the norm of the embedding, which reads tokens without their factor (Blenderbot small)
  Sines sines = Sines::None;  // positions of a table that nobody trains
  std::int64_t relative_buckets =
      0;  // > 0: scores have a bias by distance, which all blocks of a stack share (Raffel et al. 2020, section 2.1)
  bool distances_of_each = false;  // no block shares: each has a table of its own (UMT5, Chung et al. 2023)
  std::int64_t farthest = 0;       // distance in tokens from which on all have the same bias
  // Sound in place of source tokens (Whisper, Radford et al. 2022): frames of so many numbers pass two convolutions of three frames, of which the second
  // takes every other place; their positions are a table of sines, those of the target are learned.
  std::int64_t frame_width = 0, frames = 0;  // 0: tokens; places that the encoder has, all of which it reads
  bool hears() const { return frame_width > 0; }
  std::int64_t blocks() const { return layers + 2 * decoder_layers; }
  bool operator==(const EncoderForm&) const = default;
};

}  // namespace sim
