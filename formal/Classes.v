(** Classes of laws. The information about a record with a law p is at most the mean under p of how far the letters' rows are from a law
    of the outputs, and a combination of the class's limits with multipliers bounds such a mean for all of its laws. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds Vertices Counting Enclosures Boxes RowChecker Checker Certificates Additive Witnesses Listed Blocks.
Import ListNotations.
Open Scope R_scope.

(** ** The largest mean over a class *)

Section Mean.
Variables (A : nat) (p d : nat -> R).
Hypothesis p0 : forall a, (a < A)%nat -> 0 <= p a.
Hypothesis p1 : sum_to A p = 1.
Let mean := sum_to A (fun a => p a * d a).

(** The sum of the probabilities, with a multiplier. *)
Lemma mean_shifted v : mean = v + sum_to A (fun a => p a * (d a - v)).
Proof.
  rewrite <- (Rmult_1_l v) at 1. rewrite <- p1. unfold mean, sum_to. rewrite <- sum_scale_r, <- sum_plus. apply sum_ext; intros; ring.
Qed.

Lemma box_mean lo hi v : (forall a, (a < A)%nat -> lo a <= p a <= hi a) ->
  mean <= v + sum_to A (fun a => Rmax (lo a * (d a - v)) (hi a * (d a - v))).
Proof.
  intro H. rewrite (mean_shifted v). apply Rplus_le_compat_l, sum_to_le; intros a Ha. destruct (H a Ha) as [L U].
  destruct (Rle_lt_dec 0 (d a - v)) as [S|S].
  - eapply Rle_trans; [|apply Rmax_r]. now apply Rmult_le_compat_r.
  - eapply Rle_trans; [|apply Rmax_l]. assert (0 <= (p a - lo a) * (v - d a)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma mixture_mean n (share : nat -> R) (v : nat -> nat -> R) c : (forall k, (k < n)%nat -> 0 <= share k) -> sum_to n share = 1 ->
  (forall a, (a < A)%nat -> p a = sum_to n (fun k => share k * v k a)) ->
  (forall k, (k < n)%nat -> sum_to A (fun a => v k a * d a) <= c) -> mean <= c.
Proof.
  intros S0 S1 E H. unfold mean. rewrite (sum_to_ext A _ (fun a => sum_to n (fun k => share k * (v k a * d a)))).
  - unfold sum_to. rewrite sum_swap. apply Rle_trans with (sum_to n (fun k => share k * c)).
    + apply sum_to_le; intros k Hk. rewrite sum_scale. apply Rmult_le_compat_l; [auto|exact (H k Hk)].
    + unfold sum_to. rewrite sum_scale_r. unfold sum_to in S1. rewrite S1. lra.
  - intros a Ha. rewrite (E a Ha). unfold sum_to. rewrite <- sum_scale_r. apply sum_ext; intros; ring.
Qed.

Lemma moment_mean (f : nat -> R) lo hi y c : lo <= sum_to A (fun a => p a * f a) <= hi ->
  (forall a, (a < A)%nat -> d a - y * f a + Rmax (y * lo) (y * hi) <= c) -> mean <= c.
Proof.
  intros [L U] H. set (m := Rmax (y * lo) (y * hi)) in *. set (e := sum_to A (fun a => p a * f a)) in *.
  assert (M : y * e <= m).
  { unfold m. destruct (Rle_lt_dec 0 y).
    - eapply Rle_trans; [|apply Rmax_r]. now apply Rmult_le_compat_l.
    - eapply Rle_trans; [|apply Rmax_l]. assert (0 <= (- y) * (e - lo)) by (apply Rmult_le_pos; lra). lra. }
  assert (S : sum_to A (fun a => p a * (d a - y * f a)) <= c - m).
  { rewrite <- (Rmult_1_l (c - m)), <- p1. unfold sum_to. rewrite <- sum_scale_r. apply sum_to_le; intros a Ha.
    apply Rmult_le_compat_l; auto. specialize (H a Ha). lra. }
  replace mean with (sum_to A (fun a => p a * (d a - y * f a)) + y * e); [lra|].
  unfold mean, e, sum_to. rewrite <- sum_scale, <- sum_plus. apply sum_ext; intros; ring.
Qed.

Section Ball.
Variables (q : nat -> R) (radius : R).
Hypothesis q1 : sum_to A q = 1.

(** Values below v are raised to v, and half the radius is moved from v to the largest of them. *)
Lemma l1_mean v top : sum_to A (fun a => Rabs (p a - q a)) <= radius -> v <= top -> (forall a, (a < A)%nat -> d a <= top) ->
  mean <= sum_to A (fun a => q a * Rmax (d a) v) + radius / 2 * (top - v).
Proof.
  intros H L U. set (e := fun a => Rmax (d a) v - (top + v) / 2).
  apply Rle_trans with (sum_to A (fun a => q a * Rmax (d a) v) + sum_to A (fun a => (p a - q a) * e a)).
  - assert (Z : sum_to A (fun a => (p a - q a) * ((top + v) / 2)) = 0).
    { unfold sum_to in *. rewrite sum_scale_r, sum_minus, p1, q1. ring. }
    rewrite <- (Rplus_0_r (sum_to A (fun a => (p a - q a) * e a))), <- Z. unfold mean, sum_to. rewrite <- !sum_plus.
    apply sum_le; intros a Ha. apply in_to in Ha. pose proof (Rmax_l (d a) v). unfold e.
    assert (p a * d a <= p a * Rmax (d a) v) by (apply Rmult_le_compat_l; auto). lra.
  - apply Rplus_le_compat_l. apply Rle_trans with (sum_to A (fun a => Rabs (p a - q a) * ((top - v) / 2))).
    + apply sum_to_le; intros a Ha. eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|].
      unfold e. pose proof (Rmax_r (d a) v). assert (Rmax (d a) v <= top) by (apply Rmax_lub; auto). apply Rabs_le. lra.
    + unfold sum_to in *. rewrite sum_scale_r. replace (radius / 2 * (top - v)) with (radius * ((top - v) / 2)) by field.
      apply Rmult_le_compat_r; lra.
Qed.

(** Balls whose laws have the letters of the center only, which are listed. *)
Variable has : nat -> bool.
Let l := filter has (seq 0 A).
Hypothesis has_pos : forall a, (a < A)%nat -> has a = true -> 0 < q a.
Hypothesis has_not : forall a, (a < A)%nat -> has a = false -> q a = 0.
Hypothesis p_has : forall a, (a < A)%nat -> q a = 0 -> p a = 0.

Lemma over_letters f : (forall a, (a < A)%nat -> has a = false -> f a = 0) -> sum_to A f = sum l f.
Proof.
  intro H. unfold l. rewrite sum_filter. apply sum_to_ext; intros a Ha. destruct (has a) eqn:E; auto.
Qed.
Lemma p_not a : (a < A)%nat -> has a = false -> p a = 0.
Proof. auto. Qed.
Lemma in_letters a : In a l -> (a < A)%nat /\ 0 < q a /\ 0 <= p a.
Proof. intro H. apply filter_In in H as [H E]. apply in_to in H. auto. Qed.
Lemma p1_letters : sum l p = 1.
Proof. rewrite <- p1. symmetry. apply over_letters, p_not. Qed.
Lemma mean_letters : mean = sum l (fun a => p a * d a).
Proof. apply over_letters. intros a Ha E. rewrite (p_not a Ha E). ring. Qed.

(** Of radius 0 there is the center alone. *)
Lemma center_mean : radius <= 0 -> (sum_to A (fun a => p a * ln (p a / q a)) <= radius \/ sum_to A (fun a => (p a - q a) ^ 2 / q a) <= radius) ->
  mean = sum_to A (fun a => q a * d a).
Proof.
  intros R H. assert (E : forall a, In a l -> p a = q a).
  { destruct H as [H|H]; rewrite over_letters in H by (intros a Ha N; rewrite (p_not a Ha N), (has_not a Ha N); unfold Rdiv; ring).
    - set (gap := fun a => q a - p a - p a * (ln (q a) - ln (p a))).
      assert (G : forall a, In a l -> 0 <= gap a) by (intros a Ha; destruct (in_letters a Ha) as (_ & Hq & Hp); pose proof (gibbs_term _ _ Hp Hq); unfold gap; lra).
      assert (S : sum l gap <= 0).
      { unfold gap. rewrite !sum_minus, p1_letters. rewrite <- q1, (over_letters q) by auto.
        rewrite (sum_ext l (fun a => p a * (ln (q a) - ln (p a))) (fun a => - (p a * ln (p a / q a)))); [rewrite sum_opp; unfold l in *; lra|].
        intros a Ha. destruct (in_letters a Ha) as (_ & Hq & [Hp|<-]); [rewrite ln_over by auto|]; ring. }
      intros a Ha. destruct (in_letters a Ha) as (_ & Hq & Hp). apply gibbs_equal; auto. pose proof (sum_ge_member l gap a Ha G). unfold gap in *. lra.
    - intros a Ha. destruct (in_letters a Ha) as (_ & Hq & Hp).
      assert (T : forall b, In b l -> 0 <= (p b - q b) ^ 2 / q b).
      { intros b Hb. destruct (in_letters b Hb) as (_ & Hq' & _). apply Rmult_le_pos; [apply pow2_ge_0|now apply Rlt_le, Rinv_0_lt_compat]. }
      pose proof (sum_ge_member l _ a Ha T) as M. cbv beta in M. pose proof (T a Ha) as Ta. set (s := (p a - q a) ^ 2 / q a) in *.
      assert (Z : (p a - q a) ^ 2 = s * q a) by (unfold s; field; lra). replace s with 0 in Z by (unfold l in *; lra).
      rewrite Rmult_0_l in Z. rewrite <- Rsqr_pow2 in Z. apply Rsqr_0_uniq in Z. lra. }
  apply sum_to_ext; intros a Ha. destruct (has a) eqn:N; [|now rewrite (p_not a Ha N), (has_not a Ha N)].
  rewrite E; auto. apply filter_In. split; auto. now apply in_to.
Qed.

Lemma largest_mean c : (forall a, In a l -> d a <= c) -> mean <= c.
Proof.
  intro H. rewrite mean_letters, <- (Rmult_1_l c), <- p1_letters, <- sum_scale_r. apply sum_le; intros a Ha.
  destruct (in_letters a Ha) as (_ & _ & Hp). apply Rmult_le_compat_l; auto.
Qed.

Lemma kl_mean t : 0 < t -> sum_to A (fun a => p a * ln (p a / q a)) <= radius ->
  mean <= t * (ln (sum l (fun a => exp (d a / t + ln (q a)))) + radius).
Proof.
  intros Ht H. rewrite over_letters in H by (intros a Ha E; rewrite (p_not a Ha E); ring). rewrite mean_letters.
  assert (NE : l <> []) by (intro E; pose proof p1_letters as S; rewrite E in S; simpl in S; lra).
  pose proof (gibbs l p (fun a => d a / t + ln (q a)) 1 (fun a Ha => proj2 (proj2 (in_letters a Ha))) p1_letters NE) as G.
  rewrite ln_1, Rmult_0_r, Rplus_0_r, Rmult_1_l in G. set (Z := ln _) in *.
  apply Rle_trans with (t * (sum l (fun a => p a * (d a / t + ln (q a) - ln (p a))) + sum l (fun a => p a * ln (p a / q a)))).
  - right. rewrite <- sum_plus, <- sum_scale. apply sum_ext; intros a Ha. destruct (in_letters a Ha) as (_ & Hq & [Hp|<-]); [|ring].
    rewrite ln_over by auto. field. lra.
  - apply Rmult_le_compat_l; lra.
Qed.

Lemma chi_square_mean t v : 0 < t -> sum_to A (fun a => (p a - q a) ^ 2 / q a) <= radius ->
  mean <= v + t * (1 + radius) + sum l (fun a => q a * Rmax 0 (d a - v) ^ 2) / (4 * t).
Proof.
  intros Ht H. rewrite over_letters in H by (intros a Ha E; rewrite (p_not a Ha E), (has_not a Ha E); unfold Rdiv; ring).
  assert (Q1 : sum l q = 1) by (rewrite <- q1; symmetry; now apply over_letters).
  assert (S : sum l (fun a => p a ^ 2 / q a) <= 1 + radius).
  { rewrite (sum_ext l _ (fun a => (p a - q a) ^ 2 / q a + (2 * p a - q a))) by (intros a Ha; destruct (in_letters a Ha) as (_ & Hq & _); field; lra).
    rewrite sum_plus, sum_minus, sum_scale, p1_letters, Q1. lra. }
  apply Rle_trans with (sum l (fun a => p a * v + t * (p a ^ 2 / q a) + q a * Rmax 0 (d a - v) ^ 2 * / (4 * t))).
  - rewrite mean_letters. apply sum_le; intros a Ha. destruct (in_letters a Ha) as (_ & Hq & Hp). set (x := Rmax 0 (d a - v)).
    assert (p a * (d a - v) <= p a * x) by (apply Rmult_le_compat_l; auto; apply Rmax_r).
    assert (0 <= (2 * t * p a - q a * x) ^ 2 / (4 * t * q a)).
    { apply Rmult_le_pos; [apply pow2_ge_0|]. apply Rlt_le, Rinv_0_lt_compat. apply Rmult_lt_0_compat; lra. }
    replace ((2 * t * p a - q a * x) ^ 2 / (4 * t * q a)) with (t * (p a ^ 2 / q a) + q a * x ^ 2 * / (4 * t) - p a * x) in H1 by (field; lra).
    lra.
  - rewrite !sum_plus, !sum_scale_r, sum_scale, p1_letters.
    assert (t * sum l (fun a => p a ^ 2 / q a) <= t * (1 + radius)) by (apply Rmult_le_compat_l; lra). unfold Rdiv at 2. lra.
Qed.
End Ball.
End Mean.

(** ** Listed laws, exactly *)

Definition qsum (n : nat) (f : nat -> Q) : Q := fold_right (fun a t => Qred (f a + t)) 0%Q (seq 0 n).
Lemma qsum_is n f : Q2R (qsum n f) = sum_to n (fun a => Q2R (f a)).
Proof.
  unfold qsum, sum_to. induction (seq 0 n) as [|a l IH]; [apply RMicromega.Q2R_0|]. cbn [fold_right sum].
  now rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_plus, IH.
Qed.
Lemma Qle_bool_false p q : Qle_bool p q = false -> Q2R q < Q2R p.
Proof. intro H. apply Rnot_le_lt. intro L. apply Rle_Qle, Qle_bool_iff in L. unfold Qle_bool in H. congruence. Qed.

Definition exact_law (n : nat) (weights : list Q) (a : nat) : Q := Qred (nth a weights 0%Q / qsum n (fun b => nth b weights 0%Q)).
Definition law_listed (n : nat) (weights : list Q) : bool :=
  forallb (fun a => Qle_bool 0 (nth a weights 0%Q)) (seq 0 n) && negb (Qle_bool (qsum n (fun b => nth b weights 0%Q)) 0).
Lemma law_listed_correct n weights : law_listed n weights = true ->
  (forall a, Q2R (exact_law n weights a) = weighted_law n weights a) /\
  (forall a, (a < n)%nat -> 0 <= weighted_law n weights a) /\ sum_to n (weighted_law n weights) = 1.
Proof.
  intro H. apply andb_prop in H as [H0 H1]. rewrite forallb_forall in H0. apply negb_true_iff in H1. apply Qle_bool_false in H1.
  rewrite RMicromega.Q2R_0 in H1. pose proof (qsum_is n (fun b => nth b weights 0%Q)) as E. cbv beta in E. repeat split.
  - intro a. unfold exact_law, weighted_law. rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_div, E; auto.
    intro Z. apply Qeq_eqR in Z. rewrite RMicromega.Q2R_0 in Z. lra.
  - intros a Ha. unfold weighted_law. rewrite <- E. apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat].
    rewrite <- RMicromega.Q2R_0. apply Qle_bool_correct, H0. now apply in_to.
  - unfold weighted_law, Rdiv, sum_to. rewrite sum_scale_r. fold (sum_to n (fun a => Q2R (nth a weights 0%Q))). rewrite <- E.
    apply Rinv_r. lra.
Qed.

(** The letters that a law has. *)
Definition has_letter (n : nat) (weights : list Q) (a : nat) : bool := negb (Qle_bool (exact_law n weights a) 0).
Definition letters_of (n : nat) (weights : list Q) : list nat := filter (has_letter n weights) (seq 0 n).
Lemma has_letter_pos n weights : law_listed n weights = true -> forall a, (a < n)%nat -> has_letter n weights a = true -> 0 < weighted_law n weights a.
Proof.
  intros H a _ E. apply negb_true_iff, Qle_bool_false in E. now rewrite (proj1 (law_listed_correct n weights H)), RMicromega.Q2R_0 in E.
Qed.
Lemma has_letter_not n weights : law_listed n weights = true -> forall a, (a < n)%nat -> has_letter n weights a = false -> weighted_law n weights a = 0.
Proof.
  intros H a Ha E. apply negb_false_iff, Qle_bool_correct in E. destruct (law_listed_correct n weights H) as (E' & L & _).
  rewrite E', RMicromega.Q2R_0 in E. specialize (L a Ha). lra.
Qed.

(** ** From above *)

Definition within_ends (A : nat) (lo hi : nat -> Q) (d : nat -> interval) (u : interval) : bool :=
  existsb (fun b => not_above (plus (d b) (isum_to A (fun a =>
    let x := minus (d a) (d b) in larger (times (of_Q (lo a)) x) (times (of_Q (hi a)) x)))) u) (seq 0 A).

Definition without_multipliers (A : nat) (center : list Q) (radius : Q) (d : nat -> interval) (u : interval) : bool :=
  if Qle_bool radius 0 then not_above (isum_to A (fun a => times (of_Q (exact_law A center a)) (d a))) u
  else forallb (fun a => not_above (d a) u) (letters_of A center).

(** Whether the mean of [d] is at most u for all laws of the class. Multipliers of limits on single letters are among the values of d. *)
Definition mean_check (C : law_class) (A : nat) (d : nat -> interval) (multipliers : list Z) (u : interval) : bool :=
  let law := fun w a => of_Q (exact_law A w a) in
  match C with
  | Floor least => within_ends A (fun _ => least) (fun _ => 1%Q) d u
  | Box low high => within_ends A (fun a => nth a low 0%Q) (fun a => nth a high 0%Q) d u
  | Polytope vertices => forallb (fun v => law_listed A v && not_above (isum_to A (fun a => times (law v a) (d a))) u) vertices
  | Moment values low high => let y := of_fixed (hd 0%Z multipliers) in forallb (fun a => not_above (plus
      (minus (d a) (times y (of_Q (nth a values 0%Q)))) (larger (times y (of_Q low)) (times y (of_Q high)))) u) (seq 0 A)
  | L1Ball center radius => law_listed A center && existsb (fun b =>
      not_above (plus (isum_to A (fun a => times (law center a) (larger (d a) (d b))))
        (times (of_Q (radius / 2)) (minus (largest d (seq 0 A)) (d b)))) u) (seq 0 A)
  | KLBall center radius => law_listed A center && match multipliers with
      | [t] => (0 <? t)%Z && not_above (times (of_fixed t)
          (plus (log_sum_exp (map (fun a => (1%Z, plus (over (d a) (of_fixed t)) (log (law center a)))) (letters_of A center))) (of_Q radius))) u
      | _ => without_multipliers A center radius d u
      end
  | ChiSquareBall center radius => law_listed A center && match multipliers with
      | [t; v] => (0 <? t)%Z && not_above (plus (plus (of_fixed v) (times (of_fixed t) (plus (of_Z 1) (of_Q radius))))
          (over (isum (letters_of A center) (fun a => let x := larger zero (minus (d a) (of_fixed v)) in times (law center a) (times x x)))
            (times (of_Z 4) (of_fixed t)))) u
      | _ => without_multipliers A center radius d u
      end
  end.

Section Above.
Variables (A : nat) (p x : nat -> R) (d : nat -> interval) (u : interval) (c : R).
Hypothesis p0 : forall a, (a < A)%nat -> 0 <= p a.
Hypothesis p1 : sum_to A p = 1.
Hypothesis Hd : forall a, (a < A)%nat -> encl (d a) (x a).
Hypothesis Hu : encl u c.

Lemma within_ends_correct lo hi : (forall a, (a < A)%nat -> Q2R (lo a) <= p a <= Q2R (hi a)) -> within_ends A lo hi d u = true ->
  sum_to A (fun a => p a * x a) <= c.
Proof.
  intros H W. apply existsb_exists in W as (b & Hb & W). apply in_to in Hb.
  eapply Rle_trans; [apply (box_mean A p x p1 _ _ (x b) H)|]. eapply not_above_correct; [exact W| |exact Hu]. apply encl_plus; auto.
  apply encl_isum_to; intros a Ha. apply encl_larger; apply encl_times; auto using encl_Q, encl_minus.
Qed.

Theorem mean_check_correct C multipliers : in_class C A p -> mean_check C A d multipliers u = true -> sum_to A (fun a => p a * x a) <= c.
Proof.
  assert (Law : forall w, law_listed A w = true -> forall a, encl (of_Q (exact_law A w a)) (weighted_law A w a)).
  { intros w H a. rewrite <- (proj1 (law_listed_correct A w H)). apply encl_Q. }
  assert (Few : forall w a, In a (letters_of A w) -> encl (d a) (x a)).
  { intros w a I. apply filter_In in I as [I _]. apply Hd. now apply in_to. }
  assert (Most : forall w radius, law_listed A w = true -> (forall a, (a < A)%nat -> weighted_law A w a = 0 -> p a = 0) ->
    (sum_to A (fun a => p a * ln (p a / weighted_law A w a)) <= Q2R radius \/
     sum_to A (fun a => (p a - weighted_law A w a) ^ 2 / weighted_law A w a) <= Q2R radius) ->
    without_multipliers A w radius d u = true -> sum_to A (fun a => p a * x a) <= c).
  { intros w radius HL Z B G. unfold without_multipliers in G. destruct (Qle_bool radius 0) eqn:R.
    - apply Qle_bool_correct in R. rewrite RMicromega.Q2R_0 in R. destruct (law_listed_correct A w HL) as (_ & _ & q1).
      rewrite (center_mean A p x p0 p1 _ _ q1 _ (has_letter_pos A w HL) (has_letter_not A w HL) Z R B).
      eapply not_above_correct; [exact G| |exact Hu]. apply encl_isum_to; intros a Ha. apply encl_times; auto.
    - rewrite forallb_forall in G. apply (largest_mean A p x p0 p1 _ _ (has_letter_pos A w HL) (has_letter_not A w HL) Z c).
      intros a I. eapply not_above_correct; [exact (G a I)|eauto|exact Hu]. }
  intros HC H. destruct C as [least|low high|vertices|values low high|center radius|center radius|center radius]; cbn [mean_check in_class] in H, HC; cbv zeta in HC.
  - eapply within_ends_correct; [|exact H]. intros a Ha. cbv beta. rewrite RMicromega.Q2R_1. split; auto. rewrite <- p1.
    apply (sum_ge_member (seq 0 A) p); [now apply in_to|]. intros b Hb. apply p0. now apply in_to.
  - eapply within_ends_correct; [|exact H]. exact HC.
  - destruct HC as (share & S0 & S1 & E). apply (mixture_mean A p x _ share (fun k => weighted_law A (nth k vertices [])) c S0 S1 E).
    intros k Hk. rewrite forallb_forall in H. specialize (H _ (nth_In vertices [] Hk)). apply andb_prop in H as [HL H].
    eapply not_above_correct; [exact H| |exact Hu]. apply encl_isum_to; intros a Ha. apply encl_times; auto.
  - apply (moment_mean A p x p0 p1 _ _ _ (fixed (hd 0%Z multipliers)) c HC). intros a Ha. rewrite forallb_forall in H.
    eapply not_above_correct; [exact (H a (proj2 (in_to _ _) Ha))| |exact Hu]. apply encl_plus.
    + apply encl_minus; auto. apply encl_times; [apply encl_fixed|apply encl_Q].
    + apply encl_larger; apply encl_times; auto using encl_fixed, encl_Q.
  - apply andb_prop in H as [HL H]. apply existsb_exists in H as (b & Hb & H). apply in_to in Hb.
    destruct (encl_largest (seq 0 A) d x) as (top & Et & Bt); [intros a Ha; apply Hd; now apply in_to|].
    eapply Rle_trans; [apply (l1_mean A p x p0 p1 _ _ (proj2 (proj2 (law_listed_correct A center HL))) (x b) top HC)|].
    + apply Bt. now apply in_to.
    + intros a Ha. apply Bt. now apply in_to.
    + eapply not_above_correct; [exact H| |exact Hu]. apply encl_plus.
      * apply encl_isum_to; intros a Ha. apply encl_times; auto. apply encl_larger; auto.
      * apply encl_times; [|apply encl_minus; auto]. replace (Q2R radius / 2) with (Q2R (radius / 2)); [apply encl_Q|].
        rewrite Q2R_div by discriminate. f_equal. unfold Q2R. simpl. lra.
  - destruct HC as [Z HC]. apply andb_prop in H as [HL H]. destruct multipliers as [|t [|]]; try (eapply Most; eauto; fail).
    apply andb_prop in H as [Ht H]. apply Z.ltb_lt, fixed_lt in Ht. rewrite fixed_0 in Ht.
    eapply Rle_trans; [apply (kl_mean A p x p0 p1 _ _ _ (has_letter_pos A _ HL) (has_letter_not A _ HL) Z (fixed t) Ht HC)|].
    eapply not_above_correct; [exact H| |exact Hu]. apply encl_times; [apply encl_fixed|]. apply encl_plus; [|apply encl_Q].
    rewrite (sum_ext _ (fun a => exp _) (fun a => 1 * exp (x a / fixed t + ln (weighted_law A center a)))) by (intros; ring).
    apply (encl_log_sum_exp _ (fun _ => 1%Z)); [|lia]. intros a I. apply encl_plus; [apply encl_over; [eauto|apply encl_fixed]|].
    apply encl_log; auto.
  - destruct HC as [Z HC]. apply andb_prop in H as [HL H]. destruct multipliers as [|t [|v [|]]]; try (eapply Most; eauto; fail).
    apply andb_prop in H as [Ht H]. apply Z.ltb_lt, fixed_lt in Ht. rewrite fixed_0 in Ht. destruct (law_listed_correct A center HL) as (_ & _ & q1).
    eapply Rle_trans; [apply (chi_square_mean A p x p0 p1 _ _ q1 _ (has_letter_pos A _ HL) (has_letter_not A _ HL) Z (fixed t) (fixed v) Ht HC)|].
    eapply not_above_correct; [exact H| |exact Hu]. apply encl_plus.
    + apply encl_plus; [apply encl_fixed|]. apply encl_times; [apply encl_fixed|]. apply encl_plus; [exact (encl_Z 1)|apply encl_Q].
    + apply encl_over; [|apply encl_times; [exact (encl_Z 4)|apply encl_fixed]]. apply encl_isum; intros a I. apply encl_times; auto.
      cbv zeta. rewrite <- Rsqr_pow2. assert (E : encl (larger zero (minus (d a) (of_fixed v))) (Rmax 0 (x a - fixed v))).
      { apply encl_larger; [exact (encl_Z 0)|]. apply encl_minus; [eauto|apply encl_fixed]. }
      now apply encl_times.
Qed.
End Above.

(** ** From below *)

Definition qabs (q : Q) : Q := if Qle_bool 0 q then q else (- q)%Q.
Lemma qabs_is q : Q2R (qabs q) = Rabs (Q2R q).
Proof.
  unfold qabs. destruct (Qle_bool 0 q) eqn:E.
  - apply Qle_bool_correct in E. rewrite RMicromega.Q2R_0 in E. now rewrite Rabs_right by lra.
  - apply Qle_bool_false in E. rewrite RMicromega.Q2R_0 in E. now rewrite Q2R_opp, Rabs_left.
Qed.

(** Whether a law is one of the class: exactly, but for the divergence of the KL ball. Of a polytope [shares] has the vertices'. *)
Definition member_check (C : law_class) (A : nat) (weights shares : list Q) : bool :=
  let p := exact_law A weights in
  let each := fun check => forallb check (seq 0 A) in
  let near := fun center => law_listed A center && each (fun a => has_letter A center a || Qeq_bool (p a) 0) in
  match C with
  | Floor least => each (fun a => Qle_bool least (p a))
  | Box low high => each (fun a => Qle_bool (nth a low 0%Q) (p a) && Qle_bool (p a) (nth a high 0%Q))
  | Polytope vertices =>
      let n := length vertices in
      forallb (law_listed A) vertices && law_listed n shares
      && each (fun a => Qeq_bool (p a) (qsum n (fun k => exact_law n shares k * exact_law A (nth k vertices []) a)%Q))
  | Moment values low high => let mean := qsum A (fun a => p a * nth a values 0)%Q in Qle_bool low mean && Qle_bool mean high
  | L1Ball center radius => law_listed A center && Qle_bool (qsum A (fun a => qabs (p a - exact_law A center a))) radius
  | KLBall center radius => near center &&
      ((each (fun a => Qeq_bool (p a) (exact_law A center a)) && Qle_bool 0 radius)
      || not_above (isum_to A (fun a => if Qeq_bool (p a) 0 then zero
           else times (of_Q (p a)) (log (over (of_Q (p a)) (of_Q (exact_law A center a)))))) (of_Q radius))
  | ChiSquareBall center radius => near center && Qle_bool (qsum A (fun a =>
      if has_letter A center a then let x := (p a - exact_law A center a)%Q in (x * x / exact_law A center a)%Q else 0%Q)) radius
  end.

Lemma Qeq_bool_correct p q : Qeq_bool p q = true -> Q2R p = Q2R q.
Proof. intro H. apply Qeq_eqR. now apply Qeq_bool_iff. Qed.

Theorem member_check_correct C A weights shares p : law_listed A weights = true -> (forall a, (a < A)%nat -> p a = weighted_law A weights a) ->
  member_check C A weights shares = true -> in_class C A p.
Proof.
  intros HL E H. assert (Ep : forall a, (a < A)%nat -> p a = Q2R (exact_law A weights a)).
  { intros a Ha. rewrite (E a Ha). symmetry. now apply law_listed_correct. }
  assert (Each : forall check, forallb check (seq 0 A) = true -> forall a, (a < A)%nat -> check a = true).
  { intros check G a Ha. rewrite forallb_forall in G. apply G. now apply in_to. }
  assert (Near : forall center, law_listed A center && forallb (fun a => has_letter A center a || Qeq_bool (exact_law A weights a) 0) (seq 0 A) = true ->
    law_listed A center = true /\ forall a, (a < A)%nat -> weighted_law A center a = 0 -> p a = 0).
  { intros center G. apply andb_prop in G as [G1 G2]. split; auto. intros a Ha Z. rewrite (Ep a Ha). specialize (Each _ G2 a Ha). cbv beta in Each.
    apply orb_prop in Each as [N|N]; [pose proof (has_letter_pos A center G1 a Ha N); lra|]. now rewrite (Qeq_bool_correct _ _ N), RMicromega.Q2R_0. }
  destruct C as [least|low high|vertices|values low high|center radius|center radius|center radius]; cbn [member_check in_class] in *; cbv zeta in *.
  - intros a Ha. rewrite (Ep a Ha). apply Qle_bool_correct. exact (Each _ H a Ha).
  - intros a Ha. rewrite (Ep a Ha). specialize (Each _ H a Ha). cbv beta in Each. apply andb_prop in Each as [L U].
    split; now apply Qle_bool_correct.
  - apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2]. destruct (law_listed_correct _ _ H2) as (Es & S0 & S1).
    exists (weighted_law (length vertices) shares). split; [exact S0|]. split; [exact S1|]. intros a Ha. rewrite (Ep a Ha).
    rewrite (Qeq_bool_correct _ _ (Each _ H3 a Ha)), qsum_is. apply sum_to_ext; intros k Hk. rewrite Q2R_mult, Es. f_equal.
    rewrite forallb_forall in H1. apply (law_listed_correct A _ (H1 _ (nth_In vertices [] Hk))).
  - apply andb_prop in H as [L U]. apply Qle_bool_correct in L, U. rewrite qsum_is in L, U.
    rewrite (sum_to_ext A _ (fun a => Q2R (exact_law A weights a * nth a values 0%Q))); [now split|]. intros a Ha. now rewrite Q2R_mult, Ep.
  - apply andb_prop in H as [H1 H2]. apply Qle_bool_correct in H2. rewrite qsum_is in H2. destruct (law_listed_correct _ _ H1) as (Ec & _).
    eapply Rle_trans; [right|exact H2]. apply sum_to_ext; intros a Ha. now rewrite qabs_is, Q2R_minus, Ec, Ep.
  - apply andb_prop in H as [H1 H2]. apply Near in H1 as [H1 Z]. split; [exact Z|]. destruct (law_listed_correct _ _ H1) as (Ec & _).
    apply orb_prop in H2 as [H2|H2].
    + apply andb_prop in H2 as [H2 R]. apply Qle_bool_correct in R. rewrite RMicromega.Q2R_0 in R.
      replace (sum_to A _) with 0; auto. symmetry. apply sum_all_zero; intros a Ha. apply in_to in Ha. rewrite (Ep a Ha), (Qeq_bool_correct _ _ (Each _ H2 a Ha)), Ec.
      destruct (Req_dec (weighted_law A center a) 0) as [->|N]; [ring|]. unfold Rdiv. rewrite Rinv_r, ln_1 by auto. ring.
    + eapply not_above_correct; [exact H2| |apply encl_Q]. apply encl_isum_to; intros a Ha. rewrite (Ep a Ha). destruct (Qeq_bool _ 0) eqn:N.
      * rewrite (Qeq_bool_correct _ _ N), RMicromega.Q2R_0, Rmult_0_l. exact (encl_Z 0).
      * apply encl_times; [apply encl_Q|]. apply encl_log, encl_over; [apply encl_Q|]. rewrite <- Ec. apply encl_Q.
  - apply andb_prop in H as [H1 H2]. apply Near in H1 as [H1 Z]. split; [exact Z|]. destruct (law_listed_correct _ _ H1) as (Ec & _).
    apply Qle_bool_correct in H2. rewrite qsum_is in H2. eapply Rle_trans; [right|exact H2]. apply sum_to_ext; intros a Ha.
    destruct (has_letter A center a) eqn:N.
    + pose proof (has_letter_pos A center H1 a Ha N) as Q0. rewrite Q2R_div, Q2R_mult, Q2R_minus, Ec, <- Ep by (auto; intro C; apply Qeq_eqR in C; rewrite Ec, RMicromega.Q2R_0 in C; lra).
      field. lra.
    + pose proof (has_letter_not A center H1 a Ha N) as Q0. rewrite (Z a Ha Q0), Q0, RMicromega.Q2R_0. unfold Rdiv. ring.
Qed.

(** ** One record of a law of the class *)

(** A law of the outputs, with multipliers; or that no output tells more of a letter than its entropy. *)
Inductive class_proof := LawOfClass (r multipliers : list Z) | LettersOfClass.
(** The letters' weights, and the shares of the vertices. *)
Record class_witness := ClassWitness { letter_weights : list Q; vertex_shares : list Q }.

Section Record.
Variables (values : list Z) (C : law_class) (lower upper : Q).

Definition class_check (channel : list (list interval)) (p : model) (s : sums) (h : class_proof) : bool :=
  match alphabets p, h with
  | [A], LawOfClass r multipliers =>
      let d := tabulate A (fun a => divergence (outputs p) channel (logs_of (outputs p) r) (row_of p values [a])) in
      law_given (outputs p) r && mean_check C A (entry d) multipliers (of_Q upper)
  | [A], LettersOfClass => not_above (log (of_Z (Z.of_nat A))) (of_Q upper)
  | _, _ => false
  end.
Definition class_witness_check (channel : list (list interval)) (p : model) (s : sums) (w : class_witness) : bool :=
  match alphabets p with
  | [A] => law_listed A (letter_weights w) && member_check C A (letter_weights w) (vertex_shares w)
      && weights_check p (letter_weights w)
      && (Qle_bool lower 0 || not_above (of_Q lower) (told p values channel (letter_weights w) 0))
  | _ => false
  end.

Lemma in_one A x : In x (datasets [A]) -> exists a, x = [a] /\ (a < A)%nat.
Proof. intro H. apply in_datasets_cons in H as (a & z & -> & Ha & [<-|[]]). eauto. Qed.

Lemma one_letters p A : alphabets p = [A] -> forall a, (a < letter 0 (alphabets p))%nat -> exists k, (0 < count p values 0 a k)%Z.
Proof.
  intros E a La. exists (row_of p values [a]). apply how_many_pos with [a]; [|cbn; now rewrite !Nat.eqb_refl].
  rewrite E in *. apply in_datasets_cons. exists a, []. repeat split; auto. simpl. auto.
Qed.

Lemma class_sound : sound values class_check (fun p => at_most p (LawIn C) upper).
Proof.
  intros channel p s h HW HA HV Hc H i P Hi HP HC. pose proof (values_by_sums_correct s p HA values HV) as Hv. unfold class_check in H.
  destruct (alphabets p) as [|A [|]] eqn:Ha; try discriminate. destruct i as [|i]; [|simpl in Hi; lia]. clear Hi.
  assert (Hi : (0 < length (alphabets p))%nat) by (rewrite Ha; simpl; lia). rewrite <- Ha in HP.
  pose proof (one_letters p A Ha) as Hletters.
  pose proof (counted p values 0 Hv Hc Hletters) as Hwc. rewrite (information_is p values 0 Hv Hi Hc Hletters P HP).
  pose proof (proj1 (prior_is p 0 Hi P) HP) as HL. cbn [admits] in HC.
  destruct h as [r multipliers|].
  - apply andb_prop in H as [Hr H]. apply law_given_correct in Hr as [Hr Hr1].
    set (x := fun a => sum_to (outputs p) (fun y => xlnx (rows p values (row_of p values [a]) y))
      - sum_to (outputs p) (fun y => rows p values (row_of p values [a]) y * ln (fixed (slope_at r y)))).
    eapply Rle_trans.
    + apply (law_mean _ _ _ _ _ _ _ Hwc (fun _ _ => true) (fun y => fixed (slope_at r y)) x Hr Hr1); auto; [|now intros ? ? ? ? ?].
      intros a k La _ N _. apply how_many_some in N as (z & Hz & E). rewrite Ha in Hz. apply in_one in Hz as (b & -> & _).
      apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. cbn in E1. subst b k. apply Rle_refl.
    + rewrite (sum_to_ext _ _ (fun a => of_letter (alphabets p) P 0 a * x a)) by (intros; now rewrite of_letter_is).
      rewrite Ha in *. refine (mean_check_correct A _ x (entry _) (of_Q upper) _ _ _ _ (encl_Q upper) C multipliers HC H).
      * intros a La. rewrite <- Ha, of_letter_is. exact (mass0 A _ P HL a La).
      * rewrite <- (proj2 HL). apply sum_to_ext; intros. now rewrite <- Ha, of_letter_is.
      * intros a La. apply (encl_entry A _ x). intros b _. now apply encl_divergence.
  - eapply Rle_trans; [now apply (letters_leaf _ _ _ _ _ _ _ Hwc)|]. eapply not_above_correct; [exact H| |apply encl_Q].
    apply encl_log. rewrite Ha, INR_IZR_INZ. apply encl_Z.
Qed.

Lemma class_witness_sound : sound values class_witness_check (fun p => at_least p (LawIn C) lower).
Proof.
  intros channel p s w HW HA HV Hc H. pose proof (values_by_sums_correct s p HA values HV) as Hv. unfold class_witness_check in H.
  destruct (alphabets p) as [|A [|]] eqn:Ha; try discriminate. apply andb_prop in H as [H HI]. apply andb_prop in H as [H HP].
  apply andb_prop in H as [HL HM]. set (law := weighted_prior (alphabets p) (letter_weights w)).
  assert (P : is_prior (alphabets p) law) by now apply weights_prior.
  exists 0%nat, law. rewrite Ha. split; [simpl; lia|]. split; [now rewrite <- Ha|]. split.
  - cbn [admits]. refine (member_check_correct C A _ _ _ HL _ HM). intros a La. unfold of_letter, law. rewrite Ha, sum_datasets_cons.
    transitivity (sum_to A (fun b => if Nat.eqb a b then weighted_law A (letter_weights w) b else 0)); [|now apply (sum_to_single A a)].
    apply sum_to_ext; intros b _. cbn [datasets sum letter nth]. rewrite (Nat.eqb_sym b a). destruct (Nat.eqb a b); [|ring].
    unfold weighted_prior, weighted_law. rewrite sum_datasets_cons. cbn. rewrite Nat.mul_1_r, Nat.add_0_r, Rplus_0_r. f_equal.
    apply sum_to_ext; intros k _. now rewrite Nat.mul_1_r, Nat.add_0_r, Rplus_0_r.
  - apply orb_prop in HI as [HI|HI]; [|eapply not_above_correct; [exact HI|apply encl_Q|now apply encl_told]].
    apply Qle_bool_correct in HI. rewrite RMicromega.Q2R_0 in HI. eapply Rle_trans; [exact HI|].
    apply (information_nonneg p values); auto; [rewrite Ha; simpl; lia|now apply (one_letters p A)].
Qed.
End Record.

Definition class_blocks_correct m q values records C lower upper w proofs (Hq : additive m q) :=
  blocks_correct m q values (repeat 1%nat records) (LawIn C) lower upper _ _ w proofs Hq (class_sound values C upper) (class_witness_sound values C lower).
