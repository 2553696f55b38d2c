"""Differentially private releases, provably as useful as privacy allows and provably private on a real computer.

>>> import utmost as ut
>>> level = ut.alpha("1/2")
>>> reader = ut.Consumer(ut.priors.uniform(6), ut.losses.absolute)
>>> mechanism = ut.geometric(5, level)
>>> reader.expected_loss(mechanism) == ut.optimal(ut.line(6), level, reader).loss
True

Names are loaded when they are first used, so importing the package costs nothing.

The two tables below name every public thing once. What they do not name is private, and may change without notice.
`docs/make_api.py` writes `docs/api.md` and the type stub `__init__.pyi` from them.
"""

import sys
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

__version__ = "0.1.0"

_NAMES = {  # where a name of this module is defined: names
    "utmost.axioms": "definition_of generalize maximally_general profile satisfaction soundness",
    "utmost.channel": "Channel choice is_private least_epsilon merge mix read_channel write_channel",
    "utmost.comparison": "compare curve shared_optimum",
    "utmost.consumer": "Consumer Minimax",
    "utmost.consumer.counts": "posterior read readings",
    "utmost.continuous": "interval laplace_loss",
    "utmost.design": "by_program capacity derivation lemmas optimal remap_of signature",
    "utmost.design.minimax": "minimax_optimal",
    "utmost.design.universal": "universal_mechanism universally_optimal",
    "utmost.errors": "InputError UtmostError",
    "utmost.exact": "Level alpha epsilon number",
    "utmost.mechanisms": "exponential geometric laplace planar planar_geometric response response_dual staircase",
    "utmost.polytopes": "is_kernel_mechanism is_vertex_mechanism kernels vertices",
    "utmost.publish.builder": "budget preview read_plan release table",
    "utmost.publish.table_strategies": "strategies",
    "utmost.publish.release_file": "read_release release_schema write_release",
    "utmost.qif": "hyper iterative_bayesian_update kantorovich refinement",
    "utmost.spaces": "Space cycle databases discrete graph grid hamming line points space",
}
_MODULES = {  # public module: its public names; a module elsewhere is named by "module = home"
    "approximate_counts = design.approximate_counts": """ApproximateDesign approximate_optimum approximate_program
        canonical_channel closer_remap fine_channel least_delta""",
    "audit": "AuditResult channel_bound function_box program_box sampled_bound",
    "axioms": """Candidate Closure Curve Definition Generalization Maximality Odds Profile Relation Satisfaction Verdict
        approximate at_least_as_general best_coefficient closure compose_profiles compose_repeated curve_from_points
        definition_of delta_at_epsilon epsilon_at_delta equivalent ergodicity generalize identity is_dobrushin_optimal
        maximally_general odds_bounds odds_law odds_tails parse_definition peel_extreme_ray predicate profile profiles
        pure relation_from_pairs relation_from_space relation_of remap_counterexample rename_counterexample row_graphs
        satisfaction soundness split_output steepest_path subsampling variation""",
    "builder = publish.builder": "NamedBudget PlanBuilder ProtectedTable budget read_plan table",
    "calibration = publish.calibration": "calibrate_error calibrate_loss privacy_setting",
    "channel": """Channel PrivacyLoss channel choice deterministic identity is_private least_epsilon merge mix normalise
        parse_channel read_channel write_channel""",
    "charts": """BeliefPanel ChartLine Posterior RowGraphPanel belief_chart channel_chart line_chart location_maps
        network_chart region_chart row_graph_panels save_chart simplex_chart tetrahedron_chart uncertainty_chart""",
    "comparison": """CurvePoint MeasuredMechanism MechanismComparison PrivacyCurve RefusedMechanism SharedOptimum
        compare curve rival_names shared_optimum""",
    "concentrated = noise.concentrated": "delta_of_rho epsilon_of_rho rho_of",
    "consumer": "Consumer Minimax is_monotone is_strictly_monotone is_trivial lift_loss loss_rows metric_for",
    "continuous": """Band Convergence GridAdvice GridPromise GridQuestion Interval IntervalLoss LaplaceLoss
        LossBounds TruncatedLaplace
        best_readings bound_expected_loss cell_laplace coarsest_grid geometric_loss grid_geometric grid_promise interval
        kernel laplace_factor laplace_loss margin parse_interval pixel_grid post_processing""",
    "continuous.densities": """Density beta callable_density from_data histogram linear_density normal parse_density
        uniform_density""",
    "continuous.losses": """ContinuousLoss absolute asymmetric huber parse_continuous_loss power squared step
        user_loss""",
    "continuous.mechanisms": "GridGeometric Laplace RenormalisedLaplace mechanism_by_name mechanism_from_file",
    "data": """ColumnKind Grid GridColumn NeighbourRelation Partition PrivacyUnit SampleTable Selection Source anes96
        check_types count_rows open_table parse_predicate""",
    "errors": """BudgetError ChannelError DataError InfeasibleError InputError LedgerError MetricError OutputError
        SolverError UndecidedError UtmostError""",
    "exact": """Level Real alpha decimal decimal_above decimal_below enclosure epsilon exponential number power
        rational""",
    "gaussian = noise.gaussian": "delta_ball gaussian_noise half_width mass_ball noise_spread tail_ball",
    "joint": """CanonicalNoise CellSum CountTree Divisions FoundNoise GaussianNoise GeometricNoise LeastSquares
        LinearEstimate NoiseLaw NoisyCount Posterior TableEstimate TwoWayEstimate TwoWayTable UntoldNoise estimate_table
        hierarchy least_squares two_way two_way_least_squares""",
    "ledger": "Budget BudgetState Charge ChargeReceipt Ledger Part QueryCost ReleaseCost open_ledger",
    "local = publish.local": """CategoryMechanism DegreeCoordinates Frequencies LocationMechanism LocationPrior
        LocationReading PlaneCoordinates TableMetadata estimate_frequencies obfuscate read_locations read_metadata
        recover_frequencies remap_reports weighted_grid""",
    "losses = consumer.losses": """ErrorLoss LOSSES Loss LossFamily absolute asymmetric binary drawn legality matrix nib
        over parse power squared""",
    "mechanisms": """Geometric PlanarGeometric channel_on exponential folded_geometric geometric inverse_geometric
        laplace planar planar_geometric response response_dual staircase staircase_space""",
    "noise": """CanonicalLaw FineLaw TightLaw canonical_law canonical_noise channel_sampler draw_channel draw_row
        draw_samples fine_canonical_noise fine_law geometric_noise permute_and_flip_law row_sampler sampling_table
        system_source tight_law""",
    "papers": "KEYS Item Report item report",
    "planning": "Strategy StrategyComparison compare_strategies",
    "polytopes": """Decomposition Kernel PosteriorRegion count_kernels count_vertices decomposition is_kernel_mechanism
        is_vertex_mechanism kernels posterior_region vertices""",
    "precision": """Attack BINARY16 BINARY32 BINARY64 Implementation NumberFormat PrecisionGuarantee UniformGenerator
        WrappedLaplace WrappedPlanar certify_laplace exact_epsilon fixed_point_format implementation
        implemented_sensitivity laplace_setting run_attack sum_error uniform_generator wasserstein wrap_laplace
        wrap_planar wrap_shifted""",
    "priors = consumer.priors": """PRIORS Prior PriorFamily binomial explicit from_data normalised parse poisson steps
        uniform zipf""",
    "qif": """Capacity Gain Hyper KantorovichDistance Leakage Loss Measure PriorEstimate Refinement Shannon
        bayes best_remap best_strategy capacity guessing hyper hyper_distance hyper_distance_float
        iterative_bayesian_update kantorovich leakage line_distance min_entropy miracle_additive
        miracle_multiplicative posterior_uncertainty posterior_vulnerability refinement refining_move shannon
        uncertainty vulnerability""",
    "queries": """Count Distinct GroupedQuery Histogram Max Mean Min Over Quantile Quantiles Sum Top Variance""",
    "spaces": """Space Symmetries cycle databases discrete graph grid hamming line parse_space points product_space
        scale_space space sub_space symmetries""",
    "universal = design.universal": """Existence Extension Verdict binary_mechanism check_restriction extension
        nib_proof pulled_back tree_mechanism uncertainty universal_mechanism universally_optimal verify""",
}


def _module_homes() -> dict[str, str]:
    """The public modules, `axioms` or `continuous.losses`, and where each is defined."""
    pairs = (key.partition(" = ") for key in _MODULES)
    return {name: f"utmost.{home or name}" for name, _, home in pairs}


_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}
_MODULE_HOME = {name: home for name, home in _module_homes().items() if "." not in name}
_LISTED = {_module_homes()[key.partition(" = ")[0]]: set(names.split()) for key, names in _MODULES.items()}
for _name, _home in _module_homes().items():  # ut.continuous.losses is listed in ut.continuous
    if "." in _name:
        _LISTED[_home.rpartition(".")[0]].add(_name.rpartition(".")[2])
_CHECKED: dict[str, Any] = {}  # the functions that were used

__all__ = sorted([*_HOME, *_MODULE_HOME])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a public name from its home; a function checks the kinds of its arguments."""
    if name in _MODULE_HOME:
        module = import_module(_MODULE_HOME[name])
        _list_public_names(module)
        return module
    if name not in _HOME:
        raise AttributeError(f"module 'utmost' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    if not isinstance(value, FunctionType):
        return value
    if name not in _CHECKED:
        from utmost.argument_kinds import check_kinds

        _CHECKED[name] = check_kinds(value, name)
    return _CHECKED[name]


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*__all__, "__version__"])


def _list_public_names(module: ModuleType) -> None:
    """Make `dir` of a public module, and of the public modules in it, list the public names alone."""
    for home, names in _LISTED.items():
        if home == module.__name__ or home.startswith(f"{module.__name__}."):
            part = sys.modules.get(home)
            if part is not None and "__dir__" not in vars(part):
                vars(part)["__dir__"] = sorted(names).copy


class _Package(ModuleType):
    """The package: a public module in it lists its public names from the moment it is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType):
            _list_public_names(value)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
