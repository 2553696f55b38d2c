"""Errata of FMM21, and remarks on what it leaves open. Reasons and proofs: docs/papers/fmm21.md."""

ERRATA = (
    "§II-D1: the remaining probability is 2α/(1+α), not 2α/(1−α), which is more than 1 for α > 1/3.",
    "§IV-C: an abstract channel takes a prior to a hyper, so its type is 𝔻X → 𝔻²X.",
    "§IV-C2: for y1 the least expected loss occurs for w = x0 or w = x1.",
    "§IV-D(b): between any two hypers there is an earth move, so that is no condition. Δ ⊑ Δ′ when there is one in "
    "which every posterior of Δ′ is the mean of what arrives at it.",
    "Def. 4: the masses at the ends are e^(−εx)/2 and e^(−ε(1−x))/2; as printed the total is above 1.",
    "§VI-B: the cells must be half-open, as in §III(a), all but the last. With closed ones an atom of π at n/N, "
    "which §V-A allows, would count twice.",
    "Def. 7: M_N takes [0, 1] to measures on Y, not to numbers. Lemma 8, proof: the last values come from (N−1)/N, "
    "not (1−N)/N.",
    "§VII: 2/3 ÷ 1/3 = 1/3 ÷ 1/6 = 2; 1/2 is no entry of G_4.",
    "Eq. (12): y must run over the T points of U_T below 1. As printed both 1 − 1/T and 1 get the mass of the last "
    "cell, and rows sum to more than 1. (In the last line the input (x) is missing.)",
    "Lemma 11, the fact used: the supports are vectors in ℝ^(N+1), as earlier in the proof, not ℝ^N.",
    "Thm 14, proof: $(⊙, M, ℓ*) = $(π, M, ℓ) needs ℓ* = ℓ·π·(N+1), since U_N has N+1 points; and ℓ* is not Lipschitz "
    "with the constant of ℓ, nor with any that serves all priors. The theorem is right, by another proof.",
    "Lemma 16 fails at x = 1: Def. 7 takes ℓ_N(w, 1) from 1 − 1/N, so w = 1 costs more there than w = 1 − 1/N. It "
    "does no harm, since π_N(1) = 0.",
    "§VIII: ℓ_N is κ-Lipschitz on U_N, which is all that is used; on [0, 1] it is not even continuous.",
)

REMARKS = (
    "§VIII, end, and §X: the condition that the loss be continuous can be dropped. Among mechanisms that are ε-private "
    "on the interval the truncated Laplace mechanism is optimal for every density and every bounded loss m(|w−x|), m "
    "non-decreasing; and for N-step losses ℓ(w, ⌊x⌋_N) too. §X compares it with G_N, which may do better for these, "
    "and is private on U_N only. For step functions that are not monotone it is beaten indeed.",
    "Thm 12 needs no limit: on U_N the column of a Laplace answer y is s_k(y)·(column of p_k) + s_(k+1)(y)·(column "
    "of p_(k+1)), s_k(y) = sinh(ε(h−|y−p_k|))/sinh(εh). So L = G_N·R with the density ε/2·s_k(y)/κ_k for R, and "
    "Lemma 11's R is a difference of hyperbolic cosines for any N and T.",
    "Thm 13, 14: c = min(1, ε/4) is enough for the earth move, for every prior; printed is c = 3/(1−e^−ε)² ≥ 3. "
    "Neighbouring posteriors are at most tanh(ε/2N) apart in W₁.",
    "Thm 14: the loss differs by at most κ·tanh(ε/4N)/(N·cosh(ε/2N)) ≤ κ·ε/4N², for every prior: the order is 1/N², "
    "not 1/N. For losses with ℓ(x, x) = 0, half of that, and this cannot be improved for all intervals.",
    "Thm 5, 14: no Lipschitz constant is needed in $(π, L, ℓ) ≤ cosh(ε/2N)·$(π, G_N, ℓ), which holds for all ℓ ≥ 0 "
    "(GRS12 Thm A.2, for any costs).",
    "Lemma 10: readings need not be points of U_N, as in GRS12. Points of prior 0 beyond the last make as many points "
    "as readings, and mechanisms extend to them by copies of their last row.",
    "§VII-C: |w−x|² is 2-Lipschitz on [0, 1], as it says; on [a, b] it is 2(b−a)-Lipschitz.",
)
