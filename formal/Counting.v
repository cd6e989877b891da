(** A prior on datasets is a prior on classes: what a record's letter and the output have to do with each other depends only on how
    many datasets have each letter and each value of the query. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Bounds.
Import ListNotations.
Open Scope R_scope.

(** ** Lists of datasets *)

Lemma in_datasets_cons m rest x : In x (datasets (m :: rest)) <->
  exists a z, x = a :: z /\ (a < m)%nat /\ In z (datasets rest).
Proof.
  simpl. rewrite in_flat_map. split.
  - intros (a & Ha & Hx). apply in_map_iff in Hx as (z & <- & Hz). exists a, z. repeat split; auto. now apply in_to.
  - intros (a & z & -> & Ha & Hz). exists a. split; [now apply in_to|]. now apply in_map.
Qed.

Lemma letter_small alphabets i x : In x (datasets alphabets) -> (i < length alphabets)%nat ->
  (letter i x < letter i alphabets)%nat.
Proof.
  revert i x. induction alphabets as [|m rest IH]; intros i x Hx Hi; [simpl in Hi; lia|].
  apply in_datasets_cons in Hx as (a & z & -> & Ha & Hz). destruct i as [|i]; [exact Ha|].
  change (letter i z < letter i rest)%nat. apply IH; auto. simpl in Hi. lia.
Qed.

Lemma letters_exist alphabets i a x : In x (datasets alphabets) -> (i < length alphabets)%nat -> (a < letter i alphabets)%nat ->
  exists y, In y (datasets alphabets) /\ letter i y = a.
Proof.
  revert i x. induction alphabets as [|m rest IH]; intros i x Hx Hi Ha; [simpl in Hi; lia|].
  apply in_datasets_cons in Hx as (b & z & -> & Hb & Hz). destruct i as [|i].
  - exists (a :: z). split; auto. apply in_datasets_cons. exists a, z. auto.
  - destruct (IH i z Hz ltac:(simpl in Hi; lia) Ha) as (y & Hy & E). exists (b :: y). split; auto.
    apply in_datasets_cons. exists b, y. auto.
Qed.

(** How many of a list's datasets have something, as an integer. *)
Definition how_many (p : dataset -> bool) (l : list dataset) : Z := Z.of_nat (length (filter p l)).

Lemma how_many_pos p l x : In x l -> p x = true -> (0 < how_many p l)%Z.
Proof.
  intros Hx Hp. unfold how_many. assert (H : In x (filter p l)) by (apply filter_In; auto).
  destruct (filter p l); simpl in *; [tauto|lia].
Qed.
Lemma how_many_some p l : (0 < how_many p l)%Z -> exists x, In x l /\ p x = true.
Proof.
  unfold how_many. destruct (filter p l) as [|x t] eqn:E; simpl; [lia|]. intros _.
  exists x. apply filter_In. rewrite E. simpl; auto.
Qed.

(** A sum over datasets of what depends on a number f(x) < n, number by number. *)
Lemma sum_by_number (l : list dataset) (f : dataset -> nat) n g : (forall x, In x l -> (f x < n)%nat) ->
  sum l (fun x => g (f x)) = sum_to n (fun k => IZR (how_many (fun x => Nat.eqb (f x) k) l) * g k).
Proof.
  induction l as [|x l IH]; intro H.
  - simpl. symmetry. apply sum_all_zero. intros. unfold how_many. simpl. ring.
  - simpl. rewrite IH by (intros; apply H; simpl; auto).
    rewrite <- (sum_to_single n (f x) g) by (apply H; simpl; auto). unfold sum_to. rewrite <- sum_plus.
    apply sum_ext; intros k _. unfold how_many. simpl. destruct (Nat.eqb (f x) k); simpl; [|ring].
    rewrite Zpos_P_of_succ_nat, succ_IZR. ring.
Qed.

Lemma sum_partition (l : list dataset) (f : dataset -> nat) n (g : dataset -> R) : (forall x, In x l -> (f x < n)%nat) ->
  sum l g = sum_to n (fun a => sum (filter (fun x => Nat.eqb (f x) a) l) g).
Proof.
  intro H. unfold sum_to. rewrite (sum_ext (seq 0 n) _ (fun a => sum l (fun x => if Nat.eqb (f x) a then g x else 0)))
    by (intros; apply sum_filter).
  rewrite sum_swap. apply sum_ext; intros x Hx. symmetry. apply (sum_to_single n (f x) (fun _ => g x)). auto.
Qed.

Lemma filter_filter {A} (p q : A -> bool) l : filter p (filter q l) = filter (fun x => (q x && p x)%bool) l.
Proof. induction l as [|x l IH]; simpl; auto. destruct (q x); simpl; [destruct (p x); now rewrite IH|auto]. Qed.

Lemma place_nth values v : (place values v < length values)%nat -> nth (place values v) values 0%Z = v.
Proof.
  induction values as [|w values IH]; simpl; [lia|]. destruct (Z.eqb_spec w v); auto. intro H. apply IH. lia.
Qed.

(** ** One record of a model *)

Section Record.
Variables (m : model) (values : list Z) (i : nat).
Let all := datasets (alphabets m).
Let A := letter i (alphabets m).
Let V := length values.

(** The datasets in which record i has letter a; the number of the row that a dataset selects; how many datasets have letter a and
    select row k; row k. *)
Definition having (a : nat) : list dataset := filter (fun x => Nat.eqb (letter i x) a) all.
Definition row_of (x : dataset) : nat := place values (query m x).
Definition count (a k : nat) : Z := how_many (fun x => (Nat.eqb (letter i x) a && Nat.eqb (row_of x) k)%bool) all.
Definition rows (k y : nat) : R := probability m (nth k values 0%Z) y.

(** [values] lists all values of the query. *)
Definition all_values : Prop := forall x, In x all -> (row_of x < V)%nat.

Hypothesis Hvalues : all_values.
Hypothesis Hi : (i < length (alphabets m))%nat.
Hypothesis Hchannel : is_channel m.
Hypothesis Hletters : forall a, (a < A)%nat -> exists k, (0 < count a k)%Z.

Lemma rows_of x y : In x all -> rows (row_of x) y = probability m (query m x) y.
Proof. intro Hx. unfold rows, row_of. rewrite place_nth; auto. now apply Hvalues. Qed.

Lemma counted : well_counted A (outputs m) V having row_of count rows.
Proof.
  assert (S : forall a k, (0 < count a k)%Z -> exists x, In x all /\ letter i x = a /\ row_of x = k).
  { intros a k H. apply how_many_some in H as (x & Hx & E). apply andb_prop in E as [E1 E2].
    exists x. repeat split; auto; now apply Nat.eqb_eq. }
  split.
  - intros a Ha. destruct (Hletters a Ha) as (k & Hk). apply S in Hk as (x & Hx & E & _). intro Z.
    assert (In x (having a)) by (apply filter_In; split; auto; now apply Nat.eqb_eq). rewrite Z in H. destruct H.
  - intros a x _ Hx. apply filter_In in Hx as [Hx E]. split; [now apply Hvalues|].
    apply how_many_pos with x; auto. now rewrite E, Nat.eqb_refl.
  - intros a g _. rewrite (sum_by_number (having a) row_of V g).
    + unfold count, having, how_many. apply sum_to_ext; intros k _. now rewrite filter_filter.
    + intros x Hx. apply filter_In in Hx as [Hx _]. now apply Hvalues.
  - intros a k y _ _ Hk Hy. apply S in Hk as (x & Hx & _ & <-). rewrite rows_of by auto. now apply Hchannel.
  - intros a k _ _ Hk. apply S in Hk as (x & Hx & _ & <-).
    rewrite (sum_to_ext _ _ (probability m (query m x))) by (intros; now apply rows_of). now apply Hchannel.
Qed.

Lemma over_having (g : dataset -> R) : sum all g = sum_to A (fun a => sum (having a) g).
Proof. apply sum_partition. intros x Hx. now apply letter_small. Qed.

Section Prior.
Variable P : dataset -> R.

Lemma of_letter_is a : of_letter (alphabets m) P i a = mass having P a.
Proof. unfold of_letter, mass, having. now rewrite sum_filter. Qed.
Lemma joint_is a y : joint m P i a y = u having row_of rows P a y.
Proof.
  unfold joint, u, having, over_datasets. rewrite sum_filter. apply sum_ext; intros x Hx.
  destruct (Nat.eqb _ _); auto. now rewrite rows_of.
Qed.
Lemma of_output_is y : of_output m P y = s A having row_of rows P y.
Proof.
  unfold of_output, over_datasets, s, u. fold all. rewrite over_having. apply sum_to_ext; intros a _. apply sum_ext; intros x Hx.
  apply filter_In in Hx as [Hx _]. now rewrite rows_of.
Qed.
Lemma entropy_is : entropy (alphabets m) P = ent A having P.
Proof. unfold entropy, ent. fold all. now rewrite over_having. Qed.

Lemma prior_is : is_prior (alphabets m) P <-> is_law A having P.
Proof.
  unfold is_prior, is_law. fold all. rewrite over_having. split; intros [H0 H1]; split; auto.
  - intros a x _ Hx. apply filter_In in Hx as [Hx _]. auto.
  - intros x Hx. apply (H0 (letter i x)); [now apply letter_small|]. apply filter_In. now rewrite Nat.eqb_refl.
Qed.

Lemma information_is : is_prior (alphabets m) P -> information m P i = info A (outputs m) having row_of rows P.
Proof.
  intro HP. apply prior_is in HP. unfold information, info. apply sum_to_ext; intros a Ha. apply sum_to_ext; intros y Hy.
  rewrite joint_is, of_letter_is, of_output_is.
  pose proof (u0 _ _ _ _ _ _ _ counted P HP a y Ha Hy) as U.
  destruct U as [U|U]; [|rewrite <- U; ring].
  pose proof (u_le_s _ _ _ _ _ _ _ counted P HP a y Ha Hy) as US.
  assert (M : 0 < mass having P a).
  { destruct (mass0 A having P HP a Ha) as [M|M]; auto. exfalso. symmetry in M.
    assert (Z : u having row_of rows P a y = 0); [|lra].
    apply sum_all_zero; intros x Hx. rewrite (mass_zero A having P HP a x Ha M Hx). ring. }
  rewrite ln_over by (auto; apply Rmult_lt_0_compat; lra). rewrite ln_mult by lra. ring.
Qed.
End Prior.
End Record.
