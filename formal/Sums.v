(** Finite sums, and the inequalities of x ln x that every bound rests on. ln 0 is 0 in Coq's library, and 0 ln 0 = 0 with it. *)
From Coq Require Import Reals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions.
Import ListNotations.
Open Scope R_scope.

(** ** Sums *)

Lemma sum_ext {A} (l : list A) f g : (forall a, In a l -> f a = g a) -> sum l f = sum l g.
Proof. induction l; simpl; intro H; [auto|rewrite H, IHl; auto]. Qed.

Lemma sum_le {A} (l : list A) f g : (forall a, In a l -> f a <= g a) -> sum l f <= sum l g.
Proof.
  induction l as [|x l IH]; simpl; intro H; [lra|].
  assert (f x <= g x) by auto. assert (sum l f <= sum l g) by auto. lra.
Qed.

Lemma sum_plus {A} (l : list A) f g : sum l (fun a => f a + g a) = sum l f + sum l g.
Proof. induction l; simpl; lra. Qed.
Lemma sum_minus {A} (l : list A) f g : sum l (fun a => f a - g a) = sum l f - sum l g.
Proof. induction l; simpl; lra. Qed.
Lemma sum_opp {A} (l : list A) f : sum l (fun a => - f a) = - sum l f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_scale {A} (l : list A) c f : sum l (fun a => c * f a) = c * sum l f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_scale_r {A} (l : list A) c f : sum l (fun a => f a * c) = sum l f * c.
Proof. induction l; simpl; lra. Qed.
Lemma sum_zero {A} (l : list A) : sum l (fun _ => 0) = 0.
Proof. induction l; simpl; lra. Qed.
Lemma sum_all_zero {A} (l : list A) f : (forall a, In a l -> f a = 0) -> sum l f = 0.
Proof. intro H. rewrite (sum_ext l f (fun _ => 0)); auto using sum_zero. Qed.
Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l as [|x l IH]; [simpl; lra|]. cbn [sum length]. rewrite IH, S_INR. lra. Qed.
Lemma sum_nonneg {A} (l : list A) f : (forall a, In a l -> 0 <= f a) -> 0 <= sum l f.
Proof. intro H. rewrite <- (sum_zero l). apply sum_le; auto. Qed.
Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (g : A -> B) (l : list A) f : sum (map g l) f = sum l (fun a => f (g a)).
Proof. induction l; simpl; [auto|rewrite IHl; auto]. Qed.
Lemma sum_flat_map {A B} (g : A -> list B) (l : list A) f : sum (flat_map g l) f = sum l (fun a => sum (g a) f).
Proof. induction l; simpl; [auto|rewrite sum_app, IHl; auto]. Qed.

Lemma sum_list_prod {A B} (l : list A) (m : list B) f : sum (list_prod l m) f = sum l (fun a => sum m (fun b => f (a, b))).
Proof. induction l; simpl; [auto|rewrite sum_app, sum_map, IHl; auto]. Qed.

Lemma sum_swap {A B} (l : list A) (m : list B) f :
  sum l (fun a => sum m (fun b => f a b)) = sum m (fun b => sum l (fun a => f a b)).
Proof.
  induction l; simpl.
  - now rewrite sum_zero.
  - now rewrite IHl, sum_plus.
Qed.

Lemma sum_filter {A} (p : A -> bool) (l : list A) f : sum (filter p l) f = sum l (fun a => if p a then f a else 0).
Proof. induction l as [|x l IH]; simpl; [auto|destruct (p x); simpl; rewrite IH; lra]. Qed.

Lemma sum_ge_member {A} (l : list A) f a : In a l -> (forall b, In b l -> 0 <= f b) -> f a <= sum l f.
Proof.
  induction l as [|x l IH]; simpl; intros Ha H; [tauto|].
  assert (0 <= sum l f) by (apply sum_nonneg; auto).
  destruct Ha as [->|Ha]; [lra|]. assert (0 <= f x) by auto. specialize (IH Ha (fun b Hb => H b (or_intror Hb))). lra.
Qed.

Lemma sum_zero_member {A} (l : list A) f a :
  (forall b, In b l -> 0 <= f b) -> sum l f = 0 -> In a l -> f a = 0.
Proof. intros H E Ha. pose proof (sum_ge_member l f a Ha H). pose proof (H a Ha). lra. Qed.

Lemma sum_pos {A} (l : list A) f : l <> [] -> (forall a, In a l -> 0 < f a) -> 0 < sum l f.
Proof.
  destruct l as [|x l]; [congruence|intros _ H; simpl].
  assert (0 <= sum l f) by (apply sum_nonneg; intros; apply Rlt_le, H; simpl; auto).
  assert (0 < f x) by (apply H; simpl; auto). lra.
Qed.

(** Exactly one member of 0, ..., n - 1 is k. *)
Lemma sum_to_single n k (f : nat -> R) : (k < n)%nat -> sum_to n (fun j => if Nat.eqb k j then f j else 0) = f k.
Proof.
  unfold sum_to. intro Hk. assert (E : forall s, sum (seq s n) (fun j => if Nat.eqb k j then f j else 0)
    = if (Nat.leb s k && Nat.ltb k (s + n))%bool then f k else 0).
  { clear Hk. induction n as [|n IH]; intro s; cbn [seq sum].
    - destruct (Nat.leb_spec s k); destruct (Nat.ltb_spec k (s + 0)); simpl; auto. exfalso; rewrite PeanoNat.Nat.add_0_r in *; lia.
    - rewrite IH. destruct (Nat.eqb_spec k s) as [->|Hn].
      + replace (Nat.leb (S s) s) with false by (symmetry; apply Nat.leb_gt; auto).
        rewrite Nat.leb_refl. replace (Nat.ltb s (s + S n)) with true; [simpl; lra|].
        symmetry; apply Nat.ltb_lt; lia.
      + destruct (Nat.leb_spec (S s) k); destruct (Nat.leb_spec s k); try lia;
          destruct (Nat.ltb_spec k (S s + n)); destruct (Nat.ltb_spec k (s + S n)); simpl; try lia; lra. }
  rewrite E. simpl. replace (Nat.ltb k n) with true; auto. symmetry; apply Nat.ltb_lt; auto.
Qed.

Lemma in_to n k : In k (seq 0 n) <-> (k < n)%nat.
Proof. rewrite in_seq. split; [intros [_ H]; exact H|split; [apply Nat.le_0_l|auto]]. Qed.

Lemma sum_to_ext n f g : (forall k, (k < n)%nat -> f k = g k) -> sum_to n f = sum_to n g.
Proof. intro H. apply sum_ext. intros k Hk. apply H, in_to, Hk. Qed.
Lemma sum_to_le n f g : (forall k, (k < n)%nat -> f k <= g k) -> sum_to n f <= sum_to n g.
Proof. intro H. apply sum_le. intros k Hk. apply H, in_to, Hk. Qed.

(** ** The logarithm *)

Lemma ln_le_minus_1 x : 0 < x -> ln x <= x - 1.
Proof. intro H. pose proof (exp_ineq1_le (ln x)) as E. rewrite exp_ln in E by auto. lra. Qed.

Lemma ln_over x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. intros Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat. Qed.

(** Gibbs' inequality, one term of it; x may be 0. *)
Lemma gibbs_term x q : 0 <= x -> 0 < q -> x * (ln q - ln x) <= q - x.
Proof.
  intros [Hx|<-] Hq; [|lra].
  pose proof (ln_le_minus_1 (q / x) (Rdiv_lt_0_compat _ _ Hq Hx)) as L. rewrite ln_over in L; auto.
  apply Rle_trans with (x * (q / x - 1)); [apply Rmult_le_compat_l; lra|right; field; lra].
Qed.

Lemma gibbs_equal x q : 0 <= x -> 0 < q -> q - x <= x * (ln q - ln x) -> x = q.
Proof.
  intros [Hx|<-] Hq H; [|lra]. destruct (Req_dec x q) as [|D]; auto. exfalso. set (t := ln (q / x)).
  assert (Ht : t = ln q - ln x) by (unfold t; now rewrite ln_over).
  assert (Et : exp t = q / x) by (unfold t; apply exp_ln; now apply Rdiv_lt_0_compat).
  assert (Eq : q = x * exp t) by (rewrite Et; field; lra). rewrite <- Ht in H.
  destruct (Req_dec t 0) as [Z|Z]; [apply D; rewrite Eq, Z, exp_0; ring|].
  pose proof (Rmult_lt_compat_l x _ _ Hx (exp_ineq1 t Z)). lra.
Qed.

(** The largest score of a measure p under a price for its entropy, where p has the mass M:
    sum p (c - ln p) + M ln M <= M ln (sum exp c). *)
Lemma gibbs {A} (l : list A) (p c : A -> R) M :
  (forall a, In a l -> 0 <= p a) -> sum l p = M -> l <> [] ->
  sum l (fun a => p a * (c a - ln (p a))) + M * ln M <= M * ln (sum l (fun a => exp (c a))).
Proof.
  intros Hp HM Hl. set (Z := sum l (fun a => exp (c a))).
  assert (HZ : 0 < Z) by (apply sum_pos; auto using exp_pos).
  assert (M0 : 0 <= M) by (subst M; apply sum_nonneg; auto).
  destruct M0 as [M0|M0].
  - assert (E : sum l (fun a => p a * (c a - ln (p a))) - M * (ln Z - ln M) <= 0); [|lra].
    replace (M * (ln Z - ln M)) with (sum l (fun a => p a * (ln Z - ln M))) by (rewrite sum_scale_r, HM; lra).
    rewrite <- sum_minus.
    apply Rle_trans with (sum l (fun a => exp (c a) * (M / Z) - p a)).
    + apply sum_le; intros a Ha.
      assert (HMZ : 0 < M / Z) by (apply Rdiv_lt_0_compat; auto).
      replace (p a * (c a - ln (p a)) - p a * (ln Z - ln M)) with (p a * (ln (exp (c a) * (M / Z)) - ln (p a))).
      * apply gibbs_term; auto. apply Rmult_lt_0_compat; [apply exp_pos|auto].
      * rewrite ln_mult, ln_over, ln_exp; auto using exp_pos; ring.
    + rewrite sum_minus, sum_scale_r, HM. fold Z. right. field. lra.
  - rewrite <- M0, !Rmult_0_l, Rplus_0_r. right. apply sum_all_zero; intros a Ha.
    rewrite (sum_zero_member l p a); [ring|auto|lra|auto].
Qed.

(** ** x ln x *)

Definition xlnx x := x * ln x.

Lemma tangent x y : 0 < x -> 0 <= y -> xlnx x + (ln x + 1) * (y - x) <= xlnx y.
Proof. intros Hx Hy. pose proof (gibbs_term y x Hy Hx) as G. unfold xlnx. lra. Qed.

(** c x ln x lies below a line that is above it at both ends of a range. *)
Definition intercept c slope lo hi := Rmax (c * xlnx lo - slope * lo) (c * xlnx hi - slope * hi).

Lemma chord c lo hi slope x : 0 <= c -> 0 <= lo -> lo <= x <= hi -> c * xlnx x <= intercept c slope lo hi + slope * x.
Proof.
  intros Hc H0 [Hl Hh]. unfold intercept.
  set (t := Rmax _ _).
  assert (A : c * xlnx lo <= t + slope * lo).
  { pose proof (Rmax_l (c * xlnx lo - slope * lo) (c * xlnx hi - slope * hi)). fold t in H. lra. }
  assert (B : c * xlnx hi <= t + slope * hi).
  { pose proof (Rmax_r (c * xlnx lo - slope * lo) (c * xlnx hi - slope * hi)). fold t in H. lra. }
  clearbody t.
  destruct (Req_dec lo x) as [<-|N1]; [auto|]. destruct (Req_dec hi x) as [<-|N2]; [auto|].
  assert (P : 0 < x) by lra.
  pose proof (tangent x lo P H0) as T1. pose proof (tangent x hi P ltac:(lra)) as T2.
  apply (Rmult_le_compat_l c) in T1; auto. apply (Rmult_le_compat_l c) in T2; auto.
  rewrite Rmult_plus_distr_l in T1, T2. rewrite <- Rmult_assoc in T1, T2.
  set (d := c * (ln x + 1)) in *.
  assert (Q1 : (hi - x) * (c * xlnx x + d * (lo - x)) <= (hi - x) * (t + slope * lo)) by (apply Rmult_le_compat_l; lra).
  assert (Q2 : (x - lo) * (c * xlnx x + d * (hi - x)) <= (x - lo) * (t + slope * hi)) by (apply Rmult_le_compat_l; lra).
  assert (Q3 : (hi - lo) * (c * xlnx x) <= (hi - lo) * (t + slope * x)).
  { replace ((hi - lo) * (c * xlnx x)) with
      ((hi - x) * (c * xlnx x + d * (lo - x)) + (x - lo) * (c * xlnx x + d * (hi - x))) by ring.
    replace ((hi - lo) * (t + slope * x)) with ((hi - x) * (t + slope * lo) + (x - lo) * (t + slope * hi)) by ring.
    lra. }
  apply Rmult_le_reg_l with (hi - lo); lra.
Qed.

(** The same of a quotient x = u / s, times s; both may be 0. *)
Lemma chord_scaled c lo hi slope x u s : 0 <= c -> 0 <= lo -> lo <= x <= hi -> 0 <= s -> u = x * s ->
  c * (u * (ln u - ln s)) <= intercept c slope lo hi * s + slope * u.
Proof.
  intros Hc H0 Hx [Hs|<-] ->; [|right; ring].
  pose proof (chord c lo hi slope x Hc H0 Hx) as C. apply (Rmult_le_compat_l s) in C; [|lra].
  destruct (Rle_lt_or_eq_dec 0 x ltac:(lra)) as [P|<-].
  - rewrite ln_mult by auto. unfold xlnx in C. lra.
  - unfold xlnx in C. rewrite !Rmult_0_l in *. lra.
Qed.

(** The log-sum inequality: u ln (u / s), u and s the sums of p t and p, is at most the mean of t ln t, times s. *)
Lemma log_sum {A} (l : list A) (p t : A -> R) :
  (forall a, In a l -> 0 <= p a) -> (forall a, In a l -> 0 <= t a) ->
  let u := sum l (fun a => p a * t a) in let s := sum l p in
  u * (ln u - ln s) <= sum l (fun a => p a * xlnx (t a)).
Proof.
  intros Hp Ht u s.
  assert (U0 : 0 <= u) by (apply sum_nonneg; intros; apply Rmult_le_pos; auto).
  destruct U0 as [U0|U0].
  - assert (S0 : 0 < s).
    { assert (S1 : 0 <= s) by (apply sum_nonneg; auto). destruct S1 as [S0|S0]; [auto|].
      exfalso. assert (u = 0); [|lra]. apply sum_all_zero; intros a Ha.
      rewrite (sum_zero_member l p a); [ring|auto|symmetry; exact S0|auto]. }
    assert (V : 0 < u / s) by (apply Rdiv_lt_0_compat; auto).
    rewrite <- ln_over by auto.
    apply Rle_trans with (sum l (fun a => p a * (xlnx (u / s) + (ln (u / s) + 1) * (t a - u / s)))).
    + rewrite (sum_ext l _ (fun a => (xlnx (u / s) - (ln (u / s) + 1) * (u / s)) * p a + (ln (u / s) + 1) * (p a * t a)))
        by (intros; ring).
      rewrite sum_plus, !sum_scale. fold u s. unfold xlnx. right. field. lra.
    + apply sum_le; intros a Ha. apply Rmult_le_compat_l; auto. apply tangent; auto.
  - rewrite <- U0, Rmult_0_l. right. symmetry. apply sum_all_zero; intros a Ha.
    assert (E : p a * t a = 0).
    { apply (sum_zero_member l (fun a => p a * t a)); auto. intros; apply Rmult_le_pos; auto. }
    unfold xlnx. rewrite <- Rmult_assoc, E. ring.
Qed.

(** u ln (u / s) is convex in (u, s) together, and 0 where both are. *)
Lemma relative_convex {B} (l : list B) (q u s : B -> R) : (forall z, In z l -> 0 <= q z) -> (forall z, In z l -> 0 <= u z <= s z) ->
  let u' := sum l (fun z => q z * u z) in let s' := sum l (fun z => q z * s z) in
  u' * (ln u' - ln s') <= sum l (fun z => q z * (u z * (ln (u z) - ln (s z)))).
Proof.
  intros Hq H u' s'. set (t := fun z => if Req_EM_T (s z) 0 then 0 else u z / s z).
  assert (T : forall z, In z l -> 0 <= t z /\ s z * t z = u z /\ s z * xlnx (t z) = u z * (ln (u z) - ln (s z))).
  { intros z Hz. specialize (H z Hz). unfold t. destruct (Req_EM_T (s z) 0) as [E|E].
    - rewrite E in *. replace (u z) with 0 by lra. unfold xlnx. repeat split; lra.
    - assert (0 < s z) by lra. repeat split.
      + apply Rmult_le_pos; [lra|]. now apply Rlt_le, Rinv_0_lt_compat.
      + field. lra.
      + unfold xlnx. destruct (Req_dec (u z) 0) as [->|U]; [unfold Rdiv; rewrite !Rmult_0_l; ring|].
        rewrite ln_over by lra. field. lra. }
  pose proof (log_sum l (fun z => q z * s z) t) as L. cbv beta zeta in L.
  assert (E : sum l (fun z => q z * s z * t z) = u').
  { apply sum_ext; intros z Hz. destruct (T z Hz) as (_ & E & _). now rewrite Rmult_assoc, E. }
  rewrite E in L. fold s' in L. eapply Rle_trans; [apply L|].
  - intros z Hz. specialize (H z Hz). apply Rmult_le_pos; auto. lra.
  - intros z Hz. now apply T.
  - right. apply sum_ext; intros z Hz. destruct (T z Hz) as (_ & _ & F). now rewrite Rmult_assoc, F.
Qed.
