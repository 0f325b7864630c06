"""Makes a buffer as CFFI did up to version 1.9: malloc, then CFFI's own memset. Not a client itself."""


def new_buffer(ffi):
    """Returns a function that makes a buffer as `new("char[]", n)` did in version 1.9.

    There, allocate_owning_object called PyObject_Malloc, which is malloc from 513 bytes on, and then memset
    (c/_cffi_backend.c). Version 1.10 replaced both calls with PyObject_Calloc (issue 295). A later CFFI still clears with memset
    if the program gives it allocator functions.
    """
    ffi.cdef("void *malloc(size_t); void free(void *);")
    library = ffi.dlopen(None)
    return ffi.new_allocator(library.malloc, library.free, should_clear_after_alloc=True)
