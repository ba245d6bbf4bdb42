// Arguments of Megatron-LM whose one value says several things: lists of modules, an optimizer's name, another program's file.
#pragma once

#include <string>
#include <vector>

#include "sim/recipe/draft.h"

namespace sim {

void read_context_algorithm(const Value& v, Draft& d);  // of MindSpeed
void read_deepspeed_document(const Value& value, Draft& draft);
// "core_attn moe_act", or as a list of YAML: what of it is among these, and the other names.
struct NamedModules {
  Modules modules;
  std::vector<std::string> others;
};
NamedModules modules_in(const std::string& text, Modules among);
void read_recomputed_modules(const Value& value, Draft& draft);
std::string recomputed_modules(const ParallelPlan& plan);
// attention-backend, or nothing: of kernels that it does not name, too. Read with transformer-impl, use-flash-attn and the fusion of softmax and mask.
Written attention_backend(AttentionWord word);
void settle_attention_of_megatron(Draft& draft);
void settle_tensor_overlap(Draft& draft);
void settle_stage_of_megatron(Draft& draft);
void settle_loss(Draft& draft);
void doubt_words_of_forks(Draft& draft);  // of arguments with a choice whose words a plan does not depend on
void read_recomputed_layers(const Value& value, Draft& draft);
void read_optimizer(const Value& value, Draft& draft);
void refuse_other_steps(const Value& value, Draft& draft);  // LLaMA-Factory's stage and finetuning_type
void read_wide_stream(const Value& value, Draft& draft);
void read_type_of_routers(const Value& value, Draft& draft);
Written written_type_of_routers(const ParallelPlan& plan);
void settle_masters(Draft& draft);  // --main-params-dtype, once the types of weights are known
void read_dispatcher(const Value& value, Draft& draft);
bool captures_step(const ParallelPlan& plan);  // in one CUDA graph
// cuda-graph-impl with its scope: blocks, parts of them, or the whole iteration; and the switches of older releases.
void read_graphs(const Value& value, Draft& draft);
void read_graph_scope(const Value& value, Draft& draft);
Written graph_scope_of_megatron(const ParallelPlan& plan);
void read_layer_graphs(const Value& value, Draft& draft);
void read_step_graphs(const Value& value, Draft& draft);
void read_precision(const Value& value, Draft& draft);  // NeMo's one word

std::string usual_argument(const std::string& key);  // "--num_layers" is num-layers
void take_usual_names(RecipeReading& reading);       // and what names in another spelling tell

}  // namespace sim
