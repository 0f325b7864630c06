#pragma once

#include <cstddef>
#include <filesystem>

/// Functions that make the input of programs. The bytes are the same on every machine. Each function throws
/// MachineError if a file cannot be written.

/// Makes text-like lines of words from a vocabulary.
void make_text(const std::filesystem::path& file, std::size_t bytes);

/// Makes a picture of 3000 x 2000 pixels in PPM format, with soft gradients and some noise.
void make_picture(const std::filesystem::path& file);

/// Makes statements for sqlite3: inserts, an index, joins.
void make_statements(const std::filesystem::path& file);

/// Makes a C++ source file with expensive headers.
void make_source(const std::filesystem::path& file);

/// Makes commands for redis: they set values of up to 400 bytes, and remove every third.
void make_commands(const std::filesystem::path& file);

/// Makes a git repository of 200 text files, changed in each of six commits.
void make_repository(const std::filesystem::path& folder);
