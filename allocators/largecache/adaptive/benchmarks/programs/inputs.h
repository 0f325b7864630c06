#pragma once

#include <cstddef>
#include <filesystem>

/// Makers of input: the same bytes on every machine. Each throws MachineError if a file cannot be written.

/// Lines of words that are drawn from a vocabulary, similar to text.
void make_text(const std::filesystem::path& file, std::size_t bytes);

/// A picture of 3000 x 2000 pixels, in PPM: soft gradients with some noise.
void make_picture(const std::filesystem::path& file);

/// Statements for sqlite3: inserts, an index, joins.
void make_statements(const std::filesystem::path& file);

/// A source of C++ with the headers that cost most.
void make_source(const std::filesystem::path& file);

/// Commands for redis: values of up to 400 bytes are set, and each third is removed.
void make_commands(const std::filesystem::path& file);

/// A repository of git: 200 files of text, changed in each of six commits.
void make_repository(const std::filesystem::path& folder);
