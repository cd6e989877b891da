(** The lower end: a prior that is written down, evaluated. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds Counting Enclosures Boxes Checker Certificates.
Import ListNotations.
Open Scope R_scope.

(** ** Facts about every prior *)

Lemma datasets_exist alphabets P : is_prior alphabets P -> datasets alphabets <> [].
Proof. intros [_ H] E. rewrite E in H. simpl in H. lra. Qed.

Lemma entropy_nonneg alphabets P : is_prior alphabets P -> 0 <= entropy alphabets P.
Proof.
  intros [P0 P1]. unfold entropy. rewrite <- sum_opp. apply sum_nonneg; intros x Hx.
  pose proof (P0 x Hx) as L. pose proof (sum_ge_member _ P x Hx P0) as U. rewrite P1 in U.
  destruct L as [L|L]; [|rewrite <- L; lra].
  pose proof (ln_le_minus_1 (P x) L). pose proof (Rmult_le_compat_l (P x) _ _ ltac:(lra) H).
  assert (P x * (P x - 1) <= 0); [|lra]. assert (0 <= P x * (1 - P x)) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Information.
Context {X : Type}.
Variables (A Y V : nat) (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Variable P : X -> R.
Hypothesis HP : is_law A xs P.

Lemma info_nonneg : 0 <= info A Y xs f W P.
Proof.
  set (p := mass xs P). set (q := s A xs f W P).
  assert (H : sum_to A (fun a => sum_to Y (fun y => u xs f W P a y - p a * q y)) <= info A Y xs f W P).
  { unfold info. apply sum_to_le; intros a Ha. apply sum_to_le; intros y Hy. fold p q.
    pose proof (u0 _ _ _ _ _ _ _ Hwc P HP a y Ha Hy) as U. pose proof (u_le_s _ _ _ _ _ _ _ Hwc P HP a y Ha Hy) as US. fold q in US.
    pose proof (mass0 A xs P HP a Ha) as M. fold p in M.
    destruct U as [U|U].
    - assert (M1 : 0 < p a).
      { destruct M as [M|M]; auto. exfalso. symmetry in M. assert (Z : u xs f W P a y = 0); [|lra].
        apply sum_all_zero; intros x Hx. rewrite (mass_zero A xs P HP a x Ha M Hx). ring. }
      pose proof (gibbs_term (u xs f W P a y) (p a * q y) ltac:(lra) ltac:(apply Rmult_lt_0_compat; lra)) as G.
      rewrite ln_mult in G by lra. lra.
    - rewrite <- U. assert (0 <= p a * q y) by (apply Rmult_le_pos; auto; eapply s0; eauto). lra. }
  eapply Rle_trans; [|exact H]. right. unfold sum_to.
  rewrite (sum_ext (seq 0 A) _ (fun a => p a - p a * sum_to Y q)).
  - rewrite (sum_s _ _ _ _ _ _ _ Hwc P HP : sum_to Y q = 1). symmetry. apply sum_all_zero; intros; ring.
  - intros a Ha. rewrite sum_minus, sum_scale. f_equal. apply (sum_u _ _ _ _ _ _ _ Hwc P). now apply in_to.
Qed.

(** I as a sum of terms x ln x. *)
Lemma info_xlnx : info A Y xs f W P = sum_to A (fun a => sum_to Y (fun y => xlnx (u xs f W P a y)))
  - sum_to A (fun a => xlnx (mass xs P a)) - sum_to Y (fun y => xlnx (s A xs f W P y)).
Proof.
  assert (E1 : sum_to A (fun a => xlnx (mass xs P a)) = sum_to A (fun a => sum_to Y (fun y => u xs f W P a y * ln (mass xs P a)))).
  { apply sum_to_ext; intros a Ha. unfold sum_to. rewrite sum_scale_r. unfold xlnx. f_equal. symmetry.
    now apply (sum_u _ _ _ _ _ _ _ Hwc P). }
  assert (E2 : sum_to Y (fun y => xlnx (s A xs f W P y)) = sum_to A (fun a => sum_to Y (fun y => u xs f W P a y * ln (s A xs f W P y)))).
  { rewrite <- sum_s_scale. reflexivity. }
  rewrite E1, E2. unfold info, sum_to. rewrite <- !sum_minus. apply sum_ext; intros a _. rewrite <- !sum_minus.
  apply sum_ext; intros; unfold xlnx; ring.
Qed.
End Information.

Theorem information_nonneg m values P i : all_values m values -> is_channel m -> is_prior (alphabets m) P -> (i < length (alphabets m))%nat ->
  (forall a, (a < letter i (alphabets m))%nat -> exists k, (0 < count m values i a k)%Z) -> 0 <= information m P i.
Proof.
  intros Hv Hc HP Hi Hl. rewrite (information_is m values i); auto.
  eapply info_nonneg; [now apply counted|]. now apply prior_is.
Qed.

(** ** A prior by classes *)

Section Witness.
Variables (m : model) (values : list Z) (tables : list (list (list Z))) (channel : list (list interval)).
Variable w : witness.
Let i := for_record w.
Let A := letter i (alphabets m).
Let Y := outputs m.
Let V := length values.
Let table := row_at tables i.
Let inputs := inputs_of m values tables i.

Definition weight_at (a k : nat) : Z := nth k (row_at (weights w) a) 0%Z.
Definition whole_weight : Z := fold_right (fun a t => fold_right (fun k t => weight_at a k + t)%Z 0%Z (row_at inputs a) + t)%Z 0%Z (seq 0 A).

Definition shape_check : bool :=
  (i <? length (alphabets m))%nat && letters_check m values tables i && (0 <? whole_weight)%Z
  && forallb (fun a => forallb (fun k => (0 <=? weight_at a k)%Z) (row_at inputs a)) (seq 0 A).

(** The probability of one dataset of a class; that of the class. *)
Definition each (a k : nat) : R := IZR (weight_at a k) / IZR (whole_weight * count_at table a k).
Definition class (a k : nat) : R := IZR (weight_at a k) / IZR whole_weight.
Definition the_prior (x : dataset) : R := each (letter i x) (row_of m values x).

Definition class_interval (a k : nat) : interval := over (of_Z (weight_at a k)) (of_Z whole_weight).
Definition each_interval (a k : nat) : interval := over (of_Z (weight_at a k)) (of_Z (whole_weight * count_at table a k)).

Definition entropy_interval : interval :=
  minus zero (isum_to A (fun a => isum (row_at inputs a) (fun k => times (of_Z (count_at table a k)) (times_own_log (each_interval a k))))).
Definition joint_table : list (list interval) :=
  tabulate2 A Y (fun a y => isum (row_at inputs a) (fun k => times (class_interval a k) (entry2 channel k y))).
Definition information_interval : interval :=
  let t := joint_table in
  minus (minus (isum_to A (fun a => isum_to Y (fun y => times_own_log (entry2 t a y))))
    (isum_to A (fun a => times_own_log (isum (row_at inputs a) (class_interval a)))))
    (isum_to Y (fun y => times_own_log (isum_to A (fun a => entry2 t a y)))).

Hypothesis Hc : is_channel m.
Hypothesis Hv : all_values m values.
Hypothesis Ht : tables_right m values tables.
Hypothesis HW : forall k y, encl (entry2 channel k y) (rows m values k y).
Hypothesis Hshape : shape_check = true.

Lemma Hi : (i < length (alphabets m))%nat.
Proof. pose proof Hshape as C. unfold shape_check in C. repeat (apply andb_prop in C as [C ?]). now apply Nat.ltb_lt. Qed.
Lemma Hletters a : (a < A)%nat -> exists k, (0 < count m values i a k)%Z.
Proof.
  pose proof Hshape as C. unfold shape_check in C. repeat (apply andb_prop in C as [C ?]).
  intro Ha. apply (letters_correct m values tables i Ht Hi); auto.
Qed.
Lemma Hwhole : (0 < whole_weight)%Z.
Proof. pose proof Hshape as C. unfold shape_check in C. repeat (apply andb_prop in C as [C ?]). now apply Z.ltb_lt. Qed.
Lemma Hweight a k : (a < A)%nat -> In k (row_at inputs a) -> (0 <= weight_at a k)%Z.
Proof.
  pose proof Hshape as C. unfold shape_check in C. repeat (apply andb_prop in C as [C ?]). rewrite forallb_forall in H.
  intros Ha Hk. specialize (H a (proj2 (in_to _ _) Ha)). rewrite forallb_forall in H. now apply Z.leb_le, H.
Qed.
Lemma table_is a k : (a < A)%nat -> (k < V)%nat -> count_at table a k = count m values i a k.
Proof. intros. apply Ht; auto. exact Hi. Qed.
Lemma in_inputs_is a k : (a < A)%nat -> In k (row_at inputs a) -> (k < V)%nat /\ (0 < count_at table a k)%Z.
Proof.
  intros Ha Hk. unfold inputs in Hk. rewrite inputs_right in Hk by exact Ha. apply filter_In in Hk as [Hk E].
  split; [now apply in_to|now apply Z.ltb_lt].
Qed.
Let Hwc := counted m values i Hv Hc Hletters.

(** Sums over a letter's datasets, class by class. *)
Lemma by_class a g : (a < A)%nat ->
  sum (having m i a) (fun x => g (row_of m values x)) = sum (row_at inputs a) (fun k => IZR (count_at table a k) * g k).
Proof.
  intro Ha. rewrite (wc_sum _ _ _ _ _ _ _ Hwc a g Ha). unfold inputs. rewrite inputs_right by exact Ha. rewrite sum_filter.
  apply sum_to_ext; intros k Hk. rewrite <- (table_is a k Ha Hk). fold table. fold (count_at table a k).
  destruct (Z.ltb_spec 0 (count_at table a k)) as [L|L]; auto.
  pose proof (count_nonneg m values i a k) as N0. rewrite <- (table_is a k Ha Hk) in N0.
  replace (count_at table a k) with 0%Z by lia. ring.
Qed.
Lemma the_prior_having a x : In x (having m i a) -> the_prior x = each a (row_of m values x).
Proof. intro Hx. apply filter_In in Hx as [_ E]. apply Nat.eqb_eq in E. unfold the_prior. now rewrite E. Qed.

Lemma count_each a k : (a < A)%nat -> In k (row_at inputs a) -> IZR (count_at table a k) * each a k = class a k.
Proof.
  intros Ha Hk. destruct (in_inputs_is a k Ha Hk) as [_ N0]. pose proof Hwhole as T. unfold each, class. rewrite mult_IZR.
  apply IZR_lt in N0, T. field. lra.
Qed.

Lemma mass_is a : (a < A)%nat -> mass (having m i) the_prior a = sum (row_at inputs a) (class a).
Proof.
  intro Ha. unfold mass. rewrite (sum_ext _ _ (fun x => each a (row_of m values x))) by (intros; now apply the_prior_having).
  rewrite (by_class a (each a) Ha). apply sum_ext; intros; now apply count_each.
Qed.
Lemma u_is a y : (a < A)%nat ->
  u (having m i) (row_of m values) (rows m values) the_prior a y = sum (row_at inputs a) (fun k => class a k * rows m values k y).
Proof.
  intro Ha. unfold u.
  rewrite (sum_ext _ _ (fun x => each a (row_of m values x) * rows m values (row_of m values x) y))
    by (intros; now rewrite (the_prior_having a)).
  rewrite (by_class a (fun k => each a k * rows m values k y) Ha). apply sum_ext; intros k Hk. rewrite <- (count_each a k Ha Hk). ring.
Qed.
Lemma ent_is : ent A (having m i) the_prior
  = 0 - sum_to A (fun a => sum (row_at inputs a) (fun k => IZR (count_at table a k) * xlnx (each a k))).
Proof.
  unfold ent. rewrite Rminus_0_l. f_equal. apply sum_to_ext; intros a Ha. rewrite <- (by_class a (fun k => xlnx (each a k)) Ha).
  apply sum_ext; intros x Hx. rewrite (the_prior_having a); auto.
Qed.

Lemma whole_sum : sum_to A (fun a => sum (row_at inputs a) (class a)) = 1.
Proof.
  assert (E : IZR whole_weight = sum_to A (fun a => sum (row_at inputs a) (fun k => IZR (weight_at a k)))).
  { unfold whole_weight, sum_to. induction (seq 0 A) as [|a l IH]; auto. cbn [fold_right sum]. rewrite plus_IZR, IH. f_equal.
    induction (row_at inputs a) as [|k t IHt]; auto. cbn [fold_right sum]. now rewrite plus_IZR, IHt. }
  pose proof Hwhole as T. apply IZR_lt in T. unfold class, Rdiv, sum_to.
  rewrite (sum_ext _ _ (fun a => sum (row_at inputs a) (fun k => IZR (weight_at a k)) * / IZR whole_weight))
    by (intros; apply sum_scale_r).
  rewrite sum_scale_r. fold (sum_to A (fun a => sum (row_at inputs a) (fun k => IZR (weight_at a k)))). rewrite <- E. field. lra.
Qed.

Lemma the_law : is_law A (having m i) the_prior.
Proof.
  split.
  - intros a x Ha Hx. rewrite (the_prior_having a x Hx). destruct (wc_row _ _ _ _ _ _ _ Hwc a x Ha Hx) as [Hk N0].
    assert (I : In (row_of m values x) (row_at inputs a)).
    { unfold inputs. rewrite inputs_right by exact Ha. apply filter_In. split; [now apply in_to|]. apply Z.ltb_lt.
      fold table. fold (count_at table a (row_of m values x)). now rewrite table_is. }
    rewrite <- (table_is _ _ Ha Hk) in N0.
    apply Rmult_le_pos; [apply IZR_le; now apply Hweight|]. apply Rlt_le, Rinv_0_lt_compat, IZR_lt.
    apply Z.mul_pos_pos; auto using Hwhole.
  - rewrite (sum_to_ext _ _ (fun a => sum (row_at inputs a) (class a))) by (intros; now apply mass_is). exact whole_sum.
Qed.

Theorem the_prior_is : is_prior (alphabets m) the_prior.
Proof. apply (prior_is m i Hi). exact the_law. Qed.

Lemma encl_class a k : encl (class_interval a k) (class a k).
Proof. apply encl_over; apply encl_Z. Qed.

Theorem encl_entropy : encl entropy_interval (entropy (alphabets m) the_prior).
Proof.
  rewrite (entropy_is m i Hi). fold A. rewrite ent_is. apply encl_minus; [exact (encl_Z 0)|].
  apply encl_isum_to; intros a _. apply encl_isum; intros k _. apply encl_times; [apply encl_Z|].
  apply encl_xlnx. apply encl_over; apply encl_Z.
Qed.

Theorem encl_information : encl information_interval (information m the_prior i).
Proof.
  rewrite (information_is m values i Hv Hi Hc Hletters the_prior the_prior_is).
  rewrite (info_xlnx _ _ _ _ _ _ _ Hwc the_prior). fold A Y.
  assert (U : forall a y, (a < A)%nat -> encl (entry2 joint_table a y) (u (having m i) (row_of m values) (rows m values) the_prior a y)).
  { intros a y Ha. rewrite u_is by auto.
    apply (encl_entry2 A Y _ (fun a y => sum (row_at inputs a) (fun k => class a k * rows m values k y))).
    intros b z _ _. apply encl_isum; intros. apply encl_times; [apply encl_class|auto]. }
  unfold information_interval. apply encl_minus; [apply encl_minus|].
  - apply encl_isum_to; intros a Ha. apply encl_isum_to; intros y _. apply encl_xlnx. auto.
  - apply encl_isum_to; intros a Ha. apply encl_xlnx. rewrite mass_is by auto. apply encl_isum; intros; apply encl_class.
  - apply encl_isum_to; intros y _. apply encl_xlnx. apply encl_isum_to; intros a Ha. auto.
Qed.

(** The prior that is uniform on all datasets: its entropy is ln |X| exactly. *)
Definition uniform_check : bool :=
  forallb (fun a => forallb (fun k => (weight_at a k =? count_at table a k)%Z) (row_at inputs a)) (seq 0 A).

Lemma uniform_is : uniform_check = true -> forall x, In x (datasets (alphabets m)) -> the_prior x = / INR (length (datasets (alphabets m))).
Proof.
  intro H. unfold uniform_check in H. rewrite forallb_forall in H.
  assert (E : forall x, In x (datasets (alphabets m)) -> the_prior x = / IZR whole_weight).
  { intros x Hx. pose proof (letter_small _ i x Hx Hi) as La. set (a := letter i x) in *.
    assert (Hh : In x (having m i a)) by (apply filter_In; split; auto; unfold a; apply Nat.eqb_refl).
    destruct (wc_row _ _ _ _ _ _ _ Hwc a x La Hh) as [Hk N0].
    assert (I : In (row_of m values x) (row_at inputs a)).
    { unfold inputs. rewrite inputs_right by exact La. apply filter_In. split; [now apply in_to|]. apply Z.ltb_lt.
      fold table. fold (count_at table a (row_of m values x)). now rewrite table_is. }
    rewrite (the_prior_having a x Hh). specialize (H a (proj2 (in_to _ _) La)). rewrite forallb_forall in H.
    specialize (H _ I). apply Z.eqb_eq in H. rewrite <- (table_is _ _ La Hk) in N0. pose proof Hwhole as T. apply IZR_lt in T, N0.
    unfold each. rewrite H, mult_IZR. field. lra. }
  pose proof Hwhole as T. apply IZR_lt in T.
  assert (L : INR (length (datasets (alphabets m))) = IZR whole_weight).
  { destruct the_prior_is as [_ S]. rewrite (sum_ext _ _ (fun _ => / IZR whole_weight)) in S by exact E.
    rewrite sum_const in S. apply (Rmult_eq_reg_r (/ IZR whole_weight)); [|apply Rinv_neq_0_compat; lra]. rewrite S. field. lra. }
  now rewrite L.
Qed.
Lemma size_ge_1 : 1 <= INR (length (datasets (alphabets m))).
Proof.
  pose proof (datasets_exist _ the_prior the_prior_is) as NE. destruct (datasets (alphabets m)); [congruence|].
  apply (le_INR 1). simpl. lia.
Qed.
Lemma uniform_entropy : uniform_check = true -> entropy (alphabets m) the_prior = ln (INR (length (datasets (alphabets m)))).
Proof.
  intro H. pose proof (uniform_is H) as E. pose proof size_ge_1 as N1. unfold entropy. set (N := INR (length (datasets (alphabets m)))) in *.
  rewrite (sum_ext _ _ (fun _ => / N * ln (/ N))) by (intros x Hx; now rewrite (E x Hx)).
  rewrite sum_const. fold N. rewrite ln_Rinv by lra. field. lra.
Qed.

(** The prior has the entropy that is asked for. *)
Definition entropy_check (b : amount) : bool :=
  match b with
  | Nats q | Bits q => Qle_bool q 0
  | Share q => Qle_bool q 0 || Qle_bool q 1 && uniform_check
  end || not_above (in_nats m b) entropy_interval.

Theorem entropy_correct b : entropy_check b = true -> nats (alphabets m) b <= entropy (alphabets m) the_prior.
Proof.
  intro H. apply orb_prop in H as [H|H].
  2: { eapply not_above_correct; [exact H|apply encl_nats|apply encl_entropy]. }
  pose proof (entropy_nonneg _ the_prior the_prior_is) as E0.
  assert (L : 0 <= ln (INR (length (datasets (alphabets m))))).
  { rewrite <- ln_1. destruct size_ge_1 as [S|S]; [apply Rlt_le, ln_increasing; lra|rewrite <- S; lra]. }
  assert (Z : forall q x, Qle_bool q 0 = true -> 0 <= x -> Q2R q * x <= 0).
  { intros q x Hq Hx. apply Qle_bool_correct in Hq. rewrite RMicromega.Q2R_0 in Hq.
    assert (0 <= - Q2R q * x) by (apply Rmult_le_pos; lra). lra. }
  destruct b as [q|q|q]; unfold nats.
  - apply Qle_bool_correct in H. rewrite RMicromega.Q2R_0 in H. lra.
  - assert (0 <= ln 2) by (rewrite <- ln_1; apply Rlt_le, ln_increasing; lra). specialize (Z q (ln 2) H H0). lra.
  - apply orb_prop in H as [H|H]; [specialize (Z q _ H L); lra|]. apply andb_prop in H as [H1 H2].
    rewrite uniform_entropy by auto. apply Qle_bool_correct in H1. rewrite RMicromega.Q2R_1 in H1.
    rewrite <- (Rmult_1_l (ln _)) at 2. apply Rmult_le_compat_r; auto.
Qed.

Definition below_check (b : amount) (lower : Q) : bool :=
  entropy_check b && (Qle_bool lower 0 || not_above (of_Q lower) information_interval).

Theorem below_correct b lower : below_check b lower = true -> at_least m (EntropyAtLeast b) lower.
Proof.
  intro H. unfold below_check in H. apply andb_prop in H as [HE HI].
  exists i, the_prior. split; [exact Hi|]. split; [exact the_prior_is|]. split; [now apply entropy_correct|].
  apply orb_prop in HI as [HI|HI].
  - apply Qle_bool_correct in HI. rewrite RMicromega.Q2R_0 in HI. eapply Rle_trans; [exact HI|].
    apply (information_nonneg m values); auto using the_prior_is, Hi, Hletters.
  - eapply not_above_correct; [exact HI|apply encl_Q|apply encl_information].
Qed.
End Witness.

(** ** Adversaries of whom all entropy is asked *)

(** Only the uniform prior has the entropy ln |X|. *)
Lemma most_entropy alphabets P : is_prior alphabets P -> ln (INR (length (datasets alphabets))) <= entropy alphabets P ->
  forall x, In x (datasets alphabets) -> P x = / INR (length (datasets alphabets)).
Proof.
  intros HP He x Hx. destruct HP as [P0 P1]. set (N := INR (length (datasets alphabets))) in *.
  assert (N0 : 0 < N) by (apply lt_0_INR; destruct (datasets alphabets); [destruct Hx|simpl; lia]).
  assert (Q0 : 0 < / N) by now apply Rinv_0_lt_compat.
  set (gap := fun x => / N - P x - P x * (ln (/ N) - ln (P x))).
  assert (G : forall y, In y (datasets alphabets) -> 0 <= gap y).
  { intros y Hy. pose proof (gibbs_term (P y) (/ N) (P0 y Hy) Q0). unfold gap. lra. }
  assert (T : sum (datasets alphabets) gap = ln N - entropy alphabets P).
  { unfold gap, entropy. rewrite sum_minus, sum_minus, sum_const, P1. fold N.
    rewrite (sum_ext _ (fun y => P y * (ln (/ N) - ln (P y))) (fun y => P y * ln (/ N) - P y * ln (P y))) by (intros; ring).
    rewrite sum_minus, sum_scale_r, P1, ln_Rinv by auto. field. lra. }
  assert (S0 : 0 <= sum (datasets alphabets) gap) by (apply sum_nonneg; auto).
  pose proof (sum_zero_member _ gap x G ltac:(lra) Hx) as E. unfold gap in E. apply gibbs_equal; auto. lra.
Qed.

(** Priors that agree on the datasets. *)
Lemma information_same m P Q i : (forall x, In x (datasets (alphabets m)) -> P x = Q x) -> information m P i = information m Q i.
Proof.
  intro E. unfold information. apply sum_to_ext; intros a _. apply sum_to_ext; intros y _.
  assert (J : joint m P i a y = joint m Q i a y) by (apply sum_ext; intros x Hx; now rewrite (E x Hx)).
  assert (L : of_letter (alphabets m) P i a = of_letter (alphabets m) Q i a) by (apply sum_ext; intros x Hx; now rewrite (E x Hx)).
  assert (O : of_output m P y = of_output m Q y) by (apply sum_ext; intros x Hx; now rewrite (E x Hx)).
  now rewrite J, L, O.
Qed.

(** ** Channels that tell nothing *)

Lemma constant_information m P i (p : nat -> R) : is_prior (alphabets m) P ->
  (forall x y, In x (datasets (alphabets m)) -> (y < outputs m)%nat -> probability m (query m x) y = p y) -> information m P i = 0.
Proof.
  intros [_ P1] E. apply sum_all_zero; intros a _. apply sum_all_zero; intros y Hy. apply in_to in Hy.
  assert (J : joint m P i a y = of_letter (alphabets m) P i a * p y).
  { unfold joint, of_letter, over_datasets. rewrite <- sum_scale_r. apply sum_ext; intros x Hx. rewrite (E x y Hx Hy). destruct (Nat.eqb _ _); ring. }
  assert (O : of_output m P y = p y).
  { unfold of_output, over_datasets. rewrite (sum_ext _ _ (fun x => P x * p y)) by (intros x Hx; now rewrite (E x y Hx Hy)).
    rewrite sum_scale_r, P1. ring. }
  rewrite J, O. destruct (Req_dec (of_letter (alphabets m) P i a * p y) 0) as [->|N]; [ring|]. unfold Rdiv. rewrite Rinv_r, ln_1 by auto. ring.
Qed.

(** All rows are written alike. *)
Definition same_rows (m : model) (values : list Z) : bool :=
  forallb (fun v => forallb (fun y => if expr_dec (weight m v y) (weight m (nth 0 values 0%Z) y) then true else false) (seq 0 (outputs m))) values.
Theorem same_rows_correct m values A upper : all_values m values -> same_rows m values = true -> Qle_bool 0 upper = true -> at_most m A upper.
Proof.
  intros Hv H H0 i P Hi HP _. apply Qle_bool_correct in H0. rewrite RMicromega.Q2R_0 in H0.
  assert (E : forall x y, In x (datasets (alphabets m)) -> (y < outputs m)%nat ->
    weight m (query m x) y = weight m (nth 0 values 0%Z) y).
  { intros x y Hx Hy. unfold same_rows in H. rewrite forallb_forall in H.
    assert (I : In (query m x) values) by (rewrite <- (place_nth values (query m x) (Hv x Hx)); apply nth_In, (Hv x Hx)).
    specialize (H _ I). rewrite forallb_forall in H. specialize (H y (proj2 (in_to _ _) Hy)). destruct (expr_dec _ _); [auto|discriminate]. }
  rewrite (constant_information m P i (probability m (nth 0 values 0%Z)) HP); auto. intros x y Hx Hy. unfold probability.
  rewrite (E x y Hx Hy). f_equal. apply sum_to_ext; intros z Hz. now rewrite (E x z Hx Hz).
Qed.

Section Uniform.
Variables (m : model) (values : list Z) (tables : list (list (list Z))) (channel : list (list interval)) (upper : Q).

Definition all_entropy (b : amount) : bool := match b with Share q => Qle_bool 1 q | _ => false end.
Definition evenly (i : nat) : witness := Witness i (row_at tables i).
Definition uniform_above_check : bool :=
  forallb (fun i => shape_check m values tables (evenly i) && uniform_check m values tables (evenly i)
    && not_above (information_interval m values tables channel (evenly i)) (of_Q upper)) (seq 0 (length (alphabets m))).

Theorem uniform_leaf b : is_channel m -> counts_right m values tables -> (forall k y, encl (entry2 channel k y) (rows m values k y)) ->
  all_entropy b = true -> uniform_above_check = true -> at_most m (EntropyAtLeast b) upper.
Proof.
  intros Hc [Hv Ht] HW Hb H i P Hi HP Hent. unfold uniform_above_check in H. rewrite forallb_forall in H.
  specialize (H i (proj2 (in_to _ _) Hi)). apply andb_prop in H as [H HI]. apply andb_prop in H as [HS HU].
  set (w := evenly i) in *. pose proof (uniform_is m values tables w Hc Hv Ht HS HU) as U.
  rewrite (information_same m P (the_prior m values tables w) i).
  - eapply not_above_correct; [exact HI| |apply encl_Q]. exact (encl_information m values tables channel w Hc Hv Ht HW HS).
  - intros x Hx. rewrite (U x Hx). apply most_entropy; auto. destruct b as [q|q|q]; try discriminate. simpl in Hent, Hb.
    apply Qle_bool_correct in Hb. rewrite RMicromega.Q2R_1 in Hb. eapply Rle_trans; [|exact Hent].
    assert (0 <= ln (INR (length (datasets (alphabets m))))).
    { rewrite <- ln_1. destruct (size_ge_1 m values tables w Hc Hv Ht HS) as [L|L]; [apply Rlt_le, ln_increasing; lra|rewrite <- L; lra]. }
    rewrite <- (Rmult_1_l (ln _)) at 1. now apply Rmult_le_compat_r.
Qed.
End Uniform.

(** ** A whole certificate *)

(** [values] lists the query's values; [tables] has the counts. *)
Definition certificate_check (m : model) (values : list Z) (tables : list (list (list Z))) (b : amount) (lower upper : Q)
    (w : witness) (sections : list section) : bool :=
  let weights := weight_table m values in
  let channel := channel_table m weights in
  let bound := in_nats m b in
  channel_check m weights
  && shape_check m values tables w && below_check m values tables channel w b lower
  && (if same_rows m values then Qle_bool 0 upper else if all_entropy b then uniform_above_check m values tables channel upper
      else above_check m values tables channel sections bound upper).

Theorem certificate_correct m values tables b lower upper w sections : counts_right m values tables ->
  certificate_check m values tables b lower upper w sections = true -> leakage_between m (EntropyAtLeast b) lower upper.
Proof.
  intros Hcounts H. pose proof Hcounts as [HV Ht]. unfold certificate_check in H. cbv zeta in H. apply andb_prop in H as [H HA]. apply andb_prop in H as [H HB].
  apply andb_prop in H as [HC HS].
  pose proof (channel_correct m values HV HC) as Hc.
  pose proof (encl_channel m values) as HW.
  split; [exact Hc|]. split.
  - eapply below_correct; eauto.
  - destruct (same_rows m values) eqn:Hr; [now apply (same_rows_correct m values)|]. destruct (all_entropy b) eqn:Hb; [eapply uniform_leaf; eauto|]. eapply above_correct; eauto. apply encl_nats.
Qed.
