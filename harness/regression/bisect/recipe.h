#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "bisect/repository.h"

namespace zerotax::bisect {

/// A program that a recipe runs, and the Debian package that contains it.
struct RecipeTool {
  RESULT("tool");
  FIELD(std::string, program, "Name of the program.");
  FIELD(std::string, package, "Debian package that contains the program.");
};

struct RecipeEntry {
  RESULT("recipe", "The recipe by which each version was built (recipe.schema.json).");
  FIELD(std::string, allocator, "Name of the allocator, or of the command.");
  FIELD(std::vector<std::string>, build, "Shell commands that build the version, in order.", kMayBeEmpty);
  FIELD(std::vector<std::string>, library,
        "Patterns of the path of the built library, or names of Debian packages; empty for a program.", kMayBeEmpty);
  FIELD(std::vector<std::string>, beside, "Patterns of files that the library loads.", kMayBeEmpty);
  FIELD(std::vector<std::string>, keep, "Patterns of the build files that the command needs. Absent for an allocator.",
        kAbsentIfEmpty, kMayBeEmpty);
};

/// How to build a version of an allocator or a program. The data comes from allocators/<name>/recipe.json
/// (results/schema/recipe.schema.json), or from --build and --library. In commands and paths, {source} is the folder
/// with the version's files, {build} an empty folder beside it, and {jobs} a number.
struct Recipe {
  using Written = RecipeEntry;
  std::string name;                    ///< name of the allocator, as in points, or of the command
  std::vector<std::string> commands;   ///< commands that sh runs in this order in the folder {source}; words are
                                       ///< already quoted
  std::vector<std::string> libraries;  ///< patterns of the library's path; the first match is used
  std::vector<std::string> beside;     ///< patterns of files that the library loads from its own folder
  std::vector<std::string> keep;       ///< for a program: patterns of files that its command needs, at their places
  std::vector<RecipeTool> tools;
  std::vector<std::string> packages;  ///< names of Debian packages, used in place of the build; of these, each Debian
                                      ///< release uses the first that it offers
  std::string tags;                   ///< pattern of the tags of releases; may be empty
  std::string repository;             ///< address of the project's history, informative only; may be empty

  [[nodiscard]] bool is_of_program() const { return libraries.empty(); }
  [[nodiscard]] bool is_of_debian() const { return !packages.empty(); }
};

/// Returns the names of the built-in recipes.
std::vector<std::string> recipe_names();

/// Returns a built-in recipe, or one from a file. `word` is a name, or a path (it has a slash, or ends with .json).
/// Throws UsageError for an unknown name and for an invalid file.
Recipe recipe_of(const std::string& word);

/// Returns the command for a list of words. Words are quoted if necessary; placeholders are quoted when they are
/// replaced.
std::string command_of(const std::vector<std::string>& words);

/// Returns the recipe from --build and --library, for an allocator of this name.
Recipe recipe_of_options(const std::string& name, const std::string& command, const std::string& library);

/// Returns the recipe from --build and --keep, for a command of this name.
Recipe recipe_of_program(const std::string& name, const std::string& command, const std::vector<std::string>& keep);

/// Throws MachineError for the first tool that is not installed.
void check_tools(const Recipe& recipe);

/// Returns a quoted word, which sh reads as one word.
std::string quoted(const std::string& word);

/// The values of {source}, {build} and {jobs}.
struct RecipePlaces {
  std::string source;
  std::string build;
  unsigned jobs = 1;
};
/// Replaces the placeholders in a command. Folders are quoted.
std::string command_at(const std::string& command, const RecipePlaces& places);
/// Replaces the placeholders in a word of a command, which no shell reads.
std::string word_at(const std::string& word, const RecipePlaces& places);
/// Replaces the placeholders in a path. A relative path is below {source}.
std::string path_at(const std::string& path, const RecipePlaces& places);

/// Returns the allocators whose Debian packages are known from `debian` in their upstream.json.
std::vector<std::string> names_in_debian();

/// Returns the Debian packages of one of these allocators. For any other word, returns the package of that name.
Recipe recipe_of_debian(const std::string& name);

/// Returns the versions in the releases of Debian, oldest release first. Fetches packages that the cache does not
/// contain. A release without a package is skipped. Throws UsageError if no release has a package, and MachineError in
/// the same cases as find_debian_package.
std::vector<Commit> debian_versions(const Recipe& recipe);

}  // namespace zerotax::bisect
