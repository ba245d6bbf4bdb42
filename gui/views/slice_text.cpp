#include "gui/views/slice_text.h"

#include <QCoreApplication>

#include "sim/units/at.h"

namespace gui {
namespace {

QString phrase(const char* text) { return QCoreApplication::translate("SliceText", text); }

QString spokenName(std::string_view name) {
  const QString words = QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size())).replace('_', ' ');
  return QCoreApplication::translate("Sentence", words.toLatin1().constData()).replace(QStringLiteral("mlp"), QStringLiteral("MLP"));
}

QString phaseWord(sim::Phase phase) {
  switch (phase) {
    case sim::Phase::Forward: return phrase("fwd");
    case sim::Phase::Backward: return phrase("bwd");
    case sim::Phase::Weight: return phrase("wgrad");
    case sim::Phase::Recompute: return phrase("again");
    default: return {};
  }
}

}  // namespace

QString sliceName(const sim::TaskKey& key) {
  QStringList name;
  if (key.layer.exists()) name << QStringLiteral("L%1").arg(key.layer.value());
  const std::string_view operation = sim::at(sim::kOperationNames, key.operation);
  name << (sim::is_communication(key.operation) ? spokenName(operation).replace(' ', '-')
                                                : spokenName(operation));  // one word: it is not cut
  if (sim::is_communication(key.operation) && key.group != sim::MeshAxis::None) name << spokenName(sim::at(sim::kMeshAxisNames, key.group));
  if (const QString phase = phaseWord(key.phase); !phase.isEmpty()) name << phase;
  const QString text = name.join(' ');
  return key.microbatch.exists() ? text + QStringLiteral(", mb %1").arg(key.microbatch.value()) : text;
}

double TextFitter::widthOf(QStringView text) {
  int width = 0;
  for (const QChar letter : text) {
    const char16_t code = letter.unicode();
    if (code >= known_.size()) {
      width += metrics_.horizontalAdvance(letter);
      continue;
    }
    if (known_[code] < 0) known_[code] = metrics_.horizontalAdvance(letter);
    width += known_[code];
  }
  return width;
}

QString TextFitter::fitted(const QString& text, double width) {
  constexpr qsizetype kFewest = 3;
  if (widthOf(text) <= width) return text;
  for (qsizetype end = text.lastIndexOf(' '); end > 0; end = text.lastIndexOf(' ', end - 1)) {
    const QStringView words = QStringView(text).left(text[end - 1] == ',' ? end - 1 : end);
    if (widthOf(words) <= width) return words.toString();
  }
  const double dots = widthOf(u"…");
  qsizetype letters = 0;
  for (double used = dots; letters < text.size() && (used += widthOf(QStringView(text).mid(letters, 1))) <= width;) ++letters;
  return letters < kFewest ? QString() : text.left(letters) + QStringLiteral("…");
}

}  // namespace gui
