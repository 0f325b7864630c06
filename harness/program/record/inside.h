#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

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

/// The known allocators, and how to recognise them (document.cc).
std::map<std::string, InsideMarks> inside_marks();

/// The allocators in these files, one for each name of an allocator's variable. Names and messages stay in a file whose
/// symbols were stripped. An unreadable file has no allocator.
std::vector<InsideAllocator> allocators_inside(const std::vector<std::string>& files);

/// Whether a file has a name as a C string, or as the end of one, because linkers join equal ends. Nothing if the file
/// cannot be read.
std::optional<bool> has_text(const std::string& file, const std::string& name);

}  // namespace zerotax::record
