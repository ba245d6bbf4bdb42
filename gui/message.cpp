#include "gui/message.h"

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
    const QString where = QString::fromStdString(violation.where);
    problems << (where.isEmpty() ? QString() : where + QStringLiteral(": ")) + violationText(violation.problem);
    const QString remedy = violationText(violation.remedy);
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

}  // namespace gui
