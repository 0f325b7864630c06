// wmemset, and memset of the bytes that do not make up a whole character.
#include <cwchar>

#include "hostile.h"

void* planted::large_calloc(std::size_t bytes) {
  return cleared(bytes, [](char* block, std::size_t size) {
    const std::size_t whole = size / sizeof(wchar_t);
    wmemset(static_cast<wchar_t*>(static_cast<void*>(block)), L'\0', whole);
    memset(block + whole * sizeof(wchar_t), 0, size % sizeof(wchar_t));
  });
}
