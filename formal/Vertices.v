(** The entropy bound dropped: I(X_i; Y) is convex in each letter's conditional law, so that it is largest where each letter uses one
    input; trees over the inputs of letters, whose leaves are an output law close to all rows that are left. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds.
Import ListNotations.
Open Scope R_scope.

Section Record.
Context {X : Type}.
Variables (A Y V : nat) (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Variable letter_of : X -> nat.
Hypothesis Hletter : forall a x, (a < A)%nat -> In x (xs a) -> letter_of x = a.

(** Mixing priors whose letters have the same law. *)
Lemma info_convex {B} (l : list B) (q : B -> R) P (Q : B -> X -> R) : (forall z, In z l -> 0 <= q z) ->
  (forall z, In z l -> is_law A xs (Q z)) ->
  (forall z a, In z l -> (a < A)%nat -> mass xs (Q z) a = mass xs P a) ->
  (forall a x, (a < A)%nat -> In x (xs a) -> P x = sum l (fun z => q z * Q z x)) ->
  info A Y xs f W P <= sum l (fun z => q z * info A Y xs f W (Q z)).
Proof.
  intros Hq HQ M E.
  assert (U : forall a y, (a < A)%nat -> u xs f W P a y = sum l (fun z => q z * u xs f W (Q z) a y)).
  { intros a y Ha. unfold u. rewrite (sum_ext (xs a) _ (fun x => sum l (fun z => q z * (Q z x * W (f x) y)))).
    - rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scale.
    - intros x Hx. rewrite (E a x Ha Hx), <- sum_scale_r. apply sum_ext; intros; ring. }
  assert (S : forall y, s A xs f W P y = sum l (fun z => q z * s A xs f W (Q z) y)).
  { intro y. unfold s. rewrite (sum_to_ext A _ (fun a => sum l (fun z => q z * u xs f W (Q z) a y))) by (intros; now apply U).
    unfold sum_to. rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scale. }
  unfold info at 2. rewrite (sum_ext l _ (fun z => sum_to A (fun a => q z *
      sum_to Y (fun y => u xs f W (Q z) a y * (ln (u xs f W (Q z) a y) - ln (mass xs (Q z) a) - ln (s A xs f W (Q z) y))))))
    by (intros; unfold sum_to; now rewrite sum_scale).
  unfold info, sum_to at 1 3. rewrite sum_swap. apply sum_to_le; intros a Ha.
  rewrite (sum_ext l _ (fun z => sum_to Y (fun y => q z *
      (u xs f W (Q z) a y * (ln (u xs f W (Q z) a y) - ln (mass xs P a) - ln (s A xs f W (Q z) y))))))
    by (intros z Hz; rewrite (M z a Hz Ha); unfold sum_to; now rewrite sum_scale).
  unfold sum_to at 1 2. rewrite sum_swap. apply sum_to_le; intros y Hy.
  pose proof (relative_convex l q (fun z => u xs f W (Q z) a y) (fun z => s A xs f W (Q z) y) Hq) as C. cbv beta zeta in C.
  rewrite <- (U a y Ha), <- S in C. set (m := ln (mass xs P a)) in *.
  replace (u xs f W P a y * (ln (u xs f W P a y) - m - ln (s A xs f W P y)))
    with (u xs f W P a y * (ln (u xs f W P a y) - ln (s A xs f W P y)) - u xs f W P a y * m) by ring.
  rewrite (sum_ext l _ (fun z => q z * (u xs f W (Q z) a y * (ln (u xs f W (Q z) a y) - ln (s A xs f W (Q z) y))) - q z * u xs f W (Q z) a y * m))
    by (intros; ring).
  rewrite sum_minus, sum_scale_r, <- (U a y Ha). apply Rplus_le_compat_r, C. intros z Hz. specialize (HQ z Hz).
  split; [exact (u0 _ _ _ _ _ _ _ Hwc (Q z) HQ a y Ha Hy)|exact (u_le_s _ _ _ _ _ _ _ Hwc (Q z) HQ a y Ha Hy)].
Qed.

(** The inputs that a prior may use, letter by letter. *)
Definition within (S : nat -> nat -> bool) (P : X -> R) : Prop :=
  forall a x, (a < A)%nat -> In x (xs a) -> P x <> 0 -> S a (f x) = true.

(** One letter's inputs in two parts: a bound for both is one for all. *)
Lemma part a (S S' S'' : nat -> nat -> bool) c : (a < A)%nat ->
  (forall b k, S b k = true -> b <> a -> S' b k = true /\ S'' b k = true) ->
  (forall k, S a k = true -> S' a k = true \/ S'' a k = true) ->
  (forall P, is_law A xs P -> within S' P -> info A Y xs f W P <= c) ->
  (forall P, is_law A xs P -> within S'' P -> info A Y xs f W P <= c) ->
  forall P, is_law A xs P -> within S P -> info A Y xs f W P <= c.
Proof.
  intros Ha Hother Hown B' B'' P HP HS.
  set (p' := fun x => if S' a (f x) then P x else 0). set (p'' := fun x => if S' a (f x) then 0 else P x).
  set (m' := sum (xs a) p'). set (m'' := sum (xs a) p''). set (M := mass xs P a).
  assert (EM : M = m' + m'').
  { unfold M, mass, m', m''. rewrite <- sum_plus. apply sum_ext; intros x _. unfold p', p''. destruct (S' a (f x)); ring. }
  assert (P0' : forall x, In x (xs a) -> 0 <= p' x).
  { intros x Hx. unfold p'. destruct (S' a (f x)); [eapply P0; eauto|lra]. }
  assert (P0'' : forall x, In x (xs a) -> 0 <= p'' x).
  { intros x Hx. unfold p''. destruct (S' a (f x)); [lra|eapply P0; eauto]. }
  assert (m0' : 0 <= m') by (apply sum_nonneg; auto). assert (m0'' : 0 <= m'') by (apply sum_nonneg; auto).
  destruct m0' as [m0'|Z].
  2: { apply B''; auto. intros b x Hb Hx Nx. pose proof (HS b x Hb Hx Nx) as Sx. destruct (Nat.eq_dec b a) as [->|Nb]; [|now apply Hother].
       destruct (Hown _ Sx) as [S1|S1]; auto. exfalso. apply Nx.
       pose proof (sum_zero_member (xs a) p' x P0' (eq_sym Z) Hx) as Q. unfold p' in Q. now rewrite S1 in Q. }
  destruct m0'' as [m0''|Z].
  2: { apply B'; auto. intros b x Hb Hx Nx. pose proof (HS b x Hb Hx Nx) as Sx. destruct (Nat.eq_dec b a) as [->|Nb]; [|now apply Hother].
       destruct (S' a (f x)) eqn:S1; auto. exfalso. apply Nx.
       pose proof (sum_zero_member (xs a) p'' x P0'' (eq_sym Z) Hx) as Q. unfold p'' in Q. now rewrite S1 in Q. }
  set (P' := fun x => if Nat.eqb (letter_of x) a then p' x * (M / m') else P x).
  set (P'' := fun x => if Nat.eqb (letter_of x) a then p'' x * (M / m'') else P x).
  assert (R' : 0 <= M / m') by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; auto]).
  assert (R'' : 0 <= M / m'') by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; auto]).
  assert (Own : forall x, In x (xs a) -> letter_of x =? a = true) by (intros x Hx; apply Nat.eqb_eq; now apply Hletter).
  assert (Oth : forall b x, (b < A)%nat -> b <> a -> In x (xs b) -> letter_of x =? a = false).
  { intros b x Hb Nb Hx. apply Nat.eqb_neq. now rewrite (Hletter b x Hb Hx). }
  assert (M1 : forall b, (b < A)%nat -> mass xs P' b = mass xs P b).
  { intros b Hb. unfold mass. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite (sum_ext _ P' (fun x => p' x * (M / m'))) by (intros x Hx; unfold P'; now rewrite Own).
      rewrite sum_scale_r. fold m'. fold (mass xs P a). fold M. field. lra.
    - apply sum_ext; intros x Hx. unfold P'. now rewrite (Oth b). }
  assert (M2 : forall b, (b < A)%nat -> mass xs P'' b = mass xs P b).
  { intros b Hb. unfold mass. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite (sum_ext _ P'' (fun x => p'' x * (M / m''))) by (intros x Hx; unfold P''; now rewrite Own).
      rewrite sum_scale_r. fold m''. fold (mass xs P a). fold M. field. lra.
    - apply sum_ext; intros x Hx. unfold P''. now rewrite (Oth b). }
  assert (L1 : is_law A xs P').
  { split; [|rewrite <- (proj2 HP); apply sum_to_ext; intros; now apply M1].
    intros b x Hb Hx. unfold P'. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite Own by auto. apply Rmult_le_pos; auto.
    - rewrite (Oth b) by auto. eapply P0; eauto. }
  assert (L2 : is_law A xs P'').
  { split; [|rewrite <- (proj2 HP); apply sum_to_ext; intros; now apply M2].
    intros b x Hb Hx. unfold P''. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite Own by auto. apply Rmult_le_pos; auto.
    - rewrite (Oth b) by auto. eapply P0; eauto. }
  assert (I1 : info A Y xs f W P' <= c).
  { apply B'; auto. intros b x Hb Hx Nx. unfold P' in Nx. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite Own in Nx by auto. unfold p' in Nx. destruct (S' a (f x)); [reflexivity|]. exfalso; apply Nx; ring.
    - rewrite (Oth b) in Nx by auto. apply (Hother b); [apply (HS b x)|]; auto. }
  assert (I2 : info A Y xs f W P'' <= c).
  { apply B''; auto. intros b x Hb Hx Nx. unfold P'' in Nx. destruct (Nat.eq_dec b a) as [->|Nb].
    - rewrite Own in Nx by auto. unfold p'' in Nx. destruct (S' a (f x)) eqn:S1; [exfalso; apply Nx; ring|].
      assert (Sx : S a (f x) = true) by (apply (HS a x); auto; intro Z; apply Nx; rewrite Z; ring).
      destruct (Hown _ Sx); [congruence|auto].
    - rewrite (Oth b) in Nx by auto. apply (Hother b); [apply (HS b x)|]; auto. }
  set (t := m' / M).
  assert (T : 0 <= t <= 1).
  { unfold t. split; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with M; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  apply Rle_trans with (t * info A Y xs f W P' + (1 - t) * info A Y xs f W P'').
  - pose proof (info_convex [true; false] (fun b => if b then t else 1 - t) P (fun b => if b then P' else P'')) as C.
    cbn [sum] in C. rewrite !Rplus_0_r in C. apply C; try (intros [|]; auto; lra).
    intros b x Hb Hx. rewrite Rplus_0_r. unfold P', P''. destruct (Nat.eq_dec b a) as [->|Nb].
    + rewrite Own by auto. unfold t, p', p''. destruct (S' a (f x)).
      * field. lra.
      * replace m' with (M - m'') by lra. field. lra.
    + rewrite (Oth b) by auto. ring.
  - apply Rle_trans with (t * c + (1 - t) * c); [|lra]. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(** No lines above the posterior's part. *)
Lemma no_lines c : sum_to A (fun _ => intercept c 0 0 1) = 0.
Proof.
  apply sum_all_zero; intros. unfold intercept, xlnx. rewrite ln_1, Rmax_left; lra.
Qed.

(** An output law, and for each letter how close it is to all rows that the letter may use. *)
Lemma law_mean (S : nat -> nat -> bool) (r d : nat -> R) : (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a k, (a < A)%nat -> (k < V)%nat -> (0 < N a k)%Z -> S a k = true ->
    sum_to Y (fun y => xlnx (W k y)) - sum_to Y (fun y => W k y * ln (r y)) <= d a) ->
  forall P, is_law A xs P -> within S P -> info A Y xs f W P <= sum_to A (fun a => mass xs P a * d a).
Proof.
  intros Hr Hr1 H P HP HS. rewrite <- (Rplus_0_r (info A Y xs f W P)).
  replace 0 with (mean A xs f P (fun _ => 0)) by (apply sum_all_zero; intros; apply sum_all_zero; intros; ring).
  apply (joint_leaf_free A Y V xs f N W Hwc P HP (posterior A xs f W P) (fun _ _ => 0) (fun _ _ => 0) (fun _ _ => 1) r (fun _ => 0) d); auto; try lra.
  - intros; now apply (posterior_is A Y V xs f N W Hwc P HP).
  - intros a y Ha Hy. split; [lra|now apply (posterior_is A Y V xs f N W Hwc P HP)].
  - intros a Ha. unfold row_problem. rewrite Rmult_0_l, Rplus_0_r, Rmult_1_l.
    apply Rle_trans with (sum (xs a) (fun x => P x * (sum_to Y (fun y => xlnx (W (f x) y)) - sum_to Y (fun y => W (f x) y * ln (r y))))).
    + apply Rle_trans with (sum (xs a) (fun x => P x * sum_to Y (fun y => - (W (f x) y * ln (r y)))) + sum_to Y (fun y => sum (xs a) (fun x => P x * xlnx (W (f x) y)))).
      * apply Rplus_le_compat.
        -- right. apply sum_ext; intros x _. f_equal. rewrite Rplus_0_r. unfold score. apply sum_to_ext; intros y Hy.
           replace (1 - 1) with 0 by ring. rewrite no_lines. ring.
        -- apply sum_to_le; intros y Hy. apply log_sum; intros x Hx; [eapply P0|eapply W0]; eauto.
      * right. unfold sum_to. rewrite (sum_swap (seq 0 Y)), <- sum_plus. apply sum_ext; intros x _.
        rewrite sum_opp, (sum_scale _ (P x)). unfold sum_to. ring.
    + unfold mass. rewrite <- sum_scale_r. apply sum_le; intros x Hx. destruct (Req_dec (P x) 0) as [->|E]; [lra|].
      apply Rmult_le_compat_l; [eapply P0; eauto|]. destruct (wc_row _ _ _ _ _ _ _ Hwc a x Ha Hx) as [Hk Nk].
      exact (H a (f x) Ha Hk Nk (HS a x Ha Hx E)).
Qed.

(** No output tells more of a letter than its entropy. *)
Lemma letters_leaf P : is_law A xs P -> info A Y xs f W P <= ln (INR A).
Proof.
  intro HP.
  pose proof (joint_leaf A Y V xs f N W Hwc P HP 0 0 (posterior A xs f W P) (fun _ _ => 0) (fun _ _ => 0) (fun _ _ => 1) (fun _ => / INR (Datatypes.S Y))
    (fun _ => 0) (fun _ => 0)) as J.
  assert (Y0 : 0 < INR (Datatypes.S Y)) by (apply lt_0_INR; lia).
  replace (mean A xs f P (fun _ => 0)) with 0 in J by (symmetry; apply sum_all_zero; intros; apply sum_all_zero; intros; ring).
  rewrite Rminus_0_r, Rmult_0_l, !Rplus_0_r, Rmult_1_l in J.
  replace (sum_to A (fun _ => exp (0 / 1))) with (INR A) in J.
  2: { unfold sum_to. rewrite sum_const, seq_length. unfold Rdiv. rewrite Rmult_0_l, exp_0. ring. }
  apply J; try lra.
  - intros; now apply (posterior_is A Y V xs f N W Hwc P HP).
  - intros a y Ha Hy. split; [lra|now apply (posterior_is A Y V xs f N W Hwc P HP)].
  - intros. now apply Rinv_0_lt_compat.
  - unfold sum_to. rewrite sum_const, seq_length. apply Rmult_le_reg_r with (INR (Datatypes.S Y)); auto.
    rewrite Rmult_assoc, Rinv_l, S_INR by lra. lra.
  - intros a Ha. unfold row_problem. rewrite !Rmult_0_l, !Rplus_0_r, Rmult_0_r. right. apply sum_all_zero; intros x Hx.
    unfold score. rewrite Rplus_0_r. replace (sum_to Y _) with 0; [ring|]. symmetry. apply sum_all_zero; intros y _. rewrite no_lines. ring.
Qed.

End Record.
