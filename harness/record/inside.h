#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zerotax::record {

/// The `inside` of allocators/<name>/upstream.json: how an allocator is recognised in the file of a program that brings
/// it (results/schema/upstream.schema.json).
struct InsideMarks {
  std::string text;                     ///< one that every build of it has: of its messages, or a name
  std::optional<std::string> variable;  ///< whose name a build may begin with letters of its own: "_RJEM_MALLOC_CONF"
};

/// An allocator within a program's own file.
struct InsideAllocator {
  std::string allocator;                         ///< as in allocators/
  std::string file;                              ///< the program, or a library of it
  std::map<std::string, std::string> variables;  ///< those of remedies that have another name here
};

/// The known allocators, and how to recognise them (document.cc).
std::map<std::string, InsideMarks> inside_marks();

/// The allocators in these files, each once for a name of its variable. Names and messages stand in a file even if its
/// symbols were stripped. What cannot be read has none.
std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files);

/// Whether a file has a name as a text of C, or as the end of one: linkers join equal ends. Nothing if it cannot be
/// read.
std::optional<bool> has_text(const std::string& file, const std::string& name);

}  // namespace zerotax::record
