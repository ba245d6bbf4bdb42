#include "sim/model/model_graph.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RecipeContext eight(std::int64_t sequence) {
  return {.model = {}, .cluster = load_cluster("v100-32gb-sxm2", DeviceCount{8}), .sequence = sequence, .vocabulary = 32768};
}

std::string translated(const std::string& more) {
  return "fairseq-train data-bin/wmt16 --optimizer adam --adam-betas '(0.9, 0.98)' --clip-norm 0.0 --lr 0.0005 --warmup-updates 4000 "
         "--criterion label_smoothed_cross_entropy --label-smoothing 0.1 --fp16 " +
         more;
}

// Vaswani et al. 2017, table 3: 213 million parameters, of which 37,000 x 1024 are one table for source, target and head.
TEST(FairseqNetwork, TheBigTransformerOf2017) {
  const ImportedPlan read =
      testing::imported(translated("--arch transformer_vaswani_wmt_en_de_big --share-all-embeddings --max-tokens 3584"), eight(64));
  const ModelConfig& model = read.plan.model;
  ASSERT_TRUE(model.encoder.has_value());
  EXPECT_EQ(model.encoder->layers, 6);
  EXPECT_EQ(model.encoder->decoder_layers, 6);
  EXPECT_TRUE(model.encoder->sines != Sines::None && !model.encoder->final_norm && model.tied_embeddings);
  EXPECT_EQ(model.hidden, 1024);
  EXPECT_EQ(model.ffn, 4096);
  EXPECT_EQ(model.heads, 16);
  EXPECT_EQ(model.norm_place, NormPlace::AfterSum);
  EXPECT_EQ(model.activation, Activation::Relu);
  EXPECT_EQ(model.residual_dropout, 0.3);
  EXPECT_EQ(model.attention_dropout, 0.0);
  EXPECT_EQ(read.plan.microbatch_size, 112);  // 3584 / 32 tokens of the longer side
  EXPECT_EQ(read.plan.workload.global_batch, 8 * 112);
  EXPECT_NEAR(static_cast<double>(num_parameters(make_model_graph(model, {}))), 213e6 - (37'000 - 32'768) * 1024, 4e6);
  EXPECT_EQ(testing::text_of(read.lost), "");
  EXPECT_EQ(testing::text_of(read.unknown), "");
}

TEST(FairseqNetwork, TablesThatAreNotOneAreTold) {
  const std::string small = "--arch transformer_iwslt_de_en --max-tokens 4096 ";
  const ImportedPlan shared = testing::imported(translated(small + "--share-decoder-input-output-embed"), eight(100));
  EXPECT_FALSE(shared.plan.model.tied_embeddings);
  EXPECT_THAT(testing::text_of(shared.lost), HasSubstr("the source's table is apart"));
  EXPECT_THAT(testing::text_of(testing::imported(translated(small), eight(100)).lost), HasSubstr("a table each"));
  EXPECT_EQ(shared.plan.model.ffn, 1024);
  EXPECT_EQ(shared.plan.model.heads, 4);
  EXPECT_EQ(shared.plan.microbatch_size, 80);  // 81 are whole eights and one
}

TEST(FairseqNetwork, NormsInFrontOfBlocksOfBothStacks) {
  const std::string before = "--arch transformer --encoder-normalize-before --share-all-embeddings --max-tokens 1024 ";
  const ImportedPlan both = testing::imported(translated(before + "--decoder-normalize-before --layernorm-embedding"), eight(64));
  EXPECT_EQ(both.plan.model.norm_place, NormPlace::Before);
  EXPECT_TRUE(both.plan.model.encoder->final_norm);
  EXPECT_THAT(testing::text_of(both.lost), HasSubstr("embedding_norm"));
  EXPECT_THAT(testing::text_of(testing::imported(translated(before), eight(64)).lost), HasSubstr("without the other's"));
}

TEST(FairseqNetwork, BartAndItsMultilingualTwin) {
  const std::string more = " --max-tokens 2048 --update-freq 4 --layernorm-embedding --share-all-embeddings";
  const ParallelPlan bart = testing::imported(translated("--arch bart_large --task translation" + more), eight(1024)).plan;
  EXPECT_EQ(bart.model.model_type, "bart");
  EXPECT_EQ(bart.model.encoder->blocks(), 36);
  EXPECT_EQ(bart.model.position_offset, 2);
  EXPECT_EQ(bart.model.embedding_factor, 1);
  EXPECT_EQ(bart.workload.global_batch, 8 * 4 * 4);
  const ParallelPlan mbart =
      testing::imported(translated("--arch mbart_large --encoder-normalize-before --decoder-normalize-before" + more), eight(1024)).plan;
  EXPECT_EQ(mbart.model.model_type, "mbart");
  EXPECT_EQ(mbart.model.embedding_factor, 32);
}

TEST(FairseqNetwork, RobertaReadsWholeSamples) {
  const ImportedPlan read = testing::imported(
      "fairseq-train RTE-bin/ --max-positions 512 --batch-size 16 --max-tokens 4400 --task sentence_prediction --arch roberta_large --fp16",
      eight(0));
  EXPECT_EQ(read.plan.model.model_type, "roberta");
  EXPECT_EQ(read.plan.model.layers, 24);
  EXPECT_EQ(read.plan.model.max_positions, 512);
  EXPECT_EQ(read.plan.workload.sequence, 512);
  EXPECT_EQ(read.plan.microbatch_size, 8);  // 4400 / 512
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("classes are told from one token"));
  EXPECT_THAT(
      testing::text_of(
          testing::imported("fairseq-train d --task masked_lm --arch roberta_base --tokens-per-sample 512 --batch-size 4", eight(0)).lost),
      HasSubstr("masked tokens alone"));
}

// Its short name stands behind another option's value; a criterion may read samples again.
TEST(FairseqNetwork, ArchByItsShortName) {
  const ImportedPlan read = testing::imported(
      "fairseq-train data --max-tokens 4096 -a transformer_iwslt_de_en --share-all-embeddings --criterion r3f", eight(100));
  EXPECT_EQ(read.plan.model.ffn, 1024);
  EXPECT_EQ(read.plan.microbatch_size, 80);
  EXPECT_THAT(testing::text_of(read.lost), HasSubstr("may read a sample again"));
}

TEST(FairseqNetwork, WhatNoPlanHoldsIsRefused) {
  EXPECT_THAT(testing::refusal_of(translated("--arch transformer --decoder-embed-dim 256 --max-tokens 4096"), eight(64)),
              HasSubstr("stacks of different width"));
  EXPECT_THAT(testing::refusal_of(translated("--arch transformer --activation-fn tanh --max-tokens 4096"), eight(64)),
              HasSubstr("is tanh"));
  EXPECT_THAT(testing::refusal_of(translated("--arch transformer --decoder-attention-heads 4 --max-tokens 4096"), eight(64)),
              HasSubstr("attention_heads"));
  EXPECT_THAT(testing::refusal_of(translated("--arch transformer --task translation_moe --max-tokens 4096"), eight(64)),
              HasSubstr("several times a step"));
  EXPECT_THAT(testing::refusal_of(translated("--arch lstm_wiseman_iwslt_de_en --max-tokens 4096"), eight(64)),
              AllOf(HasSubstr("is lstm_wiseman_iwslt_de_en"), HasSubstr("encoder with a decoder")));
}

// fairseq's own: 1,024 positions of a stream, and of each side of a pair.
TEST(FairseqNetwork, SequenceThatNobodyGives) {
  const RecipeContext open = eight(0);
  const ImportedPlan pair = testing::imported(translated("--arch transformer --max-tokens 4096"), open);
  EXPECT_EQ(pair.plan.workload.sequence, 2048);
  EXPECT_EQ(testing::imported(translated("--arch transformer --max-tokens 4096 --max-target-positions 512"), open).plan.workload.sequence,
            1536);
  EXPECT_THAT(testing::text_of(pair.notes), HasSubstr("max-source-positions"));
  EXPECT_EQ(testing::imported("fairseq-train data --task language_modeling --arch transformer_lm_gpt3_small --batch-size 1 --fp16\n", open)
                .plan.workload.sequence,
            1024);
}

}  // namespace
}  // namespace sim
