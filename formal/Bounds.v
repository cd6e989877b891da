(** The bounds from above of docs/certificate-format.md, for one record and one prior: joint leaves and their row problems.

    A record's letters are 0, ..., A - 1, and the datasets in which it has letter a are listed in [xs a]. A dataset x selects the
    row [f x] of the channel W, one of V; N a k counts the datasets of letter a that select row k. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

Section Record.
Context {X : Type}.
Variables (A Y V : nat) (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).

(** What counting shows of these, and of the channel (Counting.v). *)
Record well_counted : Prop := {
  wc_some : forall a, (a < A)%nat -> xs a <> [];
  wc_row : forall a x, (a < A)%nat -> In x (xs a) -> (f x < V)%nat /\ (0 < N a (f x))%Z;
  wc_sum : forall a g, (a < A)%nat -> sum (xs a) (fun x => g (f x)) = sum_to V (fun k => IZR (N a k) * g k);
  wc_nonneg : forall a k y, (a < A)%nat -> (k < V)%nat -> (0 < N a k)%Z -> (y < Y)%nat -> 0 <= W k y;
  wc_one : forall a k, (a < A)%nat -> (k < V)%nat -> (0 < N a k)%Z -> sum_to Y (W k) = 1 }.
Hypothesis Hwc : well_counted.

Section Prior.
Variable P : X -> R.

Definition mass a := sum (xs a) P.
Definition u a y := sum (xs a) (fun x => P x * W (f x) y).
Definition s y := sum_to A (fun a => u a y).
Definition info := sum_to A (fun a => sum_to Y (fun y => u a y * (ln (u a y) - ln (mass a) - ln (s y)))).
Definition ent := - sum_to A (fun a => sum (xs a) (fun x => P x * ln (P x))).
Definition is_law := (forall a x, (a < A)%nat -> In x (xs a) -> 0 <= P x) /\ sum_to A mass = 1.
Hypothesis HP : is_law.

Lemma A_pos : (0 < A)%nat.
Proof.
  destruct (Nat.eq_dec A 0) as [E|E]; [|lia]. destruct HP as [_ H1]. rewrite E in H1. unfold sum_to in H1. simpl in H1. lra.
Qed.
Lemma P0 a x : (a < A)%nat -> In x (xs a) -> 0 <= P x.
Proof. apply HP. Qed.
Lemma W0 a x y : (a < A)%nat -> In x (xs a) -> (y < Y)%nat -> 0 <= W (f x) y.
Proof. intros Ha Hx Hy. destruct (wc_row Hwc a x Ha Hx). eapply (wc_nonneg Hwc); eauto. Qed.
Lemma W1 a x : (a < A)%nat -> In x (xs a) -> sum_to Y (W (f x)) = 1.
Proof. intros Ha Hx. destruct (wc_row Hwc a x Ha Hx). eapply (wc_one Hwc); eauto. Qed.
Lemma mass0 a : (a < A)%nat -> 0 <= mass a.
Proof. intro Ha. apply sum_nonneg; intros; eapply P0; eauto. Qed.
Lemma u0 a y : (a < A)%nat -> (y < Y)%nat -> 0 <= u a y.
Proof. intros Ha Hy. apply sum_nonneg; intros. apply Rmult_le_pos; [eapply P0|eapply W0]; eauto. Qed.
Lemma s0 y : (y < Y)%nat -> 0 <= s y.
Proof. intro Hy. apply sum_nonneg; intros a Ha. apply u0; auto. now apply in_to. Qed.
Lemma u_le_s a y : (a < A)%nat -> (y < Y)%nat -> u a y <= s y.
Proof.
  intros Ha Hy. apply (sum_ge_member (seq 0 A) (fun a => u a y)); [now apply in_to|].
  intros b Hb. apply u0; auto. now apply in_to.
Qed.
Lemma sum_u a : (a < A)%nat -> sum_to Y (u a) = mass a.
Proof.
  intro Ha. unfold u, sum_to. rewrite sum_swap. apply sum_ext; intros x Hx.
  rewrite sum_scale. fold (sum_to Y (W (f x))). rewrite (W1 a x Ha Hx). ring.
Qed.
Lemma sum_s : sum_to Y s = 1.
Proof.
  unfold s, sum_to. rewrite sum_swap. destruct HP as [_ H1]. rewrite <- H1.
  apply sum_to_ext; intros a Ha. now apply sum_u.
Qed.
Lemma mass_zero a x : (a < A)%nat -> mass a = 0 -> In x (xs a) -> P x = 0.
Proof. intros Ha E Hx. apply (sum_zero_member (xs a) P); auto. intros; eapply P0; eauto. Qed.

(** The mean over a letter's datasets of what depends on the row and the output. *)
Lemma sum_u_scale a (g : nat -> R) :
  sum_to Y (fun y => u a y * g y) = sum (xs a) (fun x => P x * sum_to Y (fun y => W (f x) y * g y)).
Proof.
  unfold u, sum_to. rewrite (sum_ext _ _ (fun y => sum (xs a) (fun x => P x * (W (f x) y * g y)))).
  - rewrite sum_swap. apply sum_ext; intros x _. now rewrite sum_scale.
  - intros y _. rewrite <- sum_scale_r. apply sum_ext; intros; ring.
Qed.

Lemma sum_s_scale (g : nat -> R) : sum_to Y (fun y => s y * g y) = sum_to A (fun a => sum_to Y (fun y => u a y * g y)).
Proof.
  unfold s, sum_to. rewrite sum_swap. apply sum_ext; intros y _. now rewrite sum_scale_r.
Qed.

(** ** Row problems *)

(** [psi] bounds letter a's part: the mean of scores S, with theta times the negative entropy of the output, and mu times the
    entropy of the datasets, all given the letter. *)
Definition row_problem (theta mu : R) (a : nat) (S : nat -> R) (psi : R) : Prop :=
  sum (xs a) (fun x => P x * S (f x)) + theta * sum_to Y (fun y => u a y * (ln (u a y) - ln (mass a)))
  + mu * (mass a * ln (mass a) - sum (xs a) (fun x => P x * ln (P x))) <= mass a * psi.

Lemma row_problem_weaken theta mu a S psi psi' : (a < A)%nat -> psi <= psi' ->
  row_problem theta mu a S psi -> row_problem theta mu a S psi'.
Proof.
  unfold row_problem. intros Ha H R. eapply Rle_trans; [exact R|]. apply Rmult_le_compat_l; auto. now apply mass0.
Qed.

Definition row_value theta mu a (S : nat -> R) (kappa l h : nat -> R) :=
  sum_to Y (fun y => intercept theta (kappa y) (l y) (h y))
  + mu * ln (sum_to V (fun k => IZR (N a k) * exp ((S k + sum_to Y (fun y => W k y * kappa y)) / mu))).

Lemma row_leaf theta mu a S (K kappa l h : nat -> R) : (a < A)%nat -> 0 <= theta -> 0 < mu ->
  (forall y, (y < Y)%nat -> u a y = K y * mass a) ->
  (forall y, (y < Y)%nat -> 0 <= l y /\ l y <= K y <= h y) ->
  row_problem theta mu a S (row_value theta mu a S kappa l h).
Proof.
  intros Ha Ht Hm HK Hbox. unfold row_problem, row_value.
  assert (B : theta * sum_to Y (fun y => u a y * (ln (u a y) - ln (mass a)))
    <= mass a * sum_to Y (fun y => intercept theta (kappa y) (l y) (h y))
       + sum (xs a) (fun x => P x * sum_to Y (fun y => W (f x) y * kappa y))).
  { rewrite <- sum_u_scale. unfold sum_to. rewrite <- !sum_scale, <- sum_plus. apply sum_to_le; intros y Hy.
    destruct (Hbox y Hy) as [L0 LH].
    pose proof (chord_scaled theta (l y) (h y) (kappa y) (K y) (u a y) (mass a) Ht L0 LH (mass0 a Ha) (HK y Hy)). lra. }
  set (c := fun k => (S k + sum_to Y (fun y => W k y * kappa y)) / mu).
  pose proof (gibbs (xs a) P (fun x => c (f x)) (mass a) (fun x Hx => P0 a x Ha Hx) eq_refl (wc_some Hwc a Ha)) as G.
  cbv beta in G. rewrite (wc_sum Hwc a (fun k => exp (c k)) Ha) in G.
  apply (Rmult_le_compat_l mu) in G; [|lra].
  rewrite (sum_ext (xs a) _ (fun x => P x * S (f x) * / mu + P x * sum_to Y (fun y => W (f x) y * kappa y) * / mu - P x * ln (P x))) in G
    by (intros; unfold c; field; lra).
  rewrite sum_minus, sum_plus, !sum_scale_r in G.
  rewrite Rmult_plus_distr_l, Rmult_minus_distr_l, Rmult_plus_distr_l in G.
  replace (mu * (sum (xs a) (fun x => P x * S (f x)) * / mu)) with (sum (xs a) (fun x => P x * S (f x))) in G by (field; lra).
  replace (mu * (sum (xs a) (fun x => P x * sum_to Y (fun y => W (f x) y * kappa y)) * / mu))
    with (sum (xs a) (fun x => P x * sum_to Y (fun y => W (f x) y * kappa y))) in G by (field; lra).
  fold (c : nat -> R). unfold c in *. lra.
Qed.

(** Without a price for entropy: the largest score with the row's own negative entropy, of the rows that have any probability. *)
Lemma row_free theta a S psi : (a < A)%nat -> 0 <= theta ->
  (forall x, In x (xs a) -> P x <> 0 -> S (f x) + theta * sum_to Y (fun y => xlnx (W (f x) y)) <= psi) ->
  row_problem theta 0 a S psi.
Proof.
  intros Ha Ht H. unfold row_problem. rewrite Rmult_0_l, Rplus_0_r.
  apply Rle_trans with (sum (xs a) (fun x => P x * (S (f x) + theta * sum_to Y (fun y => xlnx (W (f x) y))))).
  - rewrite (sum_ext (xs a) (fun x => P x * (_ + _)) (fun x => P x * S (f x) + theta * (P x * sum_to Y (fun y => xlnx (W (f x) y)))))
      by (intros; ring).
    rewrite sum_plus, sum_scale. apply Rplus_le_compat_l, Rmult_le_compat_l; auto.
    apply Rle_trans with (sum_to Y (fun y => sum (xs a) (fun x => P x * xlnx (W (f x) y)))).
    + apply sum_to_le; intros y Hy. apply log_sum; intros x Hx; [eapply P0|eapply W0]; eauto.
    + unfold sum_to. rewrite sum_swap. right. apply sum_ext; intros; now rewrite sum_scale.
  - unfold mass. rewrite <- sum_scale_r. apply sum_le; intros x Hx. destruct (Req_dec (P x) 0) as [->|E]; [lra|].
    apply Rmult_le_compat_l; [eapply P0; eauto|auto].
Qed.

(** ** Joint leaves *)

Definition score theta (sigma lo hi : nat -> nat -> R) (r : nat -> R) a k :=
  sum_to Y (fun y => W k y *
    (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))).

(** I as a mean of scores, with the entropy of the letters: what the lines, the reference law r and the price mu prove. *)
Lemma joint_scores theta mu (v sigma lo hi : nat -> nat -> R) r psi : 0 <= theta <= 1 ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem theta mu a (score theta sigma lo hi r a) (psi a)) ->
  info + mu * ent <= sum_to A (fun a => mass a * psi a) - (1 - theta + mu) * sum_to A (fun a => mass a * ln (mass a)).
Proof.
  intros [Ht0 Ht1] Hv Hbox Hr Hr1 Hrow.
  (* The two forms of I. *)
  set (D := sum_to A (fun a => sum_to Y (fun y => u a y * (ln (u a y) - ln (s y))))).
  set (E := sum_to A (fun a => sum_to Y (fun y => u a y * (ln (u a y) - ln (mass a))))).
  set (Hs := sum_to Y (fun y => s y * ln (s y))).
  set (Hm := sum_to A (fun a => mass a * ln (mass a))).
  assert (I1 : info = D - Hm).
  { unfold info, D, Hm, sum_to. rewrite <- sum_minus. apply sum_to_ext; intros a Ha.
    assert (M : mass a * ln (mass a) = sum_to Y (fun y => u a y * ln (mass a))).
    { unfold sum_to. rewrite sum_scale_r. now rewrite <- (sum_u a Ha). }
    rewrite M. unfold sum_to. rewrite <- sum_minus. apply sum_ext; intros; ring. }
  assert (I2 : info = E - Hs).
  { unfold Hs. rewrite sum_s_scale. unfold info, E, sum_to. rewrite <- sum_minus. apply sum_ext; intros a _.
    rewrite <- sum_minus. apply sum_ext; intros; ring. }
  (* The reference law instead of the output's own. *)
  assert (R : - Hs <= - sum_to Y (fun y => s y * ln (r y))).
  { assert (sum_to Y (fun y => s y * (ln (r y) - ln (s y))) <= sum_to Y (fun y => r y - s y)).
    { apply sum_to_le; intros y Hy. apply gibbs_term; auto using s0. }
    unfold sum_to in H. rewrite sum_minus in H. fold (sum_to Y r) (sum_to Y s) in H. rewrite sum_s in H.
    rewrite (sum_ext _ _ (fun y => s y * ln (r y) - s y * ln (s y))) in H by (intros; ring).
    rewrite sum_minus in H. unfold Hs, sum_to in *. lra. }
  (* Lines above the posterior's part. *)
  assert (L : (1 - theta) * D <= sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y)))).
  { set (B := fun y => sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y))).
    apply Rle_trans with (sum_to A (fun a => sum_to Y (fun y =>
      intercept (1 - theta) (sigma a y) (lo a y) (hi a y) * s y + sigma a y * u a y))).
    - unfold D, sum_to. rewrite <- sum_scale. apply sum_to_le; intros a Ha. unfold sum_to. rewrite <- sum_scale.
      apply sum_to_le; intros y Hy. destruct (Hbox a y Ha Hy). apply chord_scaled with (x := v a y); auto using s0; lra.
    - right. unfold sum_to. transitivity (sum (seq 0 A) (fun a => sum (seq 0 Y) (fun y => intercept (1 - theta) (sigma a y) (lo a y) (hi a y) * s y))
        + sum (seq 0 A) (fun a => sum (seq 0 Y) (fun y => sigma a y * u a y))).
      { rewrite <- sum_plus. apply sum_ext; intros. now rewrite <- sum_plus. }
      transitivity (sum (seq 0 A) (fun a => sum (seq 0 Y) (fun y => u a y * B y))
        + sum (seq 0 A) (fun a => sum (seq 0 Y) (fun y => sigma a y * u a y))).
      { f_equal. pose proof (sum_s_scale B) as SB. unfold sum_to in SB. rewrite <- SB, sum_swap. apply sum_ext; intros y _.
        rewrite sum_scale_r. unfold B, sum_to. ring. }
      rewrite <- sum_plus. apply sum_ext; intros. rewrite <- sum_plus. apply sum_ext; intros; unfold B, sum_to; ring. }
  (* Together. *)
  assert (T : info + mu * ent <= sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))))
      + theta * E - (1 - theta) * Hm + mu * ent).
  { replace info with ((1 - theta) * info + theta * info) by ring. rewrite I1 at 1. rewrite I2.
    assert (theta * - Hs <= theta * - sum_to Y (fun y => s y * ln (r y))) by (apply Rmult_le_compat_l; auto).
    assert (Z : sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))))
      = sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y)))
      - theta * sum_to Y (fun y => s y * ln (r y))).
    { rewrite sum_s_scale. unfold sum_to. rewrite <- sum_scale, <- sum_minus. apply sum_ext; intros a _.
      rewrite <- sum_scale, <- sum_minus. apply sum_ext; intros; ring. }
    rewrite Z. lra. }
  eapply Rle_trans; [exact T|].
  assert (F : sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))))
      + theta * E + mu * (Hm + ent) <= sum_to A (fun a => mass a * psi a)); [|fold Hm; lra].
  unfold E, Hm, ent, sum_to. rewrite <- sum_opp, <- sum_plus, <- !sum_scale, <- !sum_plus. apply sum_to_le; intros a Ha.
  pose proof (Hrow a Ha) as Q. unfold row_problem, score in Q. rewrite <- sum_u_scale in Q. unfold sum_to in Q. lra.
Qed.

Theorem joint_leaf theta mu (v sigma lo hi : nat -> nat -> R) r psi b : 0 <= theta <= 1 -> 0 <= mu -> 0 < 1 - theta + mu ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem theta mu a (score theta sigma lo hi r a) (psi a)) -> b <= ent ->
  info <= (1 - theta + mu) * ln (sum_to A (fun a => exp (psi a / (1 - theta + mu)))) - mu * b.
Proof.
  intros Ht Hm Htau Hv Hbox Hr Hr1 Hrow Hb.
  pose proof (joint_scores theta mu v sigma lo hi r psi Ht Hv Hbox Hr Hr1 Hrow) as J.
  set (tau := 1 - theta + mu) in *. clearbody tau.
  assert (N0 : seq 0 A <> []).
  { pose proof A_pos as AP. destruct A; [lia|discriminate]. }
  pose proof (gibbs (seq 0 A) mass (fun a => psi a / tau) 1 (fun a Ha => mass0 a (proj1 (in_to _ _) Ha)) (proj2 HP) N0) as G.
  rewrite ln_1, Rmult_0_r, Rplus_0_r, Rmult_1_l in G.
  apply (Rmult_le_compat_l tau) in G; [|lra].
  rewrite (sum_ext _ _ (fun a => mass a * psi a * / tau - mass a * ln (mass a))) in G by (intros; field; lra).
  rewrite sum_minus, sum_scale_r in G.
  assert (mu * b <= mu * ent) by (apply Rmult_le_compat_l; auto).
  assert (E : tau * (sum (seq 0 A) (fun a => mass a * psi a) * / tau - sum (seq 0 A) (fun a => mass a * ln (mass a)))
    = sum_to A (fun a => mass a * psi a) - tau * sum_to A (fun a => mass a * ln (mass a))) by (unfold sum_to; field; lra).
  rewrite E in G. unfold sum_to in *. lra.
Qed.

(** The same where theta = 1 and mu = 0. *)
Theorem joint_leaf_free (v sigma lo hi : nat -> nat -> R) r psi c :
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem 1 0 a (score 1 sigma lo hi r a) (psi a)) ->
  (forall a, (a < A)%nat -> psi a <= c) -> info <= c.
Proof.
  intros Hv Hbox Hr Hr1 Hrow Hc.
  pose proof (joint_scores 1 0 v sigma lo hi r psi ltac:(lra) Hv Hbox Hr Hr1 Hrow) as J.
  assert (sum_to A (fun a => mass a * psi a) <= sum_to A (fun a => mass a * c)).
  { apply sum_to_le; intros a Ha. apply Rmult_le_compat_l; auto using mass0. }
  unfold sum_to in H at 2. rewrite sum_scale_r in H. destruct HP as [_ H1]. unfold sum_to in *. rewrite H1 in H. lra.
Qed.

(** ** Posteriors and conditional laws, chosen freely where a condition has no probability *)

Lemma conditionals : exists v K : nat -> nat -> R,
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y /\ 0 <= v a y <= 1) /\
  (forall y, (y < Y)%nat -> sum_to A (fun a => v a y) = 1) /\
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = K a y * mass a) /\
  (forall a, (a < A)%nat -> sum_to Y (K a) = 1) /\
  (forall a y lo hi, (a < A)%nat -> (y < Y)%nat ->
    (forall k, (k < V)%nat -> (0 < N a k)%Z -> lo <= W k y <= hi) -> lo <= K a y <= hi).
Proof.
  pose proof A_pos as A0.
  exists (fun a y => if Req_EM_T (s y) 0 then / INR A else u a y / s y).
  exists (fun a y => if Req_EM_T (mass a) 0 then match xs a with [] => 0 | x :: _ => W (f x) y end else u a y / mass a).
  assert (AR : 0 < INR A) by (apply lt_0_INR; auto).
  repeat split.
  - destruct (Req_EM_T (s y) 0) as [E|E]; [|field; auto].
    pose proof (u0 a y H H0). pose proof (u_le_s a y H H0). rewrite E in *. lra.
  - destruct (Req_EM_T (s y) 0) as [E|E]; [apply Rlt_le, Rinv_0_lt_compat; auto|].
    apply Rmult_le_pos; [apply u0; auto|]. apply Rlt_le, Rinv_0_lt_compat. pose proof (s0 y H0). lra.
  - destruct (Req_EM_T (s y) 0) as [E|E].
    + rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. apply (le_INR 1); lia.
    + pose proof (s0 y H0). pose proof (u_le_s a y H H0).
      apply Rmult_le_reg_r with (s y); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
  - intros y Hy. destruct (Req_EM_T (s y) 0) as [E|E].
    + unfold sum_to. rewrite sum_const, seq_length. field; lra.
    + unfold Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to A (fun a => u a y)). fold (s y). field; auto.
  - intros a y Ha Hy. destruct (Req_EM_T (mass a) 0) as [E|E]; [|field; auto].
    rewrite E, Rmult_0_r. apply sum_all_zero; intros x Hx. rewrite (mass_zero a x Ha E Hx). ring.
  - intros a Ha. destruct (Req_EM_T (mass a) 0) as [E|E].
    + pose proof (wc_some Hwc a Ha) as NE. destruct (xs a) as [|x t] eqn:EX; [congruence|].
      apply (W1 a x Ha). rewrite EX. simpl; auto.
    + unfold Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to Y (u a)). rewrite (sum_u a Ha). field; auto.
  - destruct (Req_EM_T (mass a) 0) as [E|E].
    + pose proof (wc_some Hwc a H) as NE. destruct (xs a) as [|x t] eqn:EX; [congruence|].
      destruct (wc_row Hwc a x H) as [? ?]; [rewrite EX; simpl; auto|]. now apply H1.
    + pose proof (mass0 a H). apply Rmult_le_reg_r with (mass a); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by auto. unfold mass, u. rewrite <- sum_scale.
      apply sum_le; intros x Hx. destruct (wc_row Hwc a x H Hx) as [F1 F2]. pose proof (P0 a x H Hx).
      rewrite (Rmult_comm lo). apply Rmult_le_compat_l; auto. now apply H1.
  - destruct (Req_EM_T (mass a) 0) as [E|E].
    + pose proof (wc_some Hwc a H) as NE. destruct (xs a) as [|x t] eqn:EX; [congruence|].
      destruct (wc_row Hwc a x H) as [? ?]; [rewrite EX; simpl; auto|]. now apply H1.
    + pose proof (mass0 a H). apply Rmult_le_reg_r with (mass a); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by auto. unfold mass, u. rewrite <- sum_scale.
      apply sum_le; intros x Hx. destruct (wc_row Hwc a x H Hx) as [F1 F2]. pose proof (P0 a x H Hx).
      rewrite (Rmult_comm hi). apply Rmult_le_compat_l; auto. now apply H1.
Qed.

End Prior.
End Record.
