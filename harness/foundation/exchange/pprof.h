#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax::exchange {

/// A profile in pprof's format (https://github.com/google/pprof/blob/main/proto/profile.proto), which `go tool pprof`,
/// Parca and Pyroscope can read.
struct Pprof {
  struct Type {
    std::string name;
    std::string unit;  ///< "bytes", "nanoseconds"
  };
  struct Frame {
    std::string function;
    std::string file;    ///< source file; empty if unknown
    std::string module;  ///< program or library; empty if unknown
    std::uint64_t address = 0;
    std::int64_t line = 0;
  };
  struct Sample {
    std::vector<Frame> frames;         ///< innermost first
    std::vector<std::int64_t> values;  ///< one value for each type
    std::string kind;                  ///< a label
  };

  std::vector<Type> types;
  std::string first_type;  ///< the type shown first
  std::vector<Sample> samples;
  std::vector<std::string> comments;
  std::int64_t time_ns = 0;  ///< nanoseconds since 1970
  std::int64_t duration_ns = 0;
};

/// Returns the contents of a file: a protocol buffer, compressed by gzip (RFC 1952). Throws std::runtime_error if
/// compression fails.
std::string pprof_file(const Pprof& profile);

}  // namespace zerotax::exchange
