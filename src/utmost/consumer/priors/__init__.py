"""Priors of a consumer: what is believed of a count before the answer is seen."""

from utmost.consumer.priors.binomial import Binomial, binomial
from utmost.consumer.priors.explicit import Explicit, Floating, explicit, from_data, normalised
from utmost.consumer.priors.poisson import Poisson, poisson
from utmost.consumer.priors.prior import MAX_PRIOR_POINTS, Prior, PriorFamily
from utmost.consumer.priors.registry import PRIORS, listed, named_family, parse
from utmost.consumer.priors.steps import HistogramPrior, steps
from utmost.consumer.priors.uniform import Uniform, uniform
from utmost.consumer.priors.zipf import Zipf, zipf

__all__ = [
    "MAX_PRIOR_POINTS",
    "PRIORS",
    "Binomial",
    "Explicit",
    "Floating",
    "HistogramPrior",
    "Poisson",
    "Prior",
    "PriorFamily",
    "Uniform",
    "Zipf",
    "binomial",
    "explicit",
    "from_data",
    "listed",
    "named_family",
    "normalised",
    "parse",
    "poisson",
    "steps",
    "uniform",
    "zipf",
]
