"""How a tree grows: the five steps of the paper's Section II, and the loops that take nodes through them."""
