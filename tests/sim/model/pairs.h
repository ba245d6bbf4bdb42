// Small networks with an encoder and a decoder, for tests of every room.
#pragma once

#include "sim/model/family.h"

namespace sim {

// Heads of 16, four of them; a vocabulary of 256.
inline ModelConfig small_pair(const char* family, EncoderForm stacks) {
  ModelConfig config;
  config.model_type = family;
  find_family(family)->describe(config);
  config.hidden = 64, config.heads = config.kv_heads = 4, config.head_dim = 16, config.ffn = 128, config.vocabulary = 256;
  config.max_positions = 1024;
  config.encoder->layers = stacks.layers, config.encoder->decoder_layers = stacks.decoder_layers;
  config.encoder->relative_buckets = stacks.relative_buckets, config.encoder->farthest = stacks.farthest;
  config.layers = config.encoder->blocks();
  for (std::int64_t block = 0; block < config.layers; ++block)
    config.halves.push_back(rows_of(config, block) == Tokens::Target && !attends_to_source(config, block) ? BlockHalf::Mixer
                                                                                                          : BlockHalf::Both);
  return config;
}

}  // namespace sim
