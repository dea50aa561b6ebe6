"""From a request to machine code: the order of the stages, and what is kept of them."""
