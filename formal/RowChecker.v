(** The checker of row trees: trees about one letter's law, as a program that Coq runs, and the theorem that what it finds is a bound.

    The hints of a proof are integers, in units of 2^-100 (Enclosures.v, [fixed]). A wrong hint can make a bound weak; it cannot make it
    false. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Enclosures Boxes.
Import ListNotations.
Open Scope R_scope.

(** Cuts at a threshold; groups of outputs in the place of outputs; an output that has, of the output's images under symmetries
    (permutations of inputs and outputs), the largest probability; leaves with slopes, and with slopes for what stood before groups. *)
Inductive row_tree :=
  | RowCut (y : nat) (t : Z) (below above : row_tree)
  | RowGroup (parts : list (list nat)) (t : row_tree)
  | Chamber (y : nat) (symmetries : list (list nat * list nat)) (t : row_tree)
  | Row (kappa : list Z) (earlier : list (list Z)).

Definition slope_at (kappa : list Z) (y : nat) : Z := nth y kappa 0%Z.
Definition sloped (x : interval) (slope : Z) : interval := if (slope =? 0)%Z then zero else times x (of_fixed slope).
Lemma encl_sloped x i slope : encl i x -> encl (sloped i slope) (x * fixed slope).
Proof.
  intro H. unfold sloped. destruct (Z.eqb_spec slope 0) as [->|].
  - rewrite fixed_0, Rmult_0_r. exact (encl_Z 0).
  - apply encl_times; auto using encl_fixed.
Qed.

(** Outputs, or groups of them: how many, the channel, ranges that hold for every law, those of a box, and which outputs they are. *)
Record family := Family { size_of : nat; table : list (list interval); fixed_ranges : list range; ranges : list range; sets : list (list nat) }.
Definition ranges_now (F : family) : list range := common (size_of F) (fixed_ranges F) (ranges F).
Definition with_ranges (F : family) (box : list range) : family := Family (size_of F) (table F) (fixed_ranges F) box (sets F).
Definition singletons (n : nat) : list (list nat) := map (fun y => [y]) (seq 0 n).

(** Orders K(z) >= K(z'), as pairs (z, z'), said of ranges until nothing changes. *)
Definition ordered (orders : list (nat * nat)) (box : list range) : list range :=
  fold_left (fun box o =>
    let more := range_at box (fst o) in
    let less := range_at box (snd o) in
    change (0, one)%Z (fst o) (at_least_t (fst less)) (change (0, one)%Z (snd o) (at_most_t (snd more)) box)) orders box.
Fixpoint settled (fuel : nat) (orders : list (nat * nat)) (box : list range) : list range :=
  match fuel with
  | O => box
  | S fuel =>
      let box' := ordered orders box in
      if forallb (fun o => same_range (range_at box (fst o)) (range_at box' (fst o)) && same_range (range_at box (snd o)) (range_at box' (snd o))) orders
      then box' else settled fuel orders box'
  end.

Lemma combine_both {B C} (l l' : list B) (m m' : list C) : length l = length m -> combine (l ++ l') (m ++ m') = combine l m ++ combine l' m'.
Proof. revert m. induction l as [|x l IH]; intros [|z m] H; simpl in H; try discriminate; [reflexivity|]. simpl. now rewrite IH by lia. Qed.

Section Letter.
(** The outputs of a joint leaf, how many datasets of the letter select which input, and which inputs those are. *)
Variables (Y V : nat) (counts : list Z) (ks : list nat) (channel : list (list interval)) (theta mu : Z) (scores : list interval).
(** Whether permutations of inputs and outputs leave the rows as they are, and whether one of the outputs leaves the scores so. *)
Variables (symmetric : list nat -> list nat -> list nat -> bool) (even : list nat -> bool).

Definition count_of_input (k : nat) : Z := nth k counts 0%Z.

Definition number_of (scores : list interval) (families : list (Z * family * list Z)) : interval :=
  plus (isum families (fun p => let '(c, F, kappa) := p in
      isum_to (size_of F) (fun y => line c (slope_at kappa y) (range_at (ranges F) y))))
    (times (of_fixed mu) (log_sum_exp (map (fun k => (count_of_input k,
      over (plus (entry scores k) (isum families (fun p => let '(_, F, kappa) := p in
        isum_to (size_of F) (fun y => sloped (entry2 (table F) k y) (slope_at kappa y))))) (of_fixed mu))) ks))).

Definition tight (F : family) : family := with_ranges F (tightened (size_of F) (ranges_now F)).
Fixpoint without_share (families : list family) (kappas : list (list Z)) : list (Z * family * list Z) :=
  match families with
  | [] => []
  | F :: families => (0%Z, tight F, hd [] kappas) :: without_share families (tl kappas)
  end.

Definition corrected (parts : list (list nat)) (groups : list (list interval)) : list interval :=
  tabulate V (fun k => if (0 <? count_of_input k)%Z
    then plus (entry scores k) (times (of_fixed theta) (within_interval parts channel groups k)) else anything).

Definition keeps_check (now : family) (orders : list (nat * nat)) (p : list nat * list nat) : bool :=
  let '(pi, tau) := p in
  permutes V pi && permutes Y tau && forallb (fun k => (count_of_input (image pi k) =? count_of_input k)%Z) (seq 0 V)
  && symmetric ks pi tau && even tau
  && forallb (fun y => same_range (range_at (ranges now) (image tau y)) (range_at (ranges now) y)) (seq 0 Y)
  && forallb (fun o => existsb (fun o' => (fst o' =? image tau (fst o))%nat && (snd o' =? image tau (snd o))%nat) orders) orders.

(** What bounds the row problem, or nothing where there is no law of the output in the box. *)
Fixpoint row_check (t : row_tree) (own : list interval) (now : family) (before : list family) (orders : list (nat * nat)) : option interval :=
  match t with
  | RowCut y z below above =>
      match row_check below own (with_ranges now (lower_part y z (ranges now))) before orders,
            row_check above own (with_ranges now (upper_part y z (ranges now))) before orders with
      | Some i, Some j => Some (larger i j)
      | Some i, None | None, Some i => Some i
      | None, None => None
      end
  | RowGroup parts t =>
      let groups := group_table parts channel in
      let root := row_root (length parts) groups ks in
      if partitions Y parts && row_root_check (length parts) groups ks root then
        let now := with_ranges now (settled Y orders (ranges_now now)) in
        row_check t (corrected parts groups) (Family (length parts) groups root (regrouped (sets now) (ranges now) parts) parts)
          (before ++ [now]) []
      else Some anything
  | Chamber y symmetries t =>
      if (y <? Y)%nat && match before with [] => true | _ => false end && forallb (keeps_check now orders) symmetries then
        row_check t own now before (orders ++ filter (fun o => negb (fst o =? snd o)%nat) (map (fun p => (y, image (snd p) y)) symmetries))
      else Some anything
  | Row kappa kappas =>
      let families := (theta, tight (with_ranges now (settled Y orders (ranges_now now))), kappa) :: without_share before kappas in
      if existsb (fun p => let '(_, F, _) := p in empty (ranges F)) families then None else Some (number_of own families)
  end.

(** Without a price for entropy. *)
Definition free_number : option interval :=
  match map (fun k => plus (entry scores k) (times (of_fixed theta) (isum_to Y (fun y => times_own_log (entry2 channel k y))))) ks with
  | [] => None
  | i :: l => Some (fold_right either i l)
  end.

(** ** What is found is a bound *)

Variables (N : nat -> Z) (W : nat -> nat -> R) (S : nat -> R).
Hypothesis HN : forall k, (k < V)%nat -> count_of_input k = N k /\ (0 <= N k)%Z.
Hypothesis Hks : ks = filter (fun k => (0 <? count_of_input k)%Z) (seq 0 V).
Hypothesis HWr : is_rows V N Y W.
Hypothesis HW : forall k y, encl (entry2 channel k y) (W k y).
Hypothesis HS : forall k, In k ks -> encl (entry scores k) (S k).
Hypothesis Ht : (0 <= theta)%Z.
Hypothesis Hsym : forall pi tau, symmetric ks pi tau = true -> forall k y, In k ks -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y.
Hypothesis Heven : forall pi tau, permutes Y tau = true -> even tau = true ->
  (forall k y, In k ks -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y) -> forall k, In k ks -> S (image pi k) = S k.

Lemma in_ks k : In k ks <-> (k < V)%nat /\ (0 < N k)%Z.
Proof.
  rewrite Hks, filter_In, in_to, Z.ltb_lt. split; intros [Hk H]; split; auto; destruct (HN k Hk) as [E _]; congruence.
Qed.
Lemma N0 k : (k < V)%nat -> (0 <= N k)%Z.
Proof. intro Hk. now apply HN. Qed.
Lemma sum_ks g : sum_to V (fun k => IZR (N k) * g k) = sum ks (fun k => IZR (count_of_input k) * g k).
Proof.
  rewrite Hks, sum_filter. apply sum_to_ext; intros k Hk. destruct (HN k Hk) as [-> L].
  destruct (Z.ltb_spec 0 (N k)); auto. replace (N k) with 0%Z by lia. ring.
Qed.

Let choice := is_choice V N.
Let K (W' : nat -> nat -> R) (w : nat -> R) := mixed V W' w.

(** A family is about a channel of its own; a law is in its box. *)
Definition family_ok (F : family) (W' : nat -> nat -> R) : Prop :=
  is_rows V N (size_of F) W' /\ (forall k y, encl (entry2 (table F) k y) (W' k y)) /\
  (forall w y, choice w -> (y < size_of F)%nat -> inside (range_at (fixed_ranges F) y) (K W' w y)) /\
  partitions Y (sets F) = true /\ length (sets F) = size_of F /\
  forall w g, (g < size_of F)%nat -> K W' w g = sum (group (sets F) g) (K W w).
Definition in_family (F : family) (W' : nat -> nat -> R) (w : nat -> R) : Prop :=
  forall y, (y < size_of F)%nat -> inside (range_at (ranges F) y) (K W' w y).
Definition in_order (orders : list (nat * nat)) (w : nat -> R) : Prop :=
  forall o, In o orders -> (fst o < Y)%nat /\ (snd o < Y)%nat /\ K W w (snd o) <= K W w (fst o).

Lemma ranges_now_inside F W' w : family_ok F W' -> choice w -> in_family F W' w ->
  forall y, (y < size_of F)%nat -> inside (range_at (ranges_now F) y) (K W' w y).
Proof. intros (_ & _ & H & _) Hw Hi y Hy. apply common_inside; auto. Qed.

Lemma ordered_inside orders n (x : nat -> R) : (forall o, In o orders -> (fst o < n)%nat /\ (snd o < n)%nat /\ x (snd o) <= x (fst o)) ->
  forall box, (forall y, (y < n)%nat -> inside (range_at box y) (x y)) -> forall y, (y < n)%nat -> inside (range_at (ordered orders box) y) (x y).
Proof.
  unfold ordered. induction orders as [|o l IH]; intros Ho box H; [exact H|]. cbn [fold_left]. apply IH; [intros; apply Ho; simpl; auto|].
  destruct (Ho o (or_introl eq_refl)) as (O1 & O2 & L). pose proof (H _ O1) as [A1 A2]. pose proof (H _ O2) as [B1 B2]. intros y Hy.
  assert (G : inside (range_at (change (0, one)%Z (snd o) (at_most_t (snd (range_at box (fst o)))) box) y) (x y)).
  { unfold range_at at 1. rewrite nth_change. destruct (Nat.eqb_spec (snd o) y) as [<-|]; [|now apply H]. split; cbn [at_most_t fst snd]; [exact B1|].
    apply Z.min_case; [exact B2|lra]. }
  unfold range_at at 1. rewrite nth_change. destruct (Nat.eqb_spec (fst o) y) as [<-|]; [|exact G].
  split; cbn [at_least_t fst snd]; [|apply G]. apply Z.max_case; [apply G|lra].
Qed.
Lemma settled_inside fuel orders n (x : nat -> R) : (forall o, In o orders -> (fst o < n)%nat /\ (snd o < n)%nat /\ x (snd o) <= x (fst o)) ->
  forall box, (forall y, (y < n)%nat -> inside (range_at box y) (x y)) -> forall y, (y < n)%nat -> inside (range_at (settled fuel orders box) y) (x y).
Proof.
  intro Ho. induction fuel as [|fuel IH]; intros box H; [exact H|]. cbn [settled]. pose proof (ordered_inside orders n x Ho box H) as G.
  destruct (forallb _ _); auto.
Qed.

(** The families of a leaf, as lines. *)
Definition lines_of (p : Z * family * list Z) (W' : nat -> nat -> R) : lines :=
  let '(c, F, kappa) := p in Lines (fixed c) (size_of F) W' (fun y => fixed (slope_at kappa y))
    (fun y => fixed (fst (range_at (ranges F) y))) (fun y => fixed (snd (range_at (ranges F) y))).
Definition listed_lines (ps : list ((Z * family * list Z) * (nat -> nat -> R))) : list lines := map (fun q => lines_of (fst q) (snd q)) ps.

Lemma encl_number own S' ps : (forall k, In k ks -> encl (entry own k) (S' k)) ->
  (forall q, In q ps -> forall k y, encl (entry2 (table (snd (fst (fst q)))) k y) (snd q k y)) ->
  encl (number_of own (map fst ps)) (sum (listed_lines ps) constants
    + fixed mu * ln (sum_to V (fun k => IZR (N k) * exp ((S' k + sum (listed_lines ps) (fun l => tilt l k)) / fixed mu)))).
Proof.
  intros HS' Hps. unfold number_of, listed_lines. rewrite sum_map. apply encl_plus.
  - assert (E : forall l, (forall q, In q l -> In q ps) -> encl (isum (map fst l) (fun p => let '(c, F, kappa) := p in
      isum_to (size_of F) (fun y => line c (slope_at kappa y) (range_at (ranges F) y)))) (sum l (fun q => constants (lines_of (fst q) (snd q))))).
    { induction l as [|q l IH]; intro H; [exact (encl_Z 0)|].
      assert (B : encl ((fun p => let '(c, F, kappa) := p in isum_to (size_of F) (fun y => line c (slope_at kappa y) (range_at (ranges F) y))) (fst q))
        (constants (lines_of (fst q) (snd q)))).
      { destruct q as [[[c F] kappa] W']. cbn [fst snd lines_of]. unfold constants. cbn. apply encl_isum_to; intros; apply encl_line. }
      destruct l as [|q' l]; [cbn [map isum sum]; rewrite Rplus_0_r; exact B|].
      apply encl_plus; [exact B|]. apply IH. intros; apply H; simpl; auto. }
    apply E. auto.
  - apply encl_times; [apply encl_fixed|]. rewrite sum_ks. apply encl_log_sum_exp.
    + intros k Hk. apply encl_over; [|apply encl_fixed]. apply encl_plus; auto. rewrite sum_map.
      assert (E : forall l, (forall q, In q l -> In q ps) -> encl (isum (map fst l) (fun p => let '(_, F, kappa) := p in
        isum_to (size_of F) (fun y => sloped (entry2 (table F) k y) (slope_at kappa y)))) (sum l (fun q => tilt (lines_of (fst q) (snd q)) k))).
      { induction l as [|q l IH]; intro H; [exact (encl_Z 0)|].
        assert (B : encl ((fun p => let '(_, F, kappa) := p in isum_to (size_of F) (fun y => sloped (entry2 (table F) k y) (slope_at kappa y))) (fst q))
          (tilt (lines_of (fst q) (snd q)) k)).
        { pose proof (Hps q (H q (or_introl eq_refl))) as T. destruct q as [[[c F] kappa] W']. cbn [fst snd lines_of] in *. unfold tilt. cbn.
          apply encl_isum_to; intros y _. apply encl_sloped, T. }
        destruct l as [|q' l]; [cbn [map isum sum]; rewrite Rplus_0_r; exact B|].
        apply encl_plus; [exact B|]. apply IH. intros; apply H; simpl; auto. }
      apply E. auto.
    + intros k Hk. apply in_ks in Hk as [Hk L]. now rewrite (proj1 (HN k Hk)).
Qed.

Lemma tight_ok F W' : family_ok F W' -> family_ok (tight F) W'.
Proof. intro H. exact H. Qed.
Lemma tight_holds c F W' w kappa : family_ok F W' -> choice w -> in_family F W' w -> (0 <= c)%Z ->
  empty (ranges (tight F)) = false /\ lines_hold V w (lines_of (c, tight F, kappa) W').
Proof.
  intros HF Hw Hi Hc. pose proof HF as (Hr & _ & _).
  assert (T : forall y, (y < size_of F)%nat -> inside (range_at (tightened (size_of F) (ranges_now F)) y) (K W' w y)).
  { apply tightened_inside.
    - now apply ranges_now_inside.
    - intros y Hy. now apply (mixed_nonneg V N w Hw (size_of F)).
    - now apply (mixed_one V N w Hw). }
  split.
  - cbn [tight with_ranges ranges]. destruct (empty _) eqn:E; auto. exfalso. exact (empty_correct _ _ _ E T).
  - split; cbn; [rewrite <- fixed_0; now apply fixed_le|]. intros y Hy. split; [now apply tightened_nonneg|]. now apply T.
Qed.

(** Whatever is found is some number. *)
Definition about_numbers (own : list interval) : Prop := exists S', forall k, In k ks -> encl (entry own k) (S' k).
Definition about_channel (F : family) : Prop := exists W' : nat -> nat -> R, forall k y, encl (entry2 (table F) k y) (W' k y).

Lemma corrected_scores parts k : In k ks ->
  encl (entry (corrected parts (group_table parts channel)) k) (S k + fixed theta * within_groups parts W k).
Proof.
  intro Hk. assert (C : (0 <? count_of_input k)%Z = true) by (rewrite Hks in Hk; now apply filter_In in Hk).
  assert (L : (k < V)%nat) by now apply in_ks.
  unfold corrected, entry, tabulate. rewrite (nth_indep _ anything (if (0 <? count_of_input 0)%Z then plus (entry scores 0)
    (times (of_fixed theta) (within_interval parts channel (group_table parts channel) 0)) else anything)) by (now rewrite map_length, seq_length).
  rewrite (map_nth (fun k => if (0 <? count_of_input k)%Z then plus (entry scores k)
    (times (of_fixed theta) (within_interval parts channel (group_table parts channel) k)) else anything)), seq_nth by auto. cbn [Nat.add].
  rewrite C. apply encl_plus; [now apply HS|]. apply encl_times; [apply encl_fixed|]. now apply encl_within.
Qed.
Lemma group_table_about parts root box : about_channel (Family (length parts) (group_table parts channel) root box parts).
Proof. exists (grouped parts W). intros k g. now apply encl_group_table. Qed.

Lemma number_is_some own theta' now kappa before kappas : about_numbers own -> about_channel now -> (forall F, In F before -> about_channel F) ->
  exists z, encl (number_of own ((theta', now, kappa) :: without_share before kappas)) z.
Proof.
  intros [S' HS'] [W0 H0] Hb.
  assert (Q : exists qs, map fst qs = without_share before kappas /\
    forall q, In q qs -> forall k y, encl (entry2 (table (snd (fst (fst q)))) k y) (snd q k y)).
  { revert kappas. induction before as [|F l IH]; intro kappas; [exists []; split; auto; intros q []|].
    destruct (IH (fun F HF => Hb F (or_intror HF)) (tl kappas)) as (qs & E & H). destruct (Hb F (or_introl eq_refl)) as [W' H'].
    exists ((0%Z, tight F, hd [] kappas, W') :: qs). split; [simpl; now rewrite E|]. intros q [<-|Iq]; [exact H'|now apply H]. }
  destruct Q as (qs & E & H). eexists. rewrite <- E.
  change ((theta', now, kappa) :: map fst qs) with (map fst ((theta', now, kappa, W0) :: qs)).
  apply (encl_number own S'); auto. intros q [<-|Iq]; [exact H0|now apply H].
Qed.

Lemma some_number t : forall own now before orders i, about_numbers own -> about_channel now -> (forall F, In F before -> about_channel F) ->
  row_check t own now before orders = Some i -> exists z, encl i z.
Proof.
  assert (ZZ : exists z, encl anything z) by (exists 0; apply encl_anything).
  induction t as [y z below IHb above IHa|parts t IH|y syms t IH|kappa kappas]; intros own now before orders i HS' Hnow Hbefore H; cbn [row_check] in H.
  - assert (Hbox : forall box, about_channel (with_ranges now box)) by (intro; exact Hnow).
    destruct (row_check below _ _ _ _) as [i1|] eqn:E1; destruct (row_check above _ _ _ _) as [i2|] eqn:E2; try discriminate; injection H as <-.
    + destruct (IHb _ _ _ _ _ HS' (Hbox _) Hbefore E1) as [z1 H1]. destruct (IHa _ _ _ _ _ HS' (Hbox _) Hbefore E2) as [z2 H2].
      eexists. eapply encl_larger; eauto.
    + exact (IHb _ _ _ _ _ HS' (Hbox _) Hbefore E1).
    + exact (IHa _ _ _ _ _ HS' (Hbox _) Hbefore E2).
  - cbv zeta in H. destruct (_ && _); [|injection H as <-; auto]. eapply IH; [| | |exact H].
    + exists (fun k => S k + fixed theta * within_groups parts W k). intros; now apply corrected_scores.
    + apply group_table_about.
    + intros F HF. apply in_app_iff in HF as [HF|[<-|[]]]; auto.
  - destruct (_ && _); [|injection H as <-; auto]. eapply IH; eauto.
  - cbv zeta in H. destruct (existsb _ _); [discriminate|]. injection H as <-. now apply number_is_some.
Qed.

(** A law whose outputs are in the boxes, and in the orders that chambers ask for. *)
Theorem row_check_correct t : forall own S' now W' before Wb orders w,
  choice w -> (0 < mu)%Z -> length Wb = length before ->
  family_ok now W' -> in_family now W' w -> (forall F U, In (F, U) (combine before Wb) -> family_ok F U /\ in_family F U w) ->
  in_order orders w -> (orders <> [] -> size_of now = Y /\ W' = W) -> (before = [] -> size_of now = Y /\ W' = W /\ S' = S) ->
  (forall k, In k ks -> encl (entry own k) (S' k)) ->
  (forall w, choice w -> worth V N Y W (fixed theta) (fixed mu) S w <= worth V N (size_of now) W' (fixed theta) (fixed mu) S' w) ->
  match row_check t own now before orders with
  | None => False
  | Some i => exists psi, encl i psi /\ worth V N Y W (fixed theta) (fixed mu) S w <= psi
  end.
Proof.
  assert (Free : forall w, exists psi, encl anything psi /\ worth V N Y W (fixed theta) (fixed mu) S w <= psi).
  { intro w. eexists. split; [apply encl_anything|apply Rle_refl]. }
  assert (Ht' : 0 <= fixed theta) by (rewrite <- fixed_0; now apply fixed_le).
  induction t as [y z below IHb above IHa|parts t IH|y syms t IH|kappa kappas];
    intros own S' now W' before Wb orders w Hw Hm HL Hnow Hin Hbefore Hord Hplain Hfirst HS' Hworth; cbn [row_check].
  - assert (An : about_numbers own) by (exists S'; exact HS').
    assert (Ab : forall F, In F before -> about_channel F).
    { intros F HF. apply (In_nth _ _ F) in HF as (j & Hj & E). exists (nth j Wb (fun _ _ => 0)).
      destruct (Hbefore F (nth j Wb (fun _ _ => 0))) as [(_ & T & _) _]; auto. rewrite <- E at 1. rewrite <- combine_nth by auto.
      apply nth_In. rewrite combine_length. lia. }
    assert (Ac : forall box, about_channel (with_ranges now box)) by (intro; exists W'; apply Hnow).
    pose proof (some_number below own (with_ranges now (lower_part y z (ranges now))) before orders) as Sb.
    pose proof (some_number above own (with_ranges now (upper_part y z (ranges now))) before orders) as Sa.
    destruct (inside_parts (ranges now) (K W' w) y z (size_of now) Hin) as [H|H].
    + specialize (IHb own S' (with_ranges now (lower_part y z (ranges now))) W' before Wb orders w Hw Hm HL Hnow H Hbefore Hord Hplain Hfirst HS' Hworth).
      destruct (row_check below _ _ _ _) as [i|]; [|tauto]. destruct IHb as (psi & E & B).
      destruct (row_check above _ _ _ _) as [j|]; [|exists psi; auto]. destruct (Sa j An (Ac _) Ab eq_refl) as [x Hx].
      exists (Rmax psi x). split; [now apply encl_larger|]. eapply Rle_trans; [exact B|apply Rmax_l].
    + specialize (IHa own S' (with_ranges now (upper_part y z (ranges now))) W' before Wb orders w Hw Hm HL Hnow H Hbefore Hord Hplain Hfirst HS' Hworth).
      destruct (row_check above _ _ _ _) as [j|]; [|tauto]. destruct IHa as (psi & E & B).
      destruct (row_check below _ _ _ _) as [i|]; [|exists psi; auto]. destruct (Sb i An (Ac _) Ab eq_refl) as [x Hx].
      exists (Rmax x psi). split; [now apply encl_larger|]. eapply Rle_trans; [exact B|apply Rmax_r].
  - cbv zeta. destruct (partitions Y parts && _) eqn:C; [|apply Free]. apply andb_prop in C as [Hp Hroot].
    set (now' := with_ranges now (settled Y orders (ranges_now now))).
    assert (In' : in_family now' W' w).
    { unfold in_family, now'. cbn [with_ranges ranges size_of]. pose proof (ranges_now_inside now W' w Hnow Hw Hin) as R.
      destruct orders as [|o l]; [destruct Y; cbn [settled]; [exact R|exact R]|]. destruct Hplain as [E1 E2]; [discriminate|]. subst W'.
      apply settled_inside; [|exact R]. rewrite E1. exact Hord. }
    pose proof Hnow as (_ & _ & _ & Hsets & Hlen & Hout).
    assert (K0 : forall y, (y < Y)%nat -> 0 <= K W w y) by (intros; now apply (mixed_nonneg V N w Hw Y)).
    apply (IH (corrected parts (group_table parts channel)) (fun k => S k + fixed theta * within_groups parts W k)
      (Family (length parts) (group_table parts channel) (row_root (length parts) (group_table parts channel) ks)
         (regrouped (sets now') (ranges now') parts) parts) (grouped parts W) (before ++ [now']) (Wb ++ [W']) [] w); auto.
    + rewrite !app_length, HL. reflexivity.
    + split; [now apply (grouped_rows V N Y)|]. split; [intros; now apply encl_group_table|]. split; [|repeat split; auto; intros; apply mixed_grouped].
      cbn [size_of fixed_ranges]. intros v g Hv Hg. apply (mixed_between V N v Hv (grouped parts W) g). intros k Hk Nk.
      apply (row_root_correct (length parts) (group_table parts channel) ks _ (grouped parts W) k g Hroot); auto.
      * intros; now apply encl_group_table.
      * now apply in_ks.
    + unfold in_family. cbn [size_of ranges]. intros g Hg. unfold K. rewrite mixed_grouped.
      apply (regrouped_inside Y (sets now') (ranges now') parts (K W w)); auto.
      * now apply (mixed_one V N w Hw).
      * intros h Hh. unfold now' in Hh. cbn [with_ranges sets] in Hh. rewrite Hlen in Hh. rewrite <- Hout by exact Hh. now apply In'.
    + intros F U HFU. rewrite combine_both in HFU by auto. apply in_app_iff in HFU as [HFU|[HFU|[]]]; [now apply Hbefore|].
      injection HFU as <- <-. split; [exact Hnow|exact In'].
    + intros o [].
    + congruence.
    + intro E. destruct before; discriminate.
    + intros k Hk. now apply corrected_scores.
    + intros v Hv. cbn [size_of]. now apply (worth_grouped V N v Hv Y).
  - destruct ((y <? Y)%nat && _ && _) eqn:C; [|apply Free]. apply andb_prop in C as [C Hs]. apply andb_prop in C as [Hy C]. apply Nat.ltb_lt in Hy.
    destruct before as [|]; [|discriminate]. destruct (Hfirst eq_refl) as (EY & EW & ES). subst W' S'. destruct Wb; [|discriminate].
    rewrite forallb_forall in Hs.
    assert (Keep : forall p, In p syms -> keeps V N Y W S (fst p) (snd p) /\
      (forall y, (y < Y)%nat -> range_at (ranges now) (image (snd p) y) = range_at (ranges now) y) /\
      (forall o, In o orders -> In (image (snd p) (fst o), image (snd p) (snd o)) orders)).
    { intros [pi tau] Ip. specialize (Hs _ Ip). unfold keeps_check in Hs. apply andb_prop in Hs as [Hs Ho]. apply andb_prop in Hs as [Hs Hr].
      apply andb_prop in Hs as [Hs He]. apply andb_prop in Hs as [Hs Hc]. apply andb_prop in Hs as [Hs Hcount]. apply andb_prop in Hs as [Hpi Htau].
      cbn [fst snd]. pose proof (Hsym pi tau Hc) as Rows. split; [|split].
      - split; [exact Hpi|]. split; [exact Htau|]. split; [|split].
        + intros k Hk. rewrite forallb_forall in Hcount. specialize (Hcount k (proj2 (in_to _ _) Hk)). apply Z.eqb_eq in Hcount.
          rewrite (proj1 (HN k Hk)) in Hcount. rewrite (proj1 (HN (image pi k) (image_small V pi k Hpi Hk))) in Hcount. exact Hcount.
        + intros k u Hk Nk Hu. apply Rows; auto. now apply in_ks.
        + intros k Hk Nk. apply (Heven pi tau); auto. now apply in_ks.
      - intros u Hu. rewrite forallb_forall in Hr. apply same_range_correct, (Hr u). now apply in_to.
      - intros o Io. rewrite forallb_forall in Ho. specialize (Ho o Io). apply existsb_exists in Ho as (o' & Io' & E).
        apply andb_prop in E as [E1 E2]. apply Nat.eqb_eq in E1, E2. destruct o' as [z z']. cbn [fst snd] in E1, E2. now subst. }
    destruct (chamber V N Y W S (fixed theta) (fixed mu) y syms (fun w => choice w /\ in_family now W w /\ in_order orders w) Hy) with (w := w)
      as (w' & (C1 & C2 & C3) & E & O); auto; try tauto.
    + intros p Ip. now apply Keep.
    + intros p v Ip (G1 & G2 & G3). destruct (Keep p Ip) as (KP & KR & KO). pose proof KP as (Hpi & Htau & HNp & _). repeat split.
      * apply (pulled_choice V N (fst p) v Hpi HNp G1).
      * apply (pulled_choice V N (fst p) v Hpi HNp G1).
      * apply (pulled_choice V N (fst p) v Hpi HNp G1).
      * rewrite EY in H. unfold K. rewrite (pulled_mixed V N Y W S (fst p) (snd p) v) by auto. rewrite <- KR by auto. apply G2. rewrite EY. now apply image_small.
      * rewrite EY in H. unfold K. rewrite (pulled_mixed V N Y W S (fst p) (snd p) v) by auto. rewrite <- KR by auto. apply G2. rewrite EY. now apply image_small.
      * now apply G3.
      * now apply G3.
      * destruct (G3 _ (KO o H)) as (_ & _ & L). cbn [fst snd] in L. destruct (G3 o H) as (L1 & L2 & _).
        unfold K. rewrite !(pulled_mixed V N Y W S (fst p) (snd p) v) by auto. exact L.
    + pose proof (fun o => IH own S now W [] [] o w' C1 Hm eq_refl Hnow C2) as IH'. rewrite <- E. apply IH'; auto.
      * intros F U [].
      * intros o Io. apply in_app_iff in Io as [Io|Io]; [now apply C3|]. apply filter_In in Io as [Io _]. apply in_map_iff in Io as (p & <- & Ip).
        cbn [fst snd]. split; auto. destruct (Keep p Ip) as ((_ & Htau & _) & _). split; [now apply image_small|]. now apply O.
  - cbv zeta. set (now' := with_ranges now (settled Y orders (ranges_now now))).
    assert (In' : in_family now' W' w).
    { unfold in_family, now'. cbn [with_ranges ranges size_of]. pose proof (ranges_now_inside now W' w Hnow Hw Hin) as R.
      destruct orders as [|o l]; [destruct Y; cbn [settled]; exact R|]. destruct Hplain as [E1 E2]; [discriminate|]. subst W'.
      apply settled_inside; [|exact R]. rewrite E1. exact Hord. }
    assert (Hnow' : family_ok now' W') by exact Hnow.
    destruct (tight_holds theta now' W' w kappa Hnow' Hw In' Ht) as [E0 L0].
    (* The lines of what stood before. *)
    assert (Q : exists qs, map fst qs = without_share before kappas /\
      forall q, In q qs -> (forall k y, encl (entry2 (table (snd (fst (fst q)))) k y) (snd q k y)) /\ empty (ranges (snd (fst (fst q)))) = false /\
        lines_hold V w (lines_of (fst q) (snd q)) /\ fst (fst (fst q)) = 0%Z).
    { clear -Hbefore HL Hw HWr Ht. revert kappas Wb HL Hbefore. induction before as [|F l IH]; intros kappas [|U Wb] HL Hbefore; try discriminate;
        [exists []; split; auto; intros q []|].
      destruct (IH (tl kappas) Wb ltac:(simpl in HL; lia)) as (qs & E & H); [intros; apply Hbefore; simpl; auto|].
      destruct (Hbefore F U (or_introl eq_refl)) as [HF HI]. exists ((0%Z, tight F, hd [] kappas, U) :: qs). split; [simpl; now rewrite E|].
      destruct (tight_holds 0 F U w (hd [] kappas) HF Hw HI (Z.le_refl 0)) as [E1 E2].
      intros q [<-|Iq]; [|now apply H]. split; [apply HF|]. auto. }
    destruct Q as (qs & Eq & Hq). rewrite <- Eq.
    set (q0 := (theta, tight now', kappa, W')). change ((theta, tight now', kappa) :: map fst qs) with (map fst (q0 :: qs)).
    destruct (existsb _ _) eqn:EE.
    { exfalso. apply existsb_exists in EE as (p & Ip & EE). apply in_map_iff in Ip as (q & <- & Iq). destruct Iq as [<-|Iq].
      - change (empty (ranges (tight now')) = true) in EE. congruence.
      - destruct (Hq q Iq) as (_ & E1 & _). destruct q as [[[c F] kap] U]. cbn [fst snd] in EE, E1. congruence. }
    eexists. split.
    + apply (encl_number own S'); auto. intros q [<-|Iq]; [apply Hnow|now apply Hq].
    + eapply Rle_trans; [now apply Hworth|]. apply (worth_lines V N N0 w Hw (size_of now) W').
      * rewrite <- fixed_0. now apply fixed_lt.
      * intros l Il. apply in_map_iff in Il as (q & <- & Iq). destruct Iq as [<-|Iq]; [exact L0|now apply Hq].
      * cbn [listed_lines map sum q0 fst snd lines_of share width rows_of size_of tight with_ranges now'].
        assert (Z : sum (map (fun q => lines_of (fst q) (snd q)) qs)
          (fun l => share l * sum_to (width l) (fun y => xlnx (mixed V (rows_of l) w y))) = 0).
        { rewrite sum_map. apply sum_all_zero; intros q Iq. destruct (Hq q Iq) as (_ & _ & _ & C0).
          destruct q as [[[c F] kap] U]. cbn [fst] in C0. subst c. cbn. rewrite fixed_0. ring. }
        rewrite Z. cbn. lra.
Qed.

Lemma free_number_correct w : choice w ->
  match free_number with
  | None => False
  | Some i => exists psi, encl i psi /\ worth V N Y W (fixed theta) 0 S w <= psi
  end.
Proof.
  intro Hw. set (g := fun k => S k + fixed theta * sum_to Y (fun y => xlnx (W k y))).
  set (h := fun k => plus (entry scores k) (times (of_fixed theta) (isum_to Y (fun y => times_own_log (entry2 channel k y))))).
  assert (G : forall k, In k ks -> encl (h k) (g k)).
  { intros k Hk. apply encl_plus; auto. apply encl_times; [apply encl_fixed|]. apply encl_isum_to; intros. now apply encl_xlnx. }
  assert (F : forall l i x, encl i x -> (forall k, In k l -> encl (h k) (g k)) ->
    exists psi, encl (fold_right either i (map h l)) psi /\ x <= psi /\ forall k, In k l -> g k <= psi).
  { induction l as [|k l IH]; intros i x Hi Hl; simpl.
    - exists x. repeat split; auto; [lra|tauto].
    - destruct (IH i x Hi) as (psi & E & B & C); [intros; apply Hl; simpl; auto|].
      exists (Rmax (g k) psi). split; [apply encl_max; auto; apply Hl; simpl; auto|]. split; [eapply Rle_trans; [exact B|apply Rmax_r]|].
      intros j [->|Hj]; [apply Rmax_l|]. eapply Rle_trans; [apply C; auto|apply Rmax_r]. }
  assert (Bound : forall psi, (forall k, In k ks -> g k <= psi) -> worth V N Y W (fixed theta) 0 S w <= psi).
  { intros psi B. apply (worth_free V N w Hw Y W (fixed theta) S psi HWr); [rewrite <- fixed_0; now apply fixed_le|].
    intros k Hk Nk. apply B. now apply in_ks. }
  assert (NE : ks <> []).
  { intro EI. pose proof (choice_ext V N w Hw (fun _ => 1) (fun _ => 0)) as Zero. cbv beta in Zero.
    rewrite (choice_const V N w Hw 1), (choice_const V N w Hw 0) in Zero. assert (1 = 0); [|lra]. apply Zero. intros j Hj Nj. exfalso.
    assert (I : In j ks) by (apply in_ks; auto). now rewrite EI in I. }
  unfold free_number. fold h. clearbody h g. clear -G F Bound NE. destruct ks as [|k l]; simpl; [congruence|].
  destruct (F l (h k) (g k)) as (psi & E & B & C); [apply G; simpl; auto|intros; apply G; simpl; auto|].
  exists psi. split; auto. apply Bound. intros j [<-|Ij]; [exact B|now apply C].
Qed.
End Letter.
