"""Errata of KL10, and remarks on what it leaves open. Reasons and proofs: docs/papers/kl10.md.

An erratum begins with its kind. Statement: what is claimed is not so. Proof: the claim holds, a step of its proof does
not. Misprint: what is meant is clear and right, what is printed is not. Then the place, and what is right.
"""

ERRATA = (
    "Statement, Prop. 2.2.2: its second and third items are exchanged; the proof has them right. Under differential "
    "privacy with e^ε = 2, q(3/4, 1/2) holds and by the second item so would q(3/4, 15/16), which does not.",
    "Statement, Prop. 2.2.3 and Thm 2.2.5 (i): they hold for one pair, and where all pairs have one rule, not for "
    "each pair of any family. With q₂₁: a = b only constants are left, and q₁₂ may also allow (1/4, 3/4) and (3/4, "
    "1/4). The proof takes a mechanism for one pair for one for all.",
    "Statement, Thm 2.2.5 (v): m is non-decreasing, and strictly increasing where m(a) > 0; printed: nonincreasing, "
    "strictly decreasing where M(a) > 0.",
    "Statement, §3, on GRS12: not any optimal mechanism is a remap of the geometric one, but for each user some one "
    "is; for a constant loss GRS12's Figure 5(a) is optimal and is none. Nor is the remap never one-to-one: for the "
    "uniform prior and binary loss on 0 … 2 at α = 1/2 it is the identity.",
    "Statement, Def. 3.1.2: ≤_G is a preorder, not a partial order; a mechanism with its outputs renamed is "
    "equivalent to it and another one.",
    "Statement, §1: that a noninvertible transformation strictly decreases utility is more than Axiom 3.1.4 asks, and"
    " too much. Merging proportional outputs loses nothing, and μ_Dob stays when the geometric mechanism tells halves"
    " only.",
    "Statement, Thm 3.3.3: R must be connected, or no row graph is and S_con is empty, while maximally general "
    "mechanisms exist. Component by component the theorem holds.",
    "Statement, §3.3 and App. B: the number of spanning trees of R bounds neither the outputs of a maximally general "
    "mechanism nor the steps of the construction. A line has one; its geometric mechanism has n outputs, and silence "
    "takes 2^(n−1) − 1 steps to 2^(n−1) outputs. An output is a tree with a direction on each edge.",
    "Statement, App. B, eq. (3) and (4): ρ₁ and ρ₂ must range over related s and t. Over all, they can exceed e^ε, "
    "and a and b can divide by 0: the column (16, 8, 6, 3)/32 on a line of four with e^ε = 2.",
    "Statement, Lemma 3.3.8: the indices are those of Lemma 3.3.5, for n = d + 1 inputs counted from 1; and in the "
    "odd case “and” must be “or”. As printed it lets silence pass for d = 1, lets (1, 1, 2)/3 pass and stops the best"
    " for d = 2, and stops the geometric mechanism for d = 3. Right: with h = ⌈d/2⌉, each output rises as fast as it "
    "may for j = 1, …, h, or falls as fast as it may for j = d−h+1, …, d.",
    "Statement, §3.3: the row graphs of an optimal mechanism need not have a structure in common. For even d none of "
    "their edges need be: (1, 2, 3)/4 and (3, 2, 1)/4 on a line of three, e^ε = 2.",
    "Proof of Thm 2.2.5 (iv), (v): the mechanism with P(o₁|i₂) = M(a) is one for q*, not for q, and that q* keeps the"
    " axioms is not shown in Prop. 2.2.4. It does.",
    "Proof of Thm 2.3.1, Step 3: ∫h dμ₁ = 1 makes h equal to 1 almost everywhere for μ₁, but not an indicator: μ₁ = "
    "(1, 0), μ₂ = (1/2, 1/2), h = (1, 1/2). The bound follows from the set where h = 1; likewise at ∫h dμ₁ = 0.",
    "Proof of Thm 3.3.3: that no two row graphs are the same cannot be had by merging proportional outputs. All "
    "outputs of the geometric mechanism have the same one. With directed graphs, or likelihood functions, the proof "
    "goes through.",
    "Proof of Lemma 3.3.7: the groups must begin with G₀ = {u₂}; u₂ is in none of the printed ones.",
    "Misprint, §3.3: P(O|i₁) ≤ e^ε·P(O|i₂) “or” the converse. Of two numbers one is always at most e^ε times the "
    "other: read “and”.",
    "Misprint, §2.1: M of (ε, δ) has d for δ, and M(a, b) for M(a). Axioms 2.2.5 and 2.3.1 are Axioms 2.1.1 and 2.1.2.",
    "Misprint, Lemma 3.3.4: m_{j+1} is m_{1,j+1}, and m_j is m_{1,j}.",
    "Misprint, App. C: m_{2,ℓ} = 1/(1−e^ε), which is negative, is 1/(1+e^ε).",
    "Misprint, Lemma 3.3.8, proof: a path i₀ … i_d has d + 1 inputs: 2 × (d+1) mechanisms and E_{1,d+1}, not E_{1,d}.",
    "Misprint, App. B: A⁻(o) is a set of outputs of M′, {o′ ∈ O′ : …}. Def. 3.3.2: P(O|i) is P(o|i).",
)

REMARKS = (
    "§2.1, Def. 3.3.1 and R_n: the relation is symmetric for differential privacy, as §3.3 says, and must be. For "
    "(i₁, i₂) alone M(a) would be 1 − e^−ε·(1−a); and with R₂ = {(1, 2)} and e^ε = 2 the mechanism (0, 1), (1/2, 1/2) "
    "has overlap 1/2, where Lemma 3.3.5 says at least 2/3.",
    "Axioms 2.1.1 and 2.1.2: for one pair each implies the other, and both mean that what is allowed is convex; so "
    "boundaries are decided too. A failure of 2.1.1 needs mechanisms with three outputs at most, and sometimes three.",
    "Thm 2.3.1 (iii), Def. 2.1.3: continuity on (0, 1] follows from concavity, M ≤ 1 and M(1) = 1; the condition on "
    "complements follows from that on all events.",
    "§2.1, subsampling: M(a) = p + (1−p)·a when a record is added, min(1, a/(1−p)) when one is taken away.",
    "Prop. 2.1.4: a′ and a″ are the best possible, and attained by two outputs, except that a″ = 1 is only approached"
    " where M jumps at 0 and m(1) > e^−ε.",
    "§3.1: S_Max is empty for M(0) = 0, M(a) = 1 (a > 0), which satisfies both axioms.",
    "Example 3.2.1: the axiom fails for every loss that depends on the answer, at every level e^−ε < 1, by renaming "
    "two answers; no prior or user is needed.",
    "Thm 3.3.3: maximally general mechanisms are the vertex mechanisms of FMPD23; a line of n has 2^(n−1) vertices.",
    "Lemmas 3.3.5 to 3.3.8: the best μ_Dob is −α^(d/2) for even diameter d and −2·α^((d+1)/2)/(1+α) for odd.",
)
