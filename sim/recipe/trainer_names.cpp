// Arguments of the Trainer that no row of its table reads, and who has its defaults.
#include "sim/recipe/trainer.h"

namespace sim {
namespace {

constexpr LostSetting kLostOfTrainer[] = {
    {"auto_find_batch_size", "a smaller microbatch where memory is short; the plan's stands"},
    {"group_by_length length_column_name train_sampling_strategy", "batches of like lengths; the plan's are all of one"},
    {"torch_compile torch_compile_backend torch_compile_mode dynamo_backend dynamo_mode use_kernels fused_attn_kernel",
     "compiled or fused kernels"},
    {"liger_*", "which of Liger's kernels: the plan has all or none of them"},
    {"cut_cross_entropy chunked_cross_entropy unsloth_* use_unsloth use_unsloth_gc lora_qkv_kernel lora_o_kernel lora_mlp_kernel",
     "kernels of its own: less time and memory"},
    {"ddp_backend", "messages by another library; the plan's are NCCL's", "but nccl"},
    {"debug", "the host looks at what each module gives", "underflow_overflow ['underflow_overflow']"},
    {"ddp_find_unused_parameters", "the host looks for unused weights before each backward: a little time"},
    {"half_precision_backend", "another mixed precision; the plan has PyTorch's", "apex cpu_amp"},
    {"disable_dropout", "no dropout, whatever the network says; the plan has the network's"},
    {"resize_token_embeddings_to_32x", "a vocabulary of whole 32s; the plan's is as --model says"},
    {"bnb_4bit_compute_dtype bnb_config_kwargs.bnb_4bit_compute_dtype", "products in fp32; the plan's are in the type of the run",
     "float32 fp32 torch.float32"},
    {"double_quantization use_nested_quant use_bnb_nested_quant bnb_4bit_use_double_quant bnb_config_kwargs.bnb_4bit_use_double_quant",
     "scales of packed weights in fp32: half a bit more a weight than the plan has", "off"},
    {"full_determinism", "deterministic kernels are slower than the plan's"},
    {"padding_free", "samples of a batch share a row without what pads them; the plan's have the whole length each"},
    {"fp8 fp8_* qat.* model_quantization_config*", "products or weights of fewer bits; the plan has none"},
    {"use_galore use_badam use_apollo use_adam_mini galore_* badam_* apollo_* lisa_* relora relora_* optim_target_modules loraplus_* "
     "use_dora peft_use_dora use_rslora pissa_init lora_modules_to_save lora_target_parameters modules_to_save freeze_extra_modules "
     "additional_target",
     "other weights, or only some of their gradients, are trained"},
    {"unfrozen_parameters freeze_vision_tower freeze_multi_modal_projector freeze_language_model tune_mm_mlp_adapter "
     "freeze_mm_mlp_adapter freeze_backbone freeze_llm freeze_vit freeze_aligner freeze_parameters freeze_parameters_*",
     "some of it is frozen; the plan trains all"},
    {"vision_tower mm_* image_* video_* image_folder max_pixels min_pixels vit_*",
     "images beside the text: a network that is not the plan's"},
    {"ep_size moe_*", "how experts are placed; the plan has them on every rank"},
    {"neftune_noise_alpha label_smoothing_factor mixture_of_depths shift_attn rope_scaling rope_scaling.* overrides_of_model_config.*",
     "another network or loss, a little"},
    {"quantize_moe_experts use_scattermoe use_sonicmoe experts_implementation llama4_linearized_experts use_kt tiled_mlp "
     "flash_attn_* gemma4_hybrid_attn_impl flex_attn_compile_kwargs.*",
     "kernels of its own; the plan has those of the software profile"},
    {"config_overrides model_config_overrides", "changes the network's sizes: give a config.json that has them by --model"},
    {"fsdp.min_num_params", "units of so many parameters; the plan gathers block by block"},
    {"fsdp.mixed_precision fsdp.mixed_precision_policy fsdp.mixed_precision_policy.*",
     "types of FSDP's own; the plan has those of the run"},
    {"quant_config quant_config.*", "weights of fewer bits; the plan has none"},
    {"kernel_config kernel_config.*", "kernels of its own; the plan has those of the software profile"},
    {"optim_config.*", "an optimizer of its own; the plan has the one that is named by optim, or AdamW"},
    {"batching_strategy", "batches that are put together by tokens; the plan's have one number of samples"},
    {"lora_bias", "biases are trained beside the pairs; the plan's are frozen"},
    {"torch_empty_cache_steps gc_steps", "memory is given back between steps: a little time"},
    {"batch_size", "samples of a device or of a step, as the program has it; the plan's follow from its other arguments"},
    {"activation_checkpointing_kwargs parallelism_config.* accelerator_config.*", "settings of Accelerate; the plan has its usual ones"},
};

constexpr Decided kDecidedByTrainer[] = {
    {"what is recomputed",
     "gradient_checkpointing disable_gradient_checkpointing enable_activation_checkpointing fsdp.activation_checkpointing"},
    {"the type", "bf16 fp16 fp8 tf32 pure_bf16 torch_dtype mixed_precision file.bf16.enabled file.fp16.enabled launch.mixed_precision"},
    {"the steps that are accumulated", "gradient_accumulation_steps global_batch_size file.gradient_accumulation_steps"},
    {"the optimizer", "optim optim_bits use_muon use_galore use_badam use_apollo use_adam_mini file.optimizer.type"}};

}  // namespace

std::span<const LostSetting> trainer_lost() { return kLostOfTrainer; }
std::span<const Decided> decided_of_trainer() { return kDecidedByTrainer; }

// Scripts of Transformers, TRL, LLaMA-Factory, ms-swift, Axolotl and DeepSpeed-Chat, whose defaults are read.
const std::string_view kScriptsOfTrainer =
    "run_clm.py run_mlm.py run_translation.py run_summarization.py src/train.py src/train_bash.py llamafactory. "
    "trl/examples/scripts/sft.py "
    "trl/scripts/sft.py trl.scripts. llm_sft.py llm_pt.py swift. swift/cli/sft.py swift/cli/pt.py swift/cli/main.py axolotl. "
    "step1_supervised_finetuning/main.py ";

const std::string_view kTrainerWithoutEffect =
    "use_cpu no_cuda output_dir overwrite_output_dir do_* num_train_epochs num_epochs max_steps lr_* warmup_* num_warmup_steps logging_* "
    "save_* "
    "saves_per_epoch "
    "eval_* evals_per_epoch "
    "evaluation_strategy per_device_eval_batch_size per_gpu_eval_batch_size prediction_loss_only predict_with_generate report_to run_name "
    "wandb* mlflow_* comet_* swanlab_* use_swanlab trackio_* push_to_hub hub_* hf_* load_best_model_at_end metric_for_best_model "
    "greater_is_better early_stopping_* "
    "data data.* data_* dataset dataset.* dataset_* datasets datasets.* datasets_* test_datasets train_file train_files validation_file "
    "train_dataset* eval_dataset* val_* validation_* test_size train_data* train_on_inputs streaming shuffle* preprocessing_* "
    "preprocessing dataloader_* lazy_preprocess remove_unused_columns overwrite_cache tokenized_path max_samples max_train_samples "
    "max_eval_samples max_predict_samples template template_* chat_template chat_template_* system* prompt_template* prompt_column "
    "response_column text_column* instruction_template special_tokens special_tokens.* tokens added_tokens* eot_tokens add_eos_token "
    "tokenizer tokenizer_* use_fast_tokenizer use_slow_tokenizer padding_side pad_to_sequence_len "
    "sample_packing_* packing_strategy eval_packing eval_sample_packing excess_length_strategy pretraining_dataset pretraining_dataset.* "
    "model_type model_author model_name check_dataset_strategy model_revision revision trust_remote_code use_auth_token token cache_dir "
    "config_name "
    "low_cpu_mem_usage model_config model_config_type type_of_model is_llama_derived_model is_mistral_derived_model "
    "is_falcon_derived_model "
    "is_qwen_derived_model lora_model_dir lora_task_type lora_fan_in_fan_out "
    "lora_on_cpu resume_from_checkpoint auto_resume_from_checkpoints ignore_data_skip "
    "gradient_checkpointing_kwargs gradient_checkpointing_kwargs.* truncation_strategy "
    "ddp_timeout ddp_broadcast_buffers ddp_static_graph local_rank deepspeed_multinode_launcher "
    "deepspeed_hostfile zero3_init_flag zero3_save_16bit_model fsdp.* fsdp.cpu_ram_efficient_loading fsdp.limit_all_gathers "
    "fsdp.transformer_layer_cls_to_wrap fsdp_config use_cache log_level* log_on_each_node "
    "disable_tqdm "
    "skip_memory_metrics strict plot_loss plots use_fast bf16_full_eval fp16_full_eval fp16_opt_level "
    "average_tokens_across_devices include_* data_seed label_names use_ray ray_* "
    "master_port master_addr node_rank rdzv_* rdzv_backend use_env standalone max_restarts max_restart machine_rank main_process_ip "
    "main_process_port "
    "resume_lora_training quantization_type "
    "multi_gpu same_network num_cpu_threads_per_process use_hf eos_token packing_num_proc hostfile no_local_rank enable_each_rank_log "
    "tuner_backend module rank_zero_only tee log_dir role redirects monitor_interval version bnb_4bit_* "
    "enable_tensorboard tensorboard_path print_loss completion_only_loss assistant_only_loss loss_watchdog_* "
    "experimental_skip_move_to_device benchmark_* custom_* conversation* field_* message_* roles* test_value group_size* "
    "processor_type skip_prepare_dataset cosine_* eta_min bnb_config_kwargs.bnb_4bit_quant_type bnb_config_kwargs.bnb_4bit_quant_storage "
    "min_sample_len "
    "streaming_* revision_of_model curriculum_sampling jagged_restart_* otel_* use_otel_metrics use_wandb use_tensorboard merge_* "
    "model_class init_config* dist_config.dcp_* batching_workers_per_rank sample_backend max_new_tokens lr_scheduler_config.* "
    "enable_thinking load_from_cache_file split_dataset_ratio add_version enable_wandb enable_mlflow log_model_summary profiler.* "
    "telemetry.* load_pretrained_weights adapter_model shard_for_eval "
    "nccl_default_timeout_minutes "
    "data.train.* data.validation.* data.test.* save_mode tokenizer_kwargs.* bnb_4bit_* base_model_config ";

}  // namespace sim
