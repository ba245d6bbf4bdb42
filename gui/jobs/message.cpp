#include "gui/jobs/message.h"

#include <QCoreApplication>
#include <QStringList>

#include "gui/models/reason_text.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr std::size_t kShown = 4;

Message ofInput(const sim::InputError& error) {
  Message message;
  QStringList problems, remedies;
  for (const sim::Violation& violation : error.violations()) {
    if (problems.size() == static_cast<qsizetype>(kShown)) {
      problems << QCoreApplication::translate("Message", "and %1 more").arg(error.violations().size() - kShown);
      break;
    }
    const bool in_file = !error.file().empty() || violation.where.rfind('/', 0) != 0;  // else the path inside a plan that is no file
    const QString where = in_file ? sentenceText(violation.where) : QString();
    problems << (where.isEmpty() ? QString() : where + QStringLiteral(": ")) + sentenceText(violation.problem);
    const QString remedy = sentenceText(violation.remedy);
    if (!remedy.isEmpty() && !remedies.contains(remedy)) remedies << remedy;
  }
  const QString file = QString::fromStdString(error.file());
  message.problem = (file.isEmpty() ? QString() : file + QStringLiteral(": ")) + problems.join(QStringLiteral("; "));
  message.remedy = remedies.join(QStringLiteral("; "));
  return message;
}

}  // namespace

Message messageOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const sim::InputError& input) {
    return ofInput(input);
  } catch (const std::bad_alloc&) {
    return {QCoreApplication::translate("Message", "There is not enough memory for this."),
            QCoreApplication::translate("Message", "Show the ranks folded, or plan fewer microbatches.")};
  } catch (const std::exception& other) {
    return {QString::fromUtf8(other.what()), {}};
  }
}

Message messageOf(const QString& said) {
  const auto error = said.lastIndexOf(QStringLiteral("error: "));
  if (error < 0) return {};
  const auto remedy = said.indexOf(QStringLiteral("remedy: "), error);
  return {said.mid(error + 7).section('\n', 0, 0), remedy < 0 ? QString() : said.mid(remedy + 8).trimmed()};
}

}  // namespace gui
