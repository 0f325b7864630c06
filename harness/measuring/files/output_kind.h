#pragma once

#include <string>

namespace zerotax {

/// The rules for files that an output may replace. The command line sets these rules once (cli/subcommand.cc).
struct OutputRules {
  std::string command;  ///< the running command; its --json replaces only documents of its own kind, or any document of
                        ///< zerotax if the command is empty
  bool force = false;   ///< set by --force: an output replaces any file that is not executable
  bool takes_standard_output = false;  ///< an output goes to standard output (check_outputs), so no other text may go
                                       ///< there
};
OutputRules& output_rules();

/// The first line of the file that ZEROTAX_VM_CONSOLE names (run/machine/boot.cc).
inline constexpr const char* kConsoleHead = "zerotax: the end of the console of a virtual machine that failed\n";

/// Whether the option writes a file, and so may replace one.
bool is_output_option(const std::string& option);

/// Throws UsageError if `option` may not replace the file at `path`. A file may be replaced if it is empty, or if the
/// same option of the same command wrote it before. --force allows any file but an executable file. Reads the file.
void check_replaceable(const std::string& option, const std::string& path);

/// remember_output stores an output's path. check_still_replaceable checks that path again before it is written,
/// because another file may have appeared there.
void remember_output(const std::string& option, const std::string& path);
void check_still_replaceable(const std::string& path);

}  // namespace zerotax
