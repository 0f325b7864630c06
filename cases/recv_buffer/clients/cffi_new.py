"""CFFI's default allocator: ffi.new("char[]", n), which is calloc."""

import cffi_recv

if __name__ == "__main__":
    cffi_recv.main(__doc__, lambda ffi: ffi.new)
