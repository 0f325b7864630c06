// Lacks calloc and realloc, so it is not a malloc replacement.
#include <cstddef>
#include <cstdlib>

extern "C" {

void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) noexcept { return __libc_malloc(bytes); }
void free(void* block) noexcept { __libc_free(block); }

}  // extern "C"
