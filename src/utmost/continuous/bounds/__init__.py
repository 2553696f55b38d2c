"""Bounds on the loss of a mechanism over an interval, certified from both sides."""
