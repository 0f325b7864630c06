#include "exchange/github.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/units.h"
#include "exchange/cut_text.h"

namespace zerotax::exchange {
namespace {

/// Annotations of one kind that GitHub shows for a step.
constexpr std::size_t kShown = 10;
/// It shows a message whole up to 64 KiB; one beyond a screen is not read.
constexpr std::size_t kLongest = 4000;

enum class Level : std::uint8_t { kNone, kNotice, kWarning, kError };

const char* command_of(Level level) {
  constexpr const char* kCommands[] = {"", "notice", "warning", "error"};
  return kCommands[static_cast<std::size_t>(level)];
}

Level level_of(OutcomeKind kind, bool fails) {
  if (fails) return Level::kError;
  if (kind == OutcomeKind::kBetter) return Level::kNotice;
  return kind == OutcomeKind::kSame ? Level::kNone : Level::kWarning;
}

/// As the runner reads it: % first, line breaks; in a property also what ends one.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char each : text) {
    const bool special = each == '%' || each == '\r' || each == '\n' || (property && (each == ':' || each == ','));
    out += special ? fmt::format("%{:02X}", static_cast<unsigned char>(each)) : std::string(1, each);
  }
  return out;
}

std::string line(Level level, const std::string& file, const std::string& title, const std::string& message) {
  std::string properties = file.empty() ? "" : "file=" + escaped(printable(file), true) + ",";
  properties += "title=" + escaped(printable(title), true);
  return fmt::format("::{} {}::{}\n", command_of(level), properties,
                     escaped(cut_text(printable_lines(message), kLongest), false));
}

}  // namespace

std::string github_commands(const OutcomeList& list) {
  const bool failing = fails(list);
  Level overall = level_of(list.kind, failing);
  if (overall == Level::kNone) overall = Level::kNotice;
  std::string text = line(overall, "", list.command, list.sentence);
  for (const Level level : {Level::kError, Level::kWarning, Level::kNotice}) {
    // The verdict is one of its kind, and so is the line that says how many there are beyond.
    const std::size_t room = kShown - (level == overall ? 1 : 0);
    std::vector<const Outcome*> own;
    for (const Outcome& each : list.outcomes) {
      if (level_of(each.kind, each.fails) == level) own.push_back(&each);
    }
    const std::size_t shown = own.size() <= room ? own.size() : room - 1;
    for (std::size_t i = 0; i < shown; ++i) {
      const Outcome& each = *own[i];
      text += line(level, each.file, fmt::format("{}: {}: {}", each.suite, label_of(each), each.verdict),
                   after_verdict(each.headline, each.verdict));
    }
    if (shown == own.size()) continue;
    text += line(level, "", list.command,
                 fmt::format("{} more, which GitHub would not show: see the log, or the file of --markdown",
                             format_count(own.size() - shown)));
  }
  return text;
}

}  // namespace zerotax::exchange
