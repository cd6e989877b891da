(** Certificates, the program that checks them, and the theorem that a certificate that it accepts proves its claim. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds Counting Enclosures Boxes Checker.
Import ListNotations.
Open Scope R_scope.

(** A proof for one record. *)
Record section := Section { about : nat; from_above : proof }.

(** A prior: weights, by letter of one record and by value of the query, each spread evenly over its datasets. *)
Record witness := Witness { for_record : nat; weights : list (list Z) }.

Definition Qle_bool (p q : Q) : bool := Qle_bool p q.
Lemma Qle_bool_correct p q : Qle_bool p q = true -> Q2R p <= Q2R q.
Proof. intro H. apply Qle_Rle. now apply Qle_bool_iff. Qed.

(** ** The number of datasets *)

Definition size (alphabets : list nat) : Z := fold_right (fun a t => Z.of_nat a * t)%Z 1%Z alphabets.
Lemma length_datasets alphabets : INR (length (datasets alphabets)) = IZR (size alphabets).
Proof.
  rewrite INR_IZR_INZ. f_equal. induction alphabets as [|m rest IH]; auto. simpl. rewrite <- IH. clear IH.
  assert (H : forall n s, length (flat_map (fun a => map (cons a) (datasets rest)) (seq s n)) = (n * length (datasets rest))%nat).
  { induction n as [|n IH]; intro s; simpl; auto. now rewrite app_length, map_length, IH. }
  rewrite H, Nat2Z.inj_mul. reflexivity.
Qed.

Definition in_nats (m : model) (b : amount) : interval :=
  match b with
  | Nats q => of_Q q
  | Bits q => times (of_Q q) (log (of_Z 2))
  | Share q => times (of_Q q) (log (of_Z (size (alphabets m))))
  end.
Lemma encl_nats m b : encl (in_nats m b) (nats (alphabets m) b).
Proof.
  destruct b; unfold in_nats, nats; [apply encl_Q| |]; apply encl_times; try apply encl_Q; apply encl_log.
  - exact (encl_Z 2).
  - rewrite length_datasets. apply encl_Z.
Qed.

Section Model.
Variables (m : model) (values : list Z).
Let n := length (alphabets m).
Let Y := outputs m.
Let V := length values.

(** ** The channel *)

Definition weight_table : list (list interval) := map (fun v => tabulate Y (fun y => evaluate (weight m v y))) values.
Definition divided (row : list interval) : list interval :=
  let t := isum_to Y (entry row) in tabulate Y (fun y => over (entry row y) t).
Definition channel_table (w : list (list interval)) : list (list interval) := map divided w.
Definition channel_check (w : list (list interval)) : bool :=
  forallb (fun row => forallb nonnegative row && positive (isum_to Y (entry row))) w.

Lemma encl_weights k y : encl (entry (row_at weight_table k) y) (value (weight m (nth k values 0%Z) y)).
Proof.
  unfold weight_table, row_at. destruct (Nat.lt_ge_cases k V) as [L|L].
  - rewrite (nth_indep _ [] (tabulate Y (fun y => evaluate (weight m 0%Z y)))) by (now rewrite map_length).
    rewrite (map_nth (fun v => tabulate Y (fun y => evaluate (weight m v y)))).
    apply (encl_entry Y _ (fun y => value (weight m (nth k values 0%Z) y))). intros; apply encl_evaluate.
  - rewrite nth_overflow by (now rewrite map_length). unfold entry. destruct y; apply encl_anything.
Qed.
Lemma encl_total_weight k : encl (isum_to Y (entry (row_at weight_table k))) (sum_to Y (fun z => value (weight m (nth k values 0%Z) z))).
Proof. apply encl_isum_to; intros. apply encl_weights. Qed.
Lemma encl_channel k y : encl (entry2 (channel_table weight_table) k y) (rows m values k y).
Proof.
  unfold entry2, channel_table. destruct (Nat.lt_ge_cases k (length weight_table)) as [L|L].
  - rewrite (nth_indep _ [] (divided [])) by (now rewrite map_length). rewrite map_nth.
    apply (encl_entry Y _ (rows m values k)). intros z _. apply encl_over; [apply encl_weights|apply encl_total_weight].
  - rewrite nth_overflow by (now rewrite map_length). unfold entry. destruct y; apply encl_anything.
Qed.

Theorem channel_correct : all_values m values -> channel_check weight_table = true -> is_channel m.
Proof.
  intros Hv H x Hx. pose proof (Hv x Hx) as Hk. set (k := row_of m values x) in *.
  assert (E : nth k values 0%Z = query m x) by (apply place_nth; auto).
  unfold channel_check in H. rewrite forallb_forall in H.
  assert (L : (k < length weight_table)%nat) by (unfold weight_table; now rewrite map_length).
  specialize (H (row_at weight_table k) (nth_In _ _ L)). apply andb_prop in H as [H1 H2]. rewrite forallb_forall in H1.
  assert (T : 0 < sum_to Y (fun z => value (weight m (query m x) z))).
  { rewrite <- E. eapply positive_correct; [exact H2|apply encl_total_weight]. }
  split.
  - intros y Hy. apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat].
    rewrite <- E. eapply nonnegative_correct; [|apply encl_weights]. apply H1. apply nth_In.
    unfold row_at, weight_table. rewrite (nth_indep _ [] (tabulate Y (fun y => evaluate (weight m 0%Z y)))) by auto.
    rewrite (map_nth (fun v => tabulate Y (fun y => evaluate (weight m v y)))).
    unfold tabulate. now rewrite map_length, seq_length.
  - unfold probability, sum_to, Rdiv. rewrite sum_scale_r. apply Rinv_r. apply Rgt_not_eq. exact T.
Qed.

(** ** Counts *)

(** One table per record: how many datasets have which letter and which value. *)
Definition tables_right (tables : list (list (list Z))) : Prop :=
  forall i a k, (i < n)%nat -> (a < letter i (alphabets m))%nat -> (k < V)%nat ->
    nth k (row_at (row_at tables i) a) 0%Z = count m values i a k.

(** What is known of a model's datasets: all values of the query, and the counts (Additive.v). *)
Definition counts_right (tables : list (list (list Z))) : Prop := all_values m values /\ tables_right tables.

Variable tables : list (list (list Z)).

Definition letters_check (i : nat) : bool :=
  forallb (fun a => existsb (fun k => (0 <? nth k (row_at (row_at tables i) a) 0)%Z) (seq 0 V)) (seq 0 (letter i (alphabets m))).
Lemma letters_correct i : tables_right tables -> (i < n)%nat -> letters_check i = true ->
  forall a, (a < letter i (alphabets m))%nat -> exists k, (0 < count m values i a k)%Z.
Proof.
  intros Ht Hi H a Ha. unfold letters_check in H. rewrite forallb_forall in H. specialize (H a (proj2 (in_to _ _) Ha)).
  apply existsb_exists in H as (k & Hk & E). exists k. apply Z.ltb_lt in E. rewrite Ht in E; auto. now apply in_to.
Qed.

Definition inputs_of (i : nat) : list (list nat) :=
  map (fun a => filter (fun k => (0 <? nth k (row_at (row_at tables i) a) 0)%Z) (seq 0 V)) (seq 0 (letter i (alphabets m))).
Lemma inputs_right i a : (a < letter i (alphabets m))%nat ->
  row_at (inputs_of i) a = filter (fun k => (0 <? nth k (row_at (row_at tables i) a) 0)%Z) (seq 0 V).
Proof. intro Ha. unfold inputs_of, row_at at 1. now rewrite nth_map_seq. Qed.

Lemma count_nonneg i a k : (0 <= count m values i a k)%Z.
Proof. unfold count, how_many. lia. Qed.

(** ** Symmetries: rows that are written alike, but for the outputs' names *)

Definition Q_dec (p q : Q) : {p = q} + {p <> q}.
Proof. decide equality; [apply Pos.eq_dec|apply Z.eq_dec]. Defined.
Definition expr_dec (e f : expr) : {e = f} + {e <> f}.
Proof. decide equality. apply Q_dec. Defined.

Definition written_alike (ks pi tau : list nat) : bool :=
  permutes Y tau && forallb (fun k => forallb (fun y =>
    if expr_dec (weight m (nth (image pi k) values 0%Z) (image tau y)) (weight m (nth k values 0%Z) y) then true else false) (seq 0 Y)) ks.
Lemma written_alike_correct ks pi tau : written_alike ks pi tau = true -> forall k y, In k ks -> (y < Y)%nat ->
  rows m values (image pi k) (image tau y) = rows m values k y.
Proof.
  intros H k y Hk Hy. apply andb_prop in H as [Ht H]. rewrite forallb_forall in H. specialize (H k Hk).
  assert (E : forall z, (z < Y)%nat -> weight m (nth (image pi k) values 0%Z) (image tau z) = weight m (nth k values 0%Z) z).
  { intros z Hz. rewrite forallb_forall in H. specialize (H z (proj2 (in_to _ _) Hz)). destruct (expr_dec _ _); [auto|discriminate]. }
  unfold rows, probability. rewrite (E y Hy). f_equal. fold Y.
  rewrite <- (sum_images Y tau (fun z => value (weight m (nth (image pi k) values 0%Z) z)) Ht). apply sum_to_ext; intros z Hz. now rewrite E.
Qed.

(** ** From above *)

Section Above.
Variables (channel : list (list interval)) (sections : list section).

Section Claim.
(** Whether c - mu H(P) is at most what is claimed of a prior P, which may depend on its entropy. *)
Variable enough : interval -> Z -> bool.

Definition section_check (s : section) : bool :=
  let i := about s in
  (i <? n)%nat && letters_check i
  && record_check (letter i (alphabets m)) Y V (row_at tables i) (inputs_of i) channel written_alike enough (from_above s).

Definition same_table (t t' : list (list Z)) : bool := if list_eq_dec (list_eq_dec Z.eq_dec) t t' then true else false.
Definition covered (i : nat) : bool :=
  ((letter i (alphabets m) =? 1)%nat && enough zero 0)
  || existsb (fun s => (letter i (alphabets m) =? letter (about s) (alphabets m))%nat
       && same_table (row_at tables i) (row_at tables (about s))) sections.
Definition claim_check : bool := forallb section_check sections && forallb covered (seq 0 n).

Lemma one_letter P i : is_prior (alphabets m) P -> (i < n)%nat -> letter i (alphabets m) = 1%nat -> information m P i = 0.
Proof.
  intros [P0 P1] Hi E. unfold information. rewrite E.
  assert (Z : forall x, In x (datasets (alphabets m)) -> letter i x = 0%nat).
  { intros x Hx. pose proof (letter_small _ _ _ Hx Hi). lia. }
  assert (J : forall y, joint m P i 0 y = of_output m P y).
  { intro y. apply sum_ext; intros x Hx. now rewrite Z. }
  assert (L : of_letter (alphabets m) P i 0 = 1).
  { rewrite <- P1. apply sum_ext; intros x Hx. now rewrite Z. }
  unfold sum_to at 1. simpl. rewrite Rplus_0_r. apply sum_all_zero; intros y _. rewrite J, L, Rmult_1_l.
  destruct (Req_dec (of_output m P y) 0) as [->|NZ]; [ring|]. unfold Rdiv. rewrite Rinv_r by auto. rewrite ln_1. ring.
Qed.

Theorem claim_correct b (claimed : R -> R) : is_channel m -> all_values m values -> tables_right tables ->
  (forall k y, encl (entry2 channel k y) (rows m values k y)) ->
  (forall h h', b <= h -> h <= h' -> claimed h' <= claimed h) ->
  (forall i mu c P, enough i mu = true -> encl i c -> (0 <= mu)%Z -> is_prior (alphabets m) P -> b <= entropy (alphabets m) P ->
    c - fixed mu * entropy (alphabets m) P <= claimed (entropy (alphabets m) P)) ->
  claim_check = true ->
  forall i P, (i < n)%nat -> is_prior (alphabets m) P -> b <= entropy (alphabets m) P -> information m P i <= claimed (entropy (alphabets m) P).
Proof.
  intros Hc Hv Ht HW Hfalls Henough H i P Hi HP Hent. unfold claim_check in H. apply andb_prop in H as [HS HC].
  rewrite forallb_forall in HC. specialize (HC i (proj2 (in_to _ _) Hi)). apply orb_prop in HC as [C|C].
  { apply andb_prop in C as [C1 C2]. apply Nat.eqb_eq in C1. rewrite one_letter; auto.
    pose proof (Henough zero 0%Z 0 P C2 (encl_Z 0) (Z.le_refl 0) HP Hent) as E. rewrite fixed_0 in E. lra. }
  apply existsb_exists in C as (s & Hs & C). apply andb_prop in C as [CA CT]. apply Nat.eqb_eq in CA.
  unfold same_table in CT. destruct (list_eq_dec _ _ _) as [ET|]; [|discriminate]. clear CT.
  rewrite forallb_forall in HS. specialize (HS s Hs). unfold section_check in HS.
  apply andb_prop in HS as [HS HR]. apply andb_prop in HS as [Hj HL]. apply Nat.ltb_lt in Hj. set (j := about s) in *.
  assert (HL' : letters_check i = true) by (unfold letters_check in *; now rewrite ET, CA).
  pose proof (letters_correct i Ht Hi HL') as Letters.
  pose proof (counted m values i Hv Hc Letters) as Hwc.
  rewrite (information_is m values i Hv Hi Hc Letters P HP).
  pose proof (entropy_is m i Hi) as Ent. rewrite (Ent P) in *.
  assert (HN : forall a k, (a < letter i (alphabets m))%nat -> (k < V)%nat ->
    count_at (row_at tables j) a k = count m values i a k /\ (0 <= count m values i a k)%Z).
  { intros a k Ha Hk. split; [|apply count_nonneg]. unfold count_at. rewrite <- ET. now apply Ht. }
  assert (HI : forall a, (a < letter i (alphabets m))%nat ->
    row_at (inputs_of j) a = filter (fun k => (0 <? count_at (row_at tables j) a k)%Z) (seq 0 V)).
  { intros a Ha. apply inputs_right. now rewrite <- CA. }
  rewrite <- CA in HR.
  eapply (record_check_correct (letter i (alphabets m)) Y V (row_at tables j) (inputs_of j) channel written_alike enough
    (having m i) (row_of m values) (count m values i) (rows m values)
    (fun Q => is_law (letter i (alphabets m)) (having m i) Q /\ b <= ent (letter i (alphabets m)) (having m i) Q) claimed); eauto.
  - exact written_alike_correct.
  - intros a x _ Hx. apply filter_In in Hx as [_ E]. apply Nat.eqb_eq in E. exact E.
  - intros Q [HQ _]. exact HQ.
  - intros Q R [HQ BQ] HR' L. split; [split; [exact HR'|lra]|]. apply Hfalls; auto.
  - intros k mu c Q E I Hm [HQ BQ]. rewrite <- (Ent Q). apply (Henough k mu c Q); auto; [now apply (prior_is m i Hi)|]. now rewrite Ent.
  - split; [now apply (prior_is m i Hi)|exact Hent].
Qed.
End Claim.

(** One number that is claimed of all priors with enough entropy. *)
Variables (bound : interval) (upper : Q).
Definition enough_below (i : interval) (mu : Z) : bool := not_above (minus i (times (of_fixed mu) bound)) (of_Q upper).
Definition above_check : bool := claim_check enough_below.
Theorem above_correct b : is_channel m -> all_values m values -> tables_right tables ->
  (forall k y, encl (entry2 channel k y) (rows m values k y)) -> encl bound (nats (alphabets m) b) -> above_check = true ->
  at_most m (EntropyAtLeast b) upper.
Proof.
  intros Hc Hv Ht HW Hb H i P Hi HP Hent. simpl in Hent.
  apply (claim_correct enough_below (nats (alphabets m) b) (fun _ => Q2R upper)); auto; [intros; lra|].
  intros k mu c Q E I Hm HQ HentQ.
  assert (c - fixed mu * nats (alphabets m) b <= Q2R upper).
  { eapply not_above_correct; [exact E| |apply encl_Q]. apply encl_minus; auto. apply encl_times; auto using encl_fixed. }
  assert (fixed mu * nats (alphabets m) b <= fixed mu * entropy (alphabets m) Q); [|lra].
  apply Rmult_le_compat_l; auto. rewrite <- fixed_0. now apply fixed_le.
Qed.
End Above.

End Model.
