#pragma once

#include <string>

namespace zerotax {

/// What an output may replace. Set once, by the command line (cli/subcommand.cc).
struct OutputRules {
  std::string command;  ///< the one that runs: its --json replaces only documents of its own kind; "": any of zerotax's
  bool force = false;   ///< --force: anything but what can be executed
  bool takes_standard_output = false;  ///< an output goes there (check_outputs), and nothing else may
};
OutputRules& output_rules();

/// The first line of a file that ZEROTAX_VM_CONSOLE names (run/machine/boot.cc).
inline constexpr const char* kConsoleHead = "zerotax: the end of the console of a virtual machine that failed\n";

/// Whether this is an option that writes a file, and may have to replace one.
bool is_output_option(const std::string& option);

/// Throws UsageError if `option` may not replace the file at `path`. It may if there is none, or an empty one, or one
/// that the same option of the same command wrote before, or by --force; what can be executed it never may. Reads the
/// file.
void check_replaceable(const std::string& option, const std::string& path);

/// The same of a path that was remembered, when it is written: something else may have come there since.
void remember_output(const std::string& option, const std::string& path);
void check_still_replaceable(const std::string& path);

}  // namespace zerotax
