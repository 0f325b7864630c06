"""CFFI without clearing: ffi.new_allocator(should_clear_after_alloc=False), which is malloc."""

import cffi_recv

if __name__ == "__main__":
    cffi_recv.main(__doc__, lambda ffi: ffi.new_allocator(should_clear_after_alloc=False))
