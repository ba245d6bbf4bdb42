"""Plants bugs in copies of executor/training's sources; the shipped ones know nothing of them.

plant.py SOURCE COPY     writes the copy; fails where a text of the table does not stand in the source once: a changed source takes its bug along
plant.py --check         every bug of planted_bug.h stands in the table, and some test plants it
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
TESTS = HERE.parent


def after(text, added):
    return text, text + added


def before(text, added):
    return text, added + text


def is_bug(name):
    return f"planted(PlantedBug::{name})"


# (file, the text that stands there once, what it becomes)
BUGS = [
    ("optimizer.cpp", *after("const sim::Parameter& parameter) const {\n", f"  if ({is_bug('SharedCountedTwice')}) return true;\n")),
    ("optimizer.cpp", "norm = summary().gradient_norm;", f"norm = summary().gradient_norm * ({is_bug('ClipBeforeUnscale')} ? limit().loss_scale : 1.0);"),
    ("optimizer.cpp", "gradients = bucket.stepped_gradients();",
     f"gradients = {is_bug('ShiftedShard')} ? bucket.stepped_gradients().roll(-1) : bucket.stepped_gradients();"),
    ("optimizer.cpp", "rounded = bucket.rounded_weights();", f"rounded = {is_bug('StaleMaster')} ? at::Tensor() : bucket.rounded_weights();"),
    ("optimizer.cpp", *after("StepSummary Optimizer::end_step() {", f"""
  for (FlatBucket& bucket : parameters_.buckets())
    if ({is_bug('FrozenStepped')} && bucket.layout().frozen) bucket.weight_shard().mul_(1 - plan_.training.learning_rate * plan_.training.weight_decay);
 """)),
    ("optimizer.cpp", *after("at::Tensor scales = bucket.moment_scales(moment, stepped);\n", f"    if ({is_bug('ShiftedMomentScale')} && scales.defined()) scales.copy_(scales.roll(1).clone());\n")),
    ("optimizer.cpp", "codes(1, unsigned_tree())", f"codes(1, {is_bug('SignedSecondMoment')} ? signed_tree() : unsigned_tree())"),
    ("flat_bucket.cpp", "host_weights_.defined() ? host_weights_ : master_;", f"({is_bug('StaleHostCopy')} ? master_.clone().to(form.type) : host_weights_.defined() ? host_weights_ : master_);"),
    ("parameter_store.cpp", "bucket.moment_type = moment_type(optimizer, policy)", f"bucket.moment_type = {is_bug('UnroundedMoments')} ? scalar_type(policy.of(sim::Numbers::Masters)) : moment_type(optimizer, policy)"),
    ("parameter_store.cpp", "!plan.is_unscaled(slot.layer)", f"(!plan.is_unscaled(slot.layer) || {is_bug('ScaledAnyway')})"),
    ("parameter_store.cpp", *after("bytes = packing_of(slot)->pack(whole);\n", f"""    if ({is_bug('NeighboursScale')})
      packing_of(slot)->block_scales(bytes).copy_(packing_of(slot)->block_scales(bytes).roll(1).clone());
""")),
    ("pipeline_stage.cpp", *after("masks.at(pair).stretches = core_tokens(key);\n", f"    if ({is_bug('LocalPairMasks')} && end == End::Out) masks.at(pair).key.value += static_cast<std::uint64_t>(tensor_.rank);\n")),
    ("pipeline_stage.cpp", "head_rank = deals_heads ? plan.mesh.context_rank(plan.mesh.coordinate(rank)) : 0",
     f"head_rank = deals_heads ? (plan.mesh.context_rank(plan.mesh.coordinate(rank)) + ({is_bug('NeighboursHeads')} ? 1 : 0)) % plan.mesh.context : 0"),
    ("pipeline_stage.cpp", "return {make_attention(config, parts, settings)", f"""std::vector<Leaf> leaves(parts.leaves.begin(), parts.leaves.end());
  for (std::size_t at = 0; at < leaves.size(); ++at)
    if ({is_bug('UntaughtSinks')} && parts.parameters[at].name.ends_with(".attention.sinks")) leaves[at].gradient.reset();
  return {{make_attention(config, {{parts.parameters, leaves}}, settings)"""),
    ("pipeline_stage.cpp", *after("adapter_scale = plan.model.adapters", f" && !{is_bug('ForgottenScale')}")),
    ("pipeline_stage.cpp", *after("place.defined() && !place.is_cpu()", f" && !{is_bug('MovedBatch')}")),
    ("pipeline_stage.cpp", *after("put(batch_.targets, before.targets);\n", f"""  if ({is_bug('SwappedMicrobatches')})
    for (at::Tensor* rows : {{&batch_.ids, &batch_.targets}})
      *rows = at::cat({{rows->narrow(0, 1, 1), rows->narrow(0, 0, 1), rows->slice(0, 2)}});
""")),
    ("pipeline_stage.cpp", "mask_key(key.layer, operation, batch_.step),",
     f"mask_key(key.layer, operation, batch_.step + ({is_bug('OtherMasksAgain')} && key.phase == sim::Phase::Recompute ? 1 : 0)),"),
    ("pipeline_stage.cpp", *after(".key_there = mask_keys_.defined()", f" && !{is_bug('BakedMasks')}")),
    ("pipeline_stage.cpp", 'return dropout(plan_.model.attention_dropout, key, "scores", heads * pairs);',
     f"""Dropout result = dropout(plan_.model.attention_dropout, key, "scores", heads * pairs);
  if ({is_bug('LocalHeadMasks')})
    result.first_element -= static_cast<std::uint64_t>(tensor_.rank * heads / tensor_.degree * pairs);
  return result;"""),
    ("pipeline_stage.cpp", *after("partial_ = std::move(own.partial);\n", f"""  for (auto& [whose, other] : aside_)
    if ({is_bug('OtherExchange')} && partial_.defined() && other.partial.defined() && other.partial.sizes() == partial_.sizes())
      std::swap(other.partial, partial_);
""")),
    ("pipeline_stage_tasks.cpp", *after("partial_ = std::exchange(block_activations(exchange).module_input, {})", f";\n  if (is_of_module && {is_bug('StrayInput')}) partial_ = partial_.flip(0)")),
    ("pipeline_stage.cpp", ".attended = documents_of(key)", f".attended = {is_bug('BoundaryCrossed')} ? Documents() : documents_of(key)"),
    ("pipeline_stage.cpp", ".positions = documents_of(key)", f".positions = {is_bug('RunningPositions')} ? Documents() : documents_of(key)"),
    ("pipeline_stage_tasks.cpp", "add_positions(flow_.value, embedding_dropout(key), documents_of(key))",
     f"add_positions(flow_.value, embedding_dropout(key), {is_bug('RunningPositions')} ? Documents() : documents_of(key))"),
    ("pipeline_stage.cpp", "find_leaf(parts_of(parameters_, holder),", f"find_leaf(parts_of(parameters_, {is_bug('OtherDistances')} ? sim::LayerIndex(1) : holder),"),
    ("pipeline_stage.cpp", "settings.source = sample_rows(model.config, sim::Tokens::Source,", f"settings.source = sample_rows(model.config, {is_bug('OwnKeys')} ? sim::Tokens::Target : sim::Tokens::Source,"),
    ("pipeline_stage_tasks.cpp", *after("segment.rows().put(sum.value.clone(), result.output) : std::move(result.output);\n", f"""    if ({is_bug('SourceOfNeighbour')} && segment.reads_all()) {{
      const at::Tensor source = partial_.view({{-1, plan_.workload.sequence, hidden_}}).narrow(1, 0, segment.rows().first);
      source.copy_(source.roll(1, 0).clone());
    }}
""")),
    ("pipeline_stage_tasks.cpp", "ResidualStream read{.value = input, .addend = {}};", f"ResidualStream read{{.value = {is_bug('StrayInput')} ? input.flip(0) : input, .addend = {{}}}};"),
    ("pipeline_stage_tasks.cpp", "else if (leaves_full_block(key) || !has_next_norm(key))",
     f"else if ((leaves_full_block(key) || !has_next_norm(key)) && !{is_bug('ForgottenSum')})"),
    ("pipeline_stage_tasks.cpp", "sum_up(entered);", f"{is_bug('LostAtEntry')} ? entered.addend.reset() : sum_up(entered);"),
    ("map_stage.cpp", "const BatchMoments moments = merged_moments(std::exchange(step.statistics, {}));",
     f"""BatchMoments moments = merged_moments(std::exchange(step.statistics, {{}}));
  const RunningStatistics& running = parameters_.running(key.layer)->statistics;
  if ({is_bug('RunningForBatch')}) moments.mean = running.mean.clone(), moments.variance = running.variance.clone();"""),
    ("pipeline_stage_tasks.cpp", *before("return host_buffer({bytes},", f"""static at::Tensor one;
    if ({is_bug('OneHostBuffer')}) {{
      if (!one.defined() || one.numel() < bytes) one = host_buffer({{bytes}}, {{.device = parameters_.device(), .type = at::kByte}});
      return one.narrow(0, 0, bytes);
    }}
    """)),
    ("pipeline_stage_tasks.cpp", *before("gradients.perform();", f"if (!{is_bug('ForgottenWeights')} || key.microbatch != sim::MicrobatchIndex(0)) ")),
    ("pipeline_stage_experts.cpp", *before("partial_ = block(key).experts->combine(", f"if ({is_bug('StrayRows')}) partial_ = partial_.flip(0);\n  ")),
    ("pipeline_stage_experts.cpp", *after("combine_backward(std::exchange(partial_, {}), kept);\n", f"  if ({is_bug('IgnoredChoice')}) kept.weight_gradient.zero_();\n")),
    ("pipeline_stage_experts.cpp", *after("exchange = make_exchange(kept.told, tensor_, parameters_.device());\n", f"  if ({is_bug('SharedScales')}) exchange.by_batch = exchange.held;\n")),
    ("pipeline_stage_experts.cpp", "if (batch_.tokens_with_loss == 0) return 1;", f"if (batch_.tokens_with_loss == 0 || {is_bug('BalanceByLoss')}) return 1;"),
    ("pipeline_stage_experts.cpp", "PutOff put_off(plan_.delay_wgrad ?", f"PutOff put_off(plan_.delay_wgrad && !{is_bug('LateRouter')} ?"),
    ("priority_sums.cpp", *after("while (sum != sums_.end() && sum->second.left > 0", f" && !{is_bug('EarlyLayer')}")),
    ("priority_sums.cpp", "while (sum->second.left > 0) go_on();\n  return sums_.extract(sum).mapped().step;",
     f"if ({is_bug('EarlyLayer')}) {{ sum->second.elements = 0; return sum->second.step; }}\n  while (sum->second.left > 0) go_on();\n  return sums_.extract(sum).mapped().step;"),
    ("scale_history.cpp", "steps_ = at::cat({steps_.slice(0, 1), newest});\n", f"""if ({is_bug('StaleScales')}) renew();
  steps_ = at::cat({{steps_.slice(0, 1), newest}});
"""),
    ("scale_history.cpp", "seen_.zero_();\n  renew();", f"seen_.zero_();\n  if (!{is_bug('StaleScales')}) renew();"),
    ("task_runner_step.cpp", *after("if (task.key.sequence == sim::kOfMaxima) {\n", f"    if ({is_bug('LocalMaximum')}) return;\n")),
    ("task_runner_step.cpp", *before("communicators_.of(task.key.group).all_reduce(own, how, task.key)->wait();",
                                f"if (!(how == ReduceOperation::Maximum ? {is_bug('LocalMaximum')} : {is_bug('PartialGradients')})) ")),
    ("pipeline_stage_context.cpp", "at::arange(stretch.first, stretch.first + stretch.count, at::kLong)",
     f"at::arange({is_bug('OwnTiles')} ? stretch.begin : stretch.first, ({is_bug('OwnTiles')} ? stretch.begin : stretch.first) + stretch.count, at::kLong)"),
    ("query_share.cpp", *after("QueryShare::part_of(std::int64_t source) const {\n", f"  if ({is_bug('FutureBlock')}) source = 2 * shape_->rank - source;\n")),
    ("query_share.cpp", *after("std::vector<BlockPart> QueryShare::parts_of(std::int64_t source) const {\n", f"  if ({is_bug('CrossedAtEdge')} && source != shape_->rank) return {{part_of(source)}};\n")),
    ("query_share.cpp", *before("merge_scores(into, scores);", f"if ({is_bug('UnscaledMerge')}) scores.log_sum_exp.copy_(into.log_sum_exp);\n  ")),
    ("query_share.cpp", *before("merge_scores(into, scores);\n  }", f"if ({is_bug('SinkOfEachBlock')}) merge_scores(into, rows(nothing_attended(), part));\n    ")),
    ("query_share.cpp", ".keys = of(source, part.keys)", f".keys = of({is_bug('BlocksPositions')} ? shape_->rank : source, part.keys)"),
    ("pipeline_stage_context.cpp", "at::cat({gradient, gates.grad()}, 1)", f"at::cat({{gradient, {is_bug('UntaughtGates')} ? gates.grad().zero_() : gates.grad()}}, 1)"),
    ("query_share.cpp", *before("own.values.mul_(shape_->heads.value_factor);", f"if (!{is_bug('PlainValues')}) ")),
    ("query_share.cpp", *before("add_sink_gradient(shape_->scores", f"if (!{is_bug('UntaughtSinks')}) ")),
    ("optimizer.cpp", "flat.view({matrices, -1, slot.columns})", f"flat.view({{matrices, -1, {is_bug('WholeColumns')} ? parameter.columns : slot.columns}})"),
    ("slice_attention.cpp", *before("add_gradient(KeyBlock(", f"if (!{is_bug('LostCacheGradient')} || source == shape_->rank) ")),
    ("token_file.cpp", "row.push_back(token(document.begin + at));", f"row.push_back(token(document.begin + at + ({is_bug('LateDocuments')} ? 1 : 0)));"),
    ("token_file.cpp", ".documents = Documents(std::move(rows))};", f".documents = {is_bug('RowsAsFiled')} ? documents : Documents(std::move(rows))}};"),
    ("token_share.cpp", "return tokens_of(cut_of(plan, rank, slice));",
     f"return tokens_of(cut_of(plan, rank, {is_bug('RestartedSlice')} && slice.exists() ? sim::SliceIndex(0) : slice));"),
    ("token_share.cpp", *after("!at_once)) return table;\n", f"  if ({is_bug('RestartedSlice')} && slice.exists()) cut.rank = 0;\n")),
    ("task_runner.cpp", *after("stage_.put_rows(arrive ? received : ", f"{is_bug('UnsummedRows')} ? received.narrow(0, 0, own) : ")),
    ("task_runner.cpp", "all = plan_.workload.global_batch *",
     f"all = ({is_bug('WrongAverage')} ? plan_.microbatch_size : plan_.workload.global_batch * ({is_bug('DividedTwice')} ? plan_.mesh.ranks() : 1)) *"),
    ("task_runner.cpp", "static_cast<double>(tokens));",
     f"static_cast<double>({is_bug('MeanOfMeans')} ? tokens_here(batch) * plan_.mesh.data * plan_.mesh.context : tokens));"),
    ("task_runner.cpp", *before("StepSummary TaskRunner::run_step(", """static std::int64_t tokens_here(const StepBatch& batch) {
  std::int64_t tokens = batch.ids.numel();
  for (const at::Tensor& none : batch.without_loss) tokens -= none.numel();
  return tokens;
}

""")),
    ("task_runner.cpp", *before("for (const std::size_t before : waits_[position].before)",
                                f"""if (!({is_bug('MissingWait')} && stream == DeviceStream::Reduce) && !({is_bug('HostAhead')} && stream == DeviceStream::Host))
    """)),
    ("task_runner.cpp", *before("streams_.wait(DeviceStream::Tensor, streams_.now_on(DeviceStream::Compute));", f"if (!{is_bug('MissingWait')}) ")),
    ("task_runner.cpp", *before("streams_.wait(DeviceStream::Compute, streams_.now_on(DeviceStream::Tensor));", f"if (!{is_bug('EarlyRead')}) ")),
    ("task_runner.cpp", *before("beside_exchange_.perform();", f"if (!{is_bug('ForgottenWeights')}) ")),
    ("task_runner.cpp", *before("streams_.wait(DeviceStream::Compute, streams_.now_on(DeviceStream::Reduce));", f"if (!{is_bug('EarlyFree')}) ")),
    ("task_runner.cpp", "if (streams_.are_concurrent()) lent_", f"if (streams_.are_concurrent() && !{is_bug('EarlyFree')}) lent_"),
    ("task_runner.cpp", *before("if (const Perform function = find(task.key))", """const bool reduces = task.key.phase == sim::Phase::Gradients && is_communication(task.key.operation);
  if (reduces && communicators_.rank() == sim::Rank(1) && planted_once(PlantedBug::SkippedCollective)) return;
  """)),
    ("context_attention.cpp", ".is_mirrored = true", f".is_mirrored = !{is_bug('InnerOrder')}"),
    ("task_runner.cpp", "Communicator& context = communicators_.of(task.key.group);", f"""const bool is_inner = task.key.group == sim::MeshAxis::ContextInner;
  Communicator& context = communicators_.of(!{is_bug('SwappedLevels')} ? task.key.group : is_inner ? sim::MeshAxis::ContextOuter : sim::MeshAxis::ContextInner);"""),
    ("task_runner.cpp", *after("ranks.all_gather(all, own, task.key)->wait();\n", f"  if ({is_bug('LocalStatistics')}) all.copy_(own.clone().unsqueeze(0).expand_as(all));\n")),
    ("task_runner.cpp", *before("ranks.all_reduce(own, ReduceOperation::Sum, task.key)->wait();", f"if (!{is_bug('LocalSums')}) ")),
    ("task_runner.cpp", *after("  };\n  start()->wait();", f"\n  if ({is_bug('EarlyRead')}) exchange.to.zero_();")),
    ("task_runner.cpp", *after("receive(buffer, neighbour(task).value(), task.key)->wait();", f"\n  if ({is_bug('EarlyRead')}) buffer.zero_();")),
    ("task_runner.cpp", *after("is_maximum = is_loss && task.key.sequence == 0;\n", f"""  if ({is_bug('LocalVocabulary')} && is_loss && !is_maximum) return;
  if ({is_bug('MissingTensorSum')} && task.key.phase == sim::Phase::Backward) return;
  const bool is_of_squares = !is_loss && stage_.partial(task.key).size(1) == 2;
  if ({is_bug('LocalSquares')} && is_of_squares) return;
""")),
    ("task_runner.cpp", *before("exchange_beside_weights([&] { return communicators_.of(sim::MeshAxis::Tensor).reduce_scatter(own,", f"""if ({is_bug('MissingTensorSum')} && task.key.phase == sim::Phase::Backward)
    own.copy_(stage_.partial(task.key).chunk(plan_.mesh.tensor)[static_cast<std::size_t>(parameters_.tensor().rank)]);
  else
    """)),
    ("task_runner.cpp", *after("TaskRunner::sum_replicated_gradients(const sim::Task& task) {\n", f"  if ({is_bug('MissingReplicatedSum')}) return;\n")),
    ("task_runner.cpp", *after("TaskRunner::gather_for_layer(const sim::Task& task) {\n", f"  if ({is_bug('StaleWeights')} && parameters_.bucket(task.bucket).has_whole_weights()) return;\n")),
    ("task_runner.cpp", *after("TaskRunner::gather_from_neighbours(const sim::Task& task) {\n", f"  if ({is_bug('StaleWeights')} && parameters_.bucket(task.bucket).has_whole_weights()) return;\n")),
    ("task_runner.cpp", *after("TaskRunner::reshard(const sim::Task& task) {\n", f"  if ({is_bug('StaleWeights')}) return;\n")),
    ("task_runner_step.cpp", *after("TaskRunner::gather_after_update(const sim::Task& task) {\n", f"  if ({is_bug('StaleWeights')} || {is_bug('StalePersistent')}) return;\n")),
    ("task_runner_step.cpp", *after("if (!plan_.optimizer_in_backward) return;\n", f"""  for (const std::size_t other : parameters_.buckets_of(task.key.layer))
    if ({is_bug('EarlyShared')} && parameters_.buckets()[other].layout().ready_after < task.key.layer) update(sim::BucketIndex(static_cast<std::int32_t>(other)));
""")),
    ("task_runner_step.cpp", *after("TaskRunner::send_weights(const sim::Task& task) {\n", f"  if ({is_bug('StaleBroadcast')}) return;\n")),
    ("task_runner_step.cpp", "broadcast(sent, owner, task.key)", f"broadcast(sent, (owner + ({is_bug('OtherOwner')} ? 1 : 0)) % layout.shards, task.key)"),
    ("task_runner.cpp", "data = plan_.mesh.coordinate(communicators_.rank()).data;",
     f"data = plan_.mesh.coordinate(communicators_.rank()).data + ({is_bug('OtherPart')} ? 1 : 0);"),
    ("task_runner.cpp", *after("TaskRunner::reduce_gradients(const sim::Task& task) {\n  finish_reductions();\n",
                               f"  if ({is_bug('LastBucketNotReduced')} && task.bucket.position() + 1 == parameters_.buckets().size()) return;\n")),
    ("task_runner.cpp", "of(task.key.group).all_reduce(wire,",
     f"of({is_bug('WrongExpertGroup')} && task.key.group == sim::MeshAxis::ExpertData ? sim::MeshAxis::Data : task.key.group).all_reduce(wire,"),
    ("low_rank_sum.cpp", "error_of(matrix).sub_(gradient, part_);", f"{is_bug('ErrorDropped')} ? error_of(matrix).zero_() : error_of(matrix).sub_(gradient, part_);"),
    ("block_sum.cpp", *before("decode_sum(bucket_.reduction_target(), sources, format_);", f"""if ({is_bug('NeighbourScale')})
    for (at::Tensor& source : sources) {{
      const std::int64_t blocks = bucket_.layout().shard_elements / kBlockElements;
      source = at::cat({{source.narrow(0, 0, chunk_ - 4 * blocks), source.narrow(0, chunk_ - 4 * blocks, 4 * blocks).roll(4)}});
    }}
  """)),
    ("wire_codecs.cpp", "return encode_blocks(gather(task).own, bucket.weight_shard(), *weights_);", f"""encode_blocks(gather(task).own, bucket.weight_shard(), *weights_);
    const std::int64_t scales = 4 * bucket.layout().shard_elements / kBlockElements;
    const at::Tensor all = gather(task).own.narrow(0, bytes - scales, scales);
    if ({is_bug('NeighbourScale')}) all.copy_(all.roll(4));
    return;"""),
    ("task_runner.cpp", *before("parameters_.bucket(task.bucket).accumulate();", f"if (!{is_bug('LostMicrobatch')} || task.key.microbatch != sim::MicrobatchIndex(1)) ")),
    ("task_runner.cpp", *after("on_wire(const at::Tensor& gradients, const sim::Task& sum) const {\n",
                                f"  if ({is_bug('RoundedOnWire')} && plan_.is_full(sum.key.layer)) gradients.copy_(gradients.to(at::kBFloat16));\n")),
    ("task_runner.cpp", *after("all_gather(bucket.weights(), bucket.gathered_shard(), task.key)->wait();\n",
                                f"  if ({is_bug('GatheredInHalf')} && plan_.is_full(bucket.layout().ready_after)) bucket.weights().copy_(bucket.weights().to(at::kBFloat16));\n")),
    ("task_runner.cpp", *after("TaskRunner::take_from_wire(const at::Tensor& gradients, const at::Tensor& wire) {\n", f"  if ({is_bug('LeftOnWire')}) return;\n")),
    ("task_runner.cpp", "communicators_.of(task.key.group).reduce_scatter(sum, wire, task.key)->wait();",
     f"""const bool strays = {is_bug('OtherGroup')} && communicators_.rank() == sim::Rank(1);
  if ({is_bug('LastBucketNotReduced')} && task.bucket.position() + 1 == parameters_.buckets().size())
    sum.copy_(wire.narrow(0, own.begin, own.count));
  else {{
    communicators_.of(strays ? sim::MeshAxis::World : task.key.group)
        .reduce_scatter(sum, wire, task.key)
        ->wait();
    if ({is_bug('EarlyRead')}) sum.zero_();
  }}"""),
    ("task_runner.cpp", *after("TaskRunner::reduce_over_replicas(const sim::Task& task) {\n", f"  if ({is_bug('MissingReplicaSum')}) return;\n")),
]

HEAD = '#include <ATen/ops/cat.h>\n\n#include "tests/planted/planted_bug.h"\n'
ANNOUNCED = "namespace executor {\n[[maybe_unused]] static const bool kHasCopies = announce_copies();\n}  // namespace executor\n"


def copy_of(source):
    text = source.read_text()
    rows = [row for row in BUGS if row[0] == source.name]
    for _, stands, becomes in rows:
        if text.count(stands) != 1:
            sys.exit(f"plant.py: stands {text.count(stands)} times in {source}, not once: {stands!r}")
        text = text.replace(stands, becomes)
    if not rows:
        sys.exit(f"plant.py: no bug is of {source}")
    return HEAD + text + (ANNOUNCED if source.name == "task_runner.cpp" else "")


def check():
    declared = re.search(r"enum class PlantedBug.*?};", (HERE / "planted_bug.h").read_text(), re.S).group()
    names = set(re.findall(r"^  (\w+),", declared, re.M)) - {"None"}
    in_table = set(re.findall(r"PlantedBug::(\w+)", " ".join(becomes for _, _, becomes in BUGS)))
    tests = " ".join(file.read_text() for kind in ("*_test.cpp", "*_test.py") for file in TESTS.rglob(kind))
    snake = {name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in names}
    unused = {name for name in names if f"PlantedBug::{name}" not in tests and f'"{snake[name]}"' not in tests}
    print(f"{len(names)} bugs; not in the table: {sorted(names ^ in_table)}; planted by no test: {sorted(unused)}")
    return 1 if not names or names ^ in_table or unused else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    pathlib.Path(sys.argv[2]).write_text(copy_of(pathlib.Path(sys.argv[1])))
