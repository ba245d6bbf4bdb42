// Arguments of Megatron-LM that no row of its table reads: those that matter and have no word in a plan, and those that change neither time nor memory.
#include "sim/recipe/megatron_network.h"

namespace sim {
namespace {

constexpr LostSetting kLost[] = {
    {"use-checkpoint-args use-mp-args-from-checkpoint-args",
     "sizes and degrees of the checkpoint go before those of the line, key heads among them; the plan has the line's"},
    {"fp8-dot-product-attention fp8-multi-head-attention "
     "moe-router-padding-for-fp8 "
     "moe-router-padding-for-quantization reuse-grad-buf-for-mxfp8-param-ag "
     "keep-fp8-weight-transpose-cache no-fp8-wgrad te-precision-config-file kitchen-*",
     "which products are in 8 bit; in the plan those of the blocks' linear layers, and no others"},
    {"mtp-hybrid-override-pattern", "halves of blocks that predict further tokens; the plan has none of them"},
    {"mtp-use-repeated-layer", "one layer that predicts all further tokens; the plan has one for each"},
    {"qk-l2-norm qk-clip", "norms of queries and keys; the plan has none of their time and memory"},
    {"tp-comm-bulk-dgrad tp-comm-bulk-wgrad tp-comm-overlap-cfg moe-shared-expert-overlap use-mc2 coc-fused-kernel "
     "overlap-param-gather-with-optimizer-step overlap-p2p-communication-warmup-flush overlap-p2p-comm-warmup-flush "
     "ep-overlap-early-attn-memory-release batch-p2p-communication batch-p2p-comm moe-deepep-num-sms moe-hybridep-num-sms "
     "high-priority-stream-groups",
     "communication beside computation; the plan has it after one another, and takes longer"},
    {"no-overlap-p2p-communication no-overlap-p2p-comm", "computation waits for messages between stages; the plan's does not"},
    {"cuda-graph-use-single-mempool cuda-graph-share-io-buffers", "how graphs share memory; the plan has none of theirs"},
    {"cpu-offloading-weights", "weights on the host beside the activations; the plan keeps them on the device", "on"},
    {"cpu-activation-offload", "activations on the host; the plan keeps them on the device"},
    {"linear-cross-entropy-fusion mtp-mem-efficient-logits", "a loss fused with its product; the plan's keeps its logits"},
    {"no-gradient-accumulation-fusion", "weight gradients are added apart from their product; a little time and memory"},
    {"deterministic-mode batch-invariant-mode", "deterministic kernels are slower than the plan's"},
    {"disable-jit-fuser", "a kernel for each operation that torch.compile joins; the software profile says what the plan fuses"},
    {"moe-permute-fusion moe-router-fusion moe-use-legacy-grouped-gemm "
     "moe-apply-probs-on-input",
     "how experts are computed and reached; a little time"},
    {"moe-layer-recompute", "experts are recomputed; the plan keeps them"},
    {"distribute-saved-activations distribute-checkpointed-activations partition-activations",
     "saved activations are cut over tensor ranks; the plan keeps them whole"},
    {"use-tp-pp-dp-mapping", "stages stand closer to each other than data ranks; the plan's data ranks do"},
    {"use-nccl-ub nccl-ub sharp-enabled-group", "another way of the network; the plan takes the usual one"},
    {"rampup-batch-size", "the first steps have smaller batches; the plan has the full one"},
    {"overlap-cpu-optimizer-d2h-h2d", "the optimizer on the host works beside the copies; the plan's waits"},
    {"pp-partition-method", "another cut of the stages; the plan's is even"},
    {"fp16-lm-cross-entropy", "logits and their loss in 16 bit; the plan's are in fp32"},
    {"reuse-fp32-param", "weights are halves of their fp32 copies: less memory than the plan's"},
    {"rotary-position-embeddings-in-fp32", "positions are turned in fp32: a little time"},
    {"embedding-weights-in-fp32", "the embedding's weights in fp32; the plan's are in the training precision"},
    {"disable-bf16-reduced-precision-matmul", "products add in fp32 alone: a little time"},
    {"attention-mask-type", "a mask that is read, or none; the plan's kernels know theirs without reading it"},
    {"standalone-embedding-stage standalone-loss-stage", "the embedding or the loss on a stage of its own; the plan's stand beside blocks"},
    {"moe-zero-memory", "what experts keep is computed or sent again: less memory than the plan's, and more time"},
    {"gemm-gradient-accumulation-fusion", "weight gradients are added within their product; a little time and memory"},
    {"disable-mamba-mem-eff-path", "scans by a kernel for each of their steps; the plan's are of one"},
    {"contigious-checkpointing contiguous-checkpointing synchronize-each-layer profile-backward",
     "inputs of recomputed blocks in one piece of memory, or ranks that wait at each block; a little of both"},
    {"zero-reduce-bucket-size zero-allgather-bucket-size zero-contigious-gradients zero-reduce-scatter",
     "also said in DeepSpeed's file, which decides; the plan has the buckets of that file"},
    {"use-mup mup-*", "factors of the network's own: a little time"},
    {"image-max-pixels video-max-pixels", "images beside the text: a network that is not the plan's"},
    {"outer-dp-sharding-strategy megatron-fsdp-main-params-dtype megatron-fsdp-main-grads-dtype megatron-fsdp-grad-comm-dtype "
     "fsdp-double-buffer",
     "buffers and types of Megatron-FSDP; the plan has its own"},
    {"heterogeneous-layers-config-path heterogeneous-layers-config-encoded-json mlp-only-layers encoder-num-layers decoder-num-layers",
     "layers of other kinds; the plan's are all of one"},
    {"fsdp fsdp-sharding-strategy fsdp-grad-reduce-dtype fsdp-sharded-checkpoint",
     "weights that PyTorch's FSDP shards; the plan has those of the optimizer"},
    {"num-micro-batches-with-partial-activation-checkpoints",
     "fewer blocks are recomputed in some microbatches; the plan has one number for all"},
    {"no-async-tensor-model-parallel-allreduce", "sums of tensor ranks are waited for; the software profile says what the plan has"},
    {"use-legacy-models", "other kernels; the plan's are of Megatron-Core"},
    {"geglu", "another activation; the plan's has the same products"},
    {"log-memory-interval use-ring-exchange-p2p", "a little time"},
    {"packed-sequence-specs packed-sequence-size offline-packing-specs",
     "rows of packed documents; the plan takes one for each sample: say samples"},
    {"freeze-lm freeze-llm freeze-vit freeze-aligner", "frozen modules; the plan trains all"},
    {"swap-attention swap-optimizer swap-modules", "activations or states on the host; the plan keeps them on the device"},
    {"recompute-activation-function recompute-activation-function-num-layers recompute-in-advance recompute-in-bubble recompute-norm "
     "recompute-norm-num-layers enable-recompute-layers-per-pp-rank",
     "other modules are recomputed, or at another time"},
    {"moe-permutation-async-comm moe-fb-overlap use-ascend-mc2 use-ascend-coc use-cp-send-recv-overlap moe-alltoall-overlap-comm",
     "communication beside computation; the plan has it after one another, and takes longer"},
    {"mlp-type num-zero-experts", "experts of another kind; the plan's are all of one"},
    {"fix-sub-seq-length", "documents of that length attend to themselves alone; the plan's attention spans the row"},
    {"enable-primus-turbo use-turbo-* turbo-* disable-scaling-patches moe-use-fused-router-with-aux-score",
     "kernels of Primus' own; the plan has those of its software profile"},
    {"no-bias-gelu-fusion no-bias-swiglu-fusion no-bias-dropout-fusion no-rope-fusion no-persist-layer-norm",
     "a kernel for each of its operations; the software profile says what the plan fuses"},
    {"empty-unused-memory-level", "memory is given back within a step: less is reserved, and it takes longer"},
    {"no-scatter-gather-tensors-in-pipeline", "each tensor rank sends whole activations to the next stage; the plan's send a share each"},
    {"sft packing pack", "several documents share a row, and attention ends with each; the plan's spans the row"},
    {"retro-add-retriever", "a network with retrieved texts; the plan's has none"},
    {"suggested-communication-unit-size", "how much Megatron-FSDP gathers at once; the plan gathers block by block"},
    {"no-clone-scatter-output-in-embedding", "the embedding's whole output stays; the plan keeps each rank's share"},
    {"clone-scatter-output-in-embedding", "the embedding's whole output stays; the plan keeps each rank's share", "off"},
    {"rerun-mode", "each step is run twice, to compare the results", "report_stats report_determinism_stats"},
    {"timing-log-level", "the host waits at each pass of a microbatch, which is timed; the plan's goes on", "2"},
    {"nccl-communicator-config-path", "how many kernels move a message; the plan has NCCL's usual ones"},
    {"vocab-extra-ids", "tokens beside the tokenizer's: the vocabulary may be larger by them", "but 0"},
    {"skip-train", "steps are left out: it evaluates, and trains nothing"},
    {"ckpt-convert-format", "converts a checkpoint, and trains nothing"},
    {"log-max-attention-logit", "the largest score of each head is sought: a little time"},
    {"bias-gelu-fusion bias-swiglu-fusion bias-dropout-fusion bias-dropout-add-fusion bias-activation-fusion apply-rope-fusion "
     "persist-layer-norm",
     "a kernel for each of its operations; the software profile says what the plan fuses", "off"},
    {"gradient-accumulation-fusion", "weight gradients are added apart from their product; a little time and memory", "off"},
    {"scatter-gather-tensors-in-pipeline", "each tensor rank sends whole activations to the next stage; the plan's send a share each",
     "off"},
    {"ffn-dropout", "another dropout, within the feed-forward: a little time and memory", "but 0 0.0"},
    {"gradient-as-bucket-view", "gradients are kept beside their buckets: one copy of them more than the plan has", "off"},
    {"sync-batch-comm", "the host waits behind each message between stages; the plan's goes on"},
    {"use-emha", "another kernel of attention; the plan has its software profile's"},
    {"trainer.deterministic", "deterministic kernels are slower than the plan's"},
    {"trainer.detect_anomaly trainer.profiler trainer.sync_batchnorm", "exchanges and waits that the plan's network has not"},
    {"img-h img-w pixel-shuffle vision-model-type mm-model model-provider", "images beside the text: a network that is not the plan's"},
};

constexpr Decided kDecidedByMegatron[] = {{"the type", "bf16 fp16 precision fp8-format"}};

}  // namespace

std::span<const LostSetting> megatron_lost() { return kLost; }
std::span<const Decided> decided_of_megatron() { return kDecidedByMegatron; }

// Its own, NeMo 1's and those of ms-swift, whose defaults are read.
const std::string_view kScriptsOfMegatron =
    "pretrain_gpt.py pretrain_gpt2.py pretrain_mamba.py pretrain_hybrid.py pretrain_bert.py megatron_gpt_pretraining.py "
    "megatron_bert_pretraining.py "
    "megatron_t5_pretraining.py swift. swift/cli/_megatron/sft.py swift/cli/_megatron/pt.py ";

const std::string_view kMegatronWithoutEffect =
    // data, tokens, files
    "data-path data-args-path train-data-path valid-data-path test-data-path data-cache-path split data-impl mmap-warmup no-mmap-bin-files "
    "mock-data "
    "num-workers vocab-file merge-file tokenizer-type tokenizer-model tokenizer-name-or-path tiktoken-* tokenizer-* "
    "null-tokenizer-* "
    "no-create-attention-mask-in-dataloader create-attention-mask-in-dataloader "
    "dataset-path special-tokens-file tokenizer-not-use-fast loss-mask-tokens resume-dataloader lazy-loader train-data "
    "dataloader-type no-data-sharding num-dataset-builder-threads object-storage-cache-path mid-level-dataset-surplus "
    "per-split-data-args-path "
    "s3-cache-path fim-* sft-* retro-project-dir abort-on-unmet-fused-kernel-constraints train-weighted-split-* valid-weighted-split-* "
    "test-weighted-split-* dataloader-save full-validation multiple-validation-sets data-parallel-random-init "
    "allow-ambiguous-pad-tokens "
    // saving and loading
    "save load save-interval save-retain-interval no-save-optim no-save-rng no-load-optim no-load-rng finetune pretrained-checkpoint "
    "no-use-tokenizer-model-from-checkpoint-args exit-on-missing-checkpoint "
    "use-checkpoint-opt_param-scheduler use-checkpoint-opt-param-scheduler override-opt_param-scheduler override-opt-param-scheduler "
    "ckpt-fully-parallel-* ckpt-assume-* ckpt-convert-* ckpt-step dist-ckpt-* "
    "use-dist-ckpt async-save async-strategy async-ckpt-* use-persistent-ckpt-worker no-ckpt-fully-parallel-save non-persistent-* "
    "auto-detect-ckpt-format replication replication-* verify-integrity strict-fsdp-dtensor-load load-main-params-from-ckpt "
    "universal-checkpoint "
    "no-pipeline-parallel convert-* save-dgrads-interval save-wgrads-interval "
    // what is logged
    "log-* no-log-* tensorboard-* wandb-* timing-log-option no-barrier-with-level-1-timing one-logger-* enable-one-logger "
    "enable-ft-package "
    "logging-level no-one-logger app-tag-run-* profile profile-* use-pytorch-profiler nvtx-ranges record-memory-history "
    "memory-snapshot-path tensorboard "
    "disable-straggler-on-startup straggler-* log-straggler run-workload-inspector-server moe-per-layer-logging config-logger-dir "
    "codecarbon-dir "
    // the length of the training, its rates
    "train-iters train-samples train-tokens lr-decay-samples lr-decay-tokens lr-warmup-fraction lr-warmup-samples lr-warmup-tokens "
    "lr-warmup-init lr-wsd-* start-weight-decay end-weight-decay weight-decay-incr-style decoupled-lr decoupled-min-lr warmup "
    "override-lr-scheduler use-checkpoint-lr-scheduler "
    "override-lr-* exit-interval exit-duration-in-mins exit-signal-handler exit-signal eval-interval eval-iters eval-steps "
    "eval-global-batch-size "
    "eval-micro-batch-size test-mode "
    "iterations-to-skip loss-scale min-loss-scale hysteresis train-sync-interval manual-gc manual-gc-* no-manual-gc-eval "
    "calculate-per-token-loss "
    "muon-momentum muon-split-qkv muon-no-split-qkv muon-use-nesterov muon-scale-mode muon-fp32-matmul-prec "
    "muon-extra-scale-factor dist-muon "
    "check-for-nan-in-loss-and-grad check-for-* "
    "check-weight-hash-across-dp-replicas-interval "
    "rerun-* error-injection-* result-rejected-* phase-transition-iterations decrease-batch-size-if-needed disable-loss-* z-loss "
    // start and processes
    "distributed-timeout-minutes distributed-timeout-seconds-after-init local-rank local_rank rank world-size "
    "master-addr master-port node-rank rdzv-* rdzv-backend use-env "
    "max-restarts max-restart max_restarts max_restart tee role log-dir log_dir redirects standalone hostfile no-python run-path module "
    "master_addr master_port "
    "no-ssh no-ssh-check force-multi launcher launcher-args "
    "node_rank lazy-mpu-init "
    "nproc-per-node-* kill-on-bad-exit label jobid job-id job-name ntasks ntasks-per-node gpus-per-node gpus-per-task cpus-per-task "
    "cpu-bind mem-bind wait unbuffered mem gres container-* no-container-* "
    "output error export partition account time exclusive mpi bind-to map-by allow-run-as-root exclude save_pid "
    "enable-gloo-process-groups disable-gloo-process-groups disable-gloo-group nccl-* high-priority-* local-world-size "
    "use-cpu-initialization use-mcore-models "
    "inprocess-* adlr-autoresume adlr-autoresume-interval kill-switch-path enable-msc disable-msc deepspeed deepscale no-deepspeed "
    // of the network and its kernels, without figures of their own here
    "init-method-xavier-uniform embedding-init-method-std perform-initialization no-initialization "
    "attention-softmax-in-fp32 no-query-key-layer-scaling "
    "apply-query-key-layer-scaling "
    "use-fused-rmsnorm rotary-interleaved "
    "rotary-seq-len-interpolation-factor "
    "beta-fast beta-slow original-max-position-embeddings no-position-embedding "
    "no-fp32-residual-connection inference-rng-tracker inference-* "
    "use-fused-swiglu use-fused-rotary-pos-emb use-fused-ring-attention-update fix-router mla-mm-split mla-fa-without-pad "
    "no-shared-storage "
    "op-cal-tflops moe-eval-capacity-factor moe-min-capacity create-moe-param-group rope-scaling-* mm-data mm-tool "
    "fp8-margin fp8-interval fp8-amax-history-len fp8-amax-compute-algo openai-gelu onnx-safe bert-* mask-prob short-seq-prob "
    "use-one-sent-docs "
    "moe-router-bias-update-rate "
    "moe-router-topk-limited-devices moe-z-loss-coeff moe-input-jitter-eps "
    "moe-token-dropping moe-token-drop-policy moe-use-upcycling mtp-loss-scaling-factor "
    "ddp-average-in-collective ddp-pad-buckets-for-high-nccl-busbw "
    "no-average-in-collective gradient-reduce-div-fusion align-grad-reduce no-align-grad-reduce no-align-param-gather align-param-gather "
    "barrier-with-L1-time cuda-graph-warmup-steps "
    "cache-mla-latents enable-experimental trust-remote-code use-distributed-storage apply-wd-to-qk-layernorm no-weight-decay-cond-type "
    "accumulate-bwd-* sync-tp-duplicated-parameters "
    "use-contiguous-buffers-in-local-ddp "
    "use-contiguous-buffers-in-ddp no-contiguous-buffers-in-local-ddp "
    "use-te num-channels patch-dim num-classes dist-url "
    "deepspeed-activation-checkpointing "
    // what MindSpeed says though it is so by itself
    "add-bias-linear no-untie-embeddings-and-output-weights no-add-gate query-key-layer-scaling no-attention-softmax-in-fp32 shape-order "
    "seq-aux workers handler-name enable-thinking prompt-type enable-hf2mg-convert model-type-hf is-instruction-dataset "
    "rotary-interleaved-patch no-decay-norm-bias use-mpi no-global-file-system "
    // LLaMA-Factory's, beside its arguments for Megatron-Core
    "model-name-or-path do-train dataset template preprocessing-num-workers output-dir overwrite-output-dir num-train-epochs max-epochs "
    "logging-steps "
    "save-steps save-strategy plot-loss report-to max-samples overwrite-cache warmup-ratio "
    "gradient-checkpointing-kwargs "
    "ENV_VARS.* TEST-TYPE BEFORE-SCRIPT AFTER-SCRIPT TEST_TYPE BEFORE_SCRIPT AFTER_SCRIPT MODE METRICS METRICS_* ";

}  // namespace sim
