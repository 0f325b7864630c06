#pragma once

#include <string>
#include <vector>

#include "bisect/repository.h"

namespace zerotax::bisect {

/// A program that a recipe runs, and the Debian package that has it.
struct RecipeTool {
  std::string program;
  std::string package;
};

/// How a version of an allocator or a program is built: data, from allocators/<name>/recipe.json
/// (results/schema/recipe.schema.json) or from --build and --library. In commands and paths {source} is the folder with
/// the version's files, {build} an empty folder beside it, {jobs} a number.
struct Recipe {
  std::string name;                    ///< of the allocator, as in points, or of the command
  std::vector<std::string> commands;   ///< for sh, in order, in the folder {source}; words are quoted already
  std::vector<std::string> libraries;  ///< patterns of its path, of which the first that matches counts
  std::vector<std::string> beside;     ///< patterns of files that the library loads from its own folder
  std::vector<std::string> keep;       ///< of a program: patterns of what its command needs, at their places
  std::vector<RecipeTool> tools;
  std::vector<std::string> packages;  ///< of Debian, in place of all that: a release's is the first that it has
  std::string tags;                   ///< pattern of the tags of releases; may be empty
  std::string repository;             ///< where the project's history is, for readers; may be empty

  [[nodiscard]] bool is_of_program() const { return libraries.empty(); }
  [[nodiscard]] bool is_of_debian() const { return !packages.empty(); }
};

/// The names of the recipes that are built in.
std::vector<std::string> recipe_names();

/// A built-in recipe, or one from a file: `word` is a name, or a path (it has a slash, or ends with .json). Throws
/// UsageError for an unknown name and for a file that is no recipe.
Recipe recipe_of(const std::string& word);

/// The command of a list of words: those that need it are quoted. Placeholders are quoted when they are replaced.
std::string command_of(const std::vector<std::string>& words);

/// One of --build and --library, for an allocator of this name.
Recipe recipe_of_options(const std::string& name, const std::string& command, const std::string& library);

/// One of --build and --keep, for a command of this name.
Recipe recipe_of_program(const std::string& name, const std::string& command, const std::vector<std::string>& keep);

/// Throws MachineError for the first tool that is not installed.
void check_tools(const Recipe& recipe);

/// A word in quotes, as sh takes it for one word.
std::string quoted(const std::string& word);

/// {source}, {build} and {jobs} replaced.
struct RecipePlaces {
  std::string source;
  std::string build;
  unsigned jobs = 1;
};
/// In a command: the folders are quoted.
std::string command_at(const std::string& command, const RecipePlaces& places);
/// In a word of a command that no shell reads.
std::string word_at(const std::string& word, const RecipePlaces& places);
/// In a path; a relative one is below {source}.
std::string path_at(const std::string& path, const RecipePlaces& places);

/// The allocators whose packages in Debian are known: `debian` of their upstream.json.
std::vector<std::string> names_in_debian();

/// The packages of such an allocator, or a package by its own name.
Recipe recipe_of_debian(const std::string& name);

/// The versions that the releases of Debian have, oldest release first, fetched unless they are in the cache. A release
/// without a package is left out. Throws UsageError if none has one, and MachineError as find_debian_package does.
std::vector<Commit> debian_versions(const Recipe& recipe);

}  // namespace zerotax::bisect
