#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "prove/functions.h"

namespace zerotax::prove {

// The functions of allocators that promise zeros, beside calloc: allocators/<name>/zeros.json.

inline constexpr Limit kSymbolName = form("^[A-Za-z_][A-Za-z0-9_]*$");
inline constexpr Limit kArgumentWord =
    form("^(size|count|alignment|block|block_size|result|zero_flag|[0-9]+|0x[0-9a-f]+)$");
inline constexpr Limit kFewArguments =
    with(R"({"minItems": 1, "maxItems": 5})");  // as many as process/rows.h calls with

struct PromisedFunction {
  RESULT("function", "A function that allocates.");
  FIELD(std::string, symbol, "Name of the function in the library.", kSymbolName);
  FIELD(std::vector<std::string>, arguments,
        "Arguments in order. size and count: the size of the block is their product. block: a live block. block_size: "
        "the size of this block. result: address to which the function writes the block. zero_flag: jemalloc's flags, "
        "with MALLOCX_ZERO and the alignment. A number stands for itself.",
        kArgumentWord, kFewArguments);
  FIELD(Promise, promise,
        "Bytes that the function promises to be zero. none: no bytes. zero: all bytes. keep: no bytes, and the common "
        "part of both sizes is kept. grown: also the bytes beyond the old size. grown_usable: also the bytes beyond "
        "the old usable size. grown_unwritten: like grown, except bytes that the program wrote before. grown_in_place: "
        "like grown_usable, and the function returns the usable size of the same block.");
  FIELD(std::string, release, "Name of the function that frees the blocks.", kSymbolName);
  FIELD(std::vector<std::string>, release_arguments, "Arguments of the function that frees the blocks, in order.",
        kArgumentWord, kFewArguments);
  FIELD(std::optional<std::uint64_t>, most_bytes, "The largest size that the function accepts, in bytes.");
};

struct Zeros {
  std::string schema;
  RESULT("zeros",
         "Functions of an allocator that promise zeros, from allocators/NAME/zeros.json, which is built into zerotax, "
         "or from a file of `zerotax prove --api`. The list also has functions without a promise, whose "
         "freed blocks the other functions may reuse.");
  SCHEMA_FIELD("zerotax.zeros/1");
  FIELD(std::string, allocator, "Name of the allocator.");
  FIELD(std::string, source, "URL of the documentation or header that contains the promise.", form("^https://"));
  FIELD(std::vector<PromisedFunction>, functions,
        "The functions that promise zeros, and related functions without a promise.", least_items(1));
};

/// Returns the functions in the line form that the process reads (process/rows.h), one line each.
std::string lines_of(const Zeros& zeros);

/// Returns the lines of all allocators/*/zeros.json. The process tries the functions that the library has.
std::string built_in_lines();

/// Reads a file of --api: JSON, or lines as they are. Throws UsageError for an unreadable or damaged file.
std::string read_lines(const std::string& path);

}  // namespace zerotax::prove
