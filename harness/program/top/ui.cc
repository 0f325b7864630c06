#include "top/ui.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/one_line.h"
#include "os/keys.h"
#include "top/table.h"

namespace zerotax::top {
namespace {

struct SortKey {
  int key;
  Sort sort;
};
constexpr SortKey kSortKeys[] = {{'f', Sort::kFaults}, {'z', Sort::kZeroed}, {'r', Sort::kRefilled},
                                 {'c', Sort::kCpu},    {'m', Sort::kRss},    {'p', Sort::kPid}};
constexpr std::size_t kLongestFilter = 60;

std::string joined(const std::vector<std::string>& lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return text;
}

/// Inverted, as terminals show a selection (ECMA-48, SGR 7).
std::string marked(const std::string& line) { return "\x1b[7m" + line + "\x1b[0m"; }

}  // namespace

bool Ui::press(int key) {
  if (details_) {
    press_details(key);
  } else if (typing_) {
    press_filter(key);
  } else {
    return press_list(key);
  }
  return true;
}

bool Ui::press_list(int key) {
  if (key == 'q') return false;
  for (const SortKey& each : kSortKeys) {
    if (each.key == key) view_.sort = each.sort;
  }
  if (key == 'b') {
    view_.by = static_cast<By>((static_cast<std::size_t>(view_.by) + 1) % by_words().size());
    view_.members.reset();
  }
  if (key == '/') {
    typing_ = true;
    view_.filter.clear();
  }
  if (key == key::kEscape) {
    view_.filter.clear();
    view_.members.reset();
  }
  if (key == key::kUp || key == 'k') select(-1);
  if (key == key::kDown || key == 'j') select(1);
  if (key == key::kEnter) open();
  return true;
}

void Ui::press_filter(int key) {
  if (key == key::kEnter) {
    typing_ = false;
  } else if (key == key::kEscape) {
    typing_ = false;
    view_.filter.clear();
  } else if (key == key::kErase) {
    if (!view_.filter.empty()) view_.filter.pop_back();
  } else if (key >= ' ' && key < 256 && view_.filter.size() < kLongestFilter) {
    view_.filter += static_cast<char>(key);
  }
  selected_ = 0;
}

void Ui::press_details(int key) {
  if (key != 'q' && key != key::kEscape && key != key::kErase && key != key::kEnter) return;
  details_.reset();
  detail_.reset();
}

void Ui::select(std::ptrdiff_t step) {
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  selected_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(selected_) + step, 0, std::max<std::ptrdiff_t>(last, 0)));
}

/// A process's details, or the processes of a group.
void Ui::open() {
  if (selected_ >= shown_.size()) return;
  const Usage& row = shown_[selected_];
  if (row.pid) {
    details_ = std::make_unique<DetailsWatch>(*row.pid);
    detail_ = details_->look();
    return;
  }
  view_.members = {view_.by, row.name};
  view_.by = By::kProcess;
  selected_ = 0;
}

void Ui::show(Sample sample) {
  sample_ = std::move(sample);
  if (details_) detail_ = details_->look();
}

std::string Ui::keys_line() const {
  if (!keys_) return "no keys: standard input is not this terminal; Ctrl-C ends";
  if (typing_) return "filter (Enter applies, Esc clears): " + one_line(view_.filter);
  std::string state = fmt::format("by {}, sorted by {}", word(view_.by), word(view_.sort));
  if (!view_.filter.empty()) state += ", filter '" + one_line(view_.filter) + "'";
  if (view_.members) state += ", of " + one_line(view_.members->second);
  return state;
}

std::string Ui::screen(std::size_t columns, std::size_t rows, const std::function<void(Sample&)>& complete) {
  if (details_) {
    std::vector<std::string> lines{fmt::format("process {} has ended", details_->pid())};
    if (detail_) lines = details_lines(*detail_, columns, rows > 1 ? rows - 1 : 1);
    lines.resize(std::min(lines.size(), rows > 1 ? rows - 1 : 1));
    lines.push_back(first_characters("Esc: back", columns));
    return joined(lines, rows);
  }
  if (!sample_) return first_characters("zerotax top: the first interval is not over yet; q ends", columns);
  Sample sample = *sample_;
  View view = view_;
  // The head of three lines, the heading, and the foot with its keys.
  const std::size_t taken = 6 + sample.limits.size() + (keys_ ? 1 : 0);
  const std::size_t room = rows > taken + 1 ? rows - taken - 1 : 1;
  view.rows = view.rows > 0 ? std::min(view.rows, room) : room;
  arrange(sample, view, users_);
  complete(sample);
  shown_ = sample.rows;
  select(0);
  const Lines lines = top_lines(sample, columns);
  std::vector<std::string> all = lines.head;
  all.push_back(lines.heading);
  for (std::size_t i = 0; i < lines.rows.size(); ++i) {
    all.push_back(keys_ && i == selected_ ? marked(lines.rows[i]) : lines.rows[i]);
  }
  all.insert(all.end(), lines.foot.begin(), lines.foot.end());
  all.push_back(first_characters(keys_line(), columns));
  if (keys_) {
    all.push_back(first_characters("q quit  f z r c m p sort  / filter  b group  Enter details  Esc all", columns));
  }
  return joined(all, rows);
}

}  // namespace zerotax::top
