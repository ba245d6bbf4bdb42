// Rules of a step: how gradients are summed, who steps which weights, how they travel, and what may cross into the next step.
#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/rules.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace sim {

// New weights that come while the next forward runs.
void check_weight_gather(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(!plan.overlap_weight_gather || holds, "/overlap_weight_gather", problem, remedy);
  };
  needs(plan.zero_stage == 1 || plan.zero_stage == 2,
        fmt::format("is of stages 1 and 2, whose ranks gather what each of them has stepped; this is stage {}", plan.zero_stage),
        plan.zero_stage == 3 ? "use prefetch, which gathers beside computing" : "use zero=1, or leave it out");
  needs(plan.mesh.shards() > 1, "gathers from data ranks, and there is one", "leave it out");
  needs(!plan.offload_optimizer, "is not lowered for weights that come up from the host", "leave offload_optimizer out");
}

void check_post_validation(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(plan.post_validation == PostValidation::None || holds, "/post_validation", problem, remedy);
  };
  needs(plan.mesh.pipeline > 1, "is of pipelines: here no stage waits for another's norm", "leave it out");
  needs(plan.zero_stage <= 1, fmt::format("is not known with stage {}", plan.zero_stage), "use zero=1, or zero=0");
  needs(plan.cluster.hardware.overlaps_communication, "sends norms beside computing, which these devices do not", "leave it out");
  needs(!plan.offload_optimizer, "undoes steps on the device, and the host takes them", "leave offload_optimizer out");
  needs(plan.post_validation != PostValidation::InPlace || plan.workload.optimizer == OptimizerKind::AdamW,
        fmt::format("{} has no step that arithmetic undoes", sim::at(kOptimizerNames, plan.workload.optimizer)), "use copies, or adamw");
}

// Each layer's sum is stepped as it comes: nothing may need all of them first.
void check_priority(const ParallelPlan& plan, Rules& rules) {
  const bool are_both = plan.sums_by_priority() == (plan.credit_size > Bytes(0));
  rules.must(are_both && plan.partition_size >= Bytes(0) && plan.credit_size >= Bytes(0), "/credit_size",
             fmt::format("is {} B with a partition of {} B", plan.credit_size.value(), plan.partition_size.value()),
             "give both (\"4 MiB\" and \"16 MiB\"), or none");
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(!plan.sums_by_priority() || holds, "/partition_size", problem, remedy);
  };
  needs(plan.training.gradient_clip == 0,
        fmt::format("steps a layer when its own sum is there, and clipping to {} needs the norm of all", plan.training.gradient_clip),
        "use gradient_clip=0, or leave it out");
  needs(plan.workload.precision.compute() != Precision::Fp16,
        "steps a layer when its own sum is there, and in fp16 an infinity in another one would have to stop it",
        "use bf16, or leave it out");
  needs(plan.zero_stage == 0, fmt::format("sums over ranks that all step everything; stage {} shards that", plan.zero_stage), "use zero=0");
  needs(plan.mesh.copies() > 1, "sums over data ranks, and there is one", "leave it out");
  needs(plan.mesh.pipeline == 1 && plan.mesh.tensor == 1 && plan.mesh.expert == 1 && plan.mesh.replicas == 1,
        "is lowered for data and context ranks alone", "use degree 1 of the others");
  needs(!plan.offload_optimizer, "is not lowered for an optimizer on the host", "leave offload_optimizer out");
  needs(!plan.workload.precision.gradient_codec(), "sums pieces of gradients as they are, and a codec is of whole buckets",
        "leave one of both out");
  needs(plan.num_microbatches() == 1 || plan.accumulation == Accumulation::ReduceLast,
        "sums once a step, and reduce_each does with each microbatch", "use accumulation=reduce_last");
  constexpr std::int64_t kLeast = 65'536;
  needs(plan.partition_size.value() >= kLeast, fmt::format("{} B are less than latency lets be worth while", plan.partition_size.value()),
        "use at least \"64 KiB\"");
}

void check_muon(const ParallelPlan& plan, Rules& rules) {
  if (plan.workload.optimizer != OptimizerKind::Muon) return;
  rules.must(plan.zero_stage <= 2, "/workload/optimizer",
             fmt::format("muon steps whole matrices, and stage {} gives each rank a piece of them", plan.zero_stage), "use zero=1 or 2");
  rules.must(!plan.offload_optimizer, "/workload/optimizer", "muon multiplies matrices, which the host is too slow for",
             "leave offload_optimizer out");
  rules.must(!plan.model.convolution, "/workload/optimizer", "muon is of matrices, and kernels of convolutions are none", "use sgd");
}

void check_adafactor(const ParallelPlan& plan, Rules& rules) {
  if (plan.workload.optimizer != OptimizerKind::Adafactor) return;
  const bool owns_whole = plan.state_shards == StateShards::Tensors && plan.zero_stage < 3;
  rules.must(plan.zero_stage == 0 || plan.mesh.copies() == 1 || owns_whole, "/workload/optimizer",
             fmt::format("adafactor takes means of rows and columns, and stage {} gives each rank a piece of a matrix", plan.zero_stage),
             "use state_shards=tensors, zero=0, or adamw_8bit");
}

// Whole tensors on data ranks: as FairScale's OSS (stage 1) and ShardedDDP (stage 2) deal them, Megatron-Core's layer-wise optimizer, and Muon.
// Of what neighbours keep among them.
void check_second_copy(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(plan.kept_until == KeptUntil::Backward || holds, "/kept_until", problem, remedy);
  };
  needs(plan.zero_stage == 3 && plan.mesh.reshard > 1, "step is of weights that neighbours keep among them (stage 3)",
        "use zero=3 with reshard_ranks, or leave it out");
  needs(plan.reshard_after_forward, "step has nothing to keep where whole weights stay from forward to backward", "use reshard=true");
  needs(!plan.model.adapters, "step has no end for frozen weights, which no step changes", "leave it out");
  needs(!habits_of(plan.cluster).unit_buffers, "FSDP 2 gives up what neighbours keep with each backward", "leave it out");
}

void check_after_backward(const ParallelPlan& plan, Rules& rules) {
  const ReshardAfterBackward when = plan.reshard_after_backward;
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(when == ReshardAfterBackward::AsTheProgram || holds, "/reshard_after_backward", problem, remedy);
  };
  needs(plan.zero_stage == 3, fmt::format("is of gathered weights (stage 3); this is stage {}", plan.zero_stage),
        "use zero=3, or leave it out");
  needs(when == ReshardAfterBackward::Last || plan.mesh.pipeline == 1,
        "each gives weights up that other microbatches of a pipeline are about to read", "use last, or leave it out");
  needs(plan.mesh.reshard == 1, "neighbours keep weights among them from forward to backward, which has its own end (kept_until)",
        "use reshard_ranks=1, or leave it out");
  needs(!plan.expert_overlap, "is not lowered where a forward runs beside a backward", "leave it out");
  needs(!plan.offload_parameters, "weights come from the host for each forward and backward", "leave it out");
}

// Of parts that are not trained.
void check_frozen(const ParallelPlan& plan, Rules& rules) {
  if (!plan.model.frozen.any()) return;
  const auto needs = [&](bool holds, const char* where, const char* problem, const char* remedy) {
    rules.must(holds, where, problem, remedy);
  };
  needs(plan.mesh.reshard == 1, "/mesh/reshard", "keeps weights among neighbours until a backward, which frozen modules may not have",
        "use reshard_ranks=1");
  needs(plan.zero_stage < 3 || plan.reshard_after_forward, "/reshard_after_forward",
        "keeps weights on each rank until a backward, which frozen modules may not have", "use reshard=true");
  needs(!plan.workload.precision.weight_codec(), "/workload/precision", "encodes gathers, which is not lowered for frozen weights",
        "leave gathers= out");
  needs(!plan.workload.precision.scales(), "/workload/precision",
        "scales the operands of products, and those of frozen weights are not known", "use bf16");
}

void check_owners(const ParallelPlan& plan, Rules& rules) {
  const bool asked = plan.state_shards == StateShards::Tensors, shares = plan.zero_stage == 1 || plan.zero_stage == 2;
  rules.must(!asked || shares, "/state_shards",
             fmt::format("tensors deals out what stages 1 and 2 share; this is stage {}", plan.zero_stage), "use zero=1 or 2, or slices");
  const bool deals = shares && (asked || plan.workload.optimizer == OptimizerKind::Muon);
  const std::string where = asked ? "/state_shards" : "/workload/optimizer";
  rules.must(!deals || plan.mesh.replicas == 1 || plan.gradient_sync == GradientSync::AllReduce, where,
             fmt::format("whole tensors of a rank are summed over {} replicas, and ranks have unequally many", plan.mesh.replicas),
             "use replicas=1, or gradient_sync=all_reduce");
  rules.must(!deals || !plan.offload_optimizer, where, "whole tensors are stepped where they are trained", "leave offload_optimizer out");
  rules.must(!deals || !plan.workload.precision.gradient_codec(), where, "owners sum whole tensors, and a codec is decoded shard by shard",
             "leave the codec of wire= out");
  rules.must(plan.weight_sync == WeightSync::AllGather || deals, "/weight_sync",
             fmt::format("{} is how owners of whole tensors send their weights, and ranks own even slices",
                         sim::at(kWeightSyncNames, plan.weight_sync)),
             "use state_shards=tensors with zero=1 or 2, or all_gather");
  rules.must(plan.weight_sync == WeightSync::AllGather || !plan.crosses_steps(), "/weight_sync",
             "sends weights at the end of a step, for which the next one does not wait", "use all_gather");
  rules.must(plan.weight_sync == WeightSync::AllGather || !plan.workload.precision.gathers_scaled(), "/weight_sync",
             "sends weights as they are stepped, and the precision gathers them in 8 bit", "leave gathers=fp8 out, or use all_gather");
  rules.must(plan.weight_sync <= WeightSync::Broadcast || plan.bytes(Numbers::Weights) == bytes_per_element(Precision::Fp32),
             "/weight_sync",
             fmt::format("{} casts fp32 weights on their way, and these are {}", sim::at(kWeightSyncNames, plan.weight_sync),
                         sim::at(kPrecisionNames, plan.workload.precision.of(Numbers::Weights))),
             "use broadcast");
}

// What each steps of a bucket is told by its share alone.
void check_offload_share(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, std::string_view problem, const char* remedy) {
    rules.must(plan.offload_share == 1 || holds, "/offload_share", std::string(problem), remedy);
  };
  rules.must(plan.offload_share > 0 && plan.offload_share <= 1, "/offload_share",
             fmt::format("{} is no share of an optimizer", plan.offload_share), "use more than 0, and 1 at most");
  needs(plan.offload_optimizer, "is of an optimizer on the host, and this one is on the device",
        "use offload_optimizer=true, or leave it out");
  needs(!plan.offload_parameters, "is not lowered for weights that lie on the host, which steps all of them", "leave one of both out");
}

void check_drives(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(plan.on_drive == OnDrive::None || holds, "/on_drive", problem, remedy);
  };
  needs(plan.zero_stage == 3,
        fmt::format("is of stage 3, which passes groups of a shard through the host; this is stage {}", plan.zero_stage),
        "use zero=3, or on_drive=none");
  needs(!plan.has_on_drive(OnDrive::Optimizer) || (plan.offload_optimizer && plan.offload_share == 1),
        "says where the host has the optimizer, and not all of it is the host's", "use offload_optimizer=true and offload_share=1");
  needs(!plan.has_on_drive(OnDrive::Weights) || plan.offload_parameters, "says where the host has the weights, which are the device's",
        "use offload_parameters=true");
  needs(!plan.has_on_drive(OnDrive::Weights) || (!plan.model.adapters && !plan.model.frozen.any()),
        "is not lowered for weights that are not trained", "use on_drive=optimizer");
  needs(plan.cluster.hardware.kind == DeviceKind::Gpu, "is of a GPU's host, and a CPU rank is its own", "use on_drive=none");
}

void check_paged_optimizer(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, std::string_view problem, const char* remedy) {
    rules.must(!plan.paged_optimizer || holds, "/paged_optimizer", std::string(problem), remedy);
  };
  const OptimizerKind optimizer = plan.workload.optimizer;
  needs(optimizer == OptimizerKind::AdamW || optimizer == OptimizerKind::AdamW8bit,
        "is of moments that bitsandbytes keeps, and it pages those of Adam", "use adamw or adamw_8bit, or leave it out");
  needs(!plan.offload_optimizer, "moves moments to the host where a device is full, and they lie there already", "leave one of both out");
  needs(plan.cluster.hardware.kind == DeviceKind::Gpu, "is of a GPU's managed memory, and a CPU rank has none", "leave it out");
  needs(plan.post_validation == PostValidation::None, "is not lowered for steps that are undone", "leave one of both out");
}

// Weights that come unit by unit, and gradients that leave as they are summed: whole units of ranks that share everything.
void check_weights_on_host(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(!plan.offload_parameters || holds, "/offload_parameters", problem, remedy);
  };
  needs(plan.zero_stage == 3, fmt::format("is of stage 3, which moves weights unit by unit; this is stage {}", plan.zero_stage),
        "use zero=3");
  needs(plan.offload_optimizer, "needs the optimizer where the weights are", "use offload_optimizer=true");
  needs(plan.num_microbatches() == 1 || plan.accumulation == Accumulation::ReduceEach,
        fmt::format("sends gradients to the host as they come, and reduce_last keeps those of {} microbatches on the device",
                    plan.num_microbatches()),
        "use accumulation=reduce_each");
  needs(plan.mesh.tensor == 1, "is not lowered for tensor ranks, which sum some gradients once a step", "use tensor degree 1");
  needs(plan.mesh.reshard == 1, "and weights that neighbours keep on their devices (reshard) contradict each other", "use reshard_ranks=1");
}

// Codecs of what travels: matrices are of whole gradients, blocks of parts that each rank sums for itself, and weights travel where they are gathered.
void check_wire(const ParallelPlan& plan, Rules& rules) {
  const WireCodec gradients = plan.workload.precision.gradient_codec(), weights = plan.workload.precision.weight_codec();
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(holds, "/workload/precision", problem, remedy);
  };
  const std::string sent = to_text(gradients), gathered = to_text(weights);
  if (gradients.is_low_rank()) {
    needs(plan.zero_stage == 0, fmt::format("wire={} is of whole matrices, which the flat shards of stage {} cut", sent, plan.zero_stage),
          "use zero=0, or wire=int8");
    needs(plan.mesh.replicas == 1,
          fmt::format("wire={} is of one sum of all ranks, and {} replicas sum once more", sent, plan.mesh.replicas), "use replicas=1");
    needs(plan.workload.precision.compute() != Precision::Fp16,
          fmt::format("wire={} keeps what was not sent for the next step, whose loss may have another scale in fp16", sent),
          "use bf16, or wire=int8");
  }
  if (gradients.is_blocks())
    needs(plan.zero_stage >= 1 && plan.gradient_sync == GradientSync::Scatter,
          fmt::format("wire={} is decoded by the rank that sums a shard, and here every rank gets all sums", sent),
          "use zero=2, or wire=powersgd:4");
  if (!weights) return;
  needs(plan.zero_stage == 3,
        fmt::format("gathers={} is of weights that are gathered unit by unit; this is stage {}", gathered, plan.zero_stage),
        "use zero=3, or leave it out");
  needs(!plan.offload_parameters, fmt::format("gathers={} is not lowered for shards that come from the host", gathered),
        "leave one of both out");
  needs(!plan.workload.precision.gathers_scaled(), fmt::format("gathers={} and gathers=fp8 say two things of the same weights", gathered),
        "leave one of both out");
  needs(!plan.model.adapters, fmt::format("gathers={} is not lowered for frozen weights, which have a format of their own", gathered),
        "leave it out");
}

// Blocks among them.
void check_full_blocks(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const BlockRanges& blocks = policy.full_blocks();
  if (blocks.empty()) return;
  constexpr const char* kWhere = "/workload/precision";
  rules.must(blocks.back().last < plan.model.layers, kWhere,
             fmt::format("has block {} in fp32, and the network has {} blocks", blocks.back().last, plan.model.layers),
             fmt::format("name blocks 0 to {}", plan.model.layers - 1));
  rules.must(!policy.scales(), kWhere, "has blocks in fp32 beside products with scales, which is not lowered",
             "use bf16 or fp16 beside them, or leave blocks: out");
  rules.must(plan.model.halves.empty(), kWhere, "has blocks in fp32, which is lowered for blocks of two halves", "leave blocks: out");
  rules.must(plan.model.shared_kv_layers == 0, kWhere, "has blocks in fp32, and blocks that read keys of blocks in another type",
             "leave blocks: out");
  rules.must(!plan.gathers_tokens(), kWhere, "has blocks in fp32, and tokens of all ranks are gathered in one buffer of one type",
             "use token_dispatcher=all_to_all, or leave blocks: out");
}

// Blocks whose products have no scales beside others whose products have.
void check_unscaled_blocks(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const BlockRanges& blocks = policy.unscaled_blocks();
  if (blocks.empty()) return;
  const auto needs = [&](bool holds, const std::string& problem, const std::string& remedy) {
    rules.must(holds, "/workload/precision", problem, remedy);
  };
  needs(blocks.back().last < plan.model.layers,
        fmt::format("has block {} without scales, and the network has {} blocks", blocks.back().last, plan.model.layers),
        fmt::format("name blocks 0 to {}", plan.model.layers - 1));
  needs(policy.scales() != ScaleRecipe::Delayed,
        "has blocks without scales beside delayed ones, which are kept as one list for all products",
        "use fp8:tensorwise, or leave blocks: out");
  needs(!policy.has_full_units(), "has blocks without scales and units in fp32, which is lowered for two precisions, not for three",
        "leave embedding=, head= or blocks: out");
  needs(plan.model.halves.empty() && !plan.model.convolution && !plan.model.encoder,
        "has blocks without scales, which is lowered for blocks of two halves between one embedding and one head", "leave blocks: out");
}

// Parts of blocks whose products have no scales beside others that have.
void check_unscaled_parts(const ParallelPlan& plan, Rules& rules) {
  const ProductParts parts = plan.workload.precision.unscaled_parts();
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(parts.none() || holds, "/workload/precision", problem, remedy);
  };
  needs(!plan.model.convolution, "names products of blocks, and a convolutional network has none", "leave products: out");
  needs(!parts.has(ProductPart::Experts) || plan.model.experts, "names products of experts, and the network has none",
        "leave experts out of products:");
  needs(!parts.names(ProductPart::Keys) || plan.cluster.hardware.kind != DeviceKind::Cpu,
        "leaves keys in 16 bit beside queries, and CPU ranks multiply both at once", "name attention in their place");
}

// The head's product with scales beside those of blocks.
void check_scaled_head(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!policy.scales_head() || holds, "/workload/precision", problem, remedy);
  };
  needs(policy.scales() != ScaleRecipe::Delayed, "scales the head's product, and delayed scales are one list of those of blocks",
        "use fp8:tensorwise, or leave head=fp8 out");
  needs(!policy.is_full(EndUnit::Head), "says two things of the head", "leave head=fp32 or head=fp8 out");
  needs(plan.cluster.hardware.kind != DeviceKind::Cpu, "scales the head's product, and CPU ranks round those of blocks alone",
        "leave head=fp8 out");
  needs(!plan.model.convolution && !plan.model.adapters && !plan.model.frozen.any() && plan.model.mtp_layers == 0,
        "scales the head's product, which is lowered for a head that is trained and predicts one token", "leave head=fp8 out");
}

// Numbers in a wider type than their blocks.
void check_wide_routers(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const auto routers = policy.of(WideKind::Routers);
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!routers || holds, "/workload/precision", problem, remedy);
  };
  needs(plan.model.experts.has_value(), "has routers in a type of their own, and the network has none", "leave routers= out");
  needs(routers && sim::at(plan.cluster.hardware.peak, *routers).value() > 0,
        "has routers in a type of their own, and the hardware profile has no rate of it", "use routers=fp32, or leave it out");
  needs(policy.full_blocks().empty(), "has routers in a type of their own, and blocks in fp32", "leave routers= or blocks: out");
}

void check_wide_stream(const ParallelPlan& plan, Rules& rules) {
  const auto stream = plan.workload.precision.of(WideKind::Stream);
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!stream || holds, "/workload/precision", problem, remedy);
  };
  const ModelConfig& model = plan.model;
  needs(stream == Precision::Fp32 && plan.bytes(Numbers::Activations) == Bytes(2),
        "has a stream in fp64, or beside blocks that are no narrower than it", "use stream=fp32 beside bf16 or fp16");
  needs(!model.convolution && !model.encoder && model.mtp_layers == 0 && model.norm_place == NormPlace::Before,
        "has a wider stream, which is lowered for blocks with a norm in front of each half between one embedding and one head",
        "leave stream= out");
  needs(!plan.workload.precision.has_full_units(), "has a wider stream and units in fp32, which is lowered for one of them",
        "leave stream= out, or embedding=, head= and blocks:");
  needs(!plan.splits_backward(), "has a wider stream, which is not lowered where gradients of weights have a pass of their own",
        "leave stream= out, or use 1f1b");
}

// Norms whose weights are wider than the products that read what they put out. Of trained ones gradients would be of another type than those beside them.
void check_wide_norms(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const auto norms = policy.of(WideKind::Norms);
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!norms || holds, "/workload/precision", problem, remedy);
  };
  const ModelConfig& model = plan.model;
  needs(norms == Precision::Fp32 && plan.bytes(Numbers::Activations) == Bytes(2) && plan.bytes(Numbers::Weights) == Bytes(2),
        "has norms in fp64, or beside blocks that are no narrower than they are", "use norms=fp32 beside bf16 or fp16");
  needs(model.adapters || model.frozen.has(FrozenPart::Norms), "has norms in fp32 that are trained: buckets of gradients have one type",
        "train adapters, freeze norms, or leave norms= out");
  needs(plan.zero_stage < 3 && !plan.offload_parameters, "has norms in fp32, and units are gathered, or brought from the host, in one type",
        "use zero stage 2 or less, or leave norms= out");
  needs(!model.convolution && !model.encoder && model.norm_weight && model.norm_place == NormPlace::Before,
        "has norms in fp32, which is lowered for norms with weights in front of each half of a block", "leave norms= out");
  needs(!policy.scales() && !policy.has_full_units(), "has norms in fp32 beside products with scales or units in fp32",
        "leave norms= out, or scales, embedding=, head= and blocks:");
}

// Units in full precision beside others in 16 bit: trained weights, whose stream is all that others see of them.
void check_full_units(const ParallelPlan& plan, Rules& rules) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!policy.has_full_units() || holds, "/workload/precision", problem, remedy);
  };
  needs(sim::at(plan.cluster.hardware.peak, Precision::Fp32).value() > 0, "has a unit in fp32, and the hardware profile has no fp32 rate",
        "leave embedding=, head= and blocks: out");
  needs(!plan.shares_embedding() || policy.is_full(EndUnit::Embedding) == policy.is_full(EndUnit::Head),
        "has the embedding or the head in fp32, and they share a weight", "state embedding=fp32 head=fp32, or neither");
  needs(!plan.model.convolution && !plan.model.encoder && plan.model.mtp_layers == 0,
        "has a unit in fp32, which is lowered for networks of blocks between one embedding and one head",
        "leave embedding=, head= and blocks: out");
  needs(!policy.gradient_codec() && !policy.weight_codec(), "has a unit in fp32, and a codec encodes whole buckets of one type",
        "leave the codecs out, or embedding=, head= and blocks:");
  needs(plan.zero_stage != 3 || plan.persistence_threshold == 0, "has a unit in fp32, whose small parameters are not lowered to stay whole",
        "use persistence_threshold=0, or leave embedding=, head= and blocks: out");
  needs(!plan.model.adapters && !plan.model.frozen.any(), "has a unit in fp32, and weights that are not trained keep one type",
        "train all weights, or leave embedding=, head= and blocks: out");
  check_full_blocks(plan, rules);
  check_unscaled_blocks(plan, rules);
  check_unscaled_parts(plan, rules);
  check_scaled_head(plan, rules);
  check_wide_routers(plan, rules);
  check_wide_stream(plan, rules);
  check_wide_norms(plan, rules);
}

// Gradients of the head's weights behind the last backward.
void check_delayed_head(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(plan.delay_head_wgrad == 0 || holds, "/delay_head_wgrad", problem, remedy);
  };
  const ModelConfig& model = plan.model;
  needs(plan.delay_head_wgrad >= 0, fmt::format("is {}", plan.delay_head_wgrad), "use a number of microbatches, or 0");
  needs(plan.mesh.pipeline > 1, "fills the end of a pipeline's step, and there is one stage", "leave it out");
  needs(!plan.splits_backward(), "puts off gradients of weights, and all are put off already", "leave it out");
  needs(plan.zero_stage <= 1 && !plan.offload_optimizer, "adds to whole gradients, which stages 2 and 3 and a host do not leave there",
        "use zero=1, or zero=0");
  needs(plan.accumulation == Accumulation::ReduceLast, "is not there when a microbatch's gradients are reduced",
        "use accumulation=reduce_last");
  needs(!plan.sums_by_priority() && !plan.optimizer_in_backward, "is not there when a layer is stepped by itself", "leave it out");
  needs(plan.slices == 1, "is not lowered for slices of a sample", "use slices=1");
  needs(!model.convolution && !model.head_transform && model.embedding_width == 0 && model.mtp_layers == 0,
        "is known of a head that is one product, read once", "leave it out");
  needs(!model.frozen.any() && !model.adapters, "is known of a head that is trained", "leave it out");
  needs(!plan.workload.precision.has_full_units(), "is not lowered beside units in full precision", "leave it out");
  needs(!habits_of(plan.cluster).loss_in_pieces, "keeps gradients of logits, which a loss in pieces does not make at once", "leave it out");
}

}  // namespace sim
