#pragma once

/* The functions that every program calls, one row each, in the form of rows.h. The row's index is its number in
 * records. A writer of programs may assume that headers declare the first nine functions. */

enum { kDeclaredFunctions = 9 };

static const char kStandardFunctions[] =
    "malloc n none free p\n"
    "calloc n,m zero free p\n"
    "realloc p,n keep free p\n"
    "reallocarray p,n,m keep free p\n"
    "aligned_alloc a,n none free p\n"
    "posix_memalign o,a,n none free p\n"
    "memalign a,n none free p\n"
    "valloc n none free p\n"
    "pvalloc n none free p\n"
    /* operator new without exceptions, new[] and the aligned forms */
    "_ZnwmRKSt9nothrow_t n,0 none _ZdlPv p\n"
    "_ZnamRKSt9nothrow_t n,0 none _ZdaPv p\n"
    "_ZnwmSt11align_val_tRKSt9nothrow_t n,a,0 none _ZdlPvSt11align_val_t p,a\n"
    "_ZnamSt11align_val_tRKSt9nothrow_t n,a,0 none _ZdaPvmSt11align_val_t p,n,a\n"
    /* OpenBSD's reallocation that clears */
    "recallocarray p,b,n,1 grown free p\n"
    /* Rust's global allocator */
    "__rust_alloc n,a none __rust_dealloc p,n,a\n"
    "__rust_alloc_zeroed n,a zero __rust_dealloc p,n,a\n";
