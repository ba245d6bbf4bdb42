"""Asks one program's own code about each recipe in a folder. Runs in the environment of the programs, and prints one line of JSON:
{"recipes": n, "accepted": n, "faults": [...]}. A fault is what the program says against a recipe, or what it reads otherwise than the plan has it.
"""
import argparse
import importlib
import json
import logging
import os
import pathlib
import shlex
import sys

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).resolve().parent


def differences(read, expected):
    return [f"{key}: {value!r} there, {expected[key]!r} in the plan" for key, value in read.items() if value != expected[key]]


def deepspeed(place, expected):
    from deepspeed.runtime.config import DeepSpeedConfig
    from deepspeed.runtime.engine import DeepSpeedEngine
    import torch

    class Ranks:  # what the program asks of the process groups
        get_data_parallel_world_size = staticmethod(lambda: expected["data"])

    import deepspeed.runtime.config as module
    module.dist.get_rank = lambda: 0
    config = DeepSpeedConfig(json.loads((place / "ds_config.json").read_text()), mpu=Ranks)

    class Engine:  # the part of the engine that judges types and optimizer, without processes
        _config = config
        fp16_enabled = lambda self: config.float16_config.enabled
        bfloat16_enabled = lambda self: config.bfloat16_config.enabled
        zero_optimization = lambda self: config.zero_enabled
        zero_optimization_stage = lambda self: config.zero_optimization_stage
        zero_allow_untested_optimizer = lambda self: config.zero_allow_untested_optimizer
        zero_cpu_offload = lambda self: config.zero_config.offload_optimizer is not None
        zero_compute_grad_norm = lambda self: config.zero_config.compute_grad_norm
        get_data_types = DeepSpeedEngine.get_data_types
        pipeline_parallelism, global_rank = False, 0

    weight = torch.nn.Parameter(torch.zeros(1))
    made = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[expected["optimizer"]]([weight], lr=1e-3)
    DeepSpeedEngine._do_optimizer_sanity_check(Engine(), made)
    types = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
    model, gradients = Engine().get_data_types()
    return {"global_batch": config.train_batch_size, "microbatch": config.train_micro_batch_size_per_gpu, "microbatches": config.gradient_accumulation_steps,
            "stage": int(config.zero_optimization_stage), "precision": types[model], "fp32_gradients": gradients == torch.float32 and model != torch.float32,
            "tensor": max(1, config.tensor_parallel_config.autotp_size), "offload_optimizer": config.zero_config.offload_optimizer is not None,
            "optimizer": config.optimizer_name.lower(), "in_one_type": model == torch.float32 or (config.bfloat16_config.bf16_optimizer_states and config.bfloat16_config.bf16_master_weights_and_grads)}


def accelerate(place, expected):
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils import DeepSpeedPlugin, FullyShardedDataParallelPlugin, ParallelismConfig
    from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env, prepare_simple_launcher_cmd_env
    import torch
    torch.cuda.is_available, torch.cuda.device_count = (lambda: True), (lambda: 16)
    args = launch_command_parser().parse_args(["--config_file", str(place / "accelerate.yaml"), "train.py"])
    args, defaults, has_precision = _validate_launch_command(args)
    read = {"ranks": args.num_processes, "precision": {"no": "fp32"}.get(args.mixed_precision, args.mixed_precision)}
    before = dict(os.environ)
    if args.use_deepspeed:
        named = [*defaults.deepspeed_config, *(["mixed_precision"] if has_precision else [])]
        args.deepspeed_fields_from_accelerate_config = ",".join(named)  # as the launcher does
        _, environment = prepare_deepspeed_cmd_env(args)
        os.environ.update(environment)
        plugin = DeepSpeedPlugin()
        read.update(stage=plugin.zero_stage, microbatches=plugin.gradient_accumulation_steps,
                    offload_optimizer=plugin.deepspeed_config["zero_optimization"]["offload_optimizer"]["device"] == "cpu")
    elif args.use_fsdp:
        os.environ.update(prepare_multi_gpu_env(args))
        FullyShardedDataParallelPlugin()
        degrees = ParallelismConfig()
        assert degrees.total_size == args.num_processes, f"{degrees.total_size} ranks of {args.num_processes}"
        read.update(stage=3 if degrees.dp_shard_size * degrees.cp_size > 1 else expected["stage"], tensor=degrees.tp_size, context=degrees.cp_size,
                    replicas=degrees.dp_replicate_size, data=degrees.dp_shard_size * degrees.dp_replicate_size)
    else:
        read["stage"] = 0
    os.environ.clear()
    os.environ.update(before)
    return read


def lightning(place, expected):
    from lightning.pytorch import Trainer
    from lightning.pytorch.cli import LightningArgumentParser
    import torch
    parser = LightningArgumentParser()  # as LightningCLI makes it
    parser.add_argument("--seed_everything", type=int)
    parser.add_class_arguments(Trainer, "trainer", instantiate=False)
    parser.add_optimizer_args((torch.optim.AdamW, torch.optim.SGD))
    read = parser.parse_path(str(place / "lightning.yaml"))
    trainer, kind = read.trainer, read.trainer.strategy.class_path.rsplit(".", 1)[1]
    given = trainer.strategy.init_args
    bits, _, how = str(trainer.precision).partition("-")
    found = {"ranks": int(trainer.devices) * trainer.num_nodes, "microbatches": trainer.accumulate_grad_batches, "optimizer": read.optimizer.class_path.rsplit(".", 1)[1].lower(),
             "precision": {"bf16": "bf16", "16": "fp16", "32": "fp32"}[bits]}
    assert how == ("true" if expected["in_one_type"] else "mixed"), trainer.precision
    if kind == "ModelParallelStrategy":
        return {**found, "tensor": given.tensor_parallel_size, "data": given.data_parallel_size}
    stage = {"DDPStrategy": 0, "SingleDeviceStrategy": 0, "FSDPStrategy": 3}
    return {**found, "stage": given.stage if kind == "DeepSpeedStrategy" else stage[kind], "tensor": 1}


def torchtitan(place, expected):
    import torch
    import torch.distributed.fsdp as fsdp
    for name in ("DataParallelMeshDims",):  # of a newer PyTorch; nothing of it is called to read a configuration
        if not hasattr(fsdp, name):
            setattr(fsdp, name, type(name, (), {}))
    from torchtitan.config import ConfigManager
    from torchtitan.distributed import ParallelDims
    sys.modules.pop("plan", None)
    sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    config = ConfigManager().parse_args(["--module", "plan", "--config", "plan"])
    sys.path.remove(str(place))
    mesh, training = config.parallelism, config.training
    dims = ParallelDims(dp_replicate=mesh.data_parallel_replicate_degree, dp_shard=mesh.data_parallel_shard_degree, cp=mesh.context_parallel_degree,
                        tp=mesh.tensor_parallel_degree, pp=mesh.pipeline_parallel_degree, ep=mesh.expert_parallel_degree, world_size=expected["ranks"])
    with torch.device("meta"):
        network = config.model_spec.model.build()
    model = expected["model"]
    count = sum(one.numel() for one in network.parameters())
    assert count == expected["parameters"], f"{count} parameters, {expected['parameters']} in the plan's network"
    layers = config.model_spec.model.layers
    assert len(layers) == model["num_hidden_layers"], f"{len(layers)} layers"
    batch = dims.dp_replicate * dims.dp_shard
    assert training.global_batch_size % (training.local_batch_size * batch) == 0, "local batches do not make the global one"
    shards = dims.dp_shard * dims.cp
    return {"data": batch, "tensor": dims.tp, "pipeline": dims.pp, "context": dims.cp, "sequence": training.seq_len, "global_batch": training.global_batch_size,
            "microbatch": mesh.pipeline_parallel_microbatch_size if dims.pp > 1 else training.local_batch_size,
            "stage": 3 if shards > 1 else expected["stage"], "precision": {"bfloat16": "bf16", "float32": "fp32"}[training.mixed_precision_param],
            "recompute": "full" if type(config.activation_checkpoint).__qualname__.startswith("FullAC") else expected["recompute"] if expected["recompute"] != "full" else "none",
            "blocks": [sum(part.startswith("layers.") for part in parts) for parts in mesh.module_fqns_per_model_part] if dims.pp > 1 else expected["blocks"]}


def megatron(place, expected):
    import core_judge
    import torch
    from megatron.core.transformer.pipeline_parallel_layer_layout import PipelineParallelLayerLayout
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig
    words = shlex.split((place / "pretrain.sh").read_text().replace("\\\n", " "), comments=True)
    args = megatron_parser().parse_args(words[next(at for at, word in enumerate(words) if word.startswith("pretrain_")) + 1:-1])  # behind them stands "$@"
    kind = MLATransformerConfig if args.multi_latent_attention else TransformerConfig
    names = set(kind.__dataclass_fields__)
    given = {name: value for name, value in vars(args).items() if name in names and value is not None}
    from megatron.core.activations import squared_relu
    from megatron.core.fusions.fused_bias_geglu import quick_gelu
    given.update(gated_linear_unit=args.swiglu or args.quick_geglu, add_bias_linear=not args.disable_bias_linear, layernorm_epsilon=args.norm_epsilon,
                 layernorm_zero_centered_gamma=args.apply_layernorm_1p, pipeline_dtype=torch.bfloat16, num_moe_experts=args.num_experts,
                 activation_func=torch.nn.functional.silu if args.swiglu else quick_gelu if args.quick_geglu else squared_relu if args.squared_relu else torch.nn.functional.gelu)
    if args.multi_latent_attention:
        given["q_lora_rank"] = args.q_lora_rank  # not given: queries are made at once
    for name in ("moe_layer_freq", "window_attn_skip_freq", "window_size", "linear_attention_freq"):
        if getattr(args, name):
            given[name] = eval(getattr(args, name), {})  # as its own parser does, of digits and brackets
    read = {}
    if args.pipeline_model_parallel_layout:
        layout = PipelineParallelLayerLayout.from_str(args.pipeline_model_parallel_layout, args.pipeline_model_parallel_size)
        layout.validate_layer_layout(args.num_layers, args.mtp_num_layers)
        given["pipeline_model_parallel_layout"] = layout
        given["virtual_pipeline_model_parallel_size"] = layout.virtual_pipeline_model_parallel_size if layout.virtual_pipeline_model_parallel_size > 1 else None
        read["chunks"] = layout.virtual_pipeline_model_parallel_size
    kind(**given)
    read["unscaled"] = core_judge.unscaled({**given, "fp8": args.fp8_format})  # with that of the class it asks for Transformer Engine
    model = expected["model"]
    count = megatron_parameters(kind, given, args)
    assert count == expected["parameters"], f"{count} parameters, {expected['parameters']} in the plan's network"
    ranks = args.tensor_model_parallel_size * args.pipeline_model_parallel_size * args.context_parallel_size
    data = expected["ranks"] // ranks
    read.update(data=data, tensor=args.tensor_model_parallel_size, pipeline=args.pipeline_model_parallel_size, context=args.context_parallel_size,
                microbatch=args.micro_batch_size, global_batch=args.global_batch_size, sequence=args.seq_length, sequence_parallel=args.sequence_parallel,
                microbatches=args.global_batch_size // (args.micro_batch_size * data), recompute=args.recompute_granularity or "none",
                precision="bf16" if args.bf16 else "fp16" if args.fp16 else "fp32", optimizer=args.optimizer.replace("adam", "adamw"),
                fp32_gradients=args.bf16 and not args.grad_reduce_in_bf16 or args.accumulate_allreduce_grads_in_fp32, expert=args.expert_model_parallel_size,
                stage={"optim_grads": 2, "optim_grads_params": 3}.get(args.data_parallel_sharding_strategy, 1 if args.use_distributed_optimizer else 0))
    network = {"layers": args.num_layers, "hidden": args.hidden_size, "ffn": args.ffn_hidden_size, "vocabulary": args.vocab_size, "tied": not args.untie_embeddings_and_output_weights}
    usual = {"layers": ("num_hidden_layers", "n_layer"), "hidden": ("hidden_size", "n_embd"), "ffn": ("intermediate_size", "n_inner"), "vocabulary": ("vocab_size",),
             "tied": ("tie_word_embeddings",)}
    for name, keys in usual.items():
        value = next(model[key] for key in keys if key in model)
        assert network[name] == value, f"{name}: {network[name]} there, {value} in the plan's network"
    return read


def of_core(name):
    """A program on Megatron-Core, by its own classes' arguments (core_judge.py) and the network that Megatron-Core makes of them."""
    def judge(place, expected):
        import core_judge
        model, read = getattr(core_judge, name)(place, expected)
        kind, given = core_judge.network_of(model)
        count = megatron_parameters(kind, given, core_judge.arguments_of_network(model))
        assert count == expected["parameters"], f"{count} parameters, {expected['parameters']} in the plan's network"
        return read
    return judge


bridge, nemo = of_core("bridge"), of_core("nemo")


def nanotron(place, expected):
    """Its dataclasses take the fields of our table and no others."""
    import yaml
    table = {}
    for line in (HERE / "nanotron_fields.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            section, name, kind, *choices = line.split()
            table[f"{section}.{name}"] = ({"int": int, "float": (int, float), "text": str, "bool": bool}[kind], choices)
    config = yaml.safe_load((place / "nanotron.yaml").read_text())

    def check(path, value):
        if isinstance(value, dict):
            for key, one in value.items():
                check(f"{path}.{key}" if path else key, one)
            return
        kind, choices = table[path]
        assert isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), f"{path} is {value!r}"
        assert not choices or str(value) in choices, f"{path} is {value!r}"

    check("", config)
    mesh, tokens, model, optimizer = config["parallelism"], config["tokens"], config["model"], config["optimizer"]
    network = model["model_config"]
    width, head = network["hidden_size"], network["hidden_size"] // network["num_attention_heads"]
    attention = width * head * (2 * network["num_attention_heads"] + 2 * network["num_key_value_heads"])
    if network.get("attention_bias"):
        attention += head * (network["num_attention_heads"] + 2 * network["num_key_value_heads"])
    block = attention + 3 * width * network["intermediate_size"] + 2 * width
    count = network["num_hidden_layers"] * block + width + width * network["vocab_size"] * (1 if network["tie_word_embeddings"] else 2)
    assert count == expected["parameters"], f"{count} parameters, {expected['parameters']} in the plan's network"
    return {"data": mesh["dp"], "tensor": mesh["tp"], "pipeline": mesh["pp"], "context": mesh["context_parallel_size"], "microbatch": tokens["micro_batch_size"],
            "microbatches": tokens["batch_accumulation_per_replica"], "sequence": tokens["sequence_length"], "stage": optimizer["zero_stage"],
            "global_batch": tokens["micro_batch_size"] * tokens["batch_accumulation_per_replica"] * mesh["dp"],
            "precision": {"bfloat16": "bf16", "float32": "fp32"}[model["dtype"]], "fp32_gradients": optimizer["accumulate_grad_in_fp32"],
            "sequence_parallel": mesh["tp_mode"] == "REDUCE_SCATTER", "recompute": "full" if mesh["recompute_layer"] else "none"}


JUDGES = {"megatron-bridge": bridge}  # others by their name
BUILT = {}  # parameters of networks, by what their arguments say


def megatron_parameters(kind, given, args):
    """Of the network that the program builds of these arguments, on one rank."""
    import torch
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_decoder_block_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from megatron.core.transformer import multi_latent_attention as latent
    from megatron.core.transformer.dot_product_attention import DotProductAttention
    of_ranks = ("parallel", "pipeline", "recompute", "overlap", "dispatcher", "offload", "fp8", "fp4", "cp_comm", "grouped_gemm", "mtp")
    kept = {name: value for name, value in given.items() if not any(word in name for word in of_ranks)}
    key = repr((sorted(kept.items(), key=lambda one: one[0]), args.vocab_size, args.max_position_embeddings, args.position_embedding_type, args.untie_embeddings_and_output_weights, getattr(args, "hybrid_override_pattern", None)))
    if key not in BUILT:
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
            parallel_state.initialize_model_parallel()
            made = DotProductAttention.__init__  # without weights; the one in use with latent attention needs Transformer Engine
            DotProductAttention.__init__ = lambda self, *args, k_channels=None, v_channels=None, **more: made(self, *args, **more)
            latent.TELinear = latent.TEColumnParallelLinear = type("Missing", (), {})  # nothing is of Transformer Engine here
            torch.cuda.current_device = lambda: torch.device("meta")  # where some parts put their weights
        config = kind(**kept, perform_initialization=False, use_cpu_initialization=True)
        with torch.device("meta"):
            if config.is_hybrid_model or config.experimental_attention_variant == "gated_delta_net":
                import hybrid_judge
                network = hybrid_judge.network(config, args)
            else:
                network = GPTModel(config, get_gpt_decoder_block_spec(config, use_transformer_engine=False), vocab_size=args.vocab_size, max_sequence_length=args.max_position_embeddings,
                                   position_embedding_type=args.position_embedding_type, share_embeddings_and_output_weights=not args.untie_embeddings_and_output_weights)
        BUILT[key] = sum(one.numel() for one in network.parameters())
    return BUILT[key]


def megatron_parser():
    """The arguments of the release's arguments.py, which no wheel holds, as our table has them."""
    parser = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    kinds = {"int": int, "float": float, "text": str, "words": str}
    for line in (HERE / "megatron_arguments.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, kind, *choices = line.split()
            if kind == "flag":
                parser.add_argument("--" + name, action="store_true")
            else:
                parser.add_argument("--" + name, type=kinds[kind], choices=choices or None, nargs="*" if kind == "words" else None)
    parser.set_defaults(expert_model_parallel_size=1, optimizer="adam", data_parallel_sharding_strategy="no_shard")
    return parser


def main(program, folder):
    found = {"recipes": 0, "accepted": 0, "faults": []}
    for place in sorted(pathlib.Path(folder).iterdir(), key=lambda one: int(one.name)):
        found["recipes"] += 1
        expected = json.loads((place / "expected.json").read_text())
        try:
            faults = differences((JUDGES.get(program) or globals()[program])(place, expected), expected)
        except (Exception, SystemExit) as error:  # whatever the program says against it
            faults = [f"{type(error).__name__}: {str(error)[:300]}"]
        found["accepted"] += not faults
        found["faults"] += [f"{program} {place.name}: {fault}" for fault in faults]
    print(json.dumps(found))


main(*sys.argv[1:])
