import numpy as np
np.empty(8 << 20, np.uint8)
array = np.empty(8 << 20, np.uint8)
pin = np.empty(100_000, np.uint8)
del array
later = [np.empty(1 << 20, np.uint8) for _ in range(7)]
for block in later:
    block[0] = 1
