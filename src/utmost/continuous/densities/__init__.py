"""Priors over an interval: densities whose moments over cells are known from both sides."""
