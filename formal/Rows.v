(** Row problems: how much one letter's law w on the channel's inputs is worth, of which N k datasets select input k. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List Permutation.
From Dalenius Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

(** ** Permutations and partitions of 0, ..., n - 1, as lists *)

Definition image (l : list nat) (j : nat) : nat := nth j l 0%nat.
Definition permutes (n : nat) (l : list nat) : bool :=
  (length l =? n)%nat && forallb (fun j => existsb (Nat.eqb j) l) (seq 0 n).

Lemma permutes_all n l : (length l <= n)%nat -> forallb (fun j => existsb (Nat.eqb j) l) (seq 0 n) = true -> Permutation (seq 0 n) l.
Proof.
  intros L H. apply NoDup_Permutation_bis; [apply seq_NoDup|now rewrite seq_length|]. intros j Hj. rewrite forallb_forall in H.
  specialize (H j Hj). apply existsb_exists in H as (k & Hk & E). apply Nat.eqb_eq in E. now subst.
Qed.
Lemma permutes_correct n l : permutes n l = true -> length l = n /\ Permutation (seq 0 n) l.
Proof. intro H. apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H1. split; auto. apply permutes_all; auto. lia. Qed.
Lemma image_small n l j : permutes n l = true -> (j < n)%nat -> (image l j < n)%nat.
Proof.
  intros H Hj. apply permutes_correct in H as [L P]. apply in_to. apply (Permutation_in _ (Permutation_sym P)). apply nth_In. lia.
Qed.
Lemma sum_permutation {B} (l m : list B) f : Permutation l m -> sum l f = sum m f.
Proof. induction 1; simpl; lra. Qed.
Lemma images_are l : map (image l) (seq 0 (length l)) = l.
Proof.
  apply nth_ext with (d := 0%nat) (d' := 0%nat); [now rewrite map_length, seq_length|]. intros j Hj. rewrite map_length, seq_length in Hj.
  rewrite (nth_indep _ 0%nat (image l 0)) by (now rewrite map_length, seq_length). now rewrite map_nth, seq_nth.
Qed.
Lemma sum_images n l f : permutes n l = true -> sum_to n (fun j => f (image l j)) = sum_to n f.
Proof.
  intro H. apply permutes_correct in H as [L P]. unfold sum_to. rewrite <- (sum_map (image l) (seq 0 n) f), <- L at 1.
  rewrite images_are. symmetry. now apply sum_permutation.
Qed.

(** Groups of outputs. *)
Definition group (parts : list (list nat)) (g : nat) : list nat := nth g parts [].
Definition partitions (n : nat) (parts : list (list nat)) : bool := permutes n (concat parts).
Definition grouped (parts : list (list nat)) (W : nat -> nat -> R) (k g : nat) : R := sum (group parts g) (W k).

Lemma sum_groups n parts f : partitions n parts = true -> sum_to n f = sum_to (length parts) (fun g => sum (group parts g) f).
Proof.
  intro H. apply permutes_correct in H as [_ P]. unfold sum_to. rewrite (sum_permutation _ _ f P). unfold group. clear P.
  induction parts as [|p l IH]; [reflexivity|]. cbn [concat length seq]. rewrite sum_app. cbn [sum nth]. f_equal.
  rewrite IH, <- seq_shift, sum_map. reflexivity.
Qed.
Lemma in_group n parts g y : partitions n parts = true -> (g < length parts)%nat -> In y (group parts g) -> (y < n)%nat.
Proof.
  intros H Hg Hy. apply permutes_correct in H as [_ P]. apply in_to. apply (Permutation_in _ (Permutation_sym P)).
  apply in_concat. exists (group parts g). split; auto. now apply nth_In.
Qed.

(** Mixing rows: within a group the mixture's outputs are no farther from their sum than the rows' are on average. *)
Lemma group_convex {B} (l : list B) (q : B -> R) (W : B -> nat -> R) (g : list nat) :
  (forall z, In z l -> 0 <= q z) -> (forall z y, In z l -> In y g -> 0 <= W z y) ->
  sum g (fun y => xlnx (sum l (fun z => q z * W z y))) - xlnx (sum g (fun y => sum l (fun z => q z * W z y)))
  <= sum l (fun z => q z * (sum g (fun y => xlnx (W z y)) - xlnx (sum g (W z)))).
Proof.
  intros Hq HW. set (U := fun y => sum l (fun z => q z * W z y)).
  assert (T : sum g U = sum l (fun z => q z * sum g (W z))).
  { unfold U. rewrite sum_swap. apply sum_ext; intros z _. apply sum_scale. }
  apply Rle_trans with (sum g (fun y => sum l (fun z => q z * (W z y * (ln (W z y) - ln (sum g (W z))))))).
  - change (sum g (fun y => xlnx (U y)) - xlnx (sum g U) <= sum g (fun y => sum l (fun z => q z * (W z y * (ln (W z y) - ln (sum g (W z))))))).
    replace (sum g (fun y => xlnx (U y)) - xlnx (sum g U)) with (sum g (fun y => U y * (ln (U y) - ln (sum g U)))).
    + apply sum_le; intros y Hy. rewrite T. apply (relative_convex l q (fun z => W z y) (fun z => sum g (W z)) Hq). intros z Hz.
      split; auto. apply (sum_ge_member g (W z)); auto.
    + unfold xlnx at 2. rewrite <- sum_scale_r, <- sum_minus. apply sum_ext; intros; unfold xlnx; ring.
  - right. rewrite sum_swap. apply sum_ext; intros z _. rewrite sum_scale. f_equal. unfold xlnx at 2.
    rewrite <- sum_scale_r, <- sum_minus. apply sum_ext; intros; unfold xlnx; ring.
Qed.

Section Row.
Variables (V : nat) (N : nat -> Z).
Hypothesis HN : forall k, (k < V)%nat -> (0 <= N k)%Z.

Definition is_choice (w : nat -> R) : Prop :=
  (forall k, (k < V)%nat -> 0 <= w k) /\ (forall k, (k < V)%nat -> (N k <= 0)%Z -> w k = 0) /\ sum_to V w = 1.
(** Rows of inputs that there are. *)
Definition is_rows (Y : nat) (W : nat -> nat -> R) : Prop :=
  (forall k y, (k < V)%nat -> (0 < N k)%Z -> (y < Y)%nat -> 0 <= W k y) /\ (forall k, (k < V)%nat -> (0 < N k)%Z -> sum_to Y (W k) = 1).

Definition mixed (W : nat -> nat -> R) (w : nat -> R) (y : nat) : R := sum_to V (fun k => w k * W k y).
(** The entropy of the datasets, given the letter. *)
Definition freedom (w : nat -> R) : R := sum_to V (fun k => w k * (ln (IZR (N k)) - ln (w k))).
Definition worth (Y : nat) (W : nat -> nat -> R) (theta mu : R) (S w : nat -> R) : R :=
  sum_to V (fun k => w k * S k) + theta * sum_to Y (fun y => xlnx (mixed W w y)) + mu * freedom w.

Lemma grouped_rows Y W parts : partitions Y parts = true -> is_rows Y W -> is_rows (length parts) (grouped parts W).
Proof.
  intros Hp [W0 W1]. split.
  - intros k g Hk Nk Hg. apply sum_nonneg; intros y Hy. apply W0; auto. eapply in_group; eauto.
  - intros k Hk Nk. rewrite <- (W1 k Hk Nk). symmetry. now apply sum_groups.
Qed.
Lemma mixed_grouped parts W w g : mixed (grouped parts W) w g = sum (group parts g) (mixed W w).
Proof. unfold mixed, grouped, sum_to. rewrite sum_swap. apply sum_ext; intros k _. now rewrite sum_scale. Qed.

Section Law.
Variable w : nat -> R.
Hypothesis Hw : is_choice w.

(** What holds of inputs that there are. *)
Lemma choice_le (f g : nat -> R) : (forall k, (k < V)%nat -> (0 < N k)%Z -> w k * f k <= w k * g k) ->
  sum_to V (fun k => w k * f k) <= sum_to V (fun k => w k * g k).
Proof.
  intro H. apply sum_to_le; intros k Hk. destruct (Z.lt_ge_cases 0 (N k)) as [L|L]; auto.
  rewrite (proj1 (proj2 Hw) k Hk L). lra.
Qed.
Lemma choice_ext (f g : nat -> R) : (forall k, (k < V)%nat -> (0 < N k)%Z -> f k = g k) ->
  sum_to V (fun k => w k * f k) = sum_to V (fun k => w k * g k).
Proof. intro H. apply Rle_antisym; apply choice_le; intros k Hk Nk; rewrite (H k Hk Nk); lra. Qed.
Lemma choice_const c : sum_to V (fun k => w k * c) = c.
Proof. unfold sum_to. rewrite sum_scale_r. fold (sum_to V w). rewrite (proj2 (proj2 Hw)). ring. Qed.

Lemma mixed_between W y lo hi : (forall k, (k < V)%nat -> (0 < N k)%Z -> lo <= W k y <= hi) -> lo <= mixed W w y <= hi.
Proof.
  intro H. rewrite <- (choice_const lo), <- (choice_const hi). split; apply choice_le; intros k Hk Nk;
    (apply Rmult_le_compat_l; [now apply Hw|now apply H]).
Qed.
Lemma mixed_nonneg Y W y : is_rows Y W -> (y < Y)%nat -> 0 <= mixed W w y.
Proof.
  intros [W0 _] Hy. apply Rle_trans with (sum_to V (fun k => w k * 0)); [right; symmetry; apply choice_const|].
  apply choice_le; intros k Hk Nk. apply Rmult_le_compat_l; [now apply Hw|now apply W0].
Qed.
Lemma mixed_one Y W : is_rows Y W -> sum_to Y (mixed W w) = 1.
Proof.
  intros [_ W1]. unfold mixed, sum_to. rewrite sum_swap. rewrite <- (choice_const 1). rewrite <- (choice_ext (fun k => sum_to Y (W k)) (fun _ => 1)) by auto.
  apply sum_ext; intros k _. apply sum_scale.
Qed.
Lemma sum_mixed Y W (g : nat -> R) : sum_to Y (fun y => mixed W w y * g y) = sum_to V (fun k => w k * sum_to Y (fun y => W k y * g y)).
Proof.
  unfold mixed, sum_to. rewrite (sum_ext _ _ (fun y => sum (seq 0 V) (fun k => w k * (W k y * g y)))).
  - rewrite sum_swap. apply sum_ext; intros. now rewrite sum_scale.
  - intros y _. rewrite <- sum_scale_r. apply sum_ext; intros; ring.
Qed.

(** The best law under a price for entropy. *)
Lemma priced mu (c : nat -> R) : 0 < mu ->
  sum_to V (fun k => w k * c k) + mu * freedom w <= mu * ln (sum_to V (fun k => IZR (N k) * exp (c k / mu))).
Proof.
  intro Hm. set (ks := filter (fun k => (0 <? N k)%Z) (seq 0 V)).
  assert (Own : forall k, In k ks <-> (k < V)%nat /\ (0 < N k)%Z) by (intro; unfold ks; now rewrite filter_In, in_to, Z.ltb_lt).
  assert (R : forall h, sum_to V (fun k => w k * h k) = sum ks (fun k => w k * h k)).
  { intro h. unfold ks. rewrite sum_filter. apply sum_to_ext; intros k Hk. destruct (Z.ltb_spec 0 (N k)) as [L|L]; auto.
    rewrite (proj1 (proj2 Hw) k Hk L). ring. }
  assert (M : sum ks w = 1).
  { pose proof (choice_const 1) as C. rewrite R in C. rewrite <- C. apply sum_ext; intros; ring. }
  assert (N0 : ks <> []) by (intro E; rewrite E in M; simpl in M; lra).
  pose proof (gibbs ks w (fun k => ln (IZR (N k)) + c k / mu) 1 (fun k Hk => proj1 Hw k (proj1 (proj1 (Own k) Hk))) M N0) as G.
  rewrite ln_1, Rmult_0_r, Rplus_0_r, Rmult_1_l in G.
  assert (L : sum ks (fun k => exp (ln (IZR (N k)) + c k / mu)) = sum_to V (fun k => IZR (N k) * exp (c k / mu))).
  { unfold ks. rewrite sum_filter. apply sum_to_ext; intros k Hk. destruct (Z.ltb_spec 0 (N k)) as [L|L].
    - rewrite exp_plus, exp_ln; auto. now apply IZR_lt.
    - replace (N k) with 0%Z by (specialize (HN k Hk); lia). ring. }
  rewrite L in G. apply (Rmult_le_compat_l mu) in G; [|lra]. unfold freedom. rewrite !R. eapply Rle_trans; [|exact G]. right.
  rewrite <- !sum_scale, <- sum_plus. apply sum_ext; intros; field; lra.
Qed.

(** Lines above c x ln x, on ranges of the outputs of any channels. *)
Record lines := Lines { share : R; width : nat; rows_of : nat -> nat -> R; slopes : nat -> R; lows_of : nat -> R; highs_of : nat -> R }.
Definition lines_hold (l : lines) : Prop := 0 <= share l /\
  forall y, (y < width l)%nat -> 0 <= lows_of l y /\ lows_of l y <= mixed (rows_of l) w y <= highs_of l y.
Definition constants (l : lines) : R := sum_to (width l) (fun y => intercept (share l) (slopes l y) (lows_of l y) (highs_of l y)).
Definition tilt (l : lines) (k : nat) : R := sum_to (width l) (fun y => rows_of l k y * slopes l y).

Lemma below_lines l : lines_hold l -> share l * sum_to (width l) (fun y => xlnx (mixed (rows_of l) w y))
  <= constants l + sum_to V (fun k => w k * tilt l k).
Proof.
  intros [Hc Hb]. unfold tilt, constants. rewrite <- sum_mixed. unfold sum_to. rewrite <- sum_scale, <- sum_plus. apply sum_to_le; intros y Hy.
  destruct (Hb y Hy) as [L0 L]. pose proof (chord (share l) _ _ (slopes l y) _ Hc L0 L). lra.
Qed.

Lemma worth_lines Y W theta mu S (ls : list lines) : 0 < mu -> (forall l, In l ls -> lines_hold l) ->
  theta * sum_to Y (fun y => xlnx (mixed W w y)) <= sum ls (fun l => share l * sum_to (width l) (fun y => xlnx (mixed (rows_of l) w y))) ->
  worth Y W theta mu S w <= sum ls constants + mu * ln (sum_to V (fun k => IZR (N k) * exp ((S k + sum ls (fun l => tilt l k)) / mu))).
Proof.
  intros Hm Hl H. pose proof (priced mu (fun k => S k + sum ls (fun l => tilt l k)) Hm) as G. cbv beta in G.
  assert (B : sum ls (fun l => share l * sum_to (width l) (fun y => xlnx (mixed (rows_of l) w y)))
    <= sum ls constants + sum_to V (fun k => w k * sum ls (fun l => tilt l k))).
  { eapply Rle_trans; [apply sum_le; intros l Il; apply below_lines; auto|]. right. rewrite sum_plus. f_equal. unfold sum_to. rewrite sum_swap.
    apply sum_ext; intros k _. apply sum_scale. }
  rewrite (sum_to_ext V _ (fun k => w k * S k + w k * sum ls (fun l => tilt l k))) in G by (intros; ring).
  unfold sum_to in G at 1. rewrite sum_plus in G. unfold worth, sum_to in *. lra.
Qed.

(** Without a price for entropy: the largest score with the row's own negative entropy. *)
Lemma worth_free Y W theta S psi : is_rows Y W -> 0 <= theta ->
  (forall k, (k < V)%nat -> (0 < N k)%Z -> S k + theta * sum_to Y (fun y => xlnx (W k y)) <= psi) -> worth Y W theta 0 S w <= psi.
Proof.
  intros [W0 _] Ht H. unfold worth. rewrite Rmult_0_l, Rplus_0_r.
  assert (B : sum_to Y (fun y => xlnx (mixed W w y)) <= sum_to V (fun k => w k * sum_to Y (fun y => xlnx (W k y)))).
  { apply Rle_trans with (sum_to Y (fun y => sum_to V (fun k => w k * xlnx (W k y)))).
    - apply sum_to_le; intros y Hy. set (t := fun k => if (0 <? N k)%Z then W k y else 0).
      pose proof (log_sum (seq 0 V) w t) as L. cbv beta zeta in L. fold (sum_to V w) in L. rewrite (proj2 (proj2 Hw)), ln_1, Rminus_0_r in L.
      assert (E : sum_to V (fun k => w k * t k) = mixed W w y).
      { apply choice_ext. intros k _ Nk. unfold t. now rewrite (proj2 (Z.ltb_lt _ _) Nk). }
      unfold sum_to in E at 1. rewrite E in L. eapply Rle_trans; [apply L|].
      + intros k Hk. apply Hw. now apply in_to.
      + intros k Hk. apply in_to in Hk. unfold t. destruct (Z.ltb_spec 0 (N k)); [apply W0; auto|lra].
      + apply (choice_le (fun k => xlnx (t k)) (fun k => xlnx (W k y))). intros k _ Nk. unfold t. rewrite (proj2 (Z.ltb_lt _ _) Nk). lra.
    - right. unfold sum_to. rewrite sum_swap. apply sum_ext; intros; now rewrite sum_scale. }
  apply (Rmult_le_compat_l theta) in B; auto. eapply Rle_trans; [apply Rplus_le_compat_l, B|].
  unfold sum_to. rewrite <- sum_scale, <- sum_plus. rewrite <- (choice_const psi).
  eapply Rle_trans; [|apply choice_le; intros k Hk Nk; apply Rmult_le_compat_l; [now apply Hw|exact (H k Hk Nk)]].
  right. apply sum_ext; intros; unfold sum_to; ring.
Qed.

(** Grouped outputs. *)
Definition within_groups (parts : list (list nat)) (W : nat -> nat -> R) (k : nat) : R :=
  sum_to (length parts) (fun g => sum (group parts g) (fun y => xlnx (W k y)) - xlnx (grouped parts W k g)).
Lemma worth_grouped Y W parts theta mu S : is_rows Y W -> partitions Y parts = true -> 0 <= theta ->
  worth Y W theta mu S w <= worth (length parts) (grouped parts W) theta mu (fun k => S k + theta * within_groups parts W k) w.
Proof.
  intros HW Hp Ht. unfold worth. apply Rplus_le_compat_r.
  assert (B : sum_to Y (fun y => xlnx (mixed W w y)) - sum_to (length parts) (fun g => xlnx (mixed (grouped parts W) w g))
    <= sum_to V (fun k => w k * within_groups parts W k)).
  { rewrite (sum_groups Y parts _ Hp). unfold sum_to at 1 2. rewrite <- sum_minus.
    set (t := fun k y => if (0 <? N k)%Z then W k y else 0).
    assert (E : forall y, mixed t w y = mixed W w y).
    { intro y. apply choice_ext. intros k _ Nk. unfold t. now rewrite (proj2 (Z.ltb_lt _ _) Nk). }
    apply Rle_trans with (sum_to (length parts) (fun g => sum_to V (fun k => w k * (sum (group parts g) (fun y => xlnx (t k y)) - xlnx (sum (group parts g) (t k)))))).
    - apply sum_to_le; intros g Hg. rewrite mixed_grouped.
      rewrite (sum_ext (group parts g) (mixed W w) (mixed t w)) by (intros; now rewrite E).
      rewrite (sum_ext (group parts g) (fun y => xlnx (mixed W w y)) (fun y => xlnx (mixed t w y))) by (intros; now rewrite E).
      apply (group_convex (seq 0 V) w t (group parts g)).
      + intros k Hk. apply Hw. now apply in_to.
      + intros k y Hk Hy. apply in_to in Hk. unfold t. destruct (Z.ltb_spec 0 (N k)); [|lra]. apply (proj1 HW); auto. eapply in_group; eauto.
    - unfold sum_to. rewrite sum_swap. right. transitivity (sum_to V (fun k => w k * within_groups parts t k)).
      + apply sum_ext; intros k _. unfold within_groups, sum_to. rewrite <- sum_scale. reflexivity.
      + apply choice_ext. intros k _ Nk. unfold within_groups, grouped, t. now rewrite (proj2 (Z.ltb_lt _ _) Nk). }
  apply (Rmult_le_compat_l theta) in B; auto. rewrite Rmult_minus_distr_l in B.
  replace (sum_to V (fun k => w k * (S k + theta * within_groups parts W k)))
    with (sum_to V (fun k => w k * S k) + theta * sum_to V (fun k => w k * within_groups parts W k)); [lra|].
  unfold sum_to. rewrite <- sum_scale, <- sum_plus. apply sum_ext; intros; ring.
Qed.
End Law.

(** ** Chambers *)

(** [pi] and [tau] leave a letter's row problem as it is. *)
Definition keeps (Y : nat) (W : nat -> nat -> R) (S : nat -> R) (pi tau : list nat) : Prop :=
  permutes V pi = true /\ permutes Y tau = true /\ (forall k, (k < V)%nat -> N (image pi k) = N k) /\
  (forall k y, (k < V)%nat -> (0 < N k)%Z -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y) /\
  (forall k, (k < V)%nat -> (0 < N k)%Z -> S (image pi k) = S k).
Definition pulled (pi : list nat) (w : nat -> R) (k : nat) : R := w (image pi k).

Lemma pulled_choice pi w : permutes V pi = true -> (forall k, (k < V)%nat -> N (image pi k) = N k) -> is_choice w -> is_choice (pulled pi w).
Proof.
  intros Hp HNp (W0 & WN & W1). split; [|split].
  - intros k Hk. apply W0. now apply image_small.
  - intros k Hk L. apply WN; [now apply image_small|]. now rewrite HNp.
  - rewrite <- W1. now apply (sum_images V pi w).
Qed.
Lemma pulled_mixed Y W S pi tau w y : keeps Y W S pi tau -> is_choice w -> (y < Y)%nat -> mixed W (pulled pi w) y = mixed W w (image tau y).
Proof.
  intros (Hp & Ht & HNp & HWp & _) Hw Hy. pose proof (pulled_choice pi w Hp HNp Hw) as Hw'. unfold mixed at 1.
  rewrite (choice_ext _ Hw' _ (fun k => W (image pi k) (image tau y))) by (intros; now rewrite HWp).
  exact (sum_images V pi (fun k => w k * W k (image tau y)) Hp).
Qed.
Lemma pulled_worth Y W S pi tau theta mu w : keeps Y W S pi tau -> is_choice w -> worth Y W theta mu S (pulled pi w) = worth Y W theta mu S w.
Proof.
  intros Hk Hw. pose proof Hk as (Hp & Ht & HNp & _ & HS). pose proof (pulled_choice pi w Hp HNp Hw) as Hw'. unfold worth. f_equal; [f_equal|].
  - rewrite (choice_ext _ Hw' _ (fun k => S (image pi k))) by (intros; now rewrite HS). exact (sum_images V pi (fun k => w k * S k) Hp).
  - f_equal. rewrite (sum_to_ext Y _ (fun y => xlnx (mixed W w (image tau y)))) by (intros y Hy; now rewrite (pulled_mixed Y W S pi tau w y Hk Hw Hy)).
    exact (sum_images Y tau (fun y => xlnx (mixed W w y)) Ht).
  - f_equal. unfold freedom. rewrite <- (sum_images V pi (fun k => w k * (ln (IZR (N k)) - ln (w k))) Hp).
    apply sum_to_ext; intros k Hk'. unfold pulled. now rewrite HNp.
Qed.

(** How many of the outputs have more than a number. *)
Definition more (Y : nat) (x : nat -> R) (c : R) : nat := length (filter (fun y => if Rlt_dec c (x y) then true else false) (seq 0 Y)).
Lemma more_images Y tau x c : permutes Y tau = true -> more Y (fun y => x (image tau y)) c = more Y x c.
Proof.
  intro H. assert (E : forall x, INR (more Y x c) = sum_to Y (fun y => if Rlt_dec c (x y) then 1 else 0)).
  { intro z. unfold more, sum_to. rewrite <- (Rmult_1_r (INR _)), <- sum_const, sum_filter. apply sum_ext; intros y _. now destruct (Rlt_dec c (z y)). }
  apply INR_eq. rewrite !E. exact (sum_images Y tau (fun y => if Rlt_dec c (x y) then 1 else 0) H).
Qed.
Lemma more_less Y x c d : c < d -> (exists y, (y < Y)%nat /\ x y = d) -> (more Y x d < more Y x c)%nat.
Proof.
  intros L (y & Hy & E). unfold more. apply in_to in Hy. revert Hy. induction (seq 0 Y) as [|z l IH]; intro Hy; [destruct Hy|].
  assert (W : forall l, (length (filter (fun y => if Rlt_dec d (x y) then true else false) l)
    <= length (filter (fun y => if Rlt_dec c (x y) then true else false) l))%nat).
  { clear IH Hy. intro t. induction t as [|u t IH]; simpl; auto. destruct (Rlt_dec d (x u)); destruct (Rlt_dec c (x u)); simpl; try lia. lra. }
  simpl. destruct Hy as [->|Hy].
  - rewrite E. destruct (Rlt_dec d d); [lra|]. destruct (Rlt_dec c d); [|lra]. simpl. specialize (W l). lia.
  - specialize (IH Hy). destruct (Rlt_dec d (x z)); destruct (Rlt_dec c (x z)); simpl; try lia. lra.
Qed.

(** Of a law and its images one has the listed orders: exchange while an order fails, and its K(y) rises. *)
Lemma chamber Y W S theta mu y (pairs : list (list nat * list nat)) (good : (nat -> R) -> Prop) : (y < Y)%nat ->
  (forall w, good w -> is_choice w) ->
  (forall pt, In pt pairs -> keeps Y W S (fst pt) (snd pt)) ->
  (forall pt w, In pt pairs -> good w -> good (pulled (fst pt) w)) ->
  forall w, good w -> exists w', good w' /\ worth Y W theta mu S w' = worth Y W theta mu S w /\
    forall pt, In pt pairs -> mixed W w' (image (snd pt) y) <= mixed W w' y.
Proof.
  intros Hy Hg Hk Hpull. enough (G : forall n w, good w -> (more Y (mixed W w) (mixed W w y) < n)%nat ->
    exists w', good w' /\ worth Y W theta mu S w' = worth Y W theta mu S w /\
      forall pt, In pt pairs -> mixed W w' (image (snd pt) y) <= mixed W w' y) by (intros w Hw; exact (G _ w Hw (Nat.lt_succ_diag_r _))).
  induction n as [|n IH]; intros w Hw L; [lia|].
  destruct (existsb (fun pt => if Rlt_dec (mixed W w y) (mixed W w (image (snd pt) y)) then true else false) pairs) eqn:E.
  - apply existsb_exists in E as (pt & Ip & E). destruct (Rlt_dec _ _) as [Lt|]; [|discriminate].
    pose proof (Hk pt Ip) as K. destruct (IH (pulled (fst pt) w) (Hpull pt w Ip Hw)) as (w' & G1 & G2 & G3).
    + assert (M : forall z, (z < Y)%nat -> mixed W (pulled (fst pt) w) z = mixed W w (image (snd pt) z)) by (intros; now apply (pulled_mixed Y W S); auto).
      rewrite (M y Hy). replace (more Y (mixed W (pulled (fst pt) w)) (mixed W w (image (snd pt) y)))
        with (more Y (fun z => mixed W w (image (snd pt) z)) (mixed W w (image (snd pt) y))).
      * destruct K as (_ & Ht & _). rewrite (more_images Y (snd pt) (mixed W w) _ Ht).
        assert (more Y (mixed W w) (mixed W w (image (snd pt) y)) < more Y (mixed W w) (mixed W w y))%nat; [|lia].
        apply more_less; auto. exists (image (snd pt) y). split; auto. now apply image_small.
      * unfold more. f_equal. apply filter_ext_in. intros z Hz. apply in_to in Hz. now rewrite M.
    + exists w'. split; auto. split; auto. rewrite G2. apply (pulled_worth Y W S (fst pt) (snd pt)); auto.
  - exists w. split; auto. split; auto. intros pt Ip. apply Rnot_lt_le. intro Lt.
    assert (F : existsb (fun pt => if Rlt_dec (mixed W w y) (mixed W w (image (snd pt) y)) then true else false) pairs = true); [|congruence].
    apply existsb_exists. exists pt. split; auto. now destruct (Rlt_dec _ _).
Qed.
End Row.
