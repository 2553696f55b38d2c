"""Errata of GRS12, and remarks on what it leaves open. Reasons and proofs: docs/papers/grs12.md."""

ERRATA = (
    "Cor. 3.4 needs α < 1. At α = 1 nothing may be told, every private mechanism is optimal for every user, and "
    "one that answers at random is not of the form π∘T. (Thm 3.2 is right at α = 0 and 1, Cor. 3.4 at α = 0.)",
    "§5.1: the matrix that has the form of a remap is T⁻¹X, not XT⁻¹, when rows are inputs, as in every figure "
    "and in (Y∘X)_ij = Σ_r x_ir·y_rj.",
    "Lemma 5.9, proof: r_1 need not be the first row of the signature. Copies of s_0 = S↑…↑ may come before it, "
    "and the index k of the rows s_k runs from 0. Example: n = 3, α = 3/4, uniform prior, absolute loss has the "
    "unique optimum 0S↑0 / 0↓↑0 / 0↓S0. The lemma itself is right.",
    "Lemma 5.6, proof: part (a) also needs the case of a next row that is smaller and has an S, which the same "
    "bound on its mass covers; and the first inequality of the chain is an equality when a = 0 (a row S↑…↑), "
    "where the last is strict.",
    "Lemma 5.8, proof: a vertex meets (n+1)² linearly independent constraints with equality. In a zero column the "
    "privacy constraints bind as well, and are not independent of the bounds x ≥ 0.",
    "Thm A.2 needs losses ≥ 0, which §2.2 does not ask for, and α < 1. With α = 1/2, n = 1, uniform prior and the "
    "loss of Example A.1 less 1/3, the least loss is 0 and that from Laplace noise is positive, so no factor will "
    "do. At α = 1 there is no Laplace noise.",
    "Examples 2.1 and 2.2 refer to Figures 2.1(a) and 2.1(b); these are Figures 1(a) and 1(b).",
)

REMARKS = (
    "Thm 3.2 and Lemma 5.11 speak of mechanisms that are oblivious and α-private, as §2 assumes throughout. Telling "
    "the count outright can be remapped to the truncated geometric mechanism, and is not private.",
    "§7 leaves asymmetric losses open. Thm 3.2 holds for them: whenever ℓ(i, j) falls (weakly) as j rises to i "
    "and rises from there, differently on the two sides and for each i if need be; even when the best reading is "
    "not i but any non-decreasing function of i. Only Lemma 5.5 has to be proved anew.",
    "§4: the result for minimax users follows from Thm 3.2 by the minimax theorem, for the same losses.",
    "Lemma 5.12: γ is small enough exactly when γ·(2α − 1 − α^(n+1)) < (1 − α)²; for α ≤ 1/2 every γ > 0 is.",
    "App. C: ε is small enough exactly when ε < 1/8 in all cases computed, and δ need not be positive.",
    "Example 2.3 for even n: the remapped loss is α^(n/2)/2.",
    "Thm A.2: the factor (1+α)/(2√α) cannot be improved, at any α in (0, 1): the user of Example A.1 attains it.",
)
