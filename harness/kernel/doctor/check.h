#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::doctor {

/// The text of a file, or the reason why it is missing.
struct Reading {
  std::optional<std::string> text;
  std::string why;  ///< such as "/proc/x cannot be read (No such file or directory)"; empty if there is a text

  explicit operator bool() const { return text.has_value(); }
};

/// The machine to examine: the files of the running system, or files below a folder, where a test plants them. Files
/// are only read.
class Machine {
 public:
  /// `root` is put before every path; it is empty for this machine.
  explicit Machine(std::string root = "") : root_(std::move(root)) {}

  /// Whether this machine is examined, so that checks can also ask the kernel.
  [[nodiscard]] bool is_this() const { return root_.empty(); }
  [[nodiscard]] const std::string& root() const { return root_; }

  /// Return a file's text (at most 1 MiB), or its first line.
  [[nodiscard]] Reading text(const std::string& path) const;
  [[nodiscard]] Reading line(const std::string& path) const;
  /// The number at the beginning of a file; no value if the file is missing, or does not begin with a number.
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path) const;
  /// The text after "KEY:" in a file of lines "KEY: TEXT", without surrounding blanks.
  [[nodiscard]] std::optional<std::string> field(const std::string& path, const std::string& key) const;
  /// Names in a folder, sorted; empty if it cannot be read.
  [[nodiscard]] std::vector<std::string> names(const std::string& folder) const;

  /// Whether the process has a capability (its bit in capability.h), according to CapEff in /proc/self/status.
  [[nodiscard]] bool has_capability(unsigned bit) const;
  /// The number of CPUs that the process may run on, according to /proc/self/status; 1 if that cannot be read.
  [[nodiscard]] std::size_t allowed_cpus() const;

 private:
  std::string root_;
};

/// The number of integers in a list such as "0-3,8".
std::size_t count_of_list(const std::string& list);

/// The effect of a state on a run, in order of severity.
enum class Weight {
  kOk,
  kNote,     ///< worth knowing; metrics are correct
  kLimits,   ///< some metrics or commands are unavailable (n/a); the other metrics are correct
  kSpoils,   ///< metrics measured now would be wrong or not comparable
  kStops,    ///< nothing can be measured
  kUnknown,  ///< the state could not be read, and nothing can be concluded
};
ENUM_WORDS(Weight, "ok", "note", "limits", "spoils", "stops", "unknown")

/// A state in a few words, or the reason why it is not available.
struct State : Measured<std::string> {
  using Measured::Measured;
  State(const char* words) : Measured(std::string(words)) {}
  bool operator==(const State&) const = default;
};

struct Finding {
  RESULT("finding");
  ZEROTAX_VISIT_FIELD(visit("state", static_cast<const Measured<std::string>&>(object.state),
                            "The state that the check found, in a few words."));
  State state;
  FIELD(
      Weight, weight,
      "Effect on a run. ok: no effect. note: metrics are correct. limits: some metrics or commands are unavailable. "
      "spoils: metrics would be wrong or not comparable. stops: nothing can be measured. unknown: the state could not "
      "be read.");
  FIELD(std::string, effect,
        "The metrics or commands that the state affects, and the effect; null if the state affects nothing.",
        kNullIfEmpty);
  FIELD(std::string, remedy,
        "A command that would change the state, and that zerotax never runs; null if there is no such command.",
        kNullIfEmpty);
};

/// The heading under which a row is shown.
enum class Topic { kCpu, kMemory, kKernel, kRights, kZerotax };
ENUM_WORDS(Topic, "CPU and load", "memory", "what the kernel offers", "what is permitted", "zerotax")

/// A check of the machine: a static object in a file of checks/, or a row of checks/settings.cc.
class Check {
 public:
  using Look = Finding (*)(const Machine&);
  Check(Topic topic, const char* name, Look look);

  Topic topic;
  const char* name;  ///< at most 20 characters, such as "huge pages"
  Look look;
};

struct Row {
  RESULT("row", "Result of one check.");
  static constexpr const char* kMore = R"({"allOf": [{
    "if": {"properties": {"weight": {"enum": ["note", "limits", "spoils", "stops"]}}},
    "then": {"properties": {"effect": {"type": "string"}}},
    "else": {"properties": {"effect": {"type": "null"}, "remedy": {"type": "null"}}}}]})";
  FIELD(Topic, topic, "The topic of the check.");
  FIELD(std::string, name, "Subject of the check; unique within its topic.");
  PART_FIELDS(Finding, finding);
  Finding finding;
};

/// Runs every check, by topic and name. If a check fails, its row is n/a with the reason.
std::vector<Row> examine(const Machine& machine);

/// The state shown for planted files by a check that needs the running kernel.
Finding not_asked();

/// A state that could not be read.
Finding unknown(const std::string& why);

/// A check as a row of data: a file with one word, and the meaning of each possible word.
struct Setting {
  struct Meaning {
    const char* value;  ///< the word in the file; "*" is any other word
    const char* state;  ///< the word to show; empty to show the word in the file
    Weight weight;
    const char* effect;
    const char* remedy;
  };
  Topic topic;
  const char* name;
  const char* path;
  const char* missing;  ///< the meaning of a missing file
  std::vector<Meaning> meanings;
};

/// Every setting (checks/settings.cc).
const std::vector<Setting>& settings();

/// Looks up the word in brackets of a file such as "always [madvise] never", or else the whole first line of the file.
Finding look_at(const Setting& setting, const Machine& machine);

/// A file of the process's own cgroup, or of a parent cgroup.
struct CgroupFile {
  std::string path;
  std::string text;  ///< the file's first line
};

/// Finds the files `name_v2` (cgroup v2) and `name_v1` (the v1 hierarchy of `controller`) in the process's cgroup and
/// in its ancestors. An empty name finds nothing. Returns an empty list if nothing can be read.
std::vector<CgroupFile> cgroup_files(const Machine& machine, const std::string& controller, const std::string& name_v2,
                                     const std::string& name_v1);

}  // namespace zerotax::doctor
