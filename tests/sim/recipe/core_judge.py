"""Recipes of Megatron-Bridge and NeMo 2, judged by what their wheels hold: each is performed with stand-ins in place of the program's classes, which take the
arguments that the released source declares and no others; Megatron-Core's own classes then check the network. The programs themselves need
Transformer Engine to be imported, which needs a GPU's libraries.
"""
import ast
import functools
import importlib.metadata
import pathlib
import runpy
import sys
import types


@functools.lru_cache(maxsize=None)
def source(wheel, path):
    return ast.parse(pathlib.Path(importlib.metadata.distribution(wheel).locate_file(path)).read_text())


def arguments(wheel, path, name):
    """What the class takes by name: of its __init__, or its fields and those of its bases in the same file."""
    classes = {node.name: node for node in source(wheel, path).body if isinstance(node, ast.ClassDef)}
    node = classes[name]
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return {argument.arg for argument in one.args.args + one.args.kwonlyargs} - {"self"}
    names = {one.target.id for one in node.body if isinstance(one, ast.AnnAssign)}
    return names.union(*(arguments(wheel, path, base.id) for base in node.bases if isinstance(base, ast.Name) and base.id in classes))


def stand_in(name, accepted):
    def take(self, *positional, **given):
        assert not positional, f"{name} is given arguments without names"
        unknown = sorted(set(given) - accepted)
        assert not unknown, f"{name} has no {', '.join(unknown)}"
        self.given = given
    return type(name, (), {"__init__": take, "__getattr__": lambda self, one: vars(self)["given"][one]})


def modules(wanted):
    """Modules of that content, by dotted name, and empty ones for what stands above them."""
    for name, content in wanted.items():
        module = sys.modules[name] = types.ModuleType(name)
        vars(module).update(content)
        parent, _, leaf = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], leaf, module)


def fields_of(*classes):
    return set().union(*(set(one.__dataclass_fields__) for one in classes))


def core():
    from megatron.core.datasets.gpt_dataset import GPTDatasetConfig
    from megatron.core.distributed import DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig
    return GPTDatasetConfig, DistributedDataParallelConfig, OptimizerConfig, MLATransformerConfig, TransformerConfig


def performed_bridge(place):
    dataset, ddp, optimizer, latent, plain = core()
    wheel, config = "megatron-bridge", "megatron/bridge/training/config.py"
    provider = arguments(wheel, "megatron/bridge/models/gpt_provider.py", "GPTModelProvider")
    made = {name: stand_in(name, arguments(wheel, config, name))
            for name in ("CheckpointConfig", "LoggerConfig", "RNGConfig", "SchedulerConfig", "TrainingConfig", "ConfigContainer")}
    made["DistributedDataParallelConfig"] = stand_in("DistributedDataParallelConfig", fields_of(ddp) | arguments(wheel, config, "DistributedDataParallelConfig"))
    made["OptimizerConfig"] = stand_in("OptimizerConfig", fields_of(optimizer) | arguments(wheel, config, "OptimizerConfig"))
    made["MockGPTDatasetConfig"] = stand_in("MockGPTDatasetConfig", fields_of(dataset) | arguments(wheel, config, "DataloaderConfig") | {"seq_length"})
    made["TokenizerConfig"] = stand_in("TokenizerConfig", arguments(wheel, "megatron/bridge/training/tokenizers/config.py", "TokenizerConfig"))
    mixed = stand_in("MixedPrecisionConfig", arguments(wheel, "megatron/bridge/training/mixed_precision.py", "MixedPrecisionConfig"))
    modules({"megatron.bridge": {}, "megatron.bridge.models": {}, "megatron.bridge.training": {}, "megatron.bridge.training.config": made,
             "megatron.bridge.models.gpt_provider": {"GPTModelProvider": stand_in("GPTModelProvider", fields_of(plain) | provider)},
             "megatron.bridge.models.mla_provider": {"MLAModelProvider": stand_in("MLAModelProvider", fields_of(latent) | provider)},
             "megatron.bridge.training.mixed_precision": {"MixedPrecisionConfig": mixed}})
    return runpy.run_path(str(place / "bridge_plan.py"))["plan"]()


def performed_nemo(place):
    _, ddp, optimizer, latent, plain = core()
    wheel, pytorch = "nemo-toolkit", "nemo/lightning/pytorch/"
    gpt = arguments(wheel, "nemo/collections/llm/gpt/model/base.py", "GPTConfig")
    deepseek = arguments(wheel, "nemo/collections/llm/gpt/model/deepseek.py", "DeepSeekConfig")
    model = {"config"}
    light = {"MegatronStrategy": stand_in("MegatronStrategy", arguments(wheel, pytorch + "strategies/megatron_strategy.py", "MegatronStrategy")),
             "MegatronMixedPrecision": stand_in("MegatronMixedPrecision", arguments(wheel, pytorch + "plugins/mixed_precision.py", "MegatronMixedPrecision")),
             "MegatronOptimizerModule": stand_in("MegatronOptimizerModule", arguments(wheel, pytorch + "optim/megatron.py", "MegatronOptimizerModule")),
             "Trainer": stand_in("Trainer", {"accelerator", "plugins", "strategy", "num_nodes", "devices"}),  # of Lightning
             "lr_scheduler": types.SimpleNamespace(**{name: stand_in(name, arguments(wheel, pytorch + "optim/lr_scheduler.py", name))
                                                      for name in ("CosineAnnealingScheduler", "WarmupPolicyScheduler")})}
    llm = {"GPTConfig": stand_in("GPTConfig", fields_of(plain) | gpt), "GPTModel": stand_in("GPTModel", model), "pretrain": stand_in("pretrain", {"model", "data", "trainer", "optim"}),
           "MockDataModule": stand_in("MockDataModule", arguments(wheel, "nemo/collections/llm/gpt/data/mock.py", "MockDataModule"))}
    modules({"nemo": {}, "nemo.lightning": light, "nemo.collections": {}, "nemo.collections.llm": llm, "nemo.collections.llm.gpt": {}, "nemo.collections.llm.gpt.model": {},
             "nemo.collections.llm.gpt.model.deepseek": {"DeepSeekConfig": stand_in("DeepSeekConfig", fields_of(latent) | gpt | deepseek), "DeepSeekModel": stand_in("DeepSeekModel", model)},
             "nemo_run": {"Config": lambda kind, **given: made_of(kind, given), "Partial": lambda kind, **given: made_of(kind, given)}})
    return runpy.run_path(str(place / "nemo_plan.py"))["plan"]()


def made_of(kind, given):
    """A configuration of a class: a stand-in, or of a class of Megatron-Core by the names of its fields; some ask for Transformer Engine when they are made."""
    if not kind.__module__.startswith("megatron.core"):
        return kind(**given)
    unknown = sorted(set(given) - fields_of(kind))
    assert not unknown, f"{kind.__name__} has no {', '.join(unknown)}"
    return types.SimpleNamespace(**given)


def network_of(model):
    """Megatron-Core's class with what of the model's arguments is its own: it checks them."""
    import torch
    *_, latent, plain = core()
    kind = latent if model.get("multi_latent_attention") else plain
    given = {name: value for name, value in model.items() if name in kind.__dataclass_fields__}
    given["pipeline_dtype"] = torch.bfloat16
    if kind is latent:
        given.setdefault("q_lora_rank", None)
    kind(**given)
    return kind, given


def read_of(model, layout, batch, ddp, precision, optimizer, expected):
    """As the other judges say it. layout: what holds the degrees."""
    ranks = layout["tensor_model_parallel_size"] * layout["pipeline_model_parallel_size"] * layout["context_parallel_size"]
    data = expected["ranks"] // ranks
    stage = {"optim_grads": 2, "optim_grads_params": 3}.get(ddp.get("data_parallel_sharding_strategy") if ddp.get("use_megatron_fsdp") else "", 1 if ddp["use_distributed_optimizer"] else 0)
    return {"data": data, "tensor": layout["tensor_model_parallel_size"], "pipeline": layout["pipeline_model_parallel_size"], "context": layout["context_parallel_size"],
            "sequence_parallel": layout["sequence_parallel"], "expert": layout.get("expert_model_parallel_size", 1), "microbatch": batch["micro_batch_size"],
            "global_batch": batch["global_batch_size"], "sequence": batch["seq_length"], "microbatches": batch["global_batch_size"] // (batch["micro_batch_size"] * data),
            "recompute": model.get("recompute_granularity") or "none", "precision": precision, "optimizer": optimizer["optimizer"].replace("adam", "adamw"), "stage": stage}


def unscaled(precision):
    """Blocks of a network in 8 bit that Megatron-Core leaves in 16; precision: fields of TransformerConfig."""
    from megatron.core.fp8_utils import is_first_last_bf16_layer
    usual = {"first_last_layers_bf16": False, "num_layers_at_start_in_bf16": 0, "num_layers_at_end_in_bf16": 0}
    config = types.SimpleNamespace(**{**usual, **precision})
    return [block for block in range(config.num_layers) if precision.get("fp8") and is_first_last_bf16_layer(config, block)]


def arguments_of_network(model):
    return types.SimpleNamespace(vocab_size=model["vocab_size"], max_position_embeddings=model["seq_length"], position_embedding_type=model["position_embedding_type"],
                                 untie_embeddings_and_output_weights=not model["share_embeddings_and_output_weights"])


def bridge(place, expected):
    made = performed_bridge(place)
    model, mixed = made.model.given, made.mixed_precision.given
    assert model["seq_length"] == made.dataset.given["seq_length"], "sequences of model and data differ"
    precision = "bf16" if mixed["bf16"] else "fp16" if mixed["fp16"] else "fp32"
    batch = {**made.train.given, **made.dataset.given}
    read = read_of(model, model, batch, made.ddp.given, precision, made.optimizer.given, expected)
    assert made.ddp.given["grad_reduce_in_fp32"] == mixed["grad_reduce_in_fp32"], "two types of gradients"
    read["fp32_gradients"] = precision != "fp32" and mixed["grad_reduce_in_fp32"]
    read["unscaled"] = unscaled({**mixed, "num_layers": model["num_layers"]})
    return model, read


def nemo(place, expected):
    made = performed_nemo(place)
    model, trainer = made.model.given["config"].given, made.trainer.given
    strategy, plugin, data = trainer["strategy"].given, trainer["plugins"].given, made.data.given
    assert model["seq_length"] == data["seq_length"], "sequences of model and data differ"
    assert trainer["devices"] * trainer["num_nodes"] == expected["ranks"], "another number of ranks"
    ddp, optimizer = vars(strategy["ddp"]), vars(made.optim.given["config"])
    precision = {"bf16-mixed": "bf16", "16-mixed": "fp16", "32": "fp32"}[str(plugin["precision"])]
    read = read_of(model, strategy, data, ddp, precision, optimizer, expected)
    read["fp32_gradients"] = precision != "fp32" and plugin["grad_reduce_in_fp32"]
    read["unscaled"] = unscaled({**plugin, "num_layers": model["num_layers"]})
    return model, read
