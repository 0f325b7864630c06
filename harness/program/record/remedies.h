#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/result.h"
#include "record/settings.h"

namespace zerotax::record {

/// The `inside` of allocators/<name>/upstream.json: how an allocator is recognised in the file of a program that brings
/// it (results/schema/upstream.schema.json).
struct InsideMarks {
  std::string text;                     ///< a message or a name that every build of the allocator has
  std::optional<std::string> variable;  ///< a build may put letters of its own before this name: "_RJEM_MALLOC_CONF"
};

/// An allocator within a program's own file.
struct InsideAllocator {
  std::string allocator;                         ///< as in allocators/
  std::string file;                              ///< the program, or a library of it
  std::map<std::string, std::string> variables;  ///< variables of remedies that have another name here, and that name
};

/// The known allocators, and how to recognize them.
std::map<std::string, InsideMarks> inside_marks();

/// The allocators in these files, one for each name of an allocator's variable. Names and messages stay in a file whose
/// symbols were stripped. An unreadable file has no allocator.
std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files);

/// Whether a file has a name as a C string, or as the end of one, because linkers join equal ends. Nothing if the file
/// cannot be read.
std::optional<bool> has_text(const std::string& file, const std::string& name);

/// One of the `remedies` in allocators/<name>/upstream.json, whose keys these are
/// (results/schema/upstream.schema.json).
struct KnownRemedy {
  std::string name;
  std::map<std::string, std::string> env;
  std::vector<Cause> causes;
  std::string words;
  std::string costs;
  std::optional<bool> always;
  std::optional<bool> threads;
  std::optional<bool> huge_pages;
  std::optional<std::string> since;
  std::optional<std::string> before;
  std::optional<bool> undoes;
  std::optional<bool> unbounded;
  std::optional<bool> growing;
};

/// Whether a remedy is for a cause of zeroing.
inline bool is_for(const KnownRemedy& remedy, Cause cause) {
  return std::find(remedy.causes.begin(), remedy.causes.end(), cause) != remedy.causes.end();
}

/// Those of an allocator, in the order of the file.
std::vector<KnownRemedy> known_remedies(const std::string& allocator);

/// The functions by which a program sets the options of an allocator itself.
std::vector<std::string> option_setters(const std::string& allocator);

/// An allocator in a process.
struct PresentAllocator {
  std::string name;     ///< as in allocators/
  std::string file;     ///< the library, or the program that brings it
  std::string version;  ///< empty: unknown
  Variables names{};    ///< variables that have another name in this build, and that name
};

/// The settings of a remedy as this allocator calls them.
Variables settings_of(const KnownRemedy& remedy, const PresentAllocator& allocator);

/// Why a remedy can change nothing, whatever the program does: the allocator's version lacks it, it is set already, or
/// it undoes a setting that `now` does not have. Empty if the remedy can change something.
std::string why_no_effect(const KnownRemedy& remedy, const PresentAllocator& allocator, const Variables& now);

/// The version of the allocator in a library; empty if it states none.
std::string version_of(const std::string& library);

/// The name in allocators/ of the allocator in a library or program: "glibc" of "/lib/x86_64-linux-gnu/libc.so.6".
/// Empty if it is not one of them.
std::string allocator_name(const std::string& file);

}  // namespace zerotax::record
