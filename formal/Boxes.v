(** Boxes of ranges, with ends in units of 2^-100; lines above x ln x on them. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Interval Require Float.Basic.
From Dalenius Require Import Definitions Sums Rows Enclosures.
Import ListNotations.
Open Scope R_scope.

Lemma nth_map_seq {B} (g : nat -> B) n j d : (j < n)%nat -> nth j (map g (seq 0 n)) d = g j.
Proof.
  intro H. rewrite (nth_indep _ d (g j)) by (rewrite map_length, seq_length; auto). rewrite (map_nth g), seq_nth; auto.
Qed.

Definition range := (Z * Z)%type.
Definition range_at (box : list range) (j : nat) : range := nth j box (0, one)%Z.
Definition inside (g : range) (x : R) : Prop := fixed (fst g) <= x <= fixed (snd g).
Definition row_at {B} (t : list (list B)) (j : nat) : list B := nth j t [].

Fixpoint change {B} (d : B) (j : nat) (h : B -> B) (l : list B) : list B :=
  match j, l with
  | O, [] => [h d]
  | O, x :: l => h x :: l
  | S j, [] => d :: change d j h []
  | S j, x :: l => x :: change d j h l
  end.
Lemma nth_change {B} (d : B) j h l k : nth k (change d j h l) d = if Nat.eqb j k then h (nth k l d) else nth k l d.
Proof.
  revert l k; induction j as [|j IH]; intros [|x l] [|k]; simpl; auto; try (destruct k; reflexivity).
  - rewrite IH. destruct k; reflexivity.
Qed.

Definition at_most_t (t : Z) (g : range) : range := (fst g, Z.min (snd g) t).
Definition at_least_t (t : Z) (g : range) : range := (Z.max (fst g) t, snd g).
Definition lower_part (j : nat) (t : Z) (box : list range) := change (0, one)%Z j (at_most_t t) box.
Definition upper_part (j : nat) (t : Z) (box : list range) := change (0, one)%Z j (at_least_t t) box.

Lemma inside_parts box (x : nat -> R) j t n : (forall k, (k < n)%nat -> inside (range_at box k) (x k)) ->
  (forall k, (k < n)%nat -> inside (range_at (lower_part j t box) k) (x k)) \/
  (forall k, (k < n)%nat -> inside (range_at (upper_part j t box) k) (x k)).
Proof.
  intro H. unfold range_at, lower_part, upper_part, inside in *.
  destruct (Rle_dec (x j) (fixed t)) as [L|L]; [left|right]; intros k Hk; rewrite nth_change; specialize (H k Hk);
    destruct (Nat.eqb_spec j k) as [<-|]; auto; simpl.
  - split; [apply H|]. apply Z.min_case; [apply H|auto].
  - split; [|apply H]. apply Z.max_case; [apply H|lra].
Qed.

(** Ranges of numbers that are not negative, and whose sum is 1. *)
Definition lows (n : nat) (box : list range) : Z := fold_right (fun k t => fst (range_at box k) + t)%Z 0%Z (seq 0 n).
Definition highs (n : nat) (box : list range) : Z := fold_right (fun k t => snd (range_at box k) + t)%Z 0%Z (seq 0 n).
Definition tightened (n : nat) (box : list range) : list range :=
  let low := lows n box in
  let high := highs n box in
  map (fun g => (Z.max 0 (Z.max (fst g) (one - (high - snd g))), Z.min (snd g) (one - (low - fst g)))%Z)
    (map (range_at box) (seq 0 n)).

Lemma tightened_at n box j : (j < n)%nat -> range_at (tightened n box) j =
  (Z.max 0 (Z.max (fst (range_at box j)) (one - (highs n box - snd (range_at box j)))),
   Z.min (snd (range_at box j)) (one - (lows n box - fst (range_at box j))))%Z.
Proof.
  intro Hj. unfold range_at at 1, tightened. rewrite map_map. now rewrite nth_map_seq.
Qed.

Lemma sums_inside box (x : nat -> R) l : (forall k, In k l -> inside (range_at box k) (x k)) ->
  fixed (fold_right (fun k t => fst (range_at box k) + t)%Z 0%Z l) <= sum l x
  <= fixed (fold_right (fun k t => snd (range_at box k) + t)%Z 0%Z l).
Proof.
  induction l as [|k l IH]; intro H; [simpl; rewrite fixed_0; lra|].
  cbn [fold_right sum]. rewrite !fixed_plus. destruct (H k (or_introl eq_refl)) as [? ?].
  destruct IH as [? ?]; [intros; apply H; simpl; auto|]. lra.
Qed.
Lemma others_inside box (x : nat -> R) l j : In j l -> (forall k, In k l -> inside (range_at box k) (x k)) ->
  fixed (fold_right (fun k t => fst (range_at box k) + t)%Z 0%Z l - fst (range_at box j)) <= sum l x - x j
  <= fixed (fold_right (fun k t => snd (range_at box k) + t)%Z 0%Z l - snd (range_at box j)).
Proof.
  induction l as [|k l IH]; intros Hj H; [destruct Hj|].
  assert (Hl : forall k, In k l -> inside (range_at box k) (x k)) by (intros; apply H; simpl; auto).
  cbn [fold_right sum]. pose proof (sums_inside box x l Hl) as S. pose proof (H k (or_introl eq_refl)) as Hk.
  destruct Hj as [->|Hj].
  - replace (fst (range_at box j) + _ - fst (range_at box j))%Z
      with (fold_right (fun k t => fst (range_at box k) + t)%Z 0%Z l) by lia.
    replace (snd (range_at box j) + _ - snd (range_at box j))%Z
      with (fold_right (fun k t => snd (range_at box k) + t)%Z 0%Z l) by lia. lra.
  - specialize (IH Hj Hl). rewrite !fixed_minus, !fixed_plus in *. unfold inside in Hk. lra.
Qed.

Lemma tightened_inside n box (x : nat -> R) : (forall k, (k < n)%nat -> inside (range_at box k) (x k)) ->
  (forall k, (k < n)%nat -> 0 <= x k) -> sum_to n x = 1 ->
  forall k, (k < n)%nat -> inside (range_at (tightened n box) k) (x k).
Proof.
  intros H H0 H1 k Hk. rewrite tightened_at by auto. unfold inside. cbn [fst snd].
  destruct (others_inside box x (seq 0 n) k) as [L U]; [now apply in_to|intros; apply H; now apply in_to|].
  unfold sum_to in H1. rewrite H1 in L, U. rewrite <- fixed_one in L, U. fold (lows n box) in L. fold (highs n box) in U.
  specialize (H k Hk). unfold inside in H. split.
  - apply Z.max_case; [rewrite fixed_0; auto|]. apply Z.max_case; [apply H|]. rewrite fixed_minus. lra.
  - apply Z.min_case; [apply H|]. rewrite fixed_minus. lra.
Qed.
Lemma tightened_nonneg n box k : (k < n)%nat -> 0 <= fixed (fst (range_at (tightened n box) k)).
Proof. intro Hk. rewrite tightened_at by auto. cbn [fst]. rewrite <- fixed_0. apply fixed_le. lia. Qed.

Definition empty (box : list range) : bool := existsb (fun g => (snd g <? fst g)%Z) box.
Lemma empty_correct n box (x : nat -> R) : empty (tightened n box) = true ->
  (forall k, (k < n)%nat -> inside (range_at (tightened n box) k) (x k)) -> False.
Proof.
  intros H I. apply existsb_exists in H as (g & Hg & L). apply Z.ltb_lt in L.
  apply (In_nth _ _ (0, one)%Z) in Hg as (k & Hk & E).
  assert (Len : length (tightened n box) = n) by (unfold tightened; now rewrite !map_length, seq_length).
  assert (Kn : (k < n)%nat) by (rewrite <- Len; exact Hk).
  specialize (I k Kn).
  change (range_at (tightened n box) k = g) in E. unfold inside in I. rewrite E in I. apply fixed_lt in L. lra.
Qed.

(** ** Lines above c x ln x *)

Definition line (c slope : Z) (g : range) : interval :=
  if ((c =? 0) && (slope =? 0))%Z%bool then zero
  else
    let at_ (z : Z) := minus (times (of_fixed c) (times_own_log (of_fixed z))) (times (of_fixed slope) (of_fixed z)) in
    either (at_ (fst g)) (at_ (snd g)).
Lemma encl_line c slope g : encl (line c slope g) (intercept (fixed c) (fixed slope) (fixed (fst g)) (fixed (snd g))).
Proof.
  unfold line, intercept. destruct ((c =? 0) && (slope =? 0))%Z%bool eqn:E.
  - apply andb_prop in E as [E1 E2]. apply Z.eqb_eq in E1, E2. subst. rewrite fixed_0, !Rmult_0_l, Rminus_0_r.
    rewrite Rmax_left by lra. exact (encl_Z 0).
  - apply encl_max; apply encl_minus; apply encl_times; auto using encl_fixed, encl_xlnx.
Qed.

(** Finitely many numbers that exist, as a function. *)
Lemma choices n (p : nat -> R -> Prop) : (forall a, (a < n)%nat -> exists x, p a x) ->
  exists x : nat -> R, forall a, (a < n)%nat -> p a (x a).
Proof.
  induction n as [|n IH]; intro H; [exists (fun _ => 0); lia|].
  destruct IH as [x Hx]; [intros; apply H; lia|]. destruct (H n ltac:(lia)) as [z Hz].
  exists (fun a => if Nat.eqb a n then z else x a). intros a Ha. destruct (Nat.eqb_spec a n) as [->|]; auto. apply Hx. lia.
Qed.

(** What two boxes have in common. *)
Definition common (n : nat) (box box' : list range) : list range :=
  map (fun j => (Z.max (fst (range_at box j)) (fst (range_at box' j)), Z.min (snd (range_at box j)) (snd (range_at box' j)))) (seq 0 n).
Lemma common_inside n box box' j x : (j < n)%nat -> inside (range_at box j) x -> inside (range_at box' j) x ->
  inside (range_at (common n box box') j) x.
Proof.
  intros Hj [L H] [L' H']. unfold range_at at 1, common. rewrite nth_map_seq by auto. split; cbn [fst snd].
  - apply Z.max_case; auto.
  - apply Z.min_case; auto.
Qed.
Definition same_range (g h : range) : bool := (fst g =? fst h)%Z && (snd g =? snd h)%Z.
Lemma same_range_correct g h : same_range g h = true -> g = h.
Proof. intro H. apply andb_prop in H as [H1 H2]. apply Z.eqb_eq in H1, H2. destruct g, h. simpl in *. congruence. Qed.

(** Ranges of the outputs of a channel, that hold for every law on the inputs [ks]. *)
Definition in_units (x : F.type) : Z :=
  match F.toF x with
  | Basic.Float s k e => Z.shiftl (if s then Zneg k else Zpos k) (e + unit_exponent)
  | _ => 0%Z
  end.
Definition around (i : interval) : range :=
  let low := in_units (I.lower i) in
  let high := in_units (I.upper i) in
  (Z.max 0 (low - Z.shiftr low 70 - 1), high + Z.shiftr high 70 + 2)%Z.
Definition hull (l : list range) : range :=
  match l with
  | [] => (0, one)%Z
  | g :: l => fold_right (fun g h => (Z.min (fst g) (fst h), Z.max (snd g) (snd h))) g l
  end.
Definition row_root (n : nat) (table : list (list interval)) (ks : list nat) : list range :=
  map (fun y => hull (map (fun k => around (entry2 table k y)) ks)) (seq 0 n).
Definition row_root_check (n : nat) (table : list (list interval)) (ks : list nat) (root : list range) : bool :=
  forallb (fun k => forallb (fun y =>
    let g := range_at root y in
    not_above (of_fixed (fst g)) (entry2 table k y) && not_above (entry2 table k y) (of_fixed (snd g))) (seq 0 n)) ks.
Lemma row_root_correct n table ks root (W : nat -> nat -> R) k y : row_root_check n table ks root = true ->
  (forall k y, encl (entry2 table k y) (W k y)) -> In k ks -> (y < n)%nat -> inside (range_at root y) (W k y).
Proof.
  intros H HW Hk Hy. unfold row_root_check in H. rewrite forallb_forall in H. specialize (H k Hk).
  rewrite forallb_forall in H. specialize (H y (proj2 (in_to _ _) Hy)). cbv zeta in H. apply andb_prop in H as [H1 H2].
  split; [eapply not_above_correct; [exact H1| |]|eapply not_above_correct; [exact H2| |]]; auto using encl_fixed.
Qed.

(** Ranges of groups, from those of other groups: no more than of all that they meet, and no less than of all that they contain. *)
Definition is_listed (l : list nat) (k : nat) : bool := existsb (Nat.eqb k) l.
Lemma is_listed_in l k : is_listed l k = true <-> In k l.
Proof.
  unfold is_listed. rewrite existsb_exists. split; [intros (j & Hj & E); apply Nat.eqb_eq in E; now subst|].
  intro H. exists k. now rewrite Nat.eqb_refl.
Qed.
Definition regrouped (old : list (list nat)) (box : list range) (parts : list (list nat)) : list range :=
  let below := filter (fun h => negb (fst (range_at box h) =? 0)%Z) (seq 0 (length old)) in
  map (fun g => let mine := group parts g in
    (fold_right (fun h t => fst (range_at box h) + t)%Z 0%Z (filter (fun h => forallb (is_listed mine) (group old h)) below),
     Z.min one (fold_right (fun h t => snd (range_at box h) + t)%Z 0%Z (filter (fun h => existsb (is_listed mine) (group old h)) (seq 0 (length old))))))
    (seq 0 (length parts)).

Lemma sum_part {B} (p : B -> bool) (l : list B) (x : B -> R) : (forall j, In j l -> 0 <= x j) -> sum (filter p l) x <= sum l x.
Proof. intro H. rewrite sum_filter. apply sum_le; intros j Hj. specialize (H j Hj). destruct (p j); lra. Qed.

Lemma regrouped_inside n old box parts (x : nat -> R) : partitions n old = true -> partitions n parts = true ->
  (forall y, (y < n)%nat -> 0 <= x y) -> sum_to n x = 1 ->
  (forall h, (h < length old)%nat -> inside (range_at box h) (sum (group old h) x)) ->
  forall g, (g < length parts)%nat -> inside (range_at (regrouped old box parts) g) (sum (group parts g) x).
Proof.
  intros Ho Hp x0 x1 H g Hg. unfold range_at at 1, regrouped. cbv zeta. rewrite nth_map_seq by auto. set (mine := group parts g).
  assert (Own : sum mine x = sum_to n (fun y => if is_listed mine y then x y else 0)).
  { pose proof (sum_groups n parts (fun y => if is_listed mine y then x y else 0) Hp) as E. rewrite E.
    pose proof (permutes_correct n _ Hp) as [_ Perm]. pose proof (Permutation.Permutation_NoDup Perm (seq_NoDup n 0)) as ND.
    rewrite (sum_to_ext (length parts) _ (fun j => if Nat.eqb g j then sum (group parts j) x else 0)).
    - symmetry. exact (sum_to_single (length parts) g (fun j => sum (group parts j) x) Hg).
    - intros j Hj. destruct (Nat.eqb_spec g j) as [<-|D].
      + apply sum_ext; intros y Hy. now rewrite (proj2 (is_listed_in mine y) Hy).
      + apply sum_all_zero; intros y Hy. destruct (is_listed mine y) eqn:L; auto. exfalso. apply is_listed_in in L.
        revert L Hy. unfold mine, group. clear -ND Hg Hj D. intros L Hy. revert g j Hg Hj Hy L D. induction parts as [|p l IH]; intros g j Hg Hj Hy L D; [simpl in Hg; lia|].
        cbn [concat] in ND. assert (Dis : forall z, In z p -> In z (concat l) -> False).
        { clear -ND. induction p as [|z p IH]; intros u Hu Hc; [destruct Hu|]. cbn [app] in ND. inversion ND; subst.
          destruct Hu as [->|Hu]; [apply H1; apply in_app_iff; auto|now apply (IH H2 u)]. }
        assert (NDl : NoDup (concat l)) by (clear -ND; induction p as [|z p IH]; [exact ND|inversion ND; auto]).
        destruct g as [|g]; destruct j as [|j]; cbn [nth length] in *; try lia.
        * apply (Dis y L). apply in_concat. exists (nth j l []). split; auto. apply nth_In. lia.
        * apply (Dis y Hy). apply in_concat. exists (nth g l []). split; auto. apply nth_In. lia.
        * apply (IH NDl g j); auto; lia. }
  rewrite (sum_groups n old _ Ho) in Own.
  set (part := fun h => sum (group old h) (fun y => if is_listed mine y then x y else 0)) in Own.
  assert (P0 : forall h, In h (seq 0 (length old)) -> 0 <= part h).
  { intros h Hh. apply sum_nonneg; intros y Hy. destruct (is_listed mine y); [|lra]. apply x0. apply in_to in Hh. exact (in_group n old h y Ho Hh Hy). }
  rewrite Own. split; cbn [fst snd].
  - set (l := filter _ (filter _ _)). apply Rle_trans with (sum l part).
    + assert (L : forall h, In h l -> (h < length old)%nat /\ forallb (is_listed mine) (group old h) = true).
      { intros h Hh. apply filter_In in Hh as [Hh F]. apply filter_In in Hh as [Hh _]. apply in_to in Hh. auto. }
      clear Own P0. induction l as [|h l IH]; [simpl; rewrite fixed_0; lra|]. cbn [fold_right sum]. rewrite fixed_plus. apply Rplus_le_compat.
      * destruct (L h (or_introl eq_refl)) as [Hh F]. replace (part h) with (sum (group old h) x); [now apply H|].
        apply sum_ext; intros y Hy. rewrite forallb_forall in F. now rewrite (F y Hy).
      * apply IH. intros; apply L; simpl; auto.
    + unfold l. eapply Rle_trans; [apply sum_part; intros h Hh; apply filter_In in Hh; now apply P0|now apply sum_part].
  - assert (B : sum_to (length old) part <= fixed (fold_right (fun h t => snd (range_at box h) + t)%Z 0%Z
      (filter (fun h => existsb (is_listed mine) (group old h)) (seq 0 (length old))))).
    { unfold sum_to. assert (In_l : forall h, In h (seq 0 (length old)) -> (h < length old)%nat) by (intro; apply in_to).
      clear Own P0. induction (seq 0 (length old)) as [|h l IH]; [simpl; rewrite fixed_0; lra|].
      assert (IH' := IH (fun j Hj => In_l j (or_intror Hj))). cbn [sum filter]. destruct (existsb (is_listed mine) (group old h)) eqn:E.
      - cbn [fold_right]. rewrite fixed_plus. apply Rplus_le_compat; auto. apply Rle_trans with (sum (group old h) x).
        + apply sum_le; intros y Hy. specialize (x0 y (in_group n old h y Ho (In_l h (or_introl eq_refl)) Hy)). destruct (is_listed mine y); lra.
        + apply H. apply In_l; simpl; auto.
      - replace (part h) with 0; [lra|]. symmetry. apply sum_all_zero; intros y Hy. destruct (is_listed mine y) eqn:L; auto.
        exfalso. assert (existsb (is_listed mine) (group old h) = true) by (apply existsb_exists; eauto). congruence. }
    apply Z.min_case; auto. rewrite fixed_one, <- x1, (sum_groups n old x Ho). apply sum_to_le; intros h Hh. apply sum_le; intros y Hy.
    specialize (x0 y (in_group n old h y Ho Hh Hy)). destruct (is_listed mine y); lra.
Qed.

(** A channel's groups, as intervals. *)
Definition group_table (parts : list (list nat)) (table : list (list interval)) : list (list interval) :=
  map (fun row => tabulate (length parts) (fun g => isum (group parts g) (entry row))) table.
Lemma encl_group_table parts table (W : nat -> nat -> R) k g : (forall k y, encl (entry2 table k y) (W k y)) ->
  encl (entry2 (group_table parts table) k g) (grouped parts W k g).
Proof.
  intro HW. unfold entry2, group_table. destruct (Nat.lt_ge_cases k (length table)) as [L|L].
  - rewrite (nth_indep _ [] (tabulate (length parts) (fun g => isum (group parts g) (entry [])))) by (now rewrite map_length).
    rewrite (map_nth (fun row => tabulate (length parts) (fun g => isum (group parts g) (entry row)))).
    apply (encl_entry (length parts) _ (grouped parts W k)). intros h _. apply encl_isum; intros y _. apply HW.
  - rewrite nth_overflow by (now rewrite map_length). unfold entry. destruct g; apply encl_anything.
Qed.
Definition within_interval (parts : list (list nat)) (table grouped_table : list (list interval)) (k : nat) : interval :=
  isum_to (length parts) (fun g => minus (isum (group parts g) (fun y => times_own_log (entry2 table k y))) (times_own_log (entry2 grouped_table k g))).
Lemma encl_within parts table (W : nat -> nat -> R) k : (forall k y, encl (entry2 table k y) (W k y)) ->
  encl (within_interval parts table (group_table parts table) k) (within_groups parts W k).
Proof.
  intro HW. apply encl_isum_to; intros g _. apply encl_minus; [apply encl_isum; intros; now apply encl_xlnx|].
  apply encl_xlnx. now apply encl_group_table.
Qed.

(** An interval of the larger of two numbers. *)
Definition larger (i j : interval) : interval := if not_above i j then j else if not_above j i then i else either i j.
Lemma encl_larger i j x y : encl i x -> encl j y -> encl (larger i j) (Rmax x y).
Proof.
  intros Hi Hj. unfold larger. destruct (not_above i j) eqn:E.
  - rewrite Rmax_right; auto. now apply (not_above_correct i j).
  - destruct (not_above j i) eqn:F; [|now apply encl_max]. rewrite Rmax_left; auto. now apply (not_above_correct j i).
Qed.

(** An interval of a number that is at least as large as each of a list's, and as 0. *)
Definition largest {B} (i : B -> interval) (l : list B) : interval := fold_right (fun b t => larger (i b) t) zero l.
Lemma encl_largest {B} (l : list B) (i : B -> interval) (x : B -> R) : (forall b, In b l -> encl (i b) (x b)) ->
  exists c, encl (largest i l) c /\ forall b, In b l -> x b <= c.
Proof.
  induction l as [|b l IH]; intro H; [exists 0; split; [exact (encl_Z 0)|intros b []]|].
  destruct (IH (fun d Hd => H d (or_intror Hd))) as (c & E & B'). exists (Rmax (x b) c).
  split; [cbn [largest fold_right]; apply encl_larger; auto; apply H; simpl; auto|].
  intros d [->|Hd]; [apply Rmax_l|]. eapply Rle_trans; [now apply B'|apply Rmax_r].
Qed.
