// The documents that commands read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

/// A kind of document: an example, and the function with which a command uses a file of this kind.
struct Kind {
  const char* name;
  std::string sample;  ///< text of the file; if the name ends with "lines", each line is a document
  void (*read)(const std::string& path, const std::string& sample);
  std::uint64_t tried = 0;
  std::uint64_t accepted = 0;
};

/// Returns all kinds of document.
std::vector<Kind> kinds();

/// Keeps only the first elements of each array, because random damage to a megabyte rarely hits a sensitive place.
zerotax::Json shortened(zerotax::Json json, std::size_t most);

/// Writes a file, or ends the process.
void write_text(const std::string& path, const std::string& text);
