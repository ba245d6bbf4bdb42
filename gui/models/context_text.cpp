#include "gui/models/context_text.h"

#include <QCoreApplication>

#include "gui/models/cells.h"
#include "sim/cluster/whose_speed.h"
#include "sim/model/model_text.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString inContext(const char* text) { return QCoreApplication::translate("ContextText", text); }

QString parametersText(const sim::ModelGraph& graph) {
  return inContext("%1 parameters").arg(textOf(sim::count_text(sim::num_parameters(graph))));
}

const QString kBetween = QStringLiteral(" · ");

}  // namespace

QString modelText(const sim::ModelConfig& model, std::int64_t sequence) {
  const sim::ModelGraph graph = sim::make_model_graph(model, sim::VocabularyMultiple{1});
  const double flops = sim::model_flops(graph, {1, sequence}).value() / static_cast<double>(sequence);
  QStringList texts = {parametersText(graph), countText(model.layers, inContext("1 layer"), inContext("%L1 layers")),
                       inContext("width %1").arg(model.hidden), countText(model.heads, inContext("1 head"), inContext("%L1 heads"))};
  if (model.experts) texts << inContext("%1 of %2 experts a token").arg(model.experts->topk).arg(model.experts->experts);
  if (const std::int64_t width = model.experts ? model.experts->expert_ffn : model.ffn; width > 0)
    texts << inContext("feed-forward %1").arg(width);
  texts << inContext("vocabulary %1").arg(model.vocabulary)
        << inContext("%1 to train a token").arg(textOf(sim::to_text(sim::FlopsPerSecond(flops))).chopped(2));
  return texts.join(kBetween);
}

QString contextText(const QString& model, const sim::ParallelPlan& plan, sim::Bytes limit) {
  const sim::WhoseSpeed whose = sim::whose_speed(plan.cluster);
  const QStringList texts = {
      model,
      parametersText(sim::make_model_graph(plan.model, sim::VocabularyMultiple{1})),
      QStringLiteral("%L1 × %2").arg(plan.cluster.devices).arg(textOf(whose.part)),
      textOf(whose.program),
      inContext("%L1 × %L2 tokens").arg(plan.workload.global_batch).arg(plan.workload.sequence),
      textOf(sim::to_text(plan.workload.precision)),
      inContext("%1 a device").arg(bytesCell(limit > sim::Bytes(0) ? limit : sim::usable_memory(plan.cluster)).text)};
  return texts.join(kBetween);
}

}  // namespace gui
