"""Errata of FMPD23, and remarks on what it leaves open. Reasons and proofs: docs/papers/fmpd23.md.

An erratum begins with its kind. Statement: what is claimed is not so. Proof: the claim holds, a step of its proof does
not. Misprint: what is meant is clear and right, what is printed is not. Then the place, the paper's words, and what is
right.
"""

ERRATA = (
    'Statement, eq. (8) and (9): both range over "the 0/1-bounded vulnerabilities", with gains ≥ 0 in §II-A. Eq. (8)'
    " needs gains ≥ 0, or V_g(π) may be 0 where V_g[π▷C] is not. Eq. (9) needs gains of either sign: with gains in "
    "[0, 1] the additive leakage is at most (1 − 1/n)(1 − Σ_y min_x C_xy), less than Thm 5 allows.",
    'Statement, Def. 6: "L* ⊆ L^{m+}". A constant loss is not strictly monotone on more than one secret, and f(x) '
    "need not be a function of any distance.",
    'Statement, §IV-B: "ℓ_nib is not monotone in any metric". It is in some: for two secrets, on even cycles, on '
    "every Hamming cube. Let a(w) be the secret farthest from w. For three secrets there is no such metric.",
    'Statement, Thm 6(3): "L_𝕀 = L*". Right with trivial as in Def. A1, not as in Def. 6: 𝕀 is optimal for ℓ = (0, '
    "1), (0, 1), whose second action is dominated.",
    'Statement, Thm 6(5): "ℓ ∈ L_{M↓X′} if and only if ℓ↑X ∈ L_M". Only if is right; if is not. On the line 0, 1, 2 '
    "with α = 1/2 the geometric mechanism is optimal for ℓ_bin on {0, 2}, lifted, but its restriction is not for "
    "ℓ_bin: T on {0, 2}, which is, extends to no private mechanism on the line. §VI uses only the direction that is "
    "right.",
    'Statement, Thm 12 and Lemma A3: "Let ℓ be a strictly monotone loss function". They need an action for each '
    "secret: a must be onto, Def. 6 asks only that it be injective. On discrete:3 the loss [x ≠ a(w)] with two "
    "actions is strictly monotone in d_D, trivial on a pair, and the mechanism of Thm 10 is universally optimal for "
    "it.",
    'Statement, after Cor. 18: "O(|X|²) constraints". There are n²(n−1) + n, on n² unknowns.',
    'Statement, Table 6a: "4798" vertices for the grid called 2×2. There are 4346. Count: utmost type grid:3x3 '
    "--alpha 1/2 --vertices --count. Where 4798 comes from we do not know: if √8 is rounded to less than 2√2 there "
    "are 4746.",
    'Statement, Table 7a: "29275" kernel mechanisms for 3 bits. There are 29213. Count: utmost type hamming:3 '
    '--alpha 1/2 --kernels --count. ("Exceeds 29000", in §VI-D, is right.)',
    'Proof of Thm 6(3): "at least one vertex v must have" another best action than the uniform prior has. For ℓ = '
    "(0, 1), (100, 0) and ε = ln 2 none has; the proof needs another prior.",
    'Proof of Thm 10: "α = e^−ε". It must be e^−d(x1*, x2*), else K is not d-private, or not T on the closest pair.',
    'Proof of Thm 10 and A4: "Since ℓ↓{x1, x2} is monotone on d_D, we have that ℓ is monotone". The lifted loss is '
    "not (on a line or a discrete space of three, for instance). ℓ(w, x) = 0 if x = a(w), else 1, with two actions, "
    "is monotone in every metric and has the same optimal mechanisms; so both theorems hold.",
    'Proof of Lemma A2: "this yields 2(n−1) vertices (corresponding to 2 constraints per adjacent pair)". Here '
    "constraints are counted as vertices: the line has 2^(n−1), as §VI-A says. At least 2(n−1), the lemma, is right:"
    " vertices come in opposite pairs, which span n−1 dimensions.",
    'Proof of Lemma A6: constraints tight in opposite directions: "This means that K↓{x1, x2} ≡ T". Not if there is '
    "a third column, as in random response. The lemma is right: a vertex of the discrete type has two values, so two"
    " of three secrets agree in it, and on these K is not T.",
    'Misprint, §II-C, the sentence after Def. 2: "universally optimal whenever M′ ⊑ M". Read M ⊑ M′ for all M′: by '
    'eq. (6) B ⊑ A says that A tells less, so T ⊑ 𝕀, and Thm 6(2) has it right. In §II-B, too, "channel A will '
    'always have more gain" is what A ⊑ B says, not that A refines B.',
    'Misprint, Def. 6: "α : W → W". Read W → X: a(w) is a secret.',
    'Misprint, Thm 10, proof: the rows "1/(k+j), α/(k+j)" of K↓{x1*, x2*} sum to 1/n. Read n/(k+j) = 1/(1+α) and '
    "α/(1+α).",
    'Misprint, Cor. 17 and 18: "0 ≤ i, j ≤ n". Indices start at 1.',
    'Misprint, Def. 9: "α ∈ (0, 1]". Read α < 1: at 1 every entry is 0.',
    "Misprint, Lemma 21, proof: R is written with α on the diagonal and 1 elsewhere. That is the dual R°, and so is "
    "the determinant. R's is (1−α)^(n−1)·(1+(n−1)α)/k^n. Neither is 0, and the lemma holds for both.",
    'Misprint, §VI-B: Δ_KA and Δ_KB "on n inputs" with columns of 1/4, 1/2 and 2/5, 1/5. These are distributions for'
    " n = 3 only. On n secrets they are (2, 1, …)/(n+1) and (1, 2, …)/(2n−1), with outers (n+1)/(3n) and "
    "(2n−1)/(3n). K_A↓{x1, xn} is T with its columns exchanged.",
    'Misprint, Cor. 22: "ML+(M) ≤ 1 − 1/(1+(|X|−1)e^ε)". Read 1 − |X|/(1+(|X|−1)e^ε), as the definition of R° and '
    "Table 5a have it. What is printed is a bound, but no mechanism attains it.",
    'Misprint, Table 6a: "1×1, 2×2, 3×3" are grids of 2×2, 3×3, 4×4 places (Fig. 6b calls the first 2x2).',
    'Misprint, §VI-D: "the Hamming cube on 3 secrets". Bitstrings of length 3 are eight secrets.',
    "Misprint, Fig. 8: in the text followed here Δ_K has ten rows for eight secrets. The two that read 2/27, 2/21, "
    "4/21, 2/27 are superfluous; the other eight are right. That text was taken from the pages by machine, so the "
    "pages may not have them.",
)

REMARKS = (
    "§I reports Brenner and Nissim's result, that ℓ_bin-optimal mechanisms exist on lines alone, without its "
    "conditions. They exist on every tree with α ≤ 1/(Δ − 1), Δ its largest degree. On the star with three leaves "
    "there is one at α = 1/2 and none at α = 2/3.",
    "§VI-A asks whether the geometric mechanism is optimal for ℓ_nib. It is, on every line, at every α and for every"
    " prior; the least loss is (h_m + h_{m+1})/(1 + α) at the top of a tent h. So by Thm 15 it attains the additive "
    "capacity of the line: 1 − 2α^(N/2)/(1+α) for even N, 1 − α^((N−1)/2) for odd N.",
    "The number of kernel mechanisms depends on α, that of vertices does not: line:5 has 195, 187, 222, 230 kernel "
    "mechanisms at α = 1/3, 1/2, 2/3, 9/10. The tables are for α = 1/2.",
    "Thm 10: the mechanism needs no closest pair. For any secret x the mechanism that tells whether it is x, as "
    "loudly as the nearest other secret allows, is universally optimal for all losses on these two, lifted.",
    "K of Fig. 8 is the geometric mechanism of the number of ones.",
)
