#include "record/preload/python_frames.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "record/preload/modules.h"
#include "record/preload/own_memory.h"
#include "record/preload/process.h"

namespace zerotax::record {
namespace {

/// Distances of fields from the start of CPython's structures. Sources: Include/cpython/pystate.h, code.h and
/// frameobject.h, and Include/internal/pycore_frame.h. In 3.11, a _PyCFrame links the thread to its frame.
struct Layout {
  std::uint32_t thread_frame;  ///< PyThreadState: frame; 3.11: cframe
  std::uint32_t current;       ///< _PyCFrame: current_frame; 0: no such structure
  std::uint32_t code;          ///< PyFrameObject; 3.11: _PyInterpreterFrame
  std::uint32_t back;
  std::uint32_t line;  ///< PyCodeObject
  std::uint32_t file;
  std::uint32_t name;  ///< co_name; 3.11: co_qualname
};
constexpr Layout kUntil310{24, 0, 32, 24, 40, 104, 112};
constexpr Layout k311{56, 8, 32, 48, 72, 112, 128};
constexpr std::size_t kFrameBytes = 56;
constexpr std::size_t kCodeBytes = 144;
constexpr std::size_t kTypeAt = 8;  ///< distance of the type from the start of every object

// Unicode objects (Include/cpython/unicodeobject.h), which are the same in all these versions.
constexpr std::size_t kTextBytes = 72;
constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kStateAt = 32;
constexpr std::uint32_t kAscii = 0x60;  ///< compact and ASCII: the characters follow the first 48 bytes
constexpr std::size_t kAsciiAt = 48;
constexpr std::size_t kUtf8LengthAt = 48;
constexpr std::size_t kUtf8At = 56;

struct Python {
  const Layout* layout;  ///< nullptr without a known CPython
  void* (*thread_state)();
  std::uint64_t code_type;
  std::uint64_t text_type;
  std::uint64_t loop;
  std::size_t loop_bytes;
};
Python python{};

template <typename Field>
Field field(const unsigned char* object, std::size_t at) {
  Field value;
  std::memcpy(&value, object + at, sizeof value);
  return value;
}

/// Copies a text. If the text is too long, copies its end, because a path ends with the file's name.
template <std::size_t kRoom>
void copy_python_text(char (&to)[kRoom], std::uint64_t text) {
  unsigned char head[kTextBytes];
  if (!read_own(text, &head[0], sizeof head) || field<std::uint64_t>(&head[0], kTypeAt) != python.text_type) return;
  const bool is_ascii = (field<std::uint32_t>(&head[0], kStateAt) & kAscii) == kAscii;
  const std::uint64_t begin = is_ascii ? text + kAsciiAt : field<std::uint64_t>(&head[0], kUtf8At);
  const auto length = field<std::uint64_t>(&head[0], is_ascii ? kLengthAt : kUtf8LengthAt);
  const std::uint64_t copied = std::min<std::uint64_t>(length, kRoom - 1);
  if (begin == 0 || !read_own(begin + (length - copied), &to[0], copied)) to[0] = '\0';
}

/// Returns the function of a code object in the arena's form, and adds the function if it is new. Returns 0 if there is
/// no room.
std::uint64_t noted(std::uint64_t name, std::uint64_t file, std::int32_t line) {
  constexpr std::size_t kProbes = 16;
  const std::uint64_t key = ((name ^ (file * 31) ^ static_cast<std::uint64_t>(line)) * 0x9e3779b97f4a7c15) | 1;
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t index = ((key >> 40) + probe) % kScriptFunctions;
    PythonFunction& function = process->python_functions[index];
    if (!have_pages(&function, sizeof function)) return 0;
    std::uint64_t found = function.key;
    if (found == 0 && function.key.compare_exchange_strong(found, key)) {
      function.line = line;
      copy_python_text(function.function, name);
      copy_python_text(function.file, file);
      function.ready = 1;
      found = key;
    }
    if (found == key) return kScriptFrame | index;
  }
  return 0;
}

/// The frames of a thread and their code objects, by address.
struct Chain {
  std::uint64_t holder;  ///< the address at which the interpreter keeps the innermost frame
  std::uint32_t depth;
  std::uint64_t frames[kPythonFrames];
  std::uint64_t codes[kPythonFrames];
};

/// Copies of the structures of a chain.
struct Copies {
  std::uint64_t innermost;
  struct {
    unsigned char frame[kFrameBytes];
    unsigned char code[kCodeBytes];
  } levels[kPythonFrames];
};

void follow(const Layout& layout, Chain& chain) {
  StackMemory memory;
  std::uint64_t next = 0;
  chain.depth = 0;
  memory.move_to(chain.holder);
  if (!memory.read(chain.holder, next)) return;
  while (next != 0 && chain.depth < kPythonFrames) {
    chain.frames[chain.depth] = next;
    memory.move_to(next);
    if (!memory.read(next + layout.code, chain.codes[chain.depth]) || !memory.read(next + layout.back, next)) return;
    ++chain.depth;
  }
}

/// Copies all structures of a chain with one system call. Returns false if the thread's frames have changed since.
bool copy(const Layout& layout, const Chain& chain, Copies& copies) {
  iovec there[1 + 2 * kPythonFrames];
  iovec here{&copies, sizeof copies.innermost + chain.depth * sizeof copies.levels[0]};
  there[0] = {reinterpret_cast<void*>(chain.holder), sizeof copies.innermost};
  for (std::uint32_t i = 0; i < chain.depth; ++i) {
    there[1 + 2 * i] = {reinterpret_cast<void*>(chain.frames[i]), kFrameBytes};
    there[2 + 2 * i] = {reinterpret_cast<void*>(chain.codes[i]), kCodeBytes};
  }
  const ssize_t bytes = ::process_vm_readv(::getpid(), &here, 1, &there[0], 1 + 2 * chain.depth, 0);
  if (bytes != static_cast<ssize_t>(here.iov_len)) return false;
  std::uint64_t next = copies.innermost;
  for (std::uint32_t i = 0; i < chain.depth; ++i) {
    const unsigned char* frame = &copies.levels[i].frame[0];
    if (next != chain.frames[i] || field<std::uint64_t>(frame, layout.code) != chain.codes[i]) return false;
    next = field<std::uint64_t>(frame, layout.back);
  }
  return next == 0 || chain.depth == kPythonFrames;
}

constinit thread_local Chain last{};  ///< kept, because the same frames often allocate again

}  // namespace

void find_python() {
  Python found{};
  found.thread_state = reinterpret_cast<void* (*)()>(find_first("PyGILState_GetThisThreadState"));
  if (found.thread_state == nullptr || find_first("Py_BytesMain") == nullptr) return;  // Py_BytesMain exists since 3.8
  found.layout = &kUntil310;
  if (const auto* version = static_cast<const unsigned long*>(find_first("Py_Version"))) {  // exists since 3.11
    found.layout = *version >> 16 == 0x030b ? &k311 : nullptr;
  }
  found.code_type = reinterpret_cast<std::uint64_t>(find_first("PyCode_Type"));
  found.text_type = reinterpret_cast<std::uint64_t>(find_first("PyUnicode_Type"));
  found.loop = reinterpret_cast<std::uint64_t>(find_first("_PyEval_EvalFrameDefault", &found.loop_bytes));
  if (found.code_type != 0 && found.text_type != 0) python = found;
}

bool is_python_loop(std::uint64_t address) { return address - python.loop < python.loop_bytes; }

std::uint32_t python_frames(std::uint64_t* functions) {
  const Layout* const layout = python.layout;
  if (layout == nullptr) return 0;
  // This is the state of the calling thread, whose frames no other thread changes. CPython forgets the state before
  // freeing it.
  const auto* const thread = static_cast<const unsigned char*>(python.thread_state());
  if (thread == nullptr) return 0;
  const std::uint64_t holder = layout->current != 0
                                   ? field<std::uint64_t>(thread, layout->thread_frame) + layout->current
                                   : reinterpret_cast<std::uint64_t>(thread) + layout->thread_frame;
  Copies copies;
  if (last.depth == 0 || last.holder != holder || !copy(*layout, last, copies)) {
    last.holder = holder;
    follow(*layout, last);
    if (last.depth == 0 || !copy(*layout, last, copies)) return 0;
  }
  std::uint32_t count = 0;
  for (; count < last.depth; ++count) {
    const unsigned char* code = &copies.levels[count].code[0];
    if (field<std::uint64_t>(code, kTypeAt) != python.code_type) break;
    functions[count] = noted(field<std::uint64_t>(code, layout->name), field<std::uint64_t>(code, layout->file),
                             field<std::int32_t>(code, layout->line));
    if (functions[count] == 0) break;
  }
  return count;
}

}  // namespace zerotax::record
