#include "gui/views/translation.h"

#include <QLocale>
#include <QSettings>

#include "zh_cn_table.h"

namespace gui {
namespace {

constexpr const char* kSetting = "window/chinese";

}  // namespace

TableTranslator::TableTranslator(QObject* parent) : QTranslator(parent) {
  for (const QByteArray& line : QByteArray(kChineseTable).split('\n')) {
    const auto tab = line.indexOf('\t');
    if (tab > 0 && !line.startsWith('#')) texts_.insert(line.left(tab), QString::fromUtf8(line.mid(tab + 1)));
  }
}

QString TableTranslator::translate(const char*, const char* source, const char*, int) const { return texts_.value(source); }

bool wantsChinese() { return QSettings().value(QString::fromLatin1(kSetting), QLocale::system().language() == QLocale::Chinese).toBool(); }
void chooseChinese(bool wanted) { QSettings().setValue(QString::fromLatin1(kSetting), wanted); }

}  // namespace gui
