"""Databases that hold ledgers, one module each; `registry` lists them."""
