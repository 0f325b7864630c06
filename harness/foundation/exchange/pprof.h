#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace zerotax::exchange {

/// A profile as pprof has it: https://github.com/google/pprof/blob/main/proto/profile.proto. `go tool pprof`, Parca and
/// Pyroscope read it.
struct Pprof {
  struct Type {
    std::string name;
    std::string unit;  ///< "bytes", "nanoseconds"
  };
  struct Frame {
    std::string function;
    std::string file;    ///< source file; empty: not known
    std::string module;  ///< program or library; empty: none
    std::uint64_t address = 0;
    std::int64_t line = 0;
  };
  struct Sample {
    std::vector<Frame> frames;         ///< innermost first
    std::vector<std::int64_t> values;  ///< one for each type
    std::string kind;                  ///< a label
  };

  std::vector<Type> types;
  std::string first_type;  ///< that is shown first
  std::vector<Sample> samples;
  std::vector<std::string> comments;
  std::int64_t time_ns = 0;  ///< since 1970
  std::int64_t duration_ns = 0;
};

/// The bytes of a file: a protocol buffer, gzipped (RFC 1952). Throws std::runtime_error if it cannot be compressed.
std::string pprof_file(const Pprof& profile);

}  // namespace zerotax::exchange
