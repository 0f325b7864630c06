#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// What a program needs: an executable found by PATH, or a file by its whole path; and the package that has it.
struct Need {
  std::string what;
  std::string package;
};

/// One real program, and what it is given to do.
struct Program {
  std::string name;
  std::string does;                ///< in a few words
  std::vector<Need> needs;         ///< the first is what is run; a program of our own needs no package
  std::vector<std::string> words;  ///< behind it
  std::function<void(const std::filesystem::path& folder)> prepare = {};  ///< makes its input in its folder
  std::string input = "/dev/null";
  std::string client = {};     ///< of a server: a command for the shell that gives it work and ends it
  bool quick = false;          ///< in a smoke run
  bool own_allocator = false;  ///< it is linked with another than the C library's
};

/// All of them, in the order of the table.
std::vector<Program> all_programs();

/// Those that are named; all if none is. Throws UsageError for an unknown name.
std::vector<Program> chosen_programs(const std::vector<std::string>& names);

/// The file to run, or empty if something that it needs is missing; then `why` says what, and what installs it.
std::string installed(const Program& program, std::string& why);
