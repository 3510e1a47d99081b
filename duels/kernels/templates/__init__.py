"""Template modules: compiled loops that are loaded once for each kernel and compiled policy."""
