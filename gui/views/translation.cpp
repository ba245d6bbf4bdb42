#include "gui/views/translation.h"

#include <QLocale>
#include <QSettings>

#include "zh_cn_table.h"

namespace gui {
namespace {

constexpr const char* kSetting = "window/chinese";
const QString kHole = QStringLiteral("{}");

}  // namespace

TableTranslator::TableTranslator(QObject* parent) : QTranslator(parent) {
  for (const QByteArray& line : QByteArray(kChineseTable).split('\n')) {
    const auto tab = line.indexOf('\t');
    if (tab <= 0 || line.startsWith('#')) continue;
    const QString english = QString::fromUtf8(line.left(tab)), translated = QString::fromUtf8(line.mid(tab + 1));
    texts_.insert(line.left(tab), translated);
    if (!english.contains(kHole)) continue;
    QStringList parts;
    for (const QString& part : english.split(kHole)) parts << QRegularExpression::escape(part);
    patterns_.push_back({QRegularExpression(QRegularExpression::anchoredPattern(parts.join(QStringLiteral("(.*?)")))), translated});
  }
}

QString TableTranslator::translate(const char* context, const char* source, const char*, int) const {
  const QString known = texts_.value(source);
  return known.isEmpty() && qstrcmp(context, "Sentence") == 0 ? matched(QString::fromUtf8(source)) : known;
}

QString TableTranslator::matched(const QString& english) const {
  for (const Pattern& pattern : patterns_) {
    const QRegularExpressionMatch match = pattern.english.match(english);
    if (!match.hasMatch()) continue;
    QString text = pattern.translated;
    for (int at = 1; at <= match.lastCapturedIndex(); ++at) {
      const QString value = match.captured(at), known = value.isEmpty() ? QString() : translate("Sentence", value.toUtf8(), nullptr, -1);
      text.replace(text.indexOf(kHole), kHole.size(), known.isEmpty() ? value : known);
    }
    return text;
  }
  return {};
}

bool wantsChinese() { return QSettings().value(QString::fromLatin1(kSetting), QLocale::system().language() == QLocale::Chinese).toBool(); }
void chooseChinese(bool wanted) { QSettings().setValue(QString::fromLatin1(kSetting), wanted); }

}  // namespace gui
