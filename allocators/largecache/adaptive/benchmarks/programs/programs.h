#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// A requirement of a program: an executable in PATH or the absolute path of a file, and the package that has it.
struct Need {
  std::string what;
  std::string package;
};

/// One real program, and its task.
struct Program {
  std::string name;
  std::string does;                ///< the task in a few words
  std::vector<Need> needs;         ///< the first one is run; a program of our own needs no package
  std::vector<std::string> words;  ///< arguments
  std::function<void(const std::filesystem::path& folder)> prepare = {};  ///< makes its input in its folder
  std::string input = "/dev/null";
  std::string client = {};     ///< for a server: a shell command that gives the server work and ends it
  bool quick = false;          ///< part of a smoke run
  bool own_allocator = false;  ///< linked with an allocator other than the C library's
};

/// All programs, in the order of the table.
std::vector<Program> all_programs();

/// The named programs; without names, all. Throws UsageError for an unknown name.
std::vector<Program> chosen_programs(const std::vector<std::string>& names);

/// The file to run; empty if a requirement is missing. Then `why` names the requirement and how to install it.
std::string installed(const Program& program, std::string& why);
