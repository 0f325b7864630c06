#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace zerotax::doctor
