"""Modules that the scripts of figures and pages share: results and documents, words, axes and styles."""
