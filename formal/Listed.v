(** Listed priors: what each of them tells about each record, evaluated as it is defined. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Counting Enclosures Boxes Checker Certificates Additive Witnesses.
Import ListNotations.
Open Scope R_scope.

Section Listed.
Variables (m : model) (values : list Z) (channel : list (list interval)).
Let all := datasets (alphabets m).

Definition weight_at (weights : list Q) (x : dataset) : Q := nth (index (alphabets m) x) weights 0%Q.
Definition whole (weights : list Q) : interval := isum all (fun x => of_Q (weight_at weights x)).
Definition having_letter (i a : nat) : list dataset := filter (fun x => Nat.eqb (letter i x) a) all.
Definition told (weights : list Q) (i : nat) : interval :=
  let t := whole weights in
  let p := fun x => over (of_Q (weight_at weights x)) t in
  let r := fun x y => times (p x) (entry2 channel (row_of m values x) y) in
  let letters := tabulate (letter i (alphabets m)) (fun a => isum (having_letter i a) p) in
  let given := tabulate (outputs m) (fun y => isum all (fun x => r x y)) in
  isum_to (letter i (alphabets m)) (fun a => isum_to (outputs m) (fun y =>
    let j := isum (having_letter i a) (fun x => r x y) in
    if nothing j then zero else times j (log (over j (times (entry letters a) (entry given y)))))).
Definition weights_check (weights : list Q) : bool := forallb (fun x => Qle_bool 0 (weight_at weights x)) all && positive (whole weights).

Hypothesis Hv : all_values m values.
Hypothesis HW : forall k y, encl (entry2 channel k y) (rows m values k y).

Lemma encl_whole weights : encl (whole weights) (sum all (fun x => Q2R (weight_at weights x))).
Proof. apply encl_isum; intros; apply encl_Q. Qed.
Lemma encl_told weights i : encl (told weights i) (information m (weighted_prior (alphabets m) weights) i).
Proof.
  set (P := weighted_prior (alphabets m) weights).
  assert (HP : forall x, encl (over (of_Q (weight_at weights x)) (whole weights)) (P x)).
  { intro x. apply encl_over; [apply encl_Q|apply encl_whole]. }
  assert (HR : forall x y, In x all -> encl (times (over (of_Q (weight_at weights x)) (whole weights)) (entry2 channel (row_of m values x) y))
    (P x * probability m (query m x) y)).
  { intros x y Hx. rewrite <- (rows_of m values Hv x y Hx). apply encl_times; auto. }
  unfold told. cbv zeta. apply encl_isum_to; intros a Ha. apply encl_isum_to; intros y Hy.
  assert (J : encl (isum (having_letter i a) (fun x => times (over (of_Q (weight_at weights x)) (whole weights)) (entry2 channel (row_of m values x) y)))
    (joint m P i a y)).
  { unfold joint, over_datasets. rewrite <- sum_filter. apply encl_isum; intros x Hx. apply filter_In in Hx as [Hx _]. now apply HR. }
  destruct (nothing _) eqn:E.
  - rewrite (nothing_correct _ _ E J), Rmult_0_l. exact (encl_Z 0).
  - apply encl_times; auto. apply encl_log, encl_over; auto. apply encl_times.
    + apply (encl_entry _ _ (of_letter (alphabets m) P i)). intros b _. unfold of_letter. rewrite <- sum_filter. apply encl_isum; auto.
    + apply (encl_entry _ _ (of_output m P)). intros z _. apply encl_isum; intros x Hx. now apply HR.
Qed.

Lemma weights_prior weights : weights_check weights = true -> is_prior (alphabets m) (weighted_prior (alphabets m) weights).
Proof.
  intro H. apply andb_prop in H as [H0 H1]. rewrite forallb_forall in H0. pose proof (positive_correct _ _ H1 (encl_whole weights)) as T.
  split.
  - intros x Hx. apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat]. specialize (H0 x Hx). apply Qle_bool_correct in H0.
    now rewrite RMicromega.Q2R_0 in H0.
  - unfold weighted_prior, Rdiv. rewrite sum_scale_r. apply Rinv_r. apply Rgt_not_eq. exact T.
Qed.

Theorem listed_above priors upper :
  forallb (fun i => forallb (fun w => not_above (told w i) (of_Q upper)) priors) (seq 0 (length (alphabets m))) = true ->
  at_most m (Listed priors) upper.
Proof.
  intros H i P Hi HP (weights & Hw & E). rewrite forallb_forall in H. specialize (H i (proj2 (in_to _ _) Hi)).
  rewrite forallb_forall in H. rewrite (information_same m P _ i E). eapply not_above_correct; [exact (H weights Hw)|apply encl_told|apply encl_Q].
Qed.
Theorem listed_below priors weights i lower : In weights priors -> (i < length (alphabets m))%nat -> weights_check weights = true ->
  not_above (of_Q lower) (told weights i) = true -> at_least m (Listed priors) lower.
Proof.
  intros Hw Hi HC H. exists i, (weighted_prior (alphabets m) weights). split; [exact Hi|]. split; [now apply weights_prior|].
  split; [exists weights; auto|]. eapply not_above_correct; [exact H|apply encl_Q|apply encl_told].
Qed.
End Listed.

(** [i] and [j] say which record, and which prior, the lower end is about. *)
Definition listed_check (m : model) (q : sums) (values : list Z) (priors : list (list Q)) (lower upper : Q) (i j : nat) : bool :=
  let weights := weight_table m values in
  let channel := channel_table m weights in
  let w := nth j priors [] in
  values_by_sums q values && channel_check m weights && (i <? length (alphabets m))%nat && (j <? length priors)%nat
  && weights_check m w && not_above (of_Q lower) (told m values channel w i)
  && forallb (fun i => forallb (fun w => not_above (told m values channel w i) (of_Q upper)) priors) (seq 0 (length (alphabets m))).
Theorem listed_correct m q values priors lower upper i j : additive m q ->
  listed_check m q values priors lower upper i j = true -> leakage_between m (Listed priors) lower upper.
Proof.
  intros Hq H. unfold listed_check in H. cbv zeta in H. apply andb_prop in H as [H HA]. apply andb_prop in H as [H HB].
  apply andb_prop in H as [H HP]. apply andb_prop in H as [H Hj]. apply andb_prop in H as [H Hi]. apply andb_prop in H as [HV HC].
  apply Nat.ltb_lt in Hi, Hj. pose proof (values_by_sums_correct q m Hq values HV) as Hv. pose proof (encl_channel m values) as HW.
  split; [exact (channel_correct m values Hv HC)|]. split.
  - eapply (listed_below m values); eauto. now apply nth_In.
  - eapply (listed_above m values); eauto.
Qed.
