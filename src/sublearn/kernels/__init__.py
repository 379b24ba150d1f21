"""The compiled loops over samples; `compilation` says how they are compiled."""
