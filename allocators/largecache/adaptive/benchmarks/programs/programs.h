#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// A requirement of a program: an executable in PATH or the absolute path of a file, and the package that contains it.
struct Need {
  std::string what;
  std::string package;
};

/// One real program and its task.
struct Program {
  std::string name;
  std::string does;                ///< the task in a few words
  std::vector<Need> needs;         ///< the first requirement is the program itself; our own programs need no package
  std::vector<std::string> words;  ///< arguments
  std::function<void(const std::filesystem::path& folder)> prepare = {};  ///< function that makes the program's input
                                                                          ///< in the folder
  std::string input = "/dev/null";
  std::string client = {};     ///< for a server: a shell command that gives the server work and ends it
  bool quick = false;          ///< whether a smoke run includes it
  bool own_allocator = false;  ///< whether the program links an allocator other than the C library's
};

/// All programs, in the order of the table.
std::vector<Program> all_programs();

/// Returns the named programs; without names, all programs. Throws UsageError for an unknown name.
std::vector<Program> chosen_programs(const std::vector<std::string>& names);

/// Returns the path of the program. If a requirement is missing, returns an empty path, and `why` names the requirement
/// and how to install it.
std::string installed(const Program& program, std::string& why);
