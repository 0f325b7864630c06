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
  std::uint64_t faults = 0;  ///< minor and major faults
  std::int64_t cpu_ns = 0;
};

/// Details of one process, from /proc.
struct Details {
  pid_t pid = 0;
  std::string command_line;
  std::string user;
  std::string cgroup;
  pid_t parent = 0;
  std::uint64_t threads = 0;  ///< total, including threads that are not listed
  double interval_s = 0;
  std::vector<ThreadUsage> usage;                 ///< sorted by faults, most first
  Measured<std::vector<MappingMemory>> mappings;  ///< sorted by anonymous memory, most first
};

/// Reads one process repeatedly. Threads are read each time; mappings are read once, because reading them walks the
/// process's page tables.
class DetailsWatch {
 public:
  explicit DetailsWatch(pid_t pid);
  /// Returns std::nullopt if the process has ended. The first call returns no threads.
  std::optional<Details> look();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  std::uint64_t start_ticks_ = 0;
  std::int64_t time_ns_ = 0;
  std::map<pid_t, ThreadTimes> before_;
  Details details_;
};

/// Returns at most `lines` lines of text, each at most `columns` wide.
std::vector<std::string> details_lines(const Details& details, std::size_t columns, std::size_t lines);

/// The state of the screen, and its reactions to keys. This class neither reads keys nor writes to a terminal.
class Ui {
 public:
  /// `keys` says whether keys can be read.
  Ui(View view, bool keys) : view_(std::move(view)), keys_(keys) {}

  /// Handles a key (os/terminal.h). Returns false if the key ends the command.
  bool press(int key);
  /// Takes a new interval with all its rows.
  void show(Sample sample);
  /// Returns the screen: at most `rows` lines of at most `columns` characters, separated by line breaks. `complete`
  /// sets those values of the shown rows that are too expensive to read for all rows.
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
  std::optional<Sample> sample_;  ///< the last sample, with all rows
  std::vector<Usage> shown_;      ///< rows on the screen
  std::size_t selected_ = 0;
  bool typing_ = false;
  std::unique_ptr<DetailsWatch> details_;
  std::optional<Details> detail_;
  Users users_;
};

}  // namespace zerotax::top
