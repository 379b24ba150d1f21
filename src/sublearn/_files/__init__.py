"""Models as files: `layout` says what is in one, `saving` and `loading` are the two ways, the rest serves these."""
