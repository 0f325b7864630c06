#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::record {

// The fields below are the keys of the last part of a file of calls; docs/replay.md describes it.

/// One process of a recording.
struct CallsProcess {
  std::string name;                     ///< of its program file, without its folder
  std::optional<std::uint64_t> parent;  ///< the process that forked it, if it did not become another program
  std::optional<std::uint64_t> fork;    ///< by which of its forks
  std::uint64_t threads = 0;
  std::uint64_t mallocs = 0;
  std::uint64_t callocs = 0;
  std::uint64_t aligned = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t maps = 0;
  std::uint64_t unknown_frees = 0;
  std::uint64_t lost_threads = 0;
  std::uint64_t image_zeroed_bytes = 0;  ///< of data and the first thread's stack: by the kernel
  std::uint64_t image_copied_bytes = 0;  ///< of its files' data that it wrote to
  /// Whether the pages of blocks that never ended are known: false if the end of the process was not seen.
  std::optional<bool> pages_known;
  std::optional<std::uint64_t> zeroed_at_most_bytes;  ///< by the kernel for the process, if they are not known
};

/// What the recorded run counted, all processes together: replay under the same allocator must count the same.
struct CallsCounts {
  Measured<std::uint64_t> minor_faults;
  Measured<std::uint64_t> zero_fill_faults;
  Measured<std::uint64_t> kernel_zeroed_bytes;
  Measured<std::uint64_t> refilled_bytes;
  Measured<std::uint64_t> returned_bytes;
  Measured<std::uint64_t> zeroed_bytes;
  Measured<std::uint64_t> redundant_zeroed_bytes;
  Measured<std::uint64_t> mapping_calls;
  Measured<std::uint64_t> peak_bytes;
};

/// The last part of a file of calls.
struct CallsAbout {
  std::string schema = "zerotax.calls/1";
  std::string zerotax_version;
  std::string allocator;                    ///< the file name of its library
  std::vector<std::string> env;             ///< KEY=VALUE that record was given for it
  std::optional<std::uint64_t> page_bytes;  ///< pages are counted in these; older files: 4096
  bool limited = false;                     ///< the recording stopped at --calls-limit
  std::vector<CallsProcess> processes;
  CallsCounts recorded;
};

}  // namespace zerotax::record
