(** A checker of proofs from above, as a program that Coq runs, and the theorem that what it accepts is true.

    The hints of a proof are integers, in units of 2^-100 (Enclosures.v, [fixed]). A wrong hint can make the check fail; it cannot
    make it accept what is false. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Bounds Vertices Enclosures.
Import ListNotations.
Open Scope R_scope.

(** ** Proofs, as docs/certificate-format.md has them *)

(** A tree about one letter's law of the output: cuts at a threshold, and leaves with slopes. *)
Inductive row_tree :=
  | RowCut (y : nat) (t : Z) (below above : row_tree)
  | Row (kappa : list Z).

(** A tree about the inputs that letters use, the entropy bound dropped: the listed inputs of a letter, then its others; leaves with an
    output law, or with the entropy of a letter. *)
Inductive class_tree :=
  | Part (a : nat) (listed : list nat) (these others : class_tree)
  | Law (r : list Z)
  | Letters.

Inductive proof :=
  | Split (a y : nat) (t : Z) (below above : proof)      (* of the posterior of letter a, given output y *)
  | Cut (a y : nat) (t : Z) (below above : proof)        (* of the probability of output y, given letter a *)
  | Joint (theta mu : Z) (sigma : list (list Z)) (r : list Z) (rows : list row_tree)
  | Vertices (t : class_tree).

(** ** Boxes *)

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

(** ** One record *)

Section Record.
Variables (A Y V : nat).
(** Tables: the counts, the inputs that each letter has, the channel; the entropy bound and the claim. *)
Variables (counts : list (list Z)) (inputs : list (list nat)) (channel : list (list interval)) (bound upper : interval).

Definition count_at (a k : nat) : Z := nth k (row_at counts a) 0%Z.
Definition slope_at (kappa : list Z) (y : nat) : Z := nth y kappa 0%Z.
Definition sloped (x : interval) (slope : Z) : interval := if (slope =? 0)%Z then zero else times x (of_fixed slope).

(** An interval of a number that is at least as large as those in two intervals. *)
Definition larger (i j : interval) : interval := if not_above i j then j else if not_above j i then i else either i j.

Section Row.
Variables (theta mu : Z) (a : nat) (scores : list interval).

Definition row_number (kappa : list Z) (box : list range) : interval :=
  plus (isum_to Y (fun y => line theta (slope_at kappa y) (range_at box y)))
    (times (of_fixed mu) (log_sum_exp (map (fun k => (count_at a k,
      over (plus (entry scores k) (isum_to Y (fun y => sloped (entry2 channel k y) (slope_at kappa y)))) (of_fixed mu)))
      (row_at inputs a)))).

(** What bounds the row problem, or nothing where there is no law of the output in the box. *)
Fixpoint row_check (t : row_tree) (box : list range) : option interval :=
  match t with
  | RowCut y z below above =>
      match row_check below (lower_part y z box), row_check above (upper_part y z box) with
      | Some i, Some j => Some (larger i j)
      | Some i, None | None, Some i => Some i
      | None, None => None
      end
  | Row kappa =>
      let tight := tightened Y box in
      if empty tight then None else Some (row_number kappa tight)
  end.

(** Without a price for entropy. *)
Definition free_number : option interval :=
  match map (fun k => plus (entry scores k) (times (of_fixed theta) (isum_to Y (fun y => times_own_log (entry2 channel k y)))))
    (row_at inputs a) with
  | [] => None
  | i :: l => Some (fold_right either i l)
  end.
End Row.

Definition line_table (theta : Z) (sigma : list (list Z)) (posterior : list (list range)) : list interval :=
  tabulate Y (fun y => isum_to A (fun b => line (one - theta) (slope_at (row_at sigma b) y) (range_at (row_at posterior y) b))).
Definition reference_table (theta : Z) (r : list Z) : list interval :=
  tabulate Y (fun y => times (of_fixed theta) (log (of_fixed (slope_at r y)))).
Definition term_table (lines references : list interval) (sigma : list Z) : list interval :=
  tabulate Y (fun y => minus (plus (entry lines y) (of_fixed (slope_at sigma y))) (entry references y)).
Definition score_table (theta : Z) (sigma : list (list Z)) (r : list Z) (posterior : list (list range)) : list (list interval) :=
  let lines := line_table theta sigma posterior in
  let references := reference_table theta r in
  map (fun a =>
    let terms := term_table lines references (row_at sigma a) in
    tabulate V (fun k => if (0 <? count_at a k)%Z then isum_to Y (fun y => times (entry2 channel k y) (entry terms y)) else anything))
    (seq 0 A).

Fixpoint all_some {B} (l : list (option B)) : option (list B) :=
  match l with
  | [] => Some []
  | None :: _ => None
  | Some x :: l => match all_some l with Some t => Some (x :: t) | None => None end
  end.

Definition is_listed (l : list nat) (k : nat) : bool := existsb (Nat.eqb k) l.
Definition law_given (r : list Z) : bool :=
  forallb (fun y => (0 <? slope_at r y)%Z) (seq 0 Y) && (fold_right (fun y t => slope_at r y + t) 0 (seq 0 Y) <=? one)%Z.

Definition joint_check (theta mu : Z) (sigma : list (list Z)) (r : list Z) (rows : list row_tree)
    (posterior conditional : list (list range)) : bool :=
  let posterior := map (fun y => tightened A (row_at posterior y)) (seq 0 Y) in
  let tau := (one - theta + mu)%Z in
  (0 <=? theta)%Z && (theta <=? one)%Z && (0 <=? mu)%Z
  && law_given r
  && (existsb empty posterior ||
      let scores := score_table theta sigma r posterior in
      match all_some (map (fun a =>
        if (mu =? 0)%Z then free_number theta a (row_at scores a)
        else row_check theta mu a (row_at scores a) (nth a rows (Row [])) (row_at conditional a)) (seq 0 A)) with
      | None => true
      | Some psi =>
          if (tau =? 0)%Z then forallb (fun i => not_above i upper) psi
          else not_above (minus (times (of_fixed tau) (log_sum_exp (map (fun a => (1%Z, over (entry psi a) (of_fixed tau))) (seq 0 A))))
            (times (of_fixed mu) bound)) upper
      end).

Fixpoint class_check (t : class_tree) (used : list (list nat)) : bool :=
  match t with
  | Part a l these others =>
      (a <? A)%nat && class_check these (change [] a (filter (is_listed l)) used)
      && class_check others (change [] a (filter (fun k => negb (is_listed l k))) used)
  | Law r =>
      let logs := tabulate Y (fun y => log (of_fixed (slope_at r y))) in
      law_given r &&
      forallb (fun a => forallb (fun k =>
        not_above (minus (isum_to Y (fun y => times_own_log (entry2 channel k y)))
          (isum_to Y (fun y => times (entry2 channel k y) (entry logs y)))) upper) (row_at used a)) (seq 0 A)
  | Letters => not_above (log (of_Z (Z.of_nat A))) upper
  end.

Fixpoint check (p : proof) (posterior conditional : list (list range)) : bool :=
  match p with
  | Split a y t below above =>
      check below (change [] y (lower_part a t) posterior) conditional && check above (change [] y (upper_part a t) posterior) conditional
  | Cut a y t below above =>
      check below posterior (change [] a (lower_part y t) conditional) && check above posterior (change [] a (upper_part y t) conditional)
  | Joint theta mu sigma r rows => joint_check theta mu sigma r rows posterior conditional
  | Vertices t => class_check t inputs
  end.

(** The ranges at the root hold for every input of each letter. *)
Definition root_check (root : list (list range)) : bool :=
  forallb (fun a => forallb (fun k => forallb (fun y =>
    let g := range_at (row_at root a) y in
    not_above (of_fixed (fst g)) (entry2 channel k y) && not_above (entry2 channel k y) (of_fixed (snd g)))
    (seq 0 Y)) (row_at inputs a)) (seq 0 A).

Definition record_check (root : list (list range)) (p : proof) : bool := root_check root && check p [] root.

(** ** What is accepted is true *)

Context {X : Type}.
Variables (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R) (P : X -> R) (b up : R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Hypothesis HN : forall a k, (a < A)%nat -> (k < V)%nat -> count_at a k = N a k /\ (0 <= N a k)%Z.
Hypothesis Hinputs : forall a, (a < A)%nat -> row_at inputs a = filter (fun k => (0 <? count_at a k)%Z) (seq 0 V).
Hypothesis HW : forall k y, encl (entry2 channel k y) (W k y).
Hypothesis Hb : encl bound b.
Hypothesis Hup : encl upper up.
Hypothesis HP : is_law A xs P.
Hypothesis Hent : b <= ent A xs P.

Lemma in_inputs a k : (a < A)%nat -> In k (row_at inputs a) <-> (k < V)%nat /\ (0 < N a k)%Z.
Proof.
  intro Ha. rewrite Hinputs, filter_In, in_to, Z.ltb_lt by auto. split; intros [Hk H]; split; auto;
    destruct (HN a k Ha Hk) as [E _]; congruence.
Qed.
Lemma sum_inputs a g : (a < A)%nat -> sum_to V (fun k => IZR (N a k) * g k) = sum (row_at inputs a) (fun k => IZR (count_at a k) * g k).
Proof.
  intro Ha. rewrite Hinputs, sum_filter by auto. apply sum_to_ext; intros k Hk. destruct (HN a k Ha Hk) as [-> N0].
  destruct (Z.ltb_spec 0 (N a k)); auto. replace (N a k) with 0%Z by lia. ring.
Qed.

Lemma encl_sloped x i slope : encl i x -> encl (sloped i slope) (x * fixed slope).
Proof.
  intro H. unfold sloped. destruct (Z.eqb_spec slope 0) as [->|].
  - rewrite fixed_0, Rmult_0_r. exact (encl_Z 0).
  - apply encl_times; auto using encl_fixed.
Qed.

Lemma larger_l i j x y : encl i x -> encl j y -> exists z, encl (larger i j) z /\ x <= z.
Proof.
  intros Hi Hj. unfold larger. destruct (not_above i j) eqn:E.
  - exists y. split; auto. now apply (not_above_correct i j).
  - destruct (not_above j i); exists x; split; auto using encl_either_l; lra.
Qed.
Lemma larger_r i j x y : encl i x -> encl j y -> exists z, encl (larger i j) z /\ y <= z.
Proof.
  intros Hi Hj. unfold larger. destruct (not_above i j).
  - exists y. split; auto. lra.
  - destruct (not_above j i) eqn:E; [|exists y; split; auto using encl_either_r; lra].
    exists x. split; auto. now apply (not_above_correct j i).
Qed.

Lemma encl_row_number theta mu a scores S kappa box : (a < A)%nat -> (forall k, In k (row_at inputs a) -> encl (entry scores k) (S k)) ->
  encl (row_number theta mu a scores kappa box) (row_value Y V N W (fixed theta) (fixed mu) a S (fun y => fixed (slope_at kappa y))
    (fun y => fixed (fst (range_at box y))) (fun y => fixed (snd (range_at box y)))).
Proof.
  intros Ha HS. unfold row_number, row_value. apply encl_plus.
  - apply encl_isum_to. intros; apply encl_line.
  - apply encl_times; [apply encl_fixed|]. rewrite sum_inputs by auto. apply encl_log_sum_exp.
    + intros k Hk. apply encl_over; [|apply encl_fixed]. apply encl_plus; auto.
      apply encl_isum_to; intros y Hy. now apply encl_sloped.
    + intros k Hk. apply (in_inputs a k Ha) in Hk as [Hk N0]. now rewrite (proj1 (HN a k Ha Hk)).
Qed.
Lemma row_check_some theta mu a scores S : (a < A)%nat -> (forall k, In k (row_at inputs a) -> encl (entry scores k) (S k)) ->
  forall t box i, row_check theta mu a scores t box = Some i -> exists z, encl i z.
Proof.
  intros Ha HS t. induction t as [y z below IHb above IHa|kappa]; intros box i H; cbn [row_check] in H.
  - destruct (row_check _ _ _ _ below _) as [i1|] eqn:E1; destruct (row_check _ _ _ _ above _) as [i2|] eqn:E2;
      try discriminate; injection H as <-; eauto.
    destruct (IHb _ _ E1) as [z1 H1]. destruct (IHa _ _ E2) as [z2 H2]. destruct (larger_l _ _ _ _ H1 H2) as (x & Hx & _). eauto.
  - destruct (empty _); [discriminate|]. injection H as <-. eexists. exact (encl_row_number theta mu a scores S kappa _ Ha HS).
Qed.

Lemma row_check_correct theta mu a scores S (K : nat -> R) : (a < A)%nat -> (0 <= theta)%Z -> (0 < mu)%Z ->
  (forall k, In k (row_at inputs a) -> encl (entry scores k) (S k)) ->
  (forall y, (y < Y)%nat -> u xs f W P a y = K y * mass xs P a) ->
  (forall y, (y < Y)%nat -> 0 <= K y) -> sum_to Y K = 1 ->
  forall t box, (forall y, (y < Y)%nat -> inside (range_at box y) (K y)) ->
  match row_check theta mu a scores t box with
  | None => False
  | Some i => exists psi, encl i psi /\ row_problem Y xs f W P (fixed theta) (fixed mu) a S psi
  end.
Proof.
  intros Ha Ht Hm HS HK K0 K1 t. induction t as [y z below IHb above IHa|kappa]; intros box Hbox; cbn [row_check].
  - pose proof (row_check_some theta mu a scores S Ha HS below (lower_part y z box)) as Sb.
    pose proof (row_check_some theta mu a scores S Ha HS above (upper_part y z box)) as Sa.
    destruct (inside_parts box K y z Y Hbox) as [H|H].
    + specialize (IHb _ H). destruct (row_check _ _ _ _ below _) as [i|]; [|tauto]. destruct IHb as (psi & E & R).
      destruct (row_check _ _ _ _ above _) as [j|]; [|exists psi; auto]. destruct (Sa j eq_refl) as [x Hx].
      destruct (larger_l i j psi x E Hx) as (m & Hm' & L). exists m. split; auto.
      exact (row_problem_weaken A Y xs f W P HP _ _ a S psi m Ha L R).
    + specialize (IHa _ H). destruct (row_check _ _ _ _ above _) as [j|]; [|tauto]. destruct IHa as (psi & E & R).
      destruct (row_check _ _ _ _ below _) as [i|]; [|exists psi; auto]. destruct (Sb i eq_refl) as [x Hx].
      destruct (larger_r i j x psi Hx E) as (m & Hm' & L). exists m. split; auto.
      exact (row_problem_weaken A Y xs f W P HP _ _ a S psi m Ha L R).
  - pose proof (tightened_inside Y box K Hbox K0 K1) as T. destruct (empty (tightened Y box)) eqn:E.
    { exact (empty_correct Y box K E T). }
    exists (row_value Y V N W (fixed theta) (fixed mu) a S (fun y => fixed (slope_at kappa y))
      (fun y => fixed (fst (range_at (tightened Y box) y))) (fun y => fixed (snd (range_at (tightened Y box) y)))).
    split; [now apply encl_row_number|].
    apply (row_leaf A Y V xs f N W Hwc P HP) with (K := K); auto.
    1, 2: rewrite <- fixed_0; auto using fixed_le, fixed_lt.
    intros y Hy. split; [now apply tightened_nonneg|]. exact (T y Hy).
Qed.

Lemma free_number_correct theta a scores S : (a < A)%nat -> (0 <= theta)%Z ->
  (forall k, In k (row_at inputs a) -> encl (entry scores k) (S k)) ->
  match free_number theta a scores with
  | None => False
  | Some i => exists psi, encl i psi /\ row_problem Y xs f W P (fixed theta) (fixed 0) a S psi
  end.
Proof.
  intros Ha Ht HS. set (g := fun k => S k + fixed theta * sum_to Y (fun y => xlnx (W k y))).
  set (h := fun k => plus (entry scores k) (times (of_fixed theta) (isum_to Y (fun y => times_own_log (entry2 channel k y))))).
  assert (G : forall k, In k (row_at inputs a) -> encl (h k) (g k)).
  { intros k Hk. apply encl_plus; auto. apply encl_times; [apply encl_fixed|]. apply encl_isum_to; intros. now apply encl_xlnx. }
  assert (F : forall l i x, encl i x -> (forall k, In k l -> encl (h k) (g k)) ->
    exists psi, encl (fold_right either i (map h l)) psi /\ x <= psi /\ forall k, In k l -> g k <= psi).
  { induction l as [|k l IH]; intros i x Hi Hl; simpl.
    - exists x. repeat split; auto; [lra|tauto].
    - destruct (IH i x Hi) as (psi & E & B & C); [intros; apply Hl; simpl; auto|].
      exists (Rmax (g k) psi). split; [apply encl_max; auto; apply Hl; simpl; auto|]. split; [eapply Rle_trans; [exact B|apply Rmax_r]|].
      intros j [->|Hj]; [apply Rmax_l|]. eapply Rle_trans; [apply C; auto|apply Rmax_r]. }
  unfold free_number. fold h.
  destruct (row_at inputs a) as [|k l] eqn:EI; simpl.
  - pose proof (wc_some _ _ _ _ _ _ _ Hwc a Ha) as NE. destruct (xs a) as [|x t] eqn:EX; [congruence|].
    destruct (wc_row _ _ _ _ _ _ _ Hwc a x Ha) as [K1 K2]; [rewrite EX; simpl; auto|].
    pose proof (proj2 (in_inputs a (f x) Ha) (conj K1 K2)) as I. rewrite EI in I. destruct I.
  - destruct (F l (h k) (g k)) as (psi & E & B & C); [apply G; simpl; auto|intros; apply G; simpl; auto|].
    exists psi. split; auto. rewrite fixed_0.
    apply (row_free A Y V xs f N W Hwc P HP); auto; [rewrite <- fixed_0; now apply fixed_le|].
    intros x Hx _. pose proof (proj2 (in_inputs a (f x) Ha) (wc_row _ _ _ _ _ _ _ Hwc a x Ha Hx)) as I. rewrite EI in I.
    destruct I as [<-|I]; [exact B|now apply C].
Qed.

Lemma all_some_none {B} (l : list (option B)) : all_some l = None -> In None l.
Proof.
  induction l as [|[x|] l IH]; simpl; intro H; try discriminate; auto. destruct (all_some l); [discriminate|auto].
Qed.
Lemma all_some_nth {B} (l : list (option B)) t d j : all_some l = Some t -> (j < length l)%nat -> nth j l None = Some (nth j t d).
Proof.
  revert t j. induction l as [|[x|] l IH]; simpl; intros t j H Hj; [lia| |discriminate].
  destruct (all_some l) as [t'|] eqn:E; [|discriminate]. injection H as <-. destruct j as [|j]; simpl; auto.
  apply IH; auto. lia.
Qed.

Lemma encl_scores theta sigma r posterior a k :
  (a < A)%nat -> In k (row_at inputs a) ->
  encl (entry (row_at (score_table theta sigma r posterior) a) k)
    (score A Y W (fixed theta) (fun b y => fixed (slope_at (row_at sigma b) y))
      (fun b y => fixed (fst (range_at (row_at posterior y) b))) (fun b y => fixed (snd (range_at (row_at posterior y) b)))
      (fun y => fixed (slope_at r y)) a k).
Proof.
  intros Ha Hk. unfold score_table, row_at at 1. rewrite nth_map_seq by auto.
  cbv zeta. set (lines := line_table theta sigma posterior). set (references := reference_table theta r).
  set (terms := term_table lines references (row_at sigma a)).
  set (lo := fun b y => fixed (fst (range_at (row_at posterior y) b))).
  set (hi := fun b y => fixed (snd (range_at (row_at posterior y) b))).
  assert (L : forall y, encl (entry lines y)
    (sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y)))).
  { intro y. refine (encl_entry Y _ (fun y => sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))) y _).
    intros z _. apply encl_isum_to; intros. rewrite <- fixed_one, <- fixed_minus. apply encl_line. }
  assert (R : forall y, encl (entry references y) (fixed theta * ln (fixed (slope_at r y)))).
  { intro y. refine (encl_entry Y _ (fun y => fixed theta * ln (fixed (slope_at r y))) y _).
    intros. apply encl_times; [apply encl_fixed|apply encl_log, encl_fixed]. }
  assert (T : forall y, encl (entry terms y) (sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))
    + fixed (slope_at (row_at sigma a) y) - fixed theta * ln (fixed (slope_at r y)))).
  { intro y. refine (encl_entry Y _ (fun y => sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))
    + fixed (slope_at (row_at sigma a) y) - fixed theta * ln (fixed (slope_at r y))) y _).
    intros. apply encl_minus; auto. apply encl_plus; auto using encl_fixed. }
  apply (encl_entry V _ (fun k => score A Y W (fixed theta) (fun b y => fixed (slope_at (row_at sigma b) y)) lo hi (fun y => fixed (slope_at r y)) a k)).
  intros j _. destruct (0 <? count_at a j)%Z; [|apply encl_anything].
  unfold score. apply encl_isum_to; intros y _. now apply encl_times.
Qed.

Variables v K : nat -> nat -> R.
Hypothesis Hv : forall a y, (a < A)%nat -> (y < Y)%nat -> u xs f W P a y = v a y * s A xs f W P y /\ 0 <= v a y <= 1.
Hypothesis Hv1 : forall y, (y < Y)%nat -> sum_to A (fun a => v a y) = 1.
Hypothesis HK : forall a y, (a < A)%nat -> (y < Y)%nat -> u xs f W P a y = K a y * mass xs P a.
Hypothesis HK1 : forall a, (a < A)%nat -> sum_to Y (K a) = 1.
Hypothesis HKbox : forall a y lo hi, (a < A)%nat -> (y < Y)%nat ->
  (forall k, (k < V)%nat -> (0 < N a k)%Z -> lo <= W k y <= hi) -> lo <= K a y <= hi.

Lemma K0 a y : (a < A)%nat -> (y < Y)%nat -> 0 <= K a y.
Proof.
  intros Ha Hy. apply (HKbox a y 0 1); auto. intros k Hk Nk.
  pose proof (wc_nonneg _ _ _ _ _ _ _ Hwc a k y Ha Hk Nk Hy) as L. split; auto.
  rewrite <- (wc_one _ _ _ _ _ _ _ Hwc a k Ha Hk Nk). apply (sum_ge_member (seq 0 Y) (W k)); [now apply in_to|].
  intros z Hz. apply (wc_nonneg _ _ _ _ _ _ _ Hwc a k z); auto. now apply in_to.
Qed.

Definition in_posterior (box : list (list range)) := forall a y, (a < A)%nat -> (y < Y)%nat -> inside (range_at (row_at box y) a) (v a y).
Definition in_conditional (box : list (list range)) := forall a y, (a < A)%nat -> (y < Y)%nat -> inside (range_at (row_at box a) y) (K a y).

Lemma law_given_correct r : law_given r = true ->
  (forall y, (y < Y)%nat -> 0 < fixed (slope_at r y)) /\ sum_to Y (fun y => fixed (slope_at r y)) <= 1.
Proof.
  intro H. apply andb_prop in H as [H1 H2]. apply Z.leb_le in H2. split.
  - intros y Hy. rewrite forallb_forall in H1. specialize (H1 y (proj2 (in_to _ _) Hy)). apply Z.ltb_lt in H1.
    rewrite <- fixed_0. now apply fixed_lt.
  - rewrite <- fixed_one. eapply Rle_trans; [|apply fixed_le, H2]. right. unfold sum_to. clear.
    induction (seq 0 Y) as [|y l IH]; simpl; [now rewrite fixed_0|]. now rewrite fixed_plus, IH.
Qed.

Lemma joint_check_correct theta mu sigma r rows posterior conditional :
  joint_check theta mu sigma r rows posterior conditional = true ->
  in_posterior posterior -> in_conditional conditional -> info A Y xs f W P <= up.
Proof.
  unfold joint_check. set (tight := map (fun y => tightened A (row_at posterior y)) (seq 0 Y)).
  intros H Hpost Hcond. apply andb_prop in H as [H C]. apply andb_prop in H as [H Cr].
  apply andb_prop in H as [H Cmu]. apply andb_prop in H as [Ct0 Ct1]. apply Z.leb_le in Ct0, Ct1, Cmu.
  assert (T : forall a y, (a < A)%nat -> (y < Y)%nat -> row_at tight y = tightened A (row_at posterior y) /\
      inside (range_at (tightened A (row_at posterior y)) a) (v a y)).
  { intros a y Ha Hy. split; [unfold tight, row_at at 1; now rewrite nth_map_seq|].
    apply (tightened_inside A (row_at posterior y) (fun a => v a y)); auto. intros c Hc. now apply Hv. }
  apply orb_prop in C as [C|C].
  { exfalso. apply existsb_exists in C as (box & I & E). unfold tight in I. apply in_map_iff in I as (y & <- & I). apply in_to in I.
    apply (empty_correct A (row_at posterior y) (fun a => v a y) E). intros a Ha. now apply T. }
  set (S := score A Y W (fixed theta) (fun b y => fixed (slope_at (row_at sigma b) y))
      (fun b y => fixed (fst (range_at (row_at tight y) b))) (fun b y => fixed (snd (range_at (row_at tight y) b)))
      (fun y => fixed (slope_at r y))).
  set (F := fun a => if (mu =? 0)%Z then free_number theta a (row_at (score_table theta sigma r tight) a)
        else row_check theta mu a (row_at (score_table theta sigma r tight) a) (nth a rows (Row [])) (row_at conditional a)).
  assert (Fok : forall a, (a < A)%nat -> match F a with None => False
    | Some i => exists psi, encl i psi /\ row_problem Y xs f W P (fixed theta) (fixed mu) a (S a) psi end).
  { intros a Ha. unfold F. assert (HS : forall k, In k (row_at inputs a) -> encl (entry (row_at (score_table theta sigma r tight) a) k) (S a k))
      by (intros; now apply encl_scores).
    destruct (Z.eqb_spec mu 0) as [->|M].
    - now apply free_number_correct.
    - apply row_check_correct with (K := K a); auto; [lia|]. intros; now apply K0. }
  cbv zeta in C. fold F in C.
  destruct (all_some (map F (seq 0 A))) as [psi|] eqn:EF.
  2: { exfalso. apply all_some_none in EF. apply in_map_iff in EF as (a & E & I). apply in_to in I. specialize (Fok a I).
       now rewrite E in Fok. }
  assert (Psi : forall a, (a < A)%nat -> exists x, encl (entry psi a) x /\ row_problem Y xs f W P (fixed theta) (fixed mu) a (S a) x).
  { intros a Ha. specialize (Fok a Ha). pose proof (all_some_nth _ _ anything a EF) as E.
    rewrite map_length, seq_length in E. specialize (E Ha). rewrite nth_map_seq in E by auto. now rewrite E in Fok. }
  assert (Choice : exists x : nat -> R, forall a, (a < A)%nat -> encl (entry psi a) (x a) /\
      row_problem Y xs f W P (fixed theta) (fixed mu) a (S a) (x a)).
  { exact (choices A (fun a x => encl (entry psi a) x /\ row_problem Y xs f W P (fixed theta) (fixed mu) a (S a) x) Psi). }
  destruct Choice as [x Hx].
  apply law_given_correct in Cr as [Hr Hr1].
  assert (Hbox : forall a y, (a < A)%nat -> (y < Y)%nat -> 0 <= fixed (fst (range_at (row_at tight y) a)) /\
      fixed (fst (range_at (row_at tight y) a)) <= v a y <= fixed (snd (range_at (row_at tight y) a))).
  { intros a y Ha Hy. destruct (T a y Ha Hy) as [-> I]. split; [now apply tightened_nonneg|exact I]. }
  assert (Ht : 0 <= fixed theta <= 1) by (rewrite <- fixed_0 at 1; rewrite <- fixed_one; split; now apply fixed_le).
  assert (Hm : 0 <= fixed mu) by (rewrite <- fixed_0; now apply fixed_le).
  assert (Etau : fixed (one - theta + mu) = 1 - fixed theta + fixed mu) by (now rewrite fixed_plus, fixed_minus, fixed_one).
  destruct (Z.eqb_spec (one - theta + mu) 0) as [Z|Z].
  - assert (theta = one) by lia. assert (mu = 0%Z) by lia. subst theta mu. rewrite fixed_one, fixed_0 in *.
    apply (joint_leaf_free A Y V xs f N W Hwc P HP v (fun b y => fixed (slope_at (row_at sigma b) y))
      (fun b y => fixed (fst (range_at (row_at tight y) b))) (fun b y => fixed (snd (range_at (row_at tight y) b)))
      (fun y => fixed (slope_at r y)) x up); auto; try (intros; now apply Hv); try (intros; now apply Hx).
    + intros a Ha. destruct (Hx a Ha) as [_ R]. unfold S in R. rewrite fixed_one in R. exact R.
    + intros a Ha. rewrite forallb_forall in C. apply (not_above_correct (entry psi a) upper); auto; [|now apply Hx].
      apply C. apply nth_In. pose proof (all_some_nth _ _ anything a EF) as E. clear -EF Ha.
      assert (L : length psi = length (map F (seq 0 A))); [|rewrite L, map_length, seq_length; auto].
      revert psi EF. induction (map F (seq 0 A)) as [|[i|] l IH]; simpl; intros psi H; try discriminate; [now injection H as <-|].
      destruct (all_some l); [|discriminate]. injection H as <-. simpl. now rewrite IH.
  - eapply Rle_trans.
    + apply (joint_leaf A Y V xs f N W Hwc P HP (fixed theta) (fixed mu) v (fun b y => fixed (slope_at (row_at sigma b) y))
        (fun b y => fixed (fst (range_at (row_at tight y) b))) (fun b y => fixed (snd (range_at (row_at tight y) b)))
        (fun y => fixed (slope_at r y)) x b); auto; try (intros; now apply Hv); try (intros; now apply Hx).
      rewrite <- Etau, <- fixed_0. apply fixed_lt. lia.
    + rewrite <- Etau. eapply not_above_correct; [exact C| |exact Hup].
      apply encl_minus; apply encl_times; auto using encl_fixed. unfold sum_to.
      rewrite (sum_ext _ (fun a => exp _) (fun a => 1 * exp (x a / fixed (one - theta + mu)))) by (intros; ring).
      apply (encl_log_sum_exp (seq 0 A) (fun _ => 1%Z)); [|lia]. intros a Ha. apply in_to in Ha.
      apply encl_over; [now apply Hx|apply encl_fixed].
Qed.

Lemma row_at_change {B} (t : list (list B)) j h k : row_at (change [] j h t) k = if Nat.eqb j k then h (row_at t k) else row_at t k.
Proof. apply nth_change. Qed.

Variable letter_of : X -> nat.
Hypothesis Hletter : forall a x, (a < A)%nat -> In x (xs a) -> letter_of x = a.

Definition may_use (used : list (list nat)) : nat -> nat -> bool := fun a k => is_listed (row_at used a) k.
Lemma is_listed_in l k : is_listed l k = true <-> In k l.
Proof.
  unfold is_listed. rewrite existsb_exists. split; [intros (j & Hj & E); apply Nat.eqb_eq in E; now subst|].
  intro H. exists k. now rewrite Nat.eqb_refl.
Qed.

Lemma class_check_correct t : forall used, class_check t used = true ->
  forall Q, is_law A xs Q -> within A xs f (may_use used) Q -> info A Y xs f W Q <= up.
Proof.
  induction t as [a l these IHt others IHo|r|]; intros used H Q HQ HS; cbn [class_check] in H.
  - apply andb_prop in H as [H H2]. apply andb_prop in H as [Ha H1]. apply Nat.ltb_lt in Ha.
    apply (part A Y V xs f N W Hwc letter_of Hletter a (may_use used) (may_use (change [] a (filter (is_listed l)) used))
      (may_use (change [] a (filter (fun k => negb (is_listed l k))) used)) up Ha); auto.
    + intros c k Hk Nb. unfold may_use. rewrite !row_at_change. destruct (Nat.eqb_spec a c); [congruence|]. auto.
    + intros k Hk. unfold may_use in *. rewrite !row_at_change, Nat.eqb_refl. rewrite !is_listed_in, !filter_In in *.
      destruct (is_listed l k); auto.
    + exact (IHt _ H1).
    + exact (IHo _ H2).
  - apply andb_prop in H as [Hr H]. apply law_given_correct in Hr as [Hr Hr1].
    apply (law_leaf A Y V xs f N W Hwc (may_use used) (fun y => fixed (slope_at r y)) up); auto.
    intros a k Ha Hk Nk Sk. rewrite forallb_forall in H. specialize (H a (proj2 (in_to _ _) Ha)).
    rewrite forallb_forall in H. specialize (H k (proj1 (is_listed_in _ _) Sk)).
    eapply not_above_correct; [exact H| |exact Hup]. apply encl_minus; apply encl_isum_to; intros y Hy.
    + now apply encl_xlnx.
    + apply encl_times; auto. apply (encl_entry Y _ (fun y => ln (fixed (slope_at r y)))). intros. apply encl_log, encl_fixed.
  - eapply Rle_trans; [now apply (letters_leaf A Y V xs f N W Hwc)|].
    eapply not_above_correct; [exact H| |exact Hup]. apply encl_log. rewrite INR_IZR_INZ. apply encl_Z.
Qed.

Lemma check_correct p : forall posterior conditional, check p posterior conditional = true ->
  in_posterior posterior -> in_conditional conditional -> info A Y xs f W P <= up.
Proof.
  induction p as [a y t below IHb above IHa|a y t below IHb above IHa|theta mu sigma r rows|t];
    intros posterior conditional H Hp Hc; cbn [check] in H.
  - apply andb_prop in H as [H1 H2]. destruct (Nat.lt_ge_cases y Y) as [Hy|Hy].
    + destruct (inside_parts (row_at posterior y) (fun a => v a y) a t A) as [I|I]; [intros; now apply Hp| |].
      * apply (IHb _ _ H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z) as [<-|]; auto.
      * apply (IHa _ _ H2); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z) as [<-|]; auto.
    + apply (IHb _ _ H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z); auto. lia.
  - apply andb_prop in H as [H1 H2]. destruct (Nat.lt_ge_cases a A) as [Ha|Ha].
    + destruct (inside_parts (row_at conditional a) (K a) y t Y) as [I|I]; [intros; now apply Hc| |].
      * apply (IHb _ _ H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c) as [<-|]; auto.
      * apply (IHa _ _ H2); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c) as [<-|]; auto.
    + apply (IHb _ _ H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c); auto. lia.
  - eapply joint_check_correct; eauto.
  - apply (class_check_correct t inputs H P HP). intros a x Ha Hx _. apply is_listed_in. apply (in_inputs a (f x) Ha).
    now apply (wc_row _ _ _ _ _ _ _ Hwc).
Qed.

Lemma root_check_correct root : root_check root = true -> in_conditional root.
Proof.
  intros H a y Ha Hy. unfold root_check in H. rewrite forallb_forall in H. specialize (H a (proj2 (in_to _ _) Ha)).
  rewrite forallb_forall in H. apply HKbox; auto. intros k Hk Nk. specialize (H k (proj2 (in_inputs a k Ha) (conj Hk Nk))).
  rewrite forallb_forall in H. specialize (H y (proj2 (in_to _ _) Hy)). apply andb_prop in H as [H1 H2].
  split; [eapply not_above_correct; [exact H1| |]|eapply not_above_correct; [exact H2| |]]; auto using encl_fixed.
Qed.

End Record.
