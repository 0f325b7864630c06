#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/measured.h"

namespace zerotax::doctor {

/// The text of a file, or why there is none.
struct Reading {
  std::optional<std::string> text;
  std::string why;  ///< "/proc/x cannot be read (No such file or directory)"; empty if there is a text

  explicit operator bool() const { return text.has_value(); }
};

/// The machine to examine: the files of the running system, or those below a folder, as a test plants them. Only reads.
class Machine {
 public:
  /// `root` stands in front of every path; empty is this machine.
  explicit Machine(std::string root = "") : root_(std::move(root)) {}

  /// Whether it is this machine, so that the kernel itself can be asked too.
  [[nodiscard]] bool is_this() const { return root_.empty(); }
  [[nodiscard]] const std::string& root() const { return root_; }

  /// A whole file, at most 1 MiB of it, or its first line.
  [[nodiscard]] Reading text(const std::string& path) const;
  [[nodiscard]] Reading line(const std::string& path) const;
  /// The number at the beginning of a file; nothing if it is missing, or not a number.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path) const;
  /// What follows "KEY:" in a file of such lines, without blanks around it.
  [[nodiscard]] std::optional<std::string> field(const std::string& path, const std::string& key) const;
  /// Names in a folder, sorted; empty if it cannot be read.
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const;

  /// Whether the process has a capability (its bit in capability.h), by CapEff of /proc/self/status.
  [[nodiscard]] bool has_capability(unsigned bit) const;
  /// CPUs that the process may run on, by /proc/self/status; 1 if that cannot be read.
  [[nodiscard]] std::size_t allowed_cpus() const;

 private:
  std::string root_;
};

/// How many numbers a list as "0-3,8" means.
std::size_t count_of_list(const std::string& list);

/// What a state means for a run, worst last.
enum class Weight {
  kOk,
  kNote,     ///< worth knowing; metrics are right
  kLimits,   ///< some metrics or commands are unavailable (n/a); the others are right
  kSpoils,   ///< metrics measured now would be wrong, or could not be compared
  kStops,    ///< nothing can be measured
  kUnknown,  ///< it cannot be read, which does not matter
};

/// "ok", "note", "limits", "spoils", "stops", "unknown".
const char* weight_word(Weight weight);

/// A few words, or why they are not available.
struct State : Measured<std::string> {
  using Measured::Measured;
  State(const char* words) : Measured(std::string(words)) {}
  bool operator==(const State&) const = default;
};

/// One row of the table.
struct Finding {
  State state;
  Weight weight = Weight::kOk;
  std::string effect;  ///< which metrics or commands it affects, and how; empty with kOk
  std::string remedy;  ///< the exact command that would change it, which we never run; empty if there is none
};

/// The heading that a row belongs under.
enum class Topic { kCpu, kMemory, kKernel, kRights, kZerotax };
const char* topic_word(Topic topic);

/// One thing to check: one static object in a file of checks/, or one row of checks/settings.cc.
class Check {
 public:
  using Look = Finding (*)(const Machine&);
  Check(Topic topic, const char* name, Look look);

  Topic topic;
  const char* name;  ///< "huge pages": at most 20 characters
  Look look;
};

struct Row {
  Topic topic;
  std::string name;
  Finding finding;
};

/// Every check, by topic and name. A check that fails is a row, n/a with the reason.
std::vector<Row> examine(const Machine& machine);

/// The state of a check that only the running kernel can answer, when the files are from another machine.
Finding not_asked();

/// A state that could not be read.
Finding unknown(const std::string& why);

/// A check that is a row of data: a file of one word, and what its words mean.
struct Setting {
  struct Meaning {
    const char* value;  ///< as in the file; "*" is any other
    const char* state;  ///< what that is called; empty: as in the file
    Weight weight;
    const char* effect;
    const char* remedy;
  };
  Topic topic;
  const char* name;
  const char* path;
  const char* missing;  ///< what a missing file means
  std::vector<Meaning> meanings;
};

/// Every setting (checks/settings.cc).
const std::vector<Setting>& settings();

/// Looks at the word in brackets of a file such as "always [madvise] never", else at its whole first line.
Finding look_at(const Setting& setting, const Machine& machine);

/// A file of the process's own cgroup, or of one above it.
struct CgroupFile {
  std::string path;
  std::string text;  ///< its first line
};

/// The files of this name from the process's cgroup upwards, of version 2, and of version 1's controller; none where
/// a name is empty or nothing can be read.
std::vector<CgroupFile> cgroup_files(const Machine& machine, const std::string& controller, const std::string& name_v2,
                                     const std::string& name_v1);

}  // namespace zerotax::doctor
