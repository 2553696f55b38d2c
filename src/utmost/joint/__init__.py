"""Joint readings: all counts of a table read together, from every release of it."""
