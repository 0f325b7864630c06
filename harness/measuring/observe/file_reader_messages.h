#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax {

// Messages between FileReader and its process (observe/process). Each request gets one answer. Before the answer, the
// process may ask for files of debug information, any number of times.

/// Kind of a request, its first number. Then follow the number of the session, the number of the file (0: none), and
/// the parts below.
enum class ReadRequest : std::uint64_t {
  kMap = 1,  ///< with the file: its name, its path, where it is mapped, from which offset. Answer: 1 and the load bias,
             ///< or 0
  kOpen,     ///< with the file, which is not mapped: its path. Answer: 1 and the build-id, or 0
  kUnwind,   ///< registers, a mask of those that are known, whether the place is exact, bytes of the stack. Answer:
             ///< frames
  kName,     ///< an address. Answer: see SymbolAnswer
  kStart,    ///< an address. Answer: CodeStart's fields
  kRule,     ///< an address. Answer: FrameRule's fields
  kCalled,   ///< an address, and one in each file. Answer: 1, a name, a module, an address; or 0
  kPlace,    ///< an address of a file that is not mapped. Answer: 1 and the function, or 0; 1, source and line, or 0
  kHeaders,  ///< with the file. Answer: the machine, the number of segments, the segments as text each, the build-id
  kFunctions,  ///< with the file: words. Answer: functions whose name has one of them
  kEnd,        ///< the session is over. Answer: empty
};

/// Kind of a message that the process sends, its first number.
enum class ReadAnswer : std::uint64_t {
  kDone = 1,
  /// A question for a debug file: the number of the program file, DebugFile's fields, and how many files to skip. The
  /// reply is 1 with a descriptor, or 0.
  kDebugFile,
};

/// Descriptors in the process.
inline constexpr int kReadSocket = 3;
inline constexpr int kReadPage = 4;

/// Exit status of the process when its memory is exhausted.
inline constexpr int kReadNoMemory = 77;

/// Bytes that the process may use for its findings; the mapped files are not included.
inline constexpr std::uint64_t kReadMemory = std::uint64_t{512} << 20;

/// Maximum number of frames per stack: only those near the top matter.
inline constexpr std::size_t kMostFrames = 192;

}  // namespace zerotax
