"""Audits: lower bounds on the ε or the ρ of a channel or of a black box."""

from utmost.audit.black_boxes import BlackBox, function_box, load_box, program_box
from utmost.audit.lower_bound import channel_bound, sampled_bound
from utmost.audit.result import AuditResult

__all__ = ["AuditResult", "BlackBox", "channel_bound", "function_box", "load_box", "program_box", "sampled_bound"]
