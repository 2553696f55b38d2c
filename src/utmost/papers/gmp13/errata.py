"""Errata of GMP13, and remarks on what it leaves open. Reasons and proofs: docs/papers/gmp13.md."""

ERRATA = (
    "Thm 4.5 and the end of its proof: the exponent is ε(L + δ_t)/Δ, as §5 and §6 have it; Condition 1 gives a "
    "factor "
    "e^{ε·d/Δ}. Without ε the bound is unsound for large ε: noise rounded to a grid breaks it at ε = 7.",
    "§5: R is defined by the difference S^{+δ} ∖ S^{−δ}, so it is 4δ_t/(L − 2δ_t). The ratio (L + 2δ_t)/(L − "
    "2δ_t) that is "
    "printed keeps ε′ above ε + ln 2 on a perfect machine.",
    "§6: likewise R ≤ 8Lδ_t/(L − 2δ_t)², not ((L + 2δ_t)/(L − 2δ_t))².",
    "§6: the diameter of a square cell of side L is L√2; the theorem's L is the diameter.",
    "§6: C_ε′(0) = 0, so C_ε^{-1} has no Lipschitz constant and K_C does not exist (its r is not bound either). The "
    "modulus of continuity is the larger of C^{-1}(δ₀) ≈ √(2δ₀)/ε and about e^{εD}/(ε²D)·δ₀.",
    "§6: the angle contributes (2πD)² under the root of k, not 2πD.",
    "Thm 4.5, proof: it begins with the results S ≠ ∞ and never comes to ∞. For a convex range it costs cεδ_t/Δ with "
    "c = 2 on a line and 1 + √2 for a box, which is within ε′.",
    "Conditions 2 and 3 need the answers f′(D) to lie in the range: else ‖n(u)‖ > diameter does not take a "
    "result out. "
    "The query must be clamped first; clamping does not raise its sensitivity.",
    "§5: a range that ends inside a rounding cell leaves a smaller cell, with a larger R. Its ends must be ends of "
    "cells (half a step beyond the last multiple of L).",
    '§4.2, U_r = n^{-1}{‖y‖ ≤ diameter + δ_r} "for any δ_r": it takes δ_r > kδ₀ + δ_n, where k belongs to this larger '
    "set; there need not be such a δ_r, and for e^{ε·range/Δ} beyond the generator's number of values there is none.",
    'Example 1.1: the secrets differ by (2^n·k + h)/2^d; "2^{n+k+h}/2^d" is a misprint.',
    "Eq. (6) has lost the minus sign of Example 4.1's n (harmless, the law is symmetric); U_r in §5 must say "
    "|n(u)|; the "
    "density in §6 and Def. 4.1's second formula (n′, not n) lack a minus and a prime.",
    "Thm 3.1, proof: the exponents are positive, e^{εd/Δ} ≤ e^ε. Def. 2.7 and the proof of Thm 3.2 call b a "
    "scale, but it "
    "is a rate.",
    "Def. 4.4: the inner infimum is over the t ≥ 0 with γ({d(x, y) > t}) = 0.",
)

REMARKS = (
    "Example 4.1 is said only to degrade ε. There are also results that one of the two secrets alone can give, "
    "so there "
    "is no ε at all until Mechanism 2 cuts them off.",
    "One-dimensional Laplace noise has a sharp form of Thm 4.5: ε′ = ε + "
    "ln(sinh(β(L+2δ_t)/2)/sinh(β(L−2δ_t)/2)), β = ε/Δ; "
    "no factor e^{ε(L+δ_t)/Δ} is needed.",
    "Condition 2 (a monotone implementation) can be dropped where errors are bounded by a share of the noise, as in "
    "floating point.",
    "With the usual 2^53 values, ε = Δ = 1 and results rounded to 1/1024 the range can be no wider than 28.4; on the "
    "plane, rounded to 1/64, the square no wider than 25.",
    "Remark 2 (two ends instead of ∞) costs nothing more, but does not widen the range either.",
    "§7 asks for what the standard implementation is safe: for no ε at all without rounding. A double Laplace "
    "sampler gives "
    "away most of its results; see utmost precision attack.",
)
