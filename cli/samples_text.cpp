#include "cli/samples_text.h"

#include <fmt/format.h>

#include "sim/cost/document_load.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

std::string tokens_text(const sim::DocumentFigures& figures) {
  std::string text = fmt::format("{} are padding, {} predict a next one of their document", sim::percent(1 - figures.real_share),
                                 sim::percent(figures.loss_share));
  if (figures.cut_share > 0) text += fmt::format("; {} of the documents' tokens have no place", sim::percent(figures.cut_share));
  return text;
}

std::string waiting_text(const sim::ParallelPlan& plan, const sim::DocumentFigures& figures) {
  if (!sim::skips_other_documents(plan)) return "a matrix of scores holds what lies between documents, too: all rows are equal work";
  const std::string where = figures.meeting == 1 ? "once a step" : fmt::format("{} of them in every layer or microbatch", figures.meeting);
  return fmt::format("{:.2f} of the mean rank's attention: {} data ranks meet, {}   (within {} of every rank by itself)", figures.slowest,
                     plan.mesh.data, where, sim::percent(sim::kFoldError));
}

}  // namespace

std::vector<std::vector<std::string>> samples_rows(const sim::ParallelPlan& plan) {
  if (!plan.workload.samples.has_documents()) return {};
  const sim::DocumentFigures figures = sim::document_figures(plan);
  return {{"documents", fmt::format("{}: {:.1f} a row, a token attends inside one of {} tokens", sim::to_text(plan.workload.samples),
                                    figures.documents, figures.attended)},
          {"tokens", tokens_text(figures)},
          {"slowest rank", waiting_text(plan, figures)}};
}

}  // namespace cli
