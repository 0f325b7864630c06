"""The HTML pages of runs and comparisons: their data and words (Python), templates, style and code."""
