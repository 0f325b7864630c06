"""How CFFI up to 1.9 made a buffer: malloc, then a memset of its own over all of it. Not a client itself."""


def new_buffer(ffi):
    """`new("char[]", n)` as version 1.9 had it.

    Its allocate_owning_object called PyObject_Malloc, which is malloc from 513 bytes on, and then memset
    (c/_cffi_backend.c; 1.10 replaced both by PyObject_Calloc, issue 295). An allocator given by its functions is the way
    in which a later CFFI still clears by memset.
    """
    ffi.cdef("void *malloc(size_t); void free(void *);")
    library = ffi.dlopen(None)
    return ffi.new_allocator(library.malloc, library.free, should_clear_after_alloc=True)
