"""How charges to a budget add up, one module each; `registry` lists them."""
