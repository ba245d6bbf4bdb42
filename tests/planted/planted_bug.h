// Bugs that tests plant, to see that the oracles catch them. They stand in copies of executor/training's sources alone (plant.py), which programs of tests
// link in the place of the shipped ones. One bug at a time: what the living Planting says, else what MESHWRIGHT_PLANTED_BUG names.
#pragma once

#include <cstdint>
#include <string_view>

namespace executor {

enum class PlantedBug : std::uint8_t {
  None,
  WrongAverage,          // the loss is averaged over this rank's samples, not over the global batch
  MissingTensorSum,      // the gradient in front of the column-parallel products is not summed over tensor ranks
  ShiftedShard,          // the optimizer reads its gradient shard one element too far
  StaleWeights,          // gathered weights are not renewed after the step
  SharedCountedTwice,    // every copy of a shared or replicated parameter counts in the gradient norm
  LastBucketNotReduced,  // the last bucket's gradients stay as they are on this rank
  MissingReplicatedSum,  // gradients of which each tensor rank has a part (sequence parallel: norms, biases) are not summed over them
  OtherMasksAgain,       // recomputation draws the dropout masks of another step
  ClipBeforeUnscale,     // fp16: the norm that clips still has the loss scale in it
  StaleMaster,           // 16-bit weights are not rounded anew from their stepped masters
  SkippedCollective,     // rank 1 leaves out its first reduction of gradients, and its peers wait for another operation
  MissingReplicaSum,     // HSDP: shards are not summed over replicas
  ForgottenWeights,      // the first microbatch's weight gradients that are put off are never computed, nor are those beside an exchange
  SwappedMicrobatches,   // the first two microbatches of a step change places on this rank
  LocalHeadMasks,        // masks of attention's scores are named by the head of this tensor rank
  DividedTwice,          // the loss is averaged over the global batch and over the ranks once more
  LocalVocabulary,       // the softmax of the loss is over this tensor rank's part of the vocabulary
  OtherGroup,            // rank 1 scatters its gradients in the world's group, and its peers in that of the data ranks
  EarlyRead,             // what a communication brings is read before it is there
  ForgottenSum,          // a stage sends its stream on without the residual sum that no norm of it makes
  EarlyFree,             // on a device: memory that another stream reads is given up without waiting for it
  BakedMasks,            // on a device: a step's graph keeps the keys of the dropout masks that it was captured with
  MovedBatch,            // on a device: each step's tokens lie at a new place
  UnscaledMerge,         // attention over two blocks of keys is joined half and half, whatever their log-sum-exp
  SwappedLevels,         // neighbours' exchanges go through the ring's group, and the other way round
  InnerOrder,            // tokens that neighbours have joined stand rank after rank, not mirrored
  StalePersistent,       // what stays whole keeps the weights of before the step
  FutureBlock,           // the causal mask takes a later context rank's keys for an earlier one's, and the other way round
  IgnoredChoice,         // experts: what they put out says nothing to the router
  StrayRows,             // experts: rows are given back to the tokens from the last one on
  EarlyLayer,            // a layer is stepped, and runs, before all parts of its gradients' sum have come
  WrongExpertGroup,      // experts: their gradients are summed over all data ranks, which hold others, too
  OtherPart,             // after forward this rank keeps the part of the weights that its neighbour should
  MissingWait,           // on a device: reductions, and sums beside weight gradients, start without waiting for what they sum
  HostAhead,             // on a device: the host steps an offloaded optimizer without waiting for its gradients
  ForgottenScale,        // adapters: what they put out counts once, whatever alpha / r
  StrayInput,            // a feed-forward that is recomputed by itself starts from its tokens in another order
  RoundedOnWire,         // gradients of a unit in full precision cross links in 16 bit
  GatheredInHalf,        // weights of a unit in full precision are gathered in 16 bit
  ScaledAnyway,          // products of blocks without scales are rounded like others
  LeftOnWire,            // sums of gradients that crossed links in another type are not taken back
  BoundaryCrossed,       // documents: attention sees those that came before in the row
  RunningPositions,      // documents: positions go on from one to the next
  CrossedAtEdge,         // documents: a context rank's queries see all of another rank's block that stands before them
  MeanOfMeans,           // documents: the loss is averaged over each data or context rank's tokens, and over the ranks
  ErrorDropped,          // low rank: what P and Q do not hold is forgotten
  NeighbourScale,        // blocks of few bits: each is scaled by its neighbour's scale
  LostMicrobatch,        // the second microbatch's reduced gradients are not added
  FrozenStepped,         // adapters: weight decay takes its share of frozen weights, too
  OtherOwner,            // whole tensors: the rank behind the owner sends what it has not stepped
  StaleHostCopy,         // weights on the host: units come from a copy that no step renews
  StaleBroadcast,        // whole tensors: what owners have stepped is not sent
  LostCacheGradient,     // slices: what those behind say of a slice's keys and values is dropped
  RestartedSlice,        // slices: each begins at position 0
  NeighboursScale,       // packed weights: each block of 64 has the scale of the one before
  LocalPairMasks,        // adapters: masks of their dropout are drawn for the columns that a tensor rank has, from the first one on
  ShiftedMomentScale,    // moments in 8 bit: each block has the scale of the one before
  SignedSecondMoment,    // moments in 8 bit: the second one has the map of the first
  StaleScales,           // 8 bit: delayed scales come from the step before the last
  LocalMaximum,          // 8 bit: each rank makes its scales of what it has seen itself
  SharedScales,          // 8 bit: an expert's rows of all microbatches share scales
  UnroundedMoments,      // moments are as wide as the masters, whatever the plan says
  LocalStatistics,       // a batch norm takes this rank's samples for all
  LocalSums,             // likewise in backward
  OtherDistances,        // blocks of a decoder read the encoder's biases by distance
  OwnKeys,               // a decoder's attention to the source reads keys and values of the target
  SourceOfNeighbour,     // likewise those of another sample's source
  OtherExchange,         // a forward beside a backward: each goes on with the rows that the other's exchange has brought
  UnsummedRows,          // experts that ranks share: a row comes back as the first of them made it
  RowsAsFiled,           // documents that change places: where they begin is told as the file has them
  LateRouter,            // gradients of experts' weights beside an exchange: the router's wait for them when they have run
  LostAtEntry,           // the sum that waits in front of a block in full precision
  NeighboursHeads,       // heads that context ranks deal out are scored with the slopes and sinks of the next rank's
  UntaughtSinks,         // what the backward of scores says of sinks is dropped
  UntaughtGates,         // gates that stay with their tokens learn nothing
  PlainValues,           // keys that come block by block: the factor of their values is forgotten
  LocalSquares,          // norms over all heads: a tensor rank norms by the squares of its own
  SinkOfEachBlock,       // keys that come block by block: the sink enters with each of them
  BlocksPositions,       // likewise: keys of another block stand where the own ones do
  EarlyShared,           // steps in the backward: a weight that two layers read is stepped behind the first of them, too
  WholeColumns,          // Muon: a tensor rank's part of a matrix is read as wide as the whole
  PartialGradients,      // 8 bit: each tensor rank rounds its part of the gradient behind what all make whole
  OwnTiles,              // 8 bit: tiles of tokens begin where a context rank's tokens do
  LateDocuments,         // fitted rows: documents begin at their second token
  BalanceByLoss,         // experts: their auxiliary loss counts by the tokens that predict something
  RunningForBatch,       // a batch norm norms by the running statistics
  OneHostBuffer,         // what modules have saved: each tensor goes to one place of the host, whoever's is there
};
inline constexpr std::string_view kPlantedBugNames[] = {"none",
                                                        "wrong_average",
                                                        "missing_tensor_sum",
                                                        "shifted_shard",
                                                        "stale_weights",
                                                        "shared_counted_twice",
                                                        "last_bucket_not_reduced",
                                                        "missing_replicated_sum",
                                                        "other_masks_again",
                                                        "clip_before_unscale",
                                                        "stale_master",
                                                        "skipped_collective",
                                                        "missing_replica_sum",
                                                        "forgotten_weights",
                                                        "swapped_microbatches",
                                                        "local_head_masks",
                                                        "divided_twice",
                                                        "local_vocabulary",
                                                        "other_group",
                                                        "early_read",
                                                        "forgotten_sum",
                                                        "early_free",
                                                        "baked_masks",
                                                        "moved_batch",
                                                        "unscaled_merge",
                                                        "swapped_levels",
                                                        "inner_order",
                                                        "stale_persistent",
                                                        "future_block",
                                                        "ignored_choice",
                                                        "stray_rows",
                                                        "early_layer",
                                                        "wrong_expert_group",
                                                        "other_part",
                                                        "missing_wait",
                                                        "host_ahead",
                                                        "forgotten_scale",
                                                        "stray_input",
                                                        "rounded_on_wire",
                                                        "gathered_in_half",
                                                        "left_on_wire",
                                                        "boundary_crossed",
                                                        "running_positions",
                                                        "crossed_at_edge",
                                                        "mean_of_means",
                                                        "error_dropped",
                                                        "neighbour_scale",
                                                        "lost_microbatch",
                                                        "frozen_stepped",
                                                        "other_owner",
                                                        "stale_host_copy",
                                                        "stale_broadcast",
                                                        "lost_cache_gradient",
                                                        "restarted_slice",
                                                        "neighbours_scale",
                                                        "local_pair_masks",
                                                        "shifted_moment_scale",
                                                        "signed_second_moment",
                                                        "stale_scales",
                                                        "local_maximum",
                                                        "shared_scales",
                                                        "unrounded_moments",
                                                        "local_statistics",
                                                        "local_sums",
                                                        "other_distances",
                                                        "own_keys",
                                                        "source_of_neighbour",
                                                        "other_exchange",
                                                        "unsummed_rows",
                                                        "rows_as_filed",
                                                        "late_router",
                                                        "lost_at_entry",
                                                        "neighbours_heads",
                                                        "untaught_sinks",
                                                        "untaught_gates",
                                                        "plain_values",
                                                        "local_squares",
                                                        "sink_of_each_block",
                                                        "blocks_positions",
                                                        "early_shared",
                                                        "whole_columns",
                                                        "partial_gradients",
                                                        "own_tiles",
                                                        "late_documents",
                                                        "balance_by_loss",
                                                        "running_for_batch",
                                                        "one_host_buffer"};

bool planted(PlantedBug bug);
bool planted_once(PlantedBug bug);  // and no more from then on
bool announce_copies();             // by a copy: this program has them
bool has_copies();

class Planting {
 public:
  explicit Planting(PlantedBug bug);  // std::logic_error where this program has the shipped sources: such a test could not fail
  ~Planting();
  Planting(const Planting&) = delete;
  Planting& operator=(const Planting&) = delete;
};

}  // namespace executor
