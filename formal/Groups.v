(** Groups of outputs: what is told beyond the group is at most what each row, on average, is apart from a law within the groups. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds.
Import ListNotations.
Open Scope R_scope.

Section Record.
Context {X : Type}.
Variables (A Y V : nat) (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Variable parts : list (list nat).
Hypothesis Hparts : partitions Y parts = true.
Let G := length parts.
Let WG := grouped parts W.

Lemma well_counted_grouped : well_counted A G V xs f N WG.
Proof.
  split.
  - exact (wc_some _ _ _ _ _ _ _ Hwc).
  - exact (wc_row _ _ _ _ _ _ _ Hwc).
  - exact (wc_sum _ _ _ _ _ _ _ Hwc).
  - intros a k g Ha Hk Nk Hg. apply sum_nonneg; intros y Hy. apply (wc_nonneg _ _ _ _ _ _ _ Hwc a); auto. eapply in_group; eauto.
  - intros a k Ha Hk Nk. rewrite <- (wc_one _ _ _ _ _ _ _ Hwc a k Ha Hk Nk). symmetry. now apply sum_groups.
Qed.

(** D of a row from its group's probabilities and a law [t] within each group. *)
Definition apart (t : nat -> R) (k : nat) : R := within_groups parts W k - sum_to Y (fun y => W k y * ln (t y)).

Section Prior.
Variable P : X -> R.
Hypothesis HP : is_law A xs P.

Lemma u_grouped a g : u xs f WG P a g = sum (group parts g) (u xs f W P a).
Proof. unfold u, WG, grouped. rewrite sum_swap. apply sum_ext; intros x _. now rewrite sum_scale. Qed.
Lemma s_grouped g : s A xs f WG P g = sum (group parts g) (s A xs f W P).
Proof. unfold s, sum_to. rewrite sum_swap. apply sum_ext; intros a _. apply u_grouped. Qed.

Lemma info_grouped (t : nat -> R) : (forall y, (y < Y)%nat -> 0 < t y) -> (forall g, (g < G)%nat -> sum (group parts g) t <= 1) ->
  info A Y xs f W P <= info A G xs f WG P + mean A xs f P (apart t).
Proof.
  intros Ht Ht1. set (U := u xs f W P). set (S := s A xs f W P). set (M := mass xs P).
  (* I as three sums, for outputs and for groups. *)
  assert (I3 : forall Z (W' : nat -> nat -> R), well_counted A Z V xs f N W' -> info A Z xs f W' P
    = sum_to A (fun a => sum_to Z (fun y => xlnx (u xs f W' P a y))) - sum_to A (fun a => xlnx (M a)) - sum_to Z (fun y => xlnx (s A xs f W' P y))).
  { intros Z W' H. assert (E1 : sum_to A (fun a => xlnx (M a)) = sum_to A (fun a => sum_to Z (fun y => u xs f W' P a y * ln (M a)))).
    { apply sum_to_ext; intros a Ha. unfold sum_to. rewrite sum_scale_r. unfold xlnx. f_equal. symmetry. now apply (sum_u _ _ _ _ _ _ _ H P). }
    assert (E2 : sum_to Z (fun y => xlnx (s A xs f W' P y)) = sum_to A (fun a => sum_to Z (fun y => u xs f W' P a y * ln (s A xs f W' P y)))).
    { rewrite <- sum_s_scale. reflexivity. }
    rewrite E1, E2. unfold info, sum_to. rewrite <- !sum_minus. apply sum_ext; intros a _. rewrite <- !sum_minus.
    apply sum_ext; intros; unfold xlnx, M; ring. }
  rewrite (I3 Y W Hwc), (I3 G WG well_counted_grouped).
  (* Within the groups, given the letter. *)
  assert (B1 : sum_to A (fun a => sum_to Y (fun y => xlnx (U a y))) - sum_to A (fun a => sum_to G (fun g => xlnx (u xs f WG P a g)))
    <= mean A xs f P (within_groups parts W)).
  { unfold mean, sum_to at 1 3. rewrite <- sum_minus. apply sum_to_le; intros a Ha. rewrite (sum_groups Y parts _ Hparts).
    unfold sum_to. rewrite <- sum_minus.
    apply Rle_trans with (sum_to G (fun g => sum (xs a) (fun x => P x * (sum (group parts g) (fun y => xlnx (W (f x) y)) - xlnx (sum (group parts g) (W (f x))))))).
    - apply sum_to_le; intros g Hg. rewrite u_grouped. apply (group_convex (xs a) P (fun x => W (f x)) (group parts g)).
      + intros x Hx. eapply P0; eauto.
      + intros x y Hx Hy. eapply W0; eauto. eapply in_group; eauto.
    - right. unfold sum_to. rewrite sum_swap. apply sum_ext; intros x _. rewrite sum_scale. reflexivity. }
  (* Within the groups, of all letters. *)
  assert (B2 : sum_to G (fun g => xlnx (s A xs f WG P g)) - sum_to Y (fun y => xlnx (S y)) <= - sum_to Y (fun y => S y * ln (t y))).
  { rewrite !(sum_groups Y parts _ Hparts). fold G. unfold sum_to. rewrite <- sum_minus, <- sum_opp. apply sum_to_le; intros g Hg.
    rewrite s_grouped. fold S. set (T := sum (group parts g) S).
    assert (S0 : forall y, In y (group parts g) -> 0 <= S y).
    { intros y Hy. apply (s0 _ _ _ _ _ _ _ Hwc P HP). eapply in_group; eauto. }
    assert (T0 : 0 <= T) by (apply sum_nonneg; auto). destruct T0 as [T0|T0].
    - assert (E : sum (group parts g) (fun y => S y * (ln (t y * T) - ln (S y))) <= sum (group parts g) (fun y => t y * T - S y)).
      { apply sum_le; intros y Hy. apply gibbs_term; auto. apply Rmult_lt_0_compat; auto. apply Ht. eapply in_group; eauto. }
      rewrite sum_minus, sum_scale_r in E. fold T in E. specialize (Ht1 g Hg).
      assert (sum (group parts g) t * T <= 1 * T) by (apply Rmult_le_compat_r; lra).
      rewrite (sum_ext _ _ (fun y => S y * ln (t y) + S y * ln T - xlnx (S y))) in E.
      + rewrite sum_minus, sum_plus, sum_scale_r in E. fold T in E. unfold xlnx at 1. lra.
      + intros y Hy. rewrite ln_mult; auto; [unfold xlnx; ring|]. apply Ht. eapply in_group; eauto.
    - rewrite <- T0. unfold xlnx at 1. rewrite Rmult_0_l.
      assert (Z : forall y, In y (group parts g) -> S y = 0) by (intros y Hy; apply (sum_zero_member (group parts g) S); auto).
      rewrite !(sum_all_zero (group parts g)); [lra| |]; intros y Hy; unfold xlnx; rewrite (Z y Hy); ring. }
  assert (E : mean A xs f P (apart t) = mean A xs f P (within_groups parts W) - sum_to Y (fun y => S y * ln (t y))).
  { unfold S. rewrite sum_s_scale. unfold mean, apart, sum_to. rewrite <- sum_minus. apply sum_ext; intros a _.
    pose proof (sum_u_scale Y xs f W P a (fun y => ln (t y))) as Q. unfold sum_to in Q. rewrite Q, <- sum_minus. apply sum_ext; intros; ring. }
  rewrite E. fold U S. lra.
Qed.
End Prior.
End Record.
