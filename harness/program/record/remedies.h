#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "judge/projects.h"
#include "record/levers.h"
#include "record/result.h"
#include "record/settings.h"

namespace zerotax::record {

struct InsideMarks {
  RESULT("inside",
         "Signs by which zerotax recognizes an allocator in the file of a program that contains it. zerotax advise "
         "then tries the allocator's remedies.");
  FIELD(std::string, text, "Text that every build of the allocator contains.", with(R"({"minLength": 6})"));
  FIELD(std::optional<std::string>, variable,
        "Environment variable with the allocator's settings. A program may have put a prefix before the name, as "
        "in \"_RJEM_MALLOC_CONF\".",
        form("^[A-Z_]+$"));
};

/// An allocator inside a program's own file.
struct InsideAllocator {
  std::string allocator;                         ///< name of the allocator's folder in allocators/
  std::string file;                              ///< path of the program, or of one of its libraries
  std::map<std::string, std::string> variables;  ///< names of the remedies' environment variables in this file, if they
                                                 ///< differ from the usual names
};

/// Returns, for each known allocator, how to recognize it in a program.
std::map<std::string, InsideMarks> inside_marks();

/// Finds the allocators in these files. If the files contain an allocator's variable under several names, each name is
/// a separate allocator. Stripping a file's symbols does not remove names and messages. An unreadable file has no
/// allocator.
std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files);

/// Whether a file contains a name as a C string, or as the end of a C string, because linkers merge equal ends. Nothing
/// if the file cannot be read.
std::optional<bool> has_text(const std::string& file, const std::string& name);

struct KnownRemedy {
  static constexpr Limit kTrue = with(R"({"const": true})");

  RESULT("remedy", "A setting under which zerotax advise tries a program.");
  FIELD(std::string, name, "Name of the remedy in tables.", with(R"({"maxLength": 30})"));
  MEMBER(env, "Environment variables of the setting.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(std::vector<Cause>, causes, "Causes of zeroing, as in `tax` of a recording, for which the remedy could matter.",
        one_of("fresh|refilled|returning|redundant|needed|in_free|by_hand"), least_items(1));
  FIELD(std::string, words, "The effect of the remedy.");
  FIELD(std::string, costs, "The possible cost of the remedy.");
  FIELD(std::optional<bool>, always,
        "True if zerotax always gives the allocator this setting when it replaces another allocator.", kTrue);
  FIELD(std::optional<bool>, threads, "True if the remedy matters only in programs with several threads.", kTrue);
  FIELD(std::optional<bool>, huge_pages, "True if the remedy needs transparent huge pages.", kTrue);
  FIELD(std::optional<bool>, huge_pages_off,
        "True if the remedy avoids transparent huge pages, so that it matters only in programs whose memory is in huge "
        "pages.",
        kTrue);
  FIELD(std::optional<std::string>, not_for,
        "System call that returns memory in spite of the remedy. zerotax record does not name the remedy if this "
        "system call returned most memory.",
        one_of("munmap|madvise|brk|mremap|mmap"));
  FIELD(std::optional<std::string>, since, "First version of the allocator that has the setting.", kVersionNumber);
  FIELD(std::optional<std::string>, before, "First version of the allocator that no longer has the setting.",
        kVersionNumber);
  FIELD(std::optional<bool>, undoes,
        "True if the remedy matters only when the environment sets the same variable to another value.", kTrue);
  FIELD(std::optional<bool>, unbounded,
        "True if the allocator may keep all freed memory with this setting. zerotax then tries the setting only under "
        "a memory limit.",
        kTrue);
  FIELD(std::optional<bool>, growing,
        "True if the remedy is only for programs whose blocks grow, so that the kernel zeroes memory mostly for "
        "realloc.",
        kTrue);
};

/// Contents of allocators/NAME/upstream.json.
struct Upstream : Project {
  RESULT("upstream",
         "Facts about an allocator's project, from allocators/NAME/upstream.json. The file is written for "
         "readers, and built into zerotax. from_bytes and below_bytes of an entry limit the sizes to which the "
         "entry applies.");
  BASE_FIELDS(Project);
  FIELD(std::optional<InsideMarks>, inside,
        "Signs by which zerotax recognizes the allocator in a program that contains it.");
  FIELD(std::optional<std::vector<KnownRemedy>>, remedies, "Settings under which zerotax advise tries a program.");
  FIELD(std::optional<std::vector<Lever>>, levers, "Settings of which zerotax advise --frontier tries several values.");
  FIELD(std::optional<std::vector<std::string>>, setters,
        "Names of functions or options that a program contains if it sets the allocator's options itself. "
        "Settings in the environment may then have no effect in such a program.",
        with(R"({"minItems": 1, "items": {"type": "string", "minLength": 5}})"));
};

/// Returns the contents of allocators/NAME/upstream.json; empty if there is no such file.
Upstream upstream_of_allocator(const std::string& allocator);

/// Whether a remedy is for a cause of zeroing.
inline bool is_for(const KnownRemedy& remedy, Cause cause) {
  return std::find(remedy.causes.begin(), remedy.causes.end(), cause) != remedy.causes.end();
}

/// Returns the remedies of an allocator, in the order of the file.
std::vector<KnownRemedy> known_remedies(const std::string& allocator);

/// Returns the functions with which a program sets the options of an allocator itself.
std::vector<std::string> option_setters(const std::string& allocator);

/// An allocator in a process.
struct PresentAllocator {
  std::string name;     ///< name of the allocator's folder in allocators/
  std::string file;     ///< path of the library, or of the program that contains the allocator
  std::string version;  ///< version of the allocator; empty if it is unknown
  Variables names{};    ///< names of the environment variables in this build, if they differ from the usual names
};

/// Returns the allocator in a library, which may have any file name. The result has no name if the allocator is
/// unknown.
PresentAllocator present_allocator(const std::string& library);

/// Returns the settings of a remedy under the names that this allocator uses.
Variables settings_of(const KnownRemedy& remedy, const PresentAllocator& allocator);

/// Returns the reason why an allocator lacks the setting of a remedy: the version, or the library itself. Empty if the
/// allocator has the setting.
std::string why_unavailable(const KnownRemedy& remedy, const PresentAllocator& allocator);

/// Returns the reason why a remedy cannot change anything, whatever the program does. Possible reasons: the allocator's
/// version lacks the setting, the setting is already set, or the remedy undoes a setting that is not in `now`. Empty if
/// the remedy can change something.
std::string why_no_effect(const KnownRemedy& remedy, const PresentAllocator& allocator, const Variables& now);

/// Returns the version of the allocator in a library, or an empty string if the library states none.
std::string version_of(const std::string& library);

/// Returns the name in allocators/ of the allocator in a library or program, such as "glibc" for
/// "/lib/x86_64-linux-gnu/libc.so.6". Empty if the allocator is not in allocators/.
std::string allocator_name(const std::string& file);

}  // namespace zerotax::record
