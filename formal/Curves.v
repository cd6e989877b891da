(** The whole curve of leakage against entropy from one proof: a leaf's bound is a line, c - mu b, and c knows nothing of b. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Counting Enclosures Boxes Checker Certificates Witnesses.
Import ListNotations.
Open Scope R_scope.

Lemma most_entropy_is alphabets P : is_prior alphabets P -> entropy alphabets P <= ln (INR (length (datasets alphabets))).
Proof.
  intro HP. pose proof (gibbs (datasets alphabets) P (fun _ => 0) 1 (proj1 HP) (proj2 HP) (datasets_exist _ _ HP)) as G.
  cbv beta in G. rewrite (sum_const (datasets alphabets)), exp_0, ln_1, Rmult_0_r, Rplus_0_r, Rmult_1_r, Rmult_1_l in G.
  unfold entropy. rewrite <- sum_opp. rewrite (sum_ext _ _ (fun x => P x * (0 - ln (P x)))); auto. intros; ring.
Qed.

Section Curve.
Variables (m : model) (values : list Z) (tables : list (list (list Z))) (channel : list (list interval)) (sections : list section).
Variables (first : Q * Q) (others : list (Q * Q)).
Let above := first :: others.

Definition line_at (l : Q * Q) (h : R) : R := Q2R (fst l) - Q2R (snd l) * h.
Definition highest (h : R) : R := fold_right (fun l t => Rmax (line_at l h) t) (line_at first h) others.
Lemma highest_above l h : In l above -> line_at l h <= highest h.
Proof.
  unfold highest. intros [<-|H].
  - induction others as [|l' r IH]; simpl; [lra|]. eapply Rle_trans; [exact IH|apply Rmax_r].
  - induction others as [|l' r IH]; simpl; [destruct H|]. destruct H as [->|H]; [apply Rmax_l|]. eapply Rle_trans; [now apply IH|apply Rmax_r].
Qed.
Lemma highest_is h : exists l, In l above /\ highest h = line_at l h.
Proof.
  unfold highest, above. induction others as [|l' r IH]; simpl; [exists first; auto|]. destruct IH as (l & I & E). rewrite E.
  unfold Rmax. destruct (Rle_dec _ _); [exists l; split; auto; destruct I; auto|exists l'; auto].
Qed.
Lemma highest_falls h h' : (forall l, In l above -> 0 <= Q2R (snd l)) -> h <= h' -> highest h' <= highest h.
Proof.
  intros H L. destruct (highest_is h') as (l & I & ->). eapply Rle_trans; [|now apply (highest_above l)]. unfold line_at.
  assert (Q2R (snd l) * h <= Q2R (snd l) * h') by (apply Rmult_le_compat_l; auto). lra.
Qed.

(** A leaf's line is no higher than one that is claimed, at no entropy and at all of it, so that it is nowhere. *)
Definition all_nats : interval := log (of_Z (size (alphabets m))).
Definition enough_line (i : interval) (mu : Z) : bool :=
  existsb (fun l => not_above i (of_Q (fst l))
    && not_above (minus i (times (of_fixed mu) all_nats)) (minus (of_Q (fst l)) (times (of_Q (snd l)) all_nats))) above.
Definition curve_check : bool :=
  forallb (fun l => Qle_bool 0 (snd l)) above && claim_check m values tables channel sections enough_line.

Hypothesis Hc : is_channel m.
Hypothesis Hv : all_values m values.
Hypothesis Ht : tables_right m values tables.
Hypothesis HW : forall k y, encl (entry2 channel k y) (rows m values k y).
Hypothesis H : curve_check = true.

Lemma slopes_nonneg l : In l above -> 0 <= Q2R (snd l).
Proof.
  intro I. apply andb_prop in H as [H1 _]. rewrite forallb_forall in H1. specialize (H1 l I). apply Qle_bool_correct in H1.
  now rewrite RMicromega.Q2R_0 in H1.
Qed.
Theorem curve_bound i P : (i < length (alphabets m))%nat -> is_prior (alphabets m) P -> information m P i <= highest (entropy (alphabets m) P).
Proof.
  intros Hi HP. pose proof H as H'. apply andb_prop in H' as [_ HC].
  apply (claim_correct m values tables channel sections enough_line 0 highest Hc Hv Ht HW); auto.
  - intros h h' _. apply highest_falls. exact slopes_nonneg.
  - intros k mu c Q E I Hm HQ H0. apply existsb_exists in E as (l & Il & E). apply andb_prop in E as [E1 E2].
    eapply Rle_trans; [|now apply (highest_above l)]. unfold line_at.
    assert (L : encl all_nats (ln (INR (length (datasets (alphabets m)))))) by (apply encl_log; rewrite length_datasets; apply encl_Z).
    set (top := ln (INR (length (datasets (alphabets m))))) in *.
    assert (B1 : c <= Q2R (fst l)) by (eapply not_above_correct; [exact E1|exact I|apply encl_Q]).
    assert (B2 : c - fixed mu * top <= Q2R (fst l) - Q2R (snd l) * top).
    { eapply not_above_correct; [exact E2| |]; apply encl_minus; auto using encl_Q; apply encl_times; auto using encl_fixed, encl_Q. }
    pose proof (most_entropy_is _ Q HQ) as Top. fold top in Top. set (h := entropy (alphabets m) Q) in *.
    destruct (Req_dec top 0) as [Z|NZ]; [assert (E0 : h = 0) by lra; rewrite E0; lra|].
    assert (S : top * (c - fixed mu * h) <= top * (Q2R (fst l) - Q2R (snd l) * h)); [|apply Rmult_le_reg_l with top; lra].
    replace (top * (c - fixed mu * h)) with ((top - h) * c + h * (c - fixed mu * top)) by ring.
    replace (top * (Q2R (fst l) - Q2R (snd l) * h)) with ((top - h) * Q2R (fst l) + h * (Q2R (fst l) - Q2R (snd l) * top)) by ring.
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - now apply entropy_nonneg.
Qed.

Theorem curve_correct : curve_at_most m above.
Proof.
  intros i P b Hi HP [_ Hb]. destruct (highest_is b) as (l & I & E). exists l. split; auto. change (information m P i <= line_at l b).
  rewrite <- E. eapply Rle_trans; [now apply curve_bound|]. apply highest_falls; auto. exact slopes_nonneg.
Qed.
Theorem curve_upper b upper : forallb (fun l => not_above (minus (of_Q (fst l)) (times (of_Q (snd l)) (in_nats m b))) (of_Q upper)) above = true ->
  at_most m (EntropyAtLeast b) upper.
Proof.
  intros HU i P Hi HP Hb. simpl in Hb. eapply Rle_trans; [now apply curve_bound|].
  eapply Rle_trans; [apply (highest_falls _ _ slopes_nonneg Hb)|]. destruct (highest_is (nats (alphabets m) b)) as (l & I & ->).
  rewrite forallb_forall in HU. eapply not_above_correct; [exact (HU l I)| |apply encl_Q].
  apply encl_minus; [apply encl_Q|]. apply encl_times; [apply encl_Q|apply encl_nats].
Qed.
End Curve.

(** ** A whole certificate *)

Definition with_curve_check (m : model) (values : list Z) (tables : list (list (list Z))) (b : amount) (lower upper : Q)
    (first : Q * Q) (others : list (Q * Q)) (below : list (amount * Q)) (w : witness) (ws : list witness) (sections : list section) : bool :=
  let weights := weight_table m values in
  let channel := channel_table m weights in
  channel_check m weights && (length ws =? length below)%nat
  && forallb (fun p => let '(w, (b, lower)) := p in shape_check m values tables w && below_check m values tables channel w b lower)
    (combine (w :: ws) ((b, lower) :: below))
  && forallb (fun l => not_above (minus (of_Q (fst l)) (times (of_Q (snd l)) (in_nats m b))) (of_Q upper)) (first :: others)
  && curve_check m values tables channel sections first others.

Theorem with_curve_correct m values tables b lower upper first others below w ws sections : counts_right m values tables ->
  with_curve_check m values tables b lower upper first others below w ws sections = true ->
  leakage_between m (EntropyAtLeast b) lower upper /\ leakage_curve m (first :: others) below.
Proof.
  intros [HV Ht] H. unfold with_curve_check in H. cbv zeta in H. apply andb_prop in H as [H HA]. apply andb_prop in H as [H HU].
  apply andb_prop in H as [H HB]. apply andb_prop in H as [HC HL]. apply Nat.eqb_eq in HL.
  pose proof (channel_correct m values HV HC) as Hc. pose proof (encl_channel m values) as HW.
  assert (Below : forall b' low, In (b', low) ((b, lower) :: below) -> at_least m (EntropyAtLeast b') low).
  { intros b' low I. rewrite forallb_forall in HB.
    assert (J : exists w', In (w', (b', low)) (combine (w :: ws) ((b, lower) :: below))).
    { destruct I as [I|I]; [exists w; rewrite <- I; simpl; auto|]. apply (In_nth _ _ (b', low)) in I as (j & Hj & E).
      exists (nth j ws w). simpl. right. rewrite <- E at 1. rewrite <- combine_nth by auto. apply nth_In. rewrite combine_length. lia. }
    destruct J as (w' & J). specialize (HB _ J). cbv beta iota in HB. apply andb_prop in HB as [HS HB]. eapply below_correct; eauto. }
  split; [split; [exact Hc|]; split|split].
  - apply Below. simpl; auto.
  - eapply curve_upper; eauto.
  - eapply curve_correct; eauto.
  - intros b' low I. apply Below. simpl; auto.
Qed.
