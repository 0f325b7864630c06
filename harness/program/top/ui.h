#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/measured.h"
#include "os/memory.h"
#include "os/process_info.h"
#include "top/result.h"
#include "top/view.h"

namespace zerotax::top {

/// A thread during one interval.
struct ThreadUsage {
  pid_t tid = 0;
  std::string name;
  std::uint64_t faults = 0;  ///< minor and major
  std::int64_t cpu_ns = 0;
};

/// What /proc says of one process.
struct Details {
  pid_t pid = 0;
  std::string command_line;
  std::string user;
  std::string cgroup;
  pid_t parent = 0;
  std::uint64_t threads = 0;  ///< also those that are not listed
  double interval_s = 0;
  std::vector<ThreadUsage> usage;                 ///< most faults first
  Measured<std::vector<MappingMemory>> mappings;  ///< most anonymous memory first
};

/// Looks at one process again and again: its threads each time, its mappings once, for that walks its page tables.
class DetailsWatch {
 public:
  explicit DetailsWatch(pid_t pid);
  /// Nothing if the process has ended. The first time without threads.
  std::optional<Details> look();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  std::uint64_t start_ticks_ = 0;
  std::int64_t time_ns_ = 0;
  std::map<pid_t, ThreadTimes> before_;
  Details details_;
};

/// Lines for people, at most so many, none wider than `columns`.
std::vector<std::string> details_lines(const Details& details, std::size_t columns, std::size_t lines);

/// What the keys do, and what is on the screen. It neither reads keys nor writes to a terminal.
class Ui {
 public:
  /// `keys`: there are some.
  Ui(View view, bool keys) : view_(std::move(view)), keys_(keys) {}

  /// Takes a key (os/terminal.h). False: end.
  bool press(int key);
  /// A new interval, with all its rows.
  void show(Sample sample);
  /// The screen: at most `rows` lines of at most `columns` characters, line breaks between them.
  /// `complete` adds to the rows that are shown what is too expensive for all.
  std::string screen(std::size_t columns, std::size_t rows, const std::function<void(Sample&)>& complete);

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] bool in_details() const { return details_ != nullptr; }

 private:
  bool press_list(int key);
  void press_filter(int key);
  void press_details(int key);
  void open();
  void select(std::ptrdiff_t step);
  [[nodiscard]] std::string keys_line() const;

  View view_;
  bool keys_;
  std::optional<Sample> sample_;  ///< all rows
  std::vector<Usage> shown_;      ///< as last on the screen
  std::size_t selected_ = 0;
  bool typing_ = false;
  std::unique_ptr<DetailsWatch> details_;
  std::optional<Details> detail_;
  Users users_;
};

}  // namespace zerotax::top
