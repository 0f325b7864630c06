"""The HTML page of a run: its data and words (Python), its template, style and code."""
