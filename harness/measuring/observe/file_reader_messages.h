#pragma once

#include <cstddef>
#include <cstdint>

namespace zerotax {

// Messages between FileReader and its process (observe/process). Each request gets one answer. Before an answer, the
// process may ask any number of times for files of debug information.

/// Kind of a request, stored as the first number of the request. The numbers of the session and of the file (0: none)
/// follow, and then the parts listed below.
enum class ReadRequest : std::uint64_t {
  kMap = 1,    ///< request with the file: its name, path, mapping address and offset; answer: 1 and the load bias, or 0
  kOpen,       ///< request with an unmapped file: its path; answer: 1 and the build-id, or 0
  kUnwind,     ///< request: registers, mask of known registers, whether the address is exact, bytes of the stack;
               ///< answer: frames
  kName,       ///< request: an address; answer: two flags (has a module, has a file), the load bias, then either 1, the
               ///< function, the offset in it and its size, or 0 and the nearest exported function (ExportedFunctions)
  kStart,      ///< request: an address; answer: CodeStart's fields
  kRule,       ///< request: an address; answer: FrameRule's fields
  kCalled,     ///< request: an address, and one address in each file; answer: 1, name, module and address, or 0
  kPlace,      ///< request: an address in an unmapped file; answer: 1 and the function, or 0 and the nearest exported
               ///< function (ExportedFunctions), then 1, source and line, or 0
  kHeaders,    ///< request with the file; answer: machine, number of segments, each segment as text, build-id
  kFunctions,  ///< request with the file: words; answer: functions whose name contains one of the words
  kEnd,        ///< request that ends the session; answer: empty
};

/// Kind of a message from the process, stored as the first number of the message.
enum class ReadAnswer : std::uint64_t {
  kDone = 1,
  /// Asks for a debug file. The message has the number of the program file, DebugFile's fields, and the number of files
  /// to skip. The reply is 1 with a descriptor, or 0.
  kDebugFile,
};

/// Descriptors in FileReader's process.
inline constexpr int kReadSocket = 3;
inline constexpr int kReadPage = 4;

/// Exit status of the process when its memory is exhausted.
inline constexpr int kReadNoMemory = 77;

/// Maximum bytes that the process may allocate. Mapped files are not included.
inline constexpr std::uint64_t kReadMemory = std::uint64_t{512} << 20;

/// Maximum number of frames per stack, because only frames near the top matter.
inline constexpr std::size_t kMostFrames = 192;

}  // namespace zerotax
