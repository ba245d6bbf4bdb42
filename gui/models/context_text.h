// What a plan is of, in one line, and a model in one: what a person must know before any figure says something.
#pragma once

#include <QString>

#include "sim/plan/parallel_plan.h"

namespace gui {

QString modelText(const sim::ModelConfig& model, std::int64_t sequence);  // parameters, layers, widths, operations a token
// "gpt2-xl · 1.56 B parameters · 16 × a100-80gb-sxm · meshwright · 64 × 1,024 tokens · bf16 · 79.2 GiB a device"; limit: 0: the device's
QString contextText(const QString& model, const sim::ParallelPlan& plan, sim::Bytes limit);

}  // namespace gui
