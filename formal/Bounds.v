(** The bounds from above of docs/certificate-format.md, for one record and one prior: joint leaves and their row problems.

    A record's letters are 0, ..., A - 1, and the datasets in which it has letter a are listed in [xs a]. A dataset x selects the
    row [f x] of the channel W, one of V; N a k counts the datasets of letter a that select row k. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows.
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

(** ** Classes: the datasets of a letter that select one row *)

Definition class_mass a k := sum (xs a) (fun x => if Nat.eqb (f x) k then P x else 0).
(** The law of the row, given the letter; where the letter has no probability, that of an even spread. *)
Definition conditional a k := if Req_EM_T (mass a) 0 then IZR (N a k) / INR (length (xs a)) else class_mass a k / mass a.
(** The law of the letter, given the output; where the output has no probability, an even one. *)
Definition posterior a y := if Req_EM_T (s y) 0 then / INR A else u a y / s y.

Lemma class_count a k : (a < A)%nat -> (k < V)%nat -> IZR (N a k) = INR (length (filter (fun x => Nat.eqb (f x) k) (xs a))).
Proof.
  intros Ha Hk. rewrite <- (Rmult_1_r (INR _)), <- sum_const, sum_filter.
  rewrite (wc_sum Hwc a (fun j => if Nat.eqb j k then 1 else 0) Ha). rewrite <- (sum_to_single V k (fun j => IZR (N a j)) Hk).
  apply sum_to_ext; intros j _. rewrite Nat.eqb_sym. destruct (Nat.eqb j k); ring.
Qed.
Lemma N_nonneg a k : (a < A)%nat -> (k < V)%nat -> (0 <= N a k)%Z.
Proof. intros Ha Hk. apply le_IZR. rewrite class_count by auto. apply pos_INR. Qed.
Lemma count_sum a : (a < A)%nat -> sum_to V (fun k => IZR (N a k)) = INR (length (xs a)).
Proof.
  intro Ha. rewrite <- (Rmult_1_r (INR _)), <- sum_const, (wc_sum Hwc a (fun _ => 1) Ha). apply sum_to_ext; intros; ring.
Qed.
Lemma datasets_pos a : (a < A)%nat -> 0 < INR (length (xs a)).
Proof. intro Ha. apply lt_0_INR. pose proof (wc_some Hwc a Ha). destruct (xs a); [congruence|simpl; lia]. Qed.

Lemma sum_class a (S : nat -> R) : (a < A)%nat -> sum (xs a) (fun x => P x * S (f x)) = sum_to V (fun k => class_mass a k * S k).
Proof.
  intro Ha. unfold class_mass. rewrite (sum_to_ext V _ (fun k => sum (xs a) (fun x => if Nat.eqb (f x) k then P x * S k else 0))).
  - unfold sum_to. rewrite sum_swap. apply sum_ext; intros x Hx. symmetry. apply (sum_to_single V (f x) (fun k => P x * S k)).
    now apply (wc_row Hwc a).
  - intros k _. rewrite <- sum_scale_r. apply sum_ext; intros x _. destruct (Nat.eqb _ _); ring.
Qed.
Lemma class_sum a : (a < A)%nat -> sum_to V (class_mass a) = mass a.
Proof.
  intro Ha. transitivity (sum_to V (fun k => class_mass a k * 1)); [apply sum_to_ext; intros; ring|].
  rewrite <- (sum_class a (fun _ => 1) Ha). apply sum_ext; intros; ring.
Qed.
Lemma class_nonneg a k : (a < A)%nat -> 0 <= class_mass a k.
Proof. intro Ha. apply sum_nonneg; intros x Hx. destruct (Nat.eqb _ _); [eapply P0; eauto|lra]. Qed.
Lemma class_absent a k : (a < A)%nat -> (N a k <= 0)%Z -> class_mass a k = 0.
Proof.
  intros Ha L. apply sum_all_zero; intros x Hx. destruct (Nat.eqb_spec (f x) k) as [<-|]; auto. destruct (wc_row Hwc a x Ha Hx). lia.
Qed.
Lemma class_is a k : (a < A)%nat -> class_mass a k = mass a * conditional a k.
Proof.
  intro Ha. unfold conditional. destruct (Req_EM_T (mass a) 0) as [E|E]; [|field; auto]. rewrite E, Rmult_0_l.
  apply sum_all_zero; intros x Hx. rewrite (mass_zero a x Ha E Hx). now destruct (Nat.eqb _ _).
Qed.

Lemma conditional_choice a : (a < A)%nat -> is_choice V (N a) (conditional a).
Proof.
  intro Ha. pose proof (datasets_pos a Ha) as T. unfold conditional. destruct (Req_EM_T (mass a) 0) as [E|E].
  - split; [|split].
    + intros k Hk. apply Rmult_le_pos; [apply IZR_le; now apply N_nonneg|now apply Rlt_le, Rinv_0_lt_compat].
    + intros k Hk L. replace (N a k) with 0%Z by (pose proof (N_nonneg a k Ha Hk); lia). unfold Rdiv. ring.
    + unfold Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to V (fun k => IZR (N a k))). rewrite count_sum by auto. field. lra.
  - pose proof (mass0 a Ha) as M. split; [|split].
    + intros k Hk. apply Rmult_le_pos; [now apply class_nonneg|apply Rlt_le, Rinv_0_lt_compat; lra].
    + intros k Hk L. rewrite class_absent by auto. unfold Rdiv. ring.
    + unfold Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to V (class_mass a)). rewrite class_sum by auto. now field.
Qed.
Lemma u_is_mixed a y : (a < A)%nat -> u a y = mass a * mixed V W (conditional a) y.
Proof.
  intro Ha. unfold u, mixed. rewrite (sum_class a (fun k => W k y) Ha). unfold sum_to. rewrite <- sum_scale. apply sum_ext; intros k _.
  rewrite class_is by auto. ring.
Qed.

Lemma posterior_is a y : (a < A)%nat -> (y < Y)%nat -> u a y = posterior a y * s y /\ 0 <= posterior a y <= 1.
Proof.
  intros Ha Hy. pose proof A_pos as A0. assert (AR : 0 < INR A) by (apply lt_0_INR; auto). unfold posterior.
  pose proof (u0 a y Ha Hy). pose proof (u_le_s a y Ha Hy). pose proof (s0 y Hy). destruct (Req_EM_T (s y) 0) as [E|E].
  - split; [rewrite E in *; lra|]. split; [now apply Rlt_le, Rinv_0_lt_compat|].
    rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. apply (le_INR 1); lia.
  - split; [now field|]. split; [apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with (s y); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.
Lemma posterior_one y : sum_to A (fun a => posterior a y) = 1.
Proof.
  pose proof A_pos as A0. assert (AR : 0 < INR A) by (apply lt_0_INR; auto). unfold posterior. destruct (Req_EM_T (s y) 0) as [E|E].
  - unfold sum_to. rewrite sum_const, seq_length. field; lra.
  - unfold Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to A (fun a => u a y)). fold (s y). field; auto.
Qed.

(** What a letter's datasets add to the entropy, by their classes. *)
Lemma class_entropy a : (a < A)%nat ->
  - sum (xs a) (fun x => P x * ln (P x)) <= sum_to V (fun k => class_mass a k * (ln (IZR (N a k)) - ln (class_mass a k))).
Proof.
  intro Ha. set (l := fun k => filter (fun x => Nat.eqb (f x) k) (xs a)).
  assert (E : - sum (xs a) (fun x => P x * ln (P x)) = sum_to V (fun k => sum (l k) (fun x => - (P x * ln (P x))))).
  { rewrite <- sum_opp. unfold l, sum_to. rewrite (sum_ext (seq 0 V) _ (fun k => sum (xs a) (fun x => if Nat.eqb (f x) k then - (P x * ln (P x)) else 0)))
      by (intros; apply sum_filter).
    rewrite sum_swap. apply sum_ext; intros x Hx. symmetry. apply (sum_to_single V (f x) (fun _ => - (P x * ln (P x)))). now apply (wc_row Hwc a). }
  rewrite E. apply sum_to_le; intros k Hk.
  assert (M : sum (l k) P = class_mass a k) by (unfold l; now rewrite sum_filter).
  destruct (l k) as [|x t] eqn:El; [simpl in M; rewrite <- M; simpl; lra|]. rewrite <- El in *.
  pose proof (gibbs (l k) P (fun _ => 0) (class_mass a k) (fun z Hz => P0 a z Ha (proj1 (proj1 (filter_In _ _ _) Hz))) M ltac:(rewrite El; discriminate)) as G.
  cbv beta in G. rewrite (sum_const (l k)), exp_0, Rmult_1_r in G. unfold l in G at 2. rewrite <- class_count in G by auto.
  rewrite (sum_ext (l k) (fun x => P x * (0 - ln (P x))) (fun x => - (P x * ln (P x)))) in G by (intros; ring). lra.
Qed.
Lemma row_by_class theta mu a S psi : (a < A)%nat -> 0 <= mu -> worth V (N a) Y W theta mu S (conditional a) <= psi ->
  row_problem theta mu a S psi.
Proof.
  intros Ha Hm H. unfold row_problem. pose proof (class_entropy a Ha) as CE. set (M := mass a) in *. set (w := conditional a) in *.
  pose proof (mass0 a Ha) as M0. fold M in M0.
  assert (K : forall y, u a y = M * mixed V W w y) by (intro; now apply u_is_mixed).
  assert (C : forall k, class_mass a k = M * w k) by (intro; now apply class_is).
  eapply Rle_trans; [|apply Rmult_le_compat_l; [exact M0|exact H]]. unfold worth. rewrite sum_class by auto.
  rewrite (sum_to_ext V (fun k => class_mass a k * S k) (fun k => M * (w k * S k))) by (intros; rewrite C; ring).
  unfold sum_to at 1. rewrite sum_scale. fold (sum_to V (fun k => w k * S k)).
  assert (T : forall x, 0 <= x -> M * x * (ln (M * x) - ln M) = M * xlnx x).
  { intros x Hx. destruct M0 as [M0|<-]; [|ring]. destruct Hx as [Hx|<-]; [|unfold xlnx; rewrite Rmult_0_r; ring].
    rewrite ln_mult by auto. unfold xlnx. ring. }
  assert (E1 : sum_to Y (fun y => u a y * (ln (u a y) - ln M)) = M * sum_to Y (fun y => xlnx (mixed V W w y))).
  { unfold sum_to. rewrite <- sum_scale. apply sum_ext; intros y Hy. apply in_to in Hy. rewrite K. apply T.
    apply (mixed_nonneg V (N a) w (conditional_choice a Ha) Y W); auto. split; intros; [now apply (wc_nonneg Hwc a)|now apply (wc_one Hwc a)]. }
  assert (E2 : sum_to V (fun k => class_mass a k * (ln (IZR (N a k)) - ln (class_mass a k))) + M * ln M = M * freedom V (N a) w).
  { assert (E3 : sum_to V (fun k => class_mass a k * ln (IZR (N a k))) - M * sum_to V (fun k => xlnx (w k)) = M * freedom V (N a) w).
    { unfold freedom, sum_to. rewrite <- !sum_scale, <- sum_minus. apply sum_ext; intros k _. rewrite C. unfold xlnx. ring. }
    rewrite <- E3. unfold sum_to. rewrite <- sum_scale.
    rewrite (sum_ext _ (fun k => M * xlnx (w k)) (fun k => class_mass a k * ln (class_mass a k) - class_mass a k * ln M)).
    - rewrite !sum_minus, sum_scale_r. fold (sum_to V (class_mass a)). rewrite class_sum by auto. fold M.
      rewrite (sum_ext _ (fun k => class_mass a k * (ln (IZR (N a k)) - ln (class_mass a k)))
        (fun k => class_mass a k * ln (IZR (N a k)) - class_mass a k * ln (class_mass a k))) by (intros; ring). rewrite sum_minus. ring.
    - intros k Hk. apply in_to in Hk. rewrite C. rewrite <- (T (w k)); [ring|]. now apply (conditional_choice a Ha). }
  assert (mu * (M * ln M - sum (xs a) (fun x => P x * ln (P x))) <= mu * (M * freedom V (N a) w)) by (apply Rmult_le_compat_l; lra).
  rewrite E1. lra.
Qed.

(** ** Joint leaves *)

Definition score theta (sigma lo hi : nat -> nat -> R) (r : nat -> R) a k :=
  sum_to Y (fun y => W k y *
    (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))).

(** The mean of what depends on the row. *)
Definition mean (e : nat -> R) : R := sum_to A (fun a => sum (xs a) (fun x => P x * e (f x))).

(** I, and the mean of any e, as a mean of scores, with the entropy of the letters: what the lines, the reference law r and the price mu
    prove. *)
Lemma joint_scores theta mu (v sigma lo hi : nat -> nat -> R) r (e : nat -> R) psi : 0 <= theta <= 1 ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem theta mu a (fun k => score theta sigma lo hi r a k + e k) (psi a)) ->
  info + mean e + mu * ent <= sum_to A (fun a => mass a * psi a) - (1 - theta + mu) * sum_to A (fun a => mass a * ln (mass a)).
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
  assert (F : sum_to A (fun a => sum_to Y (fun y => u a y *
      (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))))
      + mean e + theta * E + mu * (Hm + ent) <= sum_to A (fun a => mass a * psi a)); [|fold Hm; lra].
  unfold E, Hm, ent, mean, sum_to. rewrite <- sum_opp, <- !sum_scale, <- !sum_plus, <- sum_scale, <- sum_plus. apply sum_to_le; intros a Ha.
  pose proof (Hrow a Ha) as Q. unfold row_problem, score in Q.
  rewrite (sum_ext (xs a) (fun x => P x * (_ + e (f x))) (fun x => P x * sum_to Y (fun y => W (f x) y *
    (sum_to A (fun b => intercept (1 - theta) (sigma b y) (lo b y) (hi b y)) + sigma a y - theta * ln (r y))) + P x * e (f x))) in Q by (intros; ring).
  rewrite sum_plus, <- sum_u_scale in Q. unfold sum_to in Q. lra.
Qed.

Theorem joint_leaf theta mu (v sigma lo hi : nat -> nat -> R) r e psi : 0 <= theta <= 1 -> 0 <= mu -> 0 < 1 - theta + mu ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem theta mu a (fun k => score theta sigma lo hi r a k + e k) (psi a)) ->
  info + mean e + mu * ent <= (1 - theta + mu) * ln (sum_to A (fun a => exp (psi a / (1 - theta + mu)))).
Proof.
  intros Ht Hm Htau Hv Hbox Hr Hr1 Hrow.
  pose proof (joint_scores theta mu v sigma lo hi r e psi Ht Hv Hbox Hr Hr1 Hrow) as J.
  set (tau := 1 - theta + mu) in *. clearbody tau.
  assert (N0 : seq 0 A <> []).
  { pose proof A_pos as AP. destruct A; [lia|discriminate]. }
  pose proof (gibbs (seq 0 A) mass (fun a => psi a / tau) 1 (fun a Ha => mass0 a (proj1 (in_to _ _) Ha)) (proj2 HP) N0) as G.
  rewrite ln_1, Rmult_0_r, Rplus_0_r, Rmult_1_l in G.
  apply (Rmult_le_compat_l tau) in G; [|lra].
  rewrite (sum_ext _ _ (fun a => mass a * psi a * / tau - mass a * ln (mass a))) in G by (intros; field; lra).
  rewrite sum_minus, sum_scale_r in G.
  assert (E : tau * (sum (seq 0 A) (fun a => mass a * psi a) * / tau - sum (seq 0 A) (fun a => mass a * ln (mass a)))
    = sum_to A (fun a => mass a * psi a) - tau * sum_to A (fun a => mass a * ln (mass a))) by (unfold sum_to; field; lra).
  rewrite E in G. unfold sum_to in *. lra.
Qed.

(** The same where theta = 1 and mu = 0, and the numbers of the letters may have a mean. *)
Theorem joint_leaf_free (v sigma lo hi : nat -> nat -> R) r e psi :
  (forall a y, (a < A)%nat -> (y < Y)%nat -> u a y = v a y * s y) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= lo a y /\ lo a y <= v a y <= hi a y) ->
  (forall y, (y < Y)%nat -> 0 < r y) -> sum_to Y r <= 1 ->
  (forall a, (a < A)%nat -> row_problem 1 0 a (fun k => score 1 sigma lo hi r a k + e k) (psi a)) ->
  info + mean e <= sum_to A (fun a => mass a * psi a).
Proof. intros Hv Hbox Hr Hr1 Hrow. pose proof (joint_scores 1 0 v sigma lo hi r e psi ltac:(lra) Hv Hbox Hr Hr1 Hrow). lra. Qed.
Lemma mean_at_most psi c : (forall a, (a < A)%nat -> psi a <= c) -> sum_to A (fun a => mass a * psi a) <= c.
Proof.
  intro Hc. rewrite <- (Rmult_1_l c), <- (proj2 HP). unfold sum_to. rewrite <- sum_scale_r. apply sum_to_le; intros a Ha.
  apply Rmult_le_compat_l; auto using mass0.
Qed.

End Prior.
End Record.
