#include "run/allocators.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "files/output_file.h"
#include "os/input_file.h"
#include "os/machine_trouble.h"
#include "run/debian_library.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> available_names() {
  std::vector<std::string> names;
  for (const BuiltinAllocator& builtin : builtin_allocators()) {
    if (builtin.missing.empty()) names.push_back(builtin.name);
  }
  return names;
}

std::string own_remedy() {
  return fmt::format(
      "built-in allocators: {}; give any other allocator by its path, as in --allocator mine=/path/libmine.so",
      fmt::join(available_names(), ", "));
}

/// Checks a library file before use, because the loader ignores an unsuitable file.
void check_library_file(const std::string& path) {
  require_folder_of(path);
  constexpr const char* kRemedy = "give the shared library of a malloc replacement, as in mine=/path/libmine.so";
  std::error_code failure;
  if (!fs::exists(path, failure)) {
    throw UsageError(fmt::format("no library '{}'", path), kRemedy);
  }
  if (!fs::is_regular_file(path, failure)) {
    throw UsageError(fmt::format("'{}' is not a file", path), kRemedy);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("'{}' cannot be read", path), "check its permissions");
  std::array<char, EI_NIDENT> identity{};
  file.read(identity.data(), identity.size());
  if (std::string_view(identity.data(), SELFMAG) != ELFMAG) {
    throw UsageError(fmt::format("'{}' is not a shared library (not an ELF file)", path), kRemedy);
  }
  if (identity[EI_CLASS] != ELFCLASS64) {
    throw UsageError(fmt::format("'{}' is not a 64-bit library", path), kRemedy);
  }
  if (is_cut_short(path)) {
    throw UsageError(fmt::format("'{}' is damaged: the file is shorter than the segments that it lists", path),
                     kRemedy);
  }
  check_preload_path(path, "copy or link the library to a path without these characters");
}

/// Checks that a library replaces the whole malloc family. Otherwise, one allocator would free blocks of another.
void check_replaces_malloc(const Allocator& allocator, const ProbeAnswer& answer) {
  const std::pair<const char*, const std::string&> functions[] = {{"malloc", answer.malloc_file},
                                                                  {"calloc", answer.calloc_file},
                                                                  {"realloc", answer.realloc_file},
                                                                  {"free", answer.free_file}};
  for (const auto& [function, file] : functions) {
    std::error_code failure;
    if (fs::equivalent(file, *allocator.preload, failure)) continue;
    const std::string& errors = answer.errors;
    const std::string said = errors.find("cannot be preloaded") != std::string::npos
                                 ? "; the loader says: " + errors.substr(0, errors.find('\n'))
                                 : "";
    throw UsageError(
        fmt::format("'{}' is not a malloc replacement: it does not define {}{}", *allocator.preload, function, said),
        "give a library that defines malloc, calloc, realloc and free");
  }
}

/// Makes a path absolute, and removes "." and ".." if the result still names the same file. Symbolic links stay,
/// because they may name versions.
std::string tidy_path(const std::string& path) {
  std::error_code failure;
  const fs::path whole = absolute_path(path);
  const fs::path tidy = whole.lexically_normal();
  if (fs::equivalent(whole, tidy, failure) && !failure) return tidy.string();
  const fs::path real = fs::weakly_canonical(whole, failure);
  // The loader cannot preload a path with a blank or a colon, so a link stays unresolved if its target has such a path.
  const bool usable = !failure && real.string().find_first_of(": ") == std::string::npos;
  return usable ? real.string() : whole.string();
}

/// Throws UsageError for a name that is unsuitable in a word of --env, in a file's name, or in a table.
void check_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("invalid allocator name '{}'{}", name, why), own_remedy());
  };
  if (name.size() > kLongest) refuse(fmt::format(": it has more than {} characters", kLongest));
  // Documents are parsed again later, and can hold only UTF-8.
  if (valid_utf8(name) != name) refuse(": it is not UTF-8");
  if (printable(name) != name) refuse(": it has a control character or an invisible character");
  if (name.starts_with('-')) refuse(": it starts like an option");
  if (name.empty() || name == "." || name == ".." || name.find_first_of(":/ ,\"\\") != std::string::npos) refuse("");
}

/// Throws UsageError for text that is not UTF-8. The text goes into documents, which can hold only UTF-8.
void check_utf8(const std::string& what, const std::string& text, const std::string& remedy) {
  if (valid_utf8(text) != text) throw UsageError(what + " is not UTF-8, which documents need", remedy);
}

Allocator parse_allocator(const std::string& word) {
  check_allocator_word(word);
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  Allocator allocator{name, {}, {}, {}, {}};
  if (equals != std::string::npos) {
    std::string path = word.substr(equals + 1);
    if (is_debian_library(path)) path = debian_library(path);
    check_library_file(path);
    allocator.probe = probe_folder() + "/bench-glibc";
    allocator.preload = tidy_path(path);
    check_utf8(fmt::format("the path '{}'", *allocator.preload), *allocator.preload,
               "link the library to a path in UTF-8");
    return allocator;
  }
  const auto& all = builtin_allocators();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.name == name; });
  if (found == all.end())
    throw UsageError(fmt::format("unknown allocator '{}'", name), did_you_mean(name, available_names()) + own_remedy());
  if (!found->missing.empty()) {
    throw UsageError(fmt::format("this build has no {}", name), found->missing + ", then build again");
  }
  allocator.probe = probe_folder() + "/bench-" + name;
  return allocator;
}

/// Throws UsageError if another library takes the name of a built-in allocator, because sentences with that name are
/// about the built-in allocator's project.
void check_is_named(const Allocator& allocator, const std::string& known_as) {
  if (!is_builtin(allocator.name) || known_as == allocator.name) return;
  throw UsageError(fmt::format("'{}' is {}, and {} is the name of a built-in allocator", *allocator.preload,
                               known_as.empty() ? "another library" : known_as, allocator.name),
                   fmt::format("give the library another name, as in mine={}", *allocator.preload));
}

void check_variable(const std::string& key, const std::string& allocator) {
  if (key == "LD_PRELOAD") {
    // `compare` gives its two allocators these names, and has no option --allocator.
    const bool is_side = allocator == "old" || allocator == "new";
    throw UsageError("--env cannot set LD_PRELOAD: zerotax sets it itself",
                     is_side
                         ? fmt::format("give the library's path as {}, or for commands: env LD_PRELOAD=PATH COMMAND",
                                       allocator == "old" ? "OLD" : "NEW")
                         : fmt::format("name the library as an allocator, as in --allocator {}=PATH", allocator));
  }
  if (key.starts_with("ZEROTAX_")) {
    throw UsageError(
        fmt::format("--env cannot set {}: variables that start with ZEROTAX_ belong to zerotax itself", key),
        "set it for zerotax, as in " + key + "=VALUE zerotax ...");
  }
  const bool named = std::all_of(key.begin(), key.end(), [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte > 0x20 && byte != 0x7F;
  });
  if (!named) throw UsageError(fmt::format("'{}' is not the name of a variable", key), "give NAME:KEY=VALUE");
}

void apply_env(const std::string& word, std::vector<Allocator>& allocators) {
  const auto [name, key, value] = parse_env_word(word);
  for (Allocator& allocator : allocators) {
    if (allocator.name != name) continue;
    if (!allocator.env.emplace(key, value).second) {
      throw UsageError(fmt::format("--env sets {} of {} twice", key, name), "leave one of them out");
    }
    return;
  }
  throw UsageError(fmt::format("--env names '{}', which is not measured", name),
                   fmt::format("add --allocator {}", name));
}

/// Returns the list of choices in a text such as "a, b or c".
std::vector<std::string> choices_in(std::string text) {
  if (const auto last = text.rfind(" or "); last != std::string::npos) text.replace(last, 4, ", ");
  std::vector<std::string> choices;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(", ", begin), text.size());
    choices.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  return choices;
}

/// Throws an error if the allocator rejected a setting with "KEY=VALUE is unusable; give A or B; keeping ..." (as
/// largecache does). Otherwise, zerotax would measure a setting that was not requested.
void check_settings(const Allocator& allocator, const std::string& errors) {
  for (const auto& [key, value] : allocator.env) {
    const std::string complaint = fmt::format("{}={} is unusable; give ", key, value);
    const auto at = errors.find(complaint);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + complaint.size();
    const std::string choices = errors.substr(begin, errors.find_first_of(";\n", begin) - begin);
    throw UsageError(fmt::format("{} does not accept {}={}", allocator.name, key, value),
                     did_you_mean(value, choices_in(choices)) + "give " + choices);
  }
}

}  // namespace

const std::vector<BuiltinAllocator>& builtin_allocators() {
  static const std::vector<BuiltinAllocator> all{
#include "builtin_allocators.inc"
  };
  return all;
}

std::string allocator_word(const Allocator& allocator) {
  return allocator.preload ? allocator.name + "=" + *allocator.preload : allocator.name;
}

void check_allocator_word(const std::string& word) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  check_name(name);
  if (equals == word.size() - 1) {
    throw UsageError(fmt::format("allocator '{}' has an empty path", name),
                     "give the path of a library, as in mine=/path/libmine.so");
  }
}

bool is_builtin(const std::string& name) {
  const auto& all = builtin_allocators();
  return std::any_of(all.begin(), all.end(), [&](const BuiltinAllocator& each) { return each.name == name; });
}

EnvWord parse_env_word(const std::string& word) {
  const auto colon = word.find(':');
  const auto equals = word.find('=', colon == std::string::npos ? 0 : colon);
  if (colon == std::string::npos || equals == std::string::npos || equals == colon + 1) {
    throw UsageError(fmt::format("invalid --env '{}'", word),
                     "give NAME:KEY=VALUE, as in --env jemalloc:MALLOC_CONF=retain:false");
  }
  EnvWord parsed{word.substr(0, colon), word.substr(colon + 1, equals - colon - 1), word.substr(equals + 1)};
  check_variable(parsed.key, parsed.allocator);
  check_utf8(fmt::format("--env '{}'", word), word, "give a value in UTF-8");
  return parsed;
}

void check_preload_path(const std::string& path, const std::string& remedy) {
  // The loader splits LD_PRELOAD at blanks and colons, which cannot be quoted.
  const bool clean = std::none_of(path.begin(), path.end(), [](char each) {
    const auto byte = static_cast<unsigned char>(each);
    return byte <= 0x20 || byte == 0x7F || each == ':';
  });
  if (clean) return;
  throw UsageError(
      fmt::format("the path '{}' has a blank, colon or control character, which the loader cannot preload", path),
      remedy);
}

std::string probe_folder() {
  if (const char* folder = std::getenv("ZEROTAX_PROBE_DIR")) return folder;
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return self.parent_path().string();
  require_proc();
  return ".";
}

std::string helper_program(const std::string& name) {
  std::error_code failure;
  const fs::path given = fs::path(probe_folder()) / "../libexec" / name;
  const fs::path found = fs::weakly_canonical(given, failure);
  return failure ? given.string() : found.string();
}

std::vector<Allocator> resolve_allocators(const std::vector<std::string>& words,
                                          const std::vector<std::string>& env_words) {
  std::vector<Allocator> allocators;
  for (const std::string& word : words.empty() ? available_names() : words) {
    allocators.push_back(parse_allocator(word));
    const std::string& name = allocators.back().name;
    for (std::size_t i = 0; i + 1 < allocators.size(); ++i) {
      if (allocators[i].name == name) {
        throw UsageError(fmt::format("allocator '{}' is named twice", name),
                         "give each allocator a different name, as in a=PATH b=PATH");
      }
    }
  }
  for (const std::string& word : env_words) apply_env(word, allocators);
  for (Allocator& allocator : allocators) {
    const ProbeAnswer answer = ask_probe(allocator);
    if (allocator.preload) {
      check_replaces_malloc(allocator, answer);
      check_is_named(allocator, answer.known_as);
    }
    check_settings(allocator, answer.errors);
    allocator.version = answer.version;
  }
  return allocators;
}

}  // namespace zerotax
