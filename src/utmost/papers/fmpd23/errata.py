"""What FMPD23 has wrong, and what it leaves open and is settled here. Reasons and proofs: docs/papers/fmpd23.md."""

ERRATA = (
    "§I: ℓ_bin has universally optimal mechanisms outside lines: on every tree, if α ≤ 1/(Δ − 1), Δ its largest "
    "degree. On the star with three leaves there is one at α = 1/2 and none at α = 2/3.",
    "Def. 2, remark: M is universally optimal when M ⊑ M′ for all M′, not M′ ⊑ M. By eq. (6) B ⊑ A says that A tells "
    'less; so T ⊑ 𝕀. In §II-B, too, "A will always have more gain" is what A ⊑ B says, not that A refines B.',
    "Eq. (8) needs gains ≥ 0, eq. (9) gains of either sign. With 0/1-bounded vulnerabilities (footnote 3) V_g(π) may "
    "be 0 where V_g[π▷C] is not; and with gains ≥ 0 (§II-A) the additive leakage is at most (1 − 1/n)(1 − Σ_y min_x "
    "C_xy).",
    "Def. 6: a(w) is a secret, not an action. L* ⊆ L^{m+} is wrong: a constant loss is not strictly monotone on more "
    "than one secret, and f(x) need not be a function of any distance.",
    "§IV-B: ℓ_nib is monotone in some metrics: for two secrets, on even cycles, on every Hamming cube. Let a(w) be "
    "the secret farthest from w. For three secrets there is no such metric.",
    "Thm 6(3) is right with Def. A1 for trivial, not with Def. 6: a dominated action may be added to a loss. Its "
    "proof needs another prior than the uniform one: for ℓ = (0, 10), (1, 0) and ε = ln 2 one action is best "
    "throughout.",
    "Thm 6(5): ℓ ∈ L_{M↓X′} implies ℓ↑X ∈ L_M; the converse fails. On the line 0, 1, 2 with α = 1/2 the geometric "
    "mechanism is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is not for ℓ_bin: T on {0, 2}, which is, "
    "extends to no private mechanism on the line.",
    "Thm 10, proof: α must be e^−d(x1*, x2*); the rows of K↓{x1*, x2*} are n/(k+j) = 1/(1+α) and α/(1+α), not 1/(k+j) "
    "and α/(k+j), which sum to 1/n.",
    "Thm 10 and A4: the lifted loss is not monotone (on a line or a discrete space of three, for instance). ℓ(w, x) = "
    "0 if x = a(w), else 1, with two actions, is monotone in every metric and has the same optimal mechanisms.",
    "Thm 12 and Lemma A3 need an action for each secret: a must be onto, Def. 6 asks only that it be injective. On "
    "discrete:3 the loss [x ≠ a(w)] with two actions is strictly monotone in d_D, trivial on a pair, and the "
    "mechanism of Thm 10 is universally optimal for it.",
    "Lemma A6, proof: two columns that are tight in opposite directions do not make K↓{x1, x2} ≡ T; random response "
    "has a third. The lemma is right: a vertex of the discrete type has two values, so two of three secrets agree in "
    "it, and on these K is not T.",
    "Lemma A2, proof: constraints are counted as vertices. The line, where the count should be attained, has 2^(n−1) "
    "vertices, as §VI-A says. At least 2(n−1) is right: vertices come in opposite pairs, which span n−1 dimensions.",
    "Cor. 17 and 18 have n²(n−1) + n constraints on n² unknowns, not O(|X|²), and their indices start at 1.",
    "Def. 9 needs α < 1: at α = 1 every entry is 0.",
    "Lemma 21, proof: the matrix with α on the diagonal is the dual R°, and so is the determinant. R's is "
    "(1−α)^(n−1)·(1+(n−1)α)/k^n. Both are kernel mechanisms.",
    "§VI-B: the columns of Δ_KA and Δ_KB are distributions for n = 3 only. On n secrets they are (2, 1, …)/(n+1) and "
    "(1, 2, …)/(2n−1), with outers (n+1)/(3n) and (2n−1)/(3n). K_A↓{x1, xn} is T with its columns exchanged.",
    "Cor. 22: the additive capacity of the discrete type is 1 − |X|/(1+(|X|−1)e^ε), as its proof and Table 5a have "
    "it; what is printed lacks the |X| and is not attained.",
    "Table 6a: the grids called 1×1, 2×2, 3×3 have 2×2, 3×3, 4×4 places; and 3×3 places have 4346 vertices, not 4798.",
    'Table 7a: bitstrings of length 3 have 29213 kernel mechanisms, not 29275. ("Exceeds 29000" is right.)',
    "Fig. 8 and §VI-D: bitstrings of length 3 are eight secrets, not three. In the text followed here Δ_K has ten "
    "rows; without the two that read 2/27, 2/21, 4/21, 2/27 it is right.",
)

REMARKS = (
    "§VI-A asks whether the geometric mechanism is optimal for ℓ_nib. It is, on every line, at every α and for every "
    "prior; the least loss is (h_m + h_{m+1})/(1 + α) at the top of a tent h. So by Thm 15 it attains the additive "
    "capacity of the line: 1 − 2α^(N/2)/(1+α) for even N, 1 − α^((N−1)/2) for odd N.",
    "The number of kernel mechanisms depends on α, that of vertices does not: line:5 has 195, 187, 222, 230 kernel "
    "mechanisms at α = 1/3, 1/2, 2/3, 9/10. The tables are for α = 1/2.",
    "Thm 10: the mechanism needs no closest pair. For any secret x the mechanism that tells whether it is x, as "
    "loudly as the nearest other secret allows, is universally optimal for all losses on these two, lifted.",
    "K of Fig. 8 is the geometric mechanism of the number of ones.",
)
