(** A checker of proofs from above, as a program that Coq runs, and the theorem that what it accepts is true.

    The hints of a proof are integers, in units of 2^-100 (Enclosures.v, [fixed]). A wrong hint can make the check fail; it cannot
    make it accept what is false. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds Vertices Groups Orbits Enclosures Boxes RowChecker.
Import ListNotations.
Open Scope R_scope.

(** ** Proofs, as docs/certificate-format.md has them *)

(** A tree about the inputs that letters use, the entropy bound dropped: the listed inputs of a letter, then its others; leaves with an
    output law, or with the entropy of a letter. *)
Inductive class_tree :=
  | Part (a : nat) (listed : list nat) (these others : class_tree)
  | Law (r : list Z)
  | Letters.

(** What is cut: the posterior of a letter, given an output, or the probability of an output, given a letter. *)
Inductive quantity := OfPosterior | OfConditional.
(** Which part of a cut stands for its images under symmetries. *)
Inductive side := Above | Below.

Inductive proof :=
  | Split (a y : nat) (t : Z) (below above : proof)      (* of the posterior of letter a, given output y *)
  | Cut (a y : nat) (t : Z) (below above : proof)        (* of the probability of output y, given letter a *)
  | Orbit (of : quantity) (s : side) (a y : nat) (t : Z) (symmetries : list (list nat * list nat * list nat)) (below above : proof)
  | Group (parts : list (list nat)) (laws : list Z) (p : proof)   (* a law within each group *)
  | Joint (theta mu : Z) (sigma : list (list Z)) (r : list Z) (rows : list row_tree)
  | Vertices (t : class_tree).

Fixpoint all_some {B} (l : list (option B)) : option (list B) :=
  match l with
  | [] => Some []
  | None :: _ => None
  | Some x :: l => match all_some l with Some t => Some (x :: t) | None => None end
  end.
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

(** ** Cells: a letter and an output *)

Definition cell := (nat * nat)%type.
Definition move (m : list nat * list nat * list nat) (c : cell) : cell :=
  let '(alpha, _, tau) := m in (image alpha (fst c), image tau (snd c)).
Definition has_cell (l : list cell) (c : cell) : bool := existsb (fun d => (fst d =? fst c)%nat && (snd d =? snd c)%nat) l.
Fixpoint orbit (fuel : nat) (ms : list (list nat * list nat * list nat)) (seen new : list cell) : list cell :=
  match fuel, new with
  | O, _ | _, [] => seen
  | S fuel, _ =>
      let next := fold_right (fun c l => if has_cell seen c || has_cell l c then l else c :: l) [] (flat_map (fun c => map (fun m => move m c) ms) new) in
      orbit fuel ms (seen ++ next) next
  end.
Inductive reached (ms : list (list nat * list nat * list nat)) (c0 : cell) : cell -> Prop :=
  | reached_here : reached ms c0 c0
  | reached_step c m : In m ms -> reached ms c0 c -> reached ms c0 (move m c).
Lemma orbit_reached ms c0 : forall fuel seen new, (forall c, In c seen -> reached ms c0 c) -> (forall c, In c new -> reached ms c0 c) ->
  forall c, In c (orbit fuel ms seen new) -> reached ms c0 c.
Proof.
  induction fuel as [|fuel IH]; intros seen new Hs Hn c Hc; cbn [orbit] in Hc; [auto|]. destruct new as [|d new']; [auto|].
  set (next := fold_right _ _ _) in Hc.
  assert (Next : forall c, In c next -> reached ms c0 c).
  { assert (G : forall l, (forall c, In c l -> reached ms c0 c) ->
      forall c, In c (fold_right (fun c l => if has_cell seen c || has_cell l c then l else c :: l) [] l) -> reached ms c0 c).
    { induction l as [|e l IHl]; intros Hl b Hb; [destruct Hb|]. cbn [fold_right] in Hb. destruct (_ || _); [apply IHl; auto; intros; apply Hl; simpl; auto|].
      destruct Hb as [<-|Hb]; [apply Hl; simpl; auto|]. apply IHl; auto. intros; apply Hl; simpl; auto. }
    apply G. intros b Hb. apply in_flat_map in Hb as (e & He & Hb). apply in_map_iff in Hb as (m & <- & Im). constructor; auto. }
  apply (IH (seen ++ next) next); auto. intros b Hb. apply in_app_iff in Hb as [Hb|Hb]; auto.
Qed.

(** ** How far rows are from a law of the outputs *)

Definition law_given (n : nat) (r : list Z) : bool :=
  forallb (fun y => (0 <? slope_at r y)%Z) (seq 0 n) && (fold_right (fun y t => slope_at r y + t) 0 (seq 0 n) <=? one)%Z.
Definition logs_of (n : nat) (r : list Z) : list interval := tabulate n (fun y => log (of_fixed (slope_at r y))).
Definition divergence (n : nat) (channel : list (list interval)) (logs : list interval) (k : nat) : interval :=
  minus (isum_to n (fun y => times_own_log (entry2 channel k y))) (isum_to n (fun y => times (entry2 channel k y) (entry logs y))).
Lemma encl_divergence n channel r (W : nat -> nat -> R) k : (forall k y, encl (entry2 channel k y) (W k y)) ->
  encl (divergence n channel (logs_of n r) k) (sum_to n (fun y => xlnx (W k y)) - sum_to n (fun y => W k y * ln (fixed (slope_at r y)))).
Proof.
  intro HW. apply encl_minus; apply encl_isum_to; intros y _; [now apply encl_xlnx|]. apply encl_times; auto.
  apply (encl_entry n _ (fun y => ln (fixed (slope_at r y)))). intros. apply encl_log, encl_fixed.
Qed.

(** ** One record *)

Section Record.
Variables (A Y V : nat).
(** Tables: the counts, the inputs that each letter has, the channel; whether inputs and outputs may be renamed; and whether an interval
    of c, with a price mu for entropy, is enough: whether c - mu H(P) is at most what is claimed of P. *)
Variables (counts : list (list Z)) (inputs : list (list nat)) (channel : list (list interval)).
Variables (symmetric : list nat -> list nat -> list nat -> bool) (enough : interval -> Z -> bool).

Definition count_at (a k : nat) : Z := nth k (row_at counts a) 0%Z.

(** Outputs, or groups of them: the channel, how far each row is apart from laws within the groups, ranges that hold for all priors. *)
Record view := View {
  plain : bool;
  many : nat;
  entries : list (list interval);
  apart_by : list interval;
  members : list (list nat);
  root : list (list range) }.

Definition line_table (v : view) (theta : Z) (sigma : list (list Z)) (posterior : list (list range)) : list interval :=
  tabulate (many v) (fun y => isum_to A (fun b => line (one - theta) (slope_at (row_at sigma b) y) (range_at (row_at posterior y) b))).
Definition reference_table (v : view) (theta : Z) (r : list Z) : list interval :=
  tabulate (many v) (fun y => times (of_fixed theta) (log (of_fixed (slope_at r y)))).
Definition term_table (v : view) (lines references : list interval) (sigma : list Z) : list interval :=
  tabulate (many v) (fun y => minus (plus (entry lines y) (of_fixed (slope_at sigma y))) (entry references y)).
Definition score_table (v : view) (theta : Z) (sigma : list (list Z)) (r : list Z) (posterior : list (list range)) : list (list interval) :=
  let lines := line_table v theta sigma posterior in
  let references := reference_table v theta r in
  map (fun a =>
    let terms := term_table v lines references (row_at sigma a) in
    tabulate V (fun k => if (0 <? count_at a k)%Z
      then plus (isum_to (many v) (fun y => times (entry2 (entries v) k y) (entry terms y))) (entry (apart_by v) k) else anything))
    (seq 0 A).

(** An output's image has the same slopes, reference and posteriors. *)
Definition even_scores (v : view) (sigma : list (list Z)) (r : list Z) (posterior : list (list range)) (tau : list nat) : bool :=
  plain v && forallb (fun y => (slope_at r (image tau y) =? slope_at r y)%Z
    && forallb (fun a => (slope_at (row_at sigma a) (image tau y) =? slope_at (row_at sigma a) y)%Z
      && same_range (range_at (row_at posterior (image tau y)) a) (range_at (row_at posterior y) a)) (seq 0 A)) (seq 0 (many v)).

Definition joint_check (theta mu : Z) (sigma : list (list Z)) (r : list Z) (rows : list row_tree) (v : view)
    (posterior conditional : list (list range)) : bool :=
  let posterior := map (fun y => tightened A (row_at posterior y)) (seq 0 (many v)) in
  let tau := (one - theta + mu)%Z in
  (0 <=? theta)%Z && (theta <=? one)%Z && (0 <=? mu)%Z
  && law_given (many v) r
  && (existsb empty posterior ||
      let scores := score_table v theta sigma r posterior in
      let even := even_scores v sigma r posterior in
      match all_some (map (fun a =>
        if (mu =? 0)%Z then free_number (many v) (row_at inputs a) (entries v) theta (row_at scores a)
        else row_check (many v) V (row_at counts a) (row_at inputs a) (entries v) theta mu (row_at scores a)
          (fun ks pi tau => plain v && symmetric ks pi tau) even (nth a rows (Row [] [])) (row_at scores a)
          (Family (many v) (entries v) (row_at (root v) a) (row_at conditional a) (singletons (many v))) [] []) (seq 0 A)) with
      | None => true
      | Some psi =>
          if (tau =? 0)%Z then enough (largest (entry psi) (seq 0 A)) mu
          else enough (times (of_fixed tau) (log_sum_exp (map (fun a => (1%Z, over (entry psi a) (of_fixed tau))) (seq 0 A)))) mu
      end).

(** The largest bound of a class tree's leaves; nothing where a leaf is ill formed. *)
Fixpoint class_number (t : class_tree) (used : list (list nat)) : option interval :=
  match t with
  | Part a l these others =>
      match (a <? A)%nat, class_number these (change [] a (filter (is_listed l)) used),
            class_number others (change [] a (filter (fun k => negb (is_listed l k))) used) with
      | true, Some i, Some j => Some (larger i j)
      | _, _, _ => None
      end
  | Law r =>
      let logs := logs_of Y r in
      if law_given Y r then Some (largest (divergence Y channel logs) (flat_map (row_at used) (seq 0 A))) else None
  | Letters => Some (log (of_Z (Z.of_nat A)))
  end.

Definition roots (n : nat) (table : list (list interval)) : list (list range) := map (row_root n table) inputs.
Definition roots_check (n : nat) (table : list (list interval)) (root : list (list range)) : bool :=
  forallb (fun a => row_root_check n table (row_at inputs a) (row_at root a)) (seq 0 A).
Definition whole_view : view := View true Y channel (tabulate V (fun _ => zero)) (singletons Y) (roots Y channel).
Definition group_view (parts : list (list nat)) (laws : list Z) : view :=
  let table := group_table parts channel in
  let logs := logs_of Y laws in
  View false (length parts) table
    (tabulate V (fun k => minus (within_interval parts channel table k) (isum_to Y (fun y => times (entry2 channel k y) (entry logs y)))))
    parts (roots (length parts) table).
Definition laws_given (parts : list (list nat)) (laws : list Z) : bool :=
  forallb (fun y => (0 <? slope_at laws y)%Z) (seq 0 Y)
  && forallb (fun g => (fold_right (fun y t => slope_at laws y + t) 0 (group parts g) <=? one)%Z) (seq 0 (length parts)).

(** The same set of outputs, if there is one, has the same posterior. *)
Fixpoint place_of (l : list (list nat)) (g : list nat) : nat :=
  match l with
  | [] => 0%nat
  | h :: l => if list_eq_dec Nat.eq_dec h g then 0%nat else S (place_of l g)
  end.
Definition kept_posterior (v : view) (parts : list (list nat)) (posterior : list (list range)) : list (list range) :=
  map (fun g => let j := place_of (members v) g in if (j <? many v)%nat then row_at posterior j else []) parts.
Definition kept_conditional (v : view) (parts : list (list nat)) (conditional : list (list range)) : list (list range) :=
  map (fun a => regrouped (members v) (common (many v) (row_at (root v) a) (row_at conditional a)) parts) (seq 0 A).

(** Ranges of a quantity, by cell. *)
Definition ranges_of (q : quantity) (posterior conditional : list (list range)) (c : cell) : range :=
  match q with OfPosterior => range_at (row_at posterior (snd c)) (fst c) | OfConditional => range_at (row_at conditional (fst c)) (snd c) end.
Definition cut_cell (q : quantity) (h : range -> range) (c : cell) (box : list (list range)) : list (list range) :=
  match q with
  | OfPosterior => change [] (snd c) (change (0, one)%Z (fst c) h) box
  | OfConditional => change [] (fst c) (change (0, one)%Z (snd c) h) box
  end.
Definition cut_cells (q : quantity) (h : range -> range) (cs : list cell) (box : list (list range)) : list (list range) :=
  fold_right (cut_cell q h) box cs.
Definition with_cut (q : quantity) (h : range -> range) (cs : list cell) (posterior conditional : list (list range)) :=
  match q with
  | OfPosterior => (cut_cells q h cs posterior, conditional)
  | OfConditional => (posterior, cut_cells q h cs conditional)
  end.

Definition move_check (posterior conditional : list (list range)) (m : list nat * list nat * list nat) : bool :=
  let '(alpha, pi, tau) := m in
  permutes A alpha && permutes V pi && permutes Y tau
  && forallb (fun a => forallb (fun k => (count_at (image alpha a) (image pi k) =? count_at a k)%Z) (seq 0 V)) (seq 0 A)
  && forallb (fun a => symmetric (row_at inputs a) pi tau) (seq 0 A)
  && forallb (fun a => forallb (fun y =>
      same_range (ranges_of OfPosterior posterior conditional (move m (a, y))) (ranges_of OfPosterior posterior conditional (a, y))
      && same_range (ranges_of OfConditional posterior conditional (move m (a, y))) (ranges_of OfConditional posterior conditional (a, y)))
      (seq 0 Y)) (seq 0 A).

Fixpoint check (p : proof) (v : view) (posterior conditional : list (list range)) : bool :=
  match p with
  | Split a y t below above =>
      check below v (change [] y (lower_part a t) posterior) conditional && check above v (change [] y (upper_part a t) posterior) conditional
  | Cut a y t below above =>
      check below v posterior (change [] a (lower_part y t) conditional) && check above v posterior (change [] a (upper_part y t) conditional)
  | Orbit q s a y t ms below above =>
      let all := orbit (A * Y) ms [(a, y)] [(a, y)] in
      let '(lower, upper) := match s with Above => (all, [(a, y)]) | Below => ([(a, y)], all) end in
      let '(lp, lc) := with_cut q (at_most_t t) lower posterior conditional in
      let '(up, uc) := with_cut q (at_least_t t) upper posterior conditional in
      plain v && (a <? A)%nat && (y <? Y)%nat && forallb (move_check posterior conditional) ms && check below v lp lc && check above v up uc
  | Group parts laws p =>
      let v' := group_view parts laws in
      partitions Y parts && laws_given parts laws && roots_check (length parts) (entries v') (root v')
      && check p v' (kept_posterior v parts posterior) (kept_conditional v parts conditional)
  | Joint theta mu sigma r rows => joint_check theta mu sigma r rows v posterior conditional
  | Vertices t => match class_number t inputs with Some i => enough i 0 | None => false end
  end.

Definition record_check (p : proof) : bool := let v := whole_view in roots_check Y channel (root v) && check p v [] [].

(** ** What is accepted is true *)

Context {X : Type}.
Variables (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).
Variables (allowed : (X -> R) -> Prop) (claimed : R -> R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Hypothesis HN : forall a k, (a < A)%nat -> (k < V)%nat -> count_at a k = N a k /\ (0 <= N a k)%Z.
Hypothesis Hinputs : forall a, (a < A)%nat -> row_at inputs a = filter (fun k => (0 <? count_at a k)%Z) (seq 0 V).
Hypothesis HW : forall k y, encl (entry2 channel k y) (W k y).
Hypothesis Hsym : forall ks pi tau, symmetric ks pi tau = true -> forall k y, In k ks -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y.
Variable letter_of : X -> nat.
Hypothesis Hletter : forall a x, (a < A)%nat -> In x (xs a) -> letter_of x = a.
(** The adversary's priors, of each of which something is claimed that falls with its entropy. *)
Hypothesis Hallowed : forall P, allowed P -> is_law A xs P.
Hypothesis Hmore : forall P Q, allowed P -> is_law A xs Q -> ent A xs P <= ent A xs Q -> allowed Q /\ claimed (ent A xs Q) <= claimed (ent A xs P).
Hypothesis Henough : forall i mu c P, enough i mu = true -> encl i c -> (0 <= mu)%Z -> allowed P -> c - fixed mu * ent A xs P <= claimed (ent A xs P).

Lemma in_inputs a k : (a < A)%nat -> In k (row_at inputs a) <-> (k < V)%nat /\ (0 < N a k)%Z.
Proof.
  intro Ha. rewrite Hinputs, filter_In, in_to, Z.ltb_lt by auto. split; intros [Hk H]; split; auto;
    destruct (HN a k Ha Hk) as [E _]; congruence.
Qed.
Lemma rows_are a : (a < A)%nat -> is_rows V (N a) Y W.
Proof. intro Ha. split; intros; [now apply (wc_nonneg _ _ _ _ _ _ _ Hwc a)|now apply (wc_one _ _ _ _ _ _ _ Hwc a)]. Qed.

(** A view of a channel W', and the mean of e' that it leaves out. *)
Definition view_ok (v : view) (W' : nat -> nat -> R) (e' : nat -> R) : Prop :=
  well_counted A (many v) V xs f N W' /\ (forall k y, encl (entry2 (entries v) k y) (W' k y)) /\ (forall k, encl (entry (apart_by v) k) (e' k)) /\
  (plain v = true -> many v = Y /\ W' = W /\ forall k, e' k = 0) /\
  partitions Y (members v) = true /\ length (members v) = many v /\ (forall k g, (g < many v)%nat -> W' k g = sum (group (members v) g) (W k)) /\
  (forall a k y, (a < A)%nat -> In k (row_at inputs a) -> (y < many v)%nat -> inside (range_at (row_at (root v) a) y) (W' k y)) /\
  forall P, is_law A xs P -> info A Y xs f W P <= info A (many v) xs f W' P + mean A xs f P e'.

Definition conditional_of (W' : nat -> nat -> R) (P : X -> R) (a y : nat) : R := mixed V W' (conditional xs f N P a) y.
Definition in_posterior (v : view) W' P (box : list (list range)) :=
  forall a y, (a < A)%nat -> (y < many v)%nat -> inside (range_at (row_at box y) a) (posterior A xs f W' P a y).
Definition in_conditional (v : view) W' P (box : list (list range)) :=
  forall a y, (a < A)%nat -> (y < many v)%nat -> inside (range_at (row_at box a) y) (conditional_of W' P a y).

Lemma law_given_correct n r : law_given n r = true ->
  (forall y, (y < n)%nat -> 0 < fixed (slope_at r y)) /\ sum_to n (fun y => fixed (slope_at r y)) <= 1.
Proof.
  intro H. apply andb_prop in H as [H1 H2]. apply Z.leb_le in H2. split.
  - intros y Hy. rewrite forallb_forall in H1. specialize (H1 y (proj2 (in_to _ _) Hy)). apply Z.ltb_lt in H1.
    rewrite <- fixed_0. now apply fixed_lt.
  - rewrite <- fixed_one. eapply Rle_trans; [|apply fixed_le, H2]. right. unfold sum_to. clear.
    induction (seq 0 n) as [|y l IH]; simpl; [now rewrite fixed_0|]. now rewrite fixed_plus, IH.
Qed.

Section View.
Variables (v : view) (W' : nat -> nat -> R) (e' : nat -> R).
Hypothesis Hview : view_ok v W' e'.
Let Hwc' : well_counted A (many v) V xs f N W' := proj1 Hview.
Let HW' : forall k y, encl (entry2 (entries v) k y) (W' k y) := proj1 (proj2 Hview).
Let He' : forall k, encl (entry (apart_by v) k) (e' k) := proj1 (proj2 (proj2 Hview)).

Definition score_at theta sigma r posterior a k : R :=
  score A (many v) W' (fixed theta) (fun b y => fixed (slope_at (row_at sigma b) y))
    (fun b y => fixed (fst (range_at (row_at posterior y) b))) (fun b y => fixed (snd (range_at (row_at posterior y) b)))
    (fun y => fixed (slope_at r y)) a k + e' k.
Lemma encl_scores theta sigma r posterior a k : (a < A)%nat -> In k (row_at inputs a) ->
  encl (entry (row_at (score_table v theta sigma r posterior) a) k) (score_at theta sigma r posterior a k).
Proof.
  intros Ha Hk. unfold score_table, row_at at 1. rewrite nth_map_seq by auto.
  cbv zeta. set (lines := line_table v theta sigma posterior). set (references := reference_table v theta r).
  set (terms := term_table v lines references (row_at sigma a)).
  set (lo := fun b y => fixed (fst (range_at (row_at posterior y) b))).
  set (hi := fun b y => fixed (snd (range_at (row_at posterior y) b))).
  assert (L : forall y, encl (entry lines y)
    (sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y)))).
  { intro y. refine (encl_entry (many v) _ (fun y => sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))) y _).
    intros z _. apply encl_isum_to; intros. rewrite <- fixed_one, <- fixed_minus. apply encl_line. }
  assert (R : forall y, encl (entry references y) (fixed theta * ln (fixed (slope_at r y)))).
  { intro y. refine (encl_entry (many v) _ (fun y => fixed theta * ln (fixed (slope_at r y))) y _).
    intros. apply encl_times; [apply encl_fixed|apply encl_log, encl_fixed]. }
  assert (T : forall y, encl (entry terms y) (sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))
    + fixed (slope_at (row_at sigma a) y) - fixed theta * ln (fixed (slope_at r y)))).
  { intro y. refine (encl_entry (many v) _ (fun y => sum_to A (fun b => intercept (1 - fixed theta) (fixed (slope_at (row_at sigma b) y)) (lo b y) (hi b y))
    + fixed (slope_at (row_at sigma a) y) - fixed theta * ln (fixed (slope_at r y))) y _).
    intros. apply encl_minus; auto. apply encl_plus; auto using encl_fixed. }
  apply (encl_entry V _ (score_at theta sigma r posterior a)). intros j _. destruct (0 <? count_at a j)%Z; [|apply encl_anything].
  apply encl_plus; auto. unfold score. apply encl_isum_to; intros y _. apply encl_times; [apply HW'|apply T].
Qed.

Lemma even_scores_correct theta sigma r posterior a pi tau : (a < A)%nat -> permutes (many v) tau = true -> even_scores v sigma r posterior tau = true ->
  (forall k y, In k (row_at inputs a) -> (y < many v)%nat -> W' (image pi k) (image tau y) = W' k y) ->
  forall k, In k (row_at inputs a) -> score_at theta sigma r posterior a (image pi k) = score_at theta sigma r posterior a k.
Proof.
  intros Ha Ht He HWs k Hk. unfold even_scores in He. apply andb_prop in He as [Hp He]. rewrite forallb_forall in He.
  pose proof Hview as (_ & _ & _ & Pl & _). destruct (Pl Hp) as (_ & _ & E0). unfold score_at. rewrite !E0. f_equal. unfold score.
  match goal with |- sum_to _ (fun y => W' _ y * @?T y) = _ => set (t := T) end.
  transitivity (sum_to (many v) (fun y => W' (image pi k) (image tau y) * t (image tau y))).
  { symmetry. exact (sum_images (many v) tau (fun y => W' (image pi k) y * t y) Ht). }
  apply sum_to_ext; intros y Hy.
  rewrite (HWs k y Hk Hy). f_equal. unfold t. specialize (He y (proj2 (in_to _ _) Hy)). apply andb_prop in He as [Hr He].
  apply Z.eqb_eq in Hr. rewrite Hr. rewrite forallb_forall in He.
  assert (Ev : forall b, (b < A)%nat -> slope_at (row_at sigma b) (image tau y) = slope_at (row_at sigma b) y /\
    range_at (row_at posterior (image tau y)) b = range_at (row_at posterior y) b).
  { intros b Hb. specialize (He b (proj2 (in_to _ _) Hb)). apply andb_prop in He as [E1 E2]. apply Z.eqb_eq in E1. apply same_range_correct in E2. auto. }
  rewrite (proj1 (Ev a Ha)). f_equal. f_equal. apply sum_to_ext; intros b Hb. destruct (Ev b Hb) as [-> ->]. reflexivity.
Qed.

Lemma joint_check_correct theta mu sigma r rows post cond P : joint_check theta mu sigma r rows v post cond = true ->
  allowed P -> in_posterior v W' P post -> in_conditional v W' P cond -> info A Y xs f W P <= claimed (ent A xs P).
Proof.
  unfold joint_check. set (tight := map (fun y => tightened A (row_at post y)) (seq 0 (many v))).
  intros H HA Hpost Hcond. pose proof (Hallowed P HA) as HP. apply andb_prop in H as [H C]. apply andb_prop in H as [H Cr].
  apply andb_prop in H as [H Cmu]. apply andb_prop in H as [Ct0 Ct1]. apply Z.leb_le in Ct0, Ct1, Cmu.
  set (vp := posterior A xs f W' P) in *.
  assert (Hv : forall a y, (a < A)%nat -> (y < many v)%nat -> u xs f W' P a y = vp a y * s A xs f W' P y /\ 0 <= vp a y <= 1)
    by (intros; now apply (posterior_is A (many v) V xs f N W' Hwc' P HP)).
  assert (T : forall a y, (a < A)%nat -> (y < many v)%nat -> row_at tight y = tightened A (row_at post y) /\
      inside (range_at (tightened A (row_at post y)) a) (vp a y)).
  { intros a y Ha Hy. split; [unfold tight, row_at at 1; now rewrite nth_map_seq|].
    apply (tightened_inside A (row_at post y) (fun a => vp a y)); [| | |exact Ha].
    - intros c Hc. now apply Hpost.
    - intros c Hc. now apply Hv.
    - now apply (posterior_one A xs f W' P HP). }
  apply orb_prop in C as [C|C].
  { exfalso. apply existsb_exists in C as (box & I & E). unfold tight in I. apply in_map_iff in I as (y & <- & I). apply in_to in I.
    apply (empty_correct A (row_at post y) (fun a => vp a y) E). intros a Ha. now apply T. }
  set (S := score_at theta sigma r tight). cbv zeta in C.
  match type of C with match all_some (map ?g _) with _ => _ end = true => set (F := g) in C end.
  assert (Fok : forall a, (a < A)%nat -> match F a with None => False
    | Some i => exists psi, encl i psi /\ row_problem (many v) xs f W' P (fixed theta) (fixed mu) a (S a) psi end).
  { intros a Ha. unfold F. assert (HS : forall k, In k (row_at inputs a) -> encl (entry (row_at (score_table v theta sigma r tight) a) k) (S a k))
      by (intros; now apply encl_scores).
    assert (HNa : forall k, (k < V)%nat -> count_of_input (row_at counts a) k = N a k /\ (0 <= N a k)%Z) by (intros; now apply HN).
    assert (HR : is_rows V (N a) (many v) W').
    { split; intros; [now apply (wc_nonneg _ _ _ _ _ _ _ Hwc' a)|now apply (wc_one _ _ _ _ _ _ _ Hwc' a)]. }
    pose proof (conditional_choice A (many v) V xs f N W' Hwc' P HP a Ha) as Cw. set (w := conditional xs f N P a) in *.
    assert (Done : forall i, (exists psi, encl i psi /\ worth V (N a) (many v) W' (fixed theta) (fixed mu) (S a) w <= psi) ->
      exists psi, encl i psi /\ row_problem (many v) xs f W' P (fixed theta) (fixed mu) a (S a) psi).
    { intros i (psi & E & B). exists psi. split; auto. apply (row_by_class A (many v) V xs f N W' Hwc' P HP); auto.
      rewrite <- fixed_0. now apply fixed_le. }
    destruct (Z.eqb_spec mu 0) as [->|M].
    - pose proof (free_number_correct (many v) V (row_at counts a) (row_at inputs a) (entries v) theta (row_at (score_table v theta sigma r tight) a)
        (N a) W' (S a) HNa (Hinputs a Ha) HR HW' HS Ct0 w Cw) as B.
      destruct (free_number _ _ _ _ _) as [i|]; auto. apply Done. now rewrite fixed_0.
    - set (now := Family (many v) (entries v) (row_at (root v) a) (row_at cond a) (singletons (many v))).
      assert (Sing : forall n, concat (singletons n) = seq 0 n).
      { intro n. unfold singletons. rewrite <- flat_map_concat_map. induction (seq 0 n); simpl; congruence. }
      assert (HF : family_ok (many v) V (N a) W' now W').
      { split; [exact HR|]. split; [exact HW'|]. split; [|split; [|split]].
        - intros z y Hz Hy. apply (mixed_between V (N a) z Hz W' y). intros k Hk Nk. pose proof Hview as (_ & _ & _ & _ & _ & _ & _ & Hroot & _).
          apply (Hroot a k y); auto. now apply in_inputs.
        - unfold partitions, permutes. cbn [sets now]. rewrite Sing, seq_length, Nat.eqb_refl. apply forallb_forall. intros j Hj. apply existsb_exists.
          exists j. split; auto. apply Nat.eqb_refl.
        - cbn [sets now size_of]. unfold singletons. now rewrite map_length, seq_length.
        - intros z g Hg. cbn [sets now size_of] in *. unfold group, singletons. rewrite nth_map_seq by auto. simpl. ring. }
      pose proof (row_check_correct (many v) V (row_at counts a) (row_at inputs a) (entries v) theta mu (row_at (score_table v theta sigma r tight) a)
        (fun ks pi tau => plain v && symmetric ks pi tau) (even_scores v sigma r tight) (N a) W' (S a) HNa (Hinputs a Ha) HR HW' HS Ct0) as B.
      assert (B1 : forall pi tau, plain v && symmetric (row_at inputs a) pi tau = true ->
        forall k y, In k (row_at inputs a) -> (y < many v)%nat -> W' (image pi k) (image tau y) = W' k y).
      { intros pi tau Hs k y Hk Hy. apply andb_prop in Hs as [Hp Hs]. pose proof Hview as (_ & _ & _ & Pl & _). destruct (Pl Hp) as (E1 & -> & _).
        apply (Hsym _ _ _ Hs); auto. now rewrite <- E1. }
      assert (B2 : forall pi tau, permutes (many v) tau = true -> even_scores v sigma r tight tau = true ->
        (forall k y, In k (row_at inputs a) -> (y < many v)%nat -> W' (image pi k) (image tau y) = W' k y) ->
        forall k, In k (row_at inputs a) -> S a (image pi k) = S a k).
      { intros pi tau. exact (even_scores_correct theta sigma r tight a pi tau Ha). }
      specialize (B B1 B2 (nth a rows (Row [] [])) (row_at (score_table v theta sigma r tight) a) (S a) now W' [] [] [] w Cw).
      destruct (row_check _ _ _ _ _ _ _ _ _ _ _ _ _ _ _) as [i|].
      + apply Done. apply B; auto; try lia; try (intros; contradiction); try congruence.
        * intros y Hy. now apply Hcond.
        * intros o [].
        * intros; apply Rle_refl.
      + apply B; auto; try lia; try (intros; contradiction); try congruence.
        * intros y Hy. now apply Hcond.
        * intros o [].
        * intros; apply Rle_refl. }
  fold F in C.
  destruct (all_some (map F (seq 0 A))) as [psi|] eqn:EF.
  2: { exfalso. apply all_some_none in EF. apply in_map_iff in EF as (a & E & I). apply in_to in I. specialize (Fok a I).
       now rewrite E in Fok. }
  assert (Psi : forall a, (a < A)%nat -> exists x, encl (entry psi a) x /\ row_problem (many v) xs f W' P (fixed theta) (fixed mu) a (S a) x).
  { intros a Ha. specialize (Fok a Ha). pose proof (all_some_nth _ _ anything a EF) as E.
    rewrite map_length, seq_length in E. specialize (E Ha). rewrite nth_map_seq in E by auto. now rewrite E in Fok. }
  destruct (choices A (fun a x => encl (entry psi a) x /\ row_problem (many v) xs f W' P (fixed theta) (fixed mu) a (S a) x) Psi) as [x Hx].
  apply law_given_correct in Cr as [Hr Hr1].
  assert (Hbox : forall a y, (a < A)%nat -> (y < many v)%nat -> 0 <= fixed (fst (range_at (row_at tight y) a)) /\
      fixed (fst (range_at (row_at tight y) a)) <= vp a y <= fixed (snd (range_at (row_at tight y) a))).
  { intros a y Ha Hy. destruct (T a y Ha Hy) as [-> I]. split; [now apply tightened_nonneg|exact I]. }
  assert (Ht : 0 <= fixed theta <= 1) by (rewrite <- fixed_0 at 1; rewrite <- fixed_one; split; now apply fixed_le).
  assert (Hm : 0 <= fixed mu) by (rewrite <- fixed_0; now apply fixed_le).
  assert (Etau : fixed (one - theta + mu) = 1 - fixed theta + fixed mu) by (now rewrite fixed_plus, fixed_minus, fixed_one).
  assert (Info : info A Y xs f W P <= info A (many v) xs f W' P + mean A xs f P e') by now apply Hview.
  destruct (Z.eqb_spec (one - theta + mu) 0) as [Z|Z].
  - assert (theta = one) by lia. assert (mu = 0%Z) by lia. subst theta mu. rewrite fixed_one, fixed_0 in *.
    destruct (encl_largest (seq 0 A) (entry psi) x) as (c & Ec & Bc); [intros a Ha; apply Hx; now apply in_to|].
    pose proof (Henough _ _ c P C Ec (Z.le_refl 0) HA) as En. rewrite fixed_0 in En.
    assert (info A (many v) xs f W' P + mean A xs f P e' <= c); [|lra].
    eapply Rle_trans; [|apply (mean_at_most A xs P HP x c); intros a Ha; apply Bc; now apply in_to].
    apply (joint_leaf_free A (many v) V xs f N W' Hwc' P HP vp (fun b y => fixed (slope_at (row_at sigma b) y))
      (fun b y => fixed (fst (range_at (row_at tight y) b))) (fun b y => fixed (snd (range_at (row_at tight y) b)))
      (fun y => fixed (slope_at r y)) e' x); auto; try (intros; now apply Hv).
    intros a Ha. destruct (Hx a Ha) as [_ R]. unfold S, score_at in R. rewrite fixed_one in R. exact R.
  - pose proof (joint_leaf A (many v) V xs f N W' Hwc' P HP (fixed theta) (fixed mu) vp (fun b y => fixed (slope_at (row_at sigma b) y))
        (fun b y => fixed (fst (range_at (row_at tight y) b))) (fun b y => fixed (snd (range_at (row_at tight y) b)))
        (fun y => fixed (slope_at r y)) e' x) as J.
    assert (J' : info A (many v) xs f W' P + mean A xs f P e' + fixed mu * ent A xs P
      <= (1 - fixed theta + fixed mu) * ln (sum_to A (fun a => exp (x a / (1 - fixed theta + fixed mu))))).
    { apply J; auto; try (intros; now apply Hv); [|intros; now apply Hx]. rewrite <- Etau, <- fixed_0. apply fixed_lt. lia. }
    rewrite <- Etau in J'. eapply Rle_trans; [exact Info|]. eapply Rle_trans; [|eapply (Henough _ mu _ P C); auto].
    + instantiate (1 := fixed (one - theta + mu) * ln (sum_to A (fun a => exp (x a / fixed (one - theta + mu))))). lra.
    + apply encl_times; [apply encl_fixed|]. unfold sum_to.
      rewrite (sum_ext _ (fun a => exp _) (fun a => 1 * exp (x a / fixed (one - theta + mu)))) by (intros; ring).
      apply (encl_log_sum_exp (seq 0 A) (fun _ => 1%Z)); [|lia]. intros a Ha. apply in_to in Ha.
      apply encl_over; [now apply Hx|apply encl_fixed].
Qed.
End View.

Lemma row_at_change {B} (t : list (list B)) j h k : row_at (change [] j h t) k = if Nat.eqb j k then h (row_at t k) else row_at t k.
Proof. apply nth_change. Qed.

(** ** Class trees *)

Definition may_use (used : list (list nat)) : nat -> nat -> bool := fun a k => is_listed (row_at used a) k.

Lemma class_number_correct t : forall used i, class_number t used = Some i ->
  exists c, encl i c /\ forall Q, is_law A xs Q -> within A xs f (may_use used) Q -> info A Y xs f W Q <= c.
Proof.
  induction t as [a l these IHt others IHo|r|]; intros used i H; cbn [class_number] in H.
  - destruct (Nat.ltb_spec a A) as [Ha|]; [|discriminate].
    destruct (class_number these _) as [i1|] eqn:E1; [|discriminate]. destruct (class_number others _) as [i2|] eqn:E2; [|discriminate].
    injection H as <-. destruct (IHt _ _ E1) as (c1 & H1 & B1). destruct (IHo _ _ E2) as (c2 & H2 & B2).
    exists (Rmax c1 c2). split; [now apply encl_larger|]. intros Q HQ HS.
    apply (part A Y V xs f N W Hwc letter_of Hletter a (may_use used) (may_use (change [] a (filter (is_listed l)) used))
      (may_use (change [] a (filter (fun k => negb (is_listed l k))) used)) (Rmax c1 c2) Ha); auto.
    + intros c k Hk Nb. unfold may_use. rewrite !row_at_change. destruct (Nat.eqb_spec a c); [congruence|]. auto.
    + intros k Hk. unfold may_use in *. rewrite !row_at_change, Nat.eqb_refl. rewrite !is_listed_in, !filter_In in *.
      destruct (is_listed l k); auto.
    + intros P HP HS'. eapply Rle_trans; [now apply B1|apply Rmax_l].
    + intros P HP HS'. eapply Rle_trans; [now apply B2|apply Rmax_r].
  - destruct (law_given Y r) eqn:Hr; [|discriminate]. injection H as <-. apply law_given_correct in Hr as [Hr Hr1].
    destruct (encl_largest (flat_map (row_at used) (seq 0 A)) (divergence Y channel (logs_of Y r)) _ (fun k _ => encl_divergence Y channel r W k HW)) as (c & Ec & Bc).
    exists c. split; auto. intros Q HQ HS. eapply Rle_trans; [|apply (mean_at_most A xs Q HQ (fun _ => c) c); intros; apply Rle_refl].
    apply (law_mean A Y V xs f N W Hwc (may_use used) (fun y => fixed (slope_at r y))); auto. intros a k Ha Hk Nk Sk. apply Bc. apply in_flat_map. exists a. split; [now apply in_to|]. now apply is_listed_in.
  - assert (E : log (of_Z (Z.of_nat A)) = i) by congruence. subst i. exists (ln (INR A)). split; [apply encl_log; rewrite INR_IZR_INZ; apply encl_Z|].
    intros Q HQ _. now apply (letters_leaf A Y V xs f N W Hwc).
Qed.

(** ** Symmetries *)

Section Move.
Variables (post cond : list (list range)) (m : list nat * list nat * list nat).
Hypothesis Hm : move_check post cond m = true.
Let alpha := fst (fst m).
Let pi := snd (fst m).
Let tau := snd m.

Lemma move_facts : permutes A alpha = true /\ permutes V pi = true /\ permutes Y tau = true /\
  (forall a k, (a < A)%nat -> (k < V)%nat -> N (image alpha a) (image pi k) = N a k) /\
  (forall a k y, (a < A)%nat -> (k < V)%nat -> (0 < N a k)%Z -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y) /\
  (forall q a y, (a < A)%nat -> (y < Y)%nat -> ranges_of q post cond (move m (a, y)) = ranges_of q post cond (a, y)).
Proof.
  unfold alpha, pi, tau. destruct m as [[al p] ta]. cbn [fst snd] in *. unfold move_check in Hm. pose proof Hm as H.
  apply andb_prop in H as [H Hr]. apply andb_prop in H as [H Hs]. apply andb_prop in H as [H Hc]. apply andb_prop in H as [H Ht].
  apply andb_prop in H as [Ha Hp]. split; [exact Ha|]. split; [exact Hp|]. split; [exact Ht|]. split; [|split].
  - intros a k La Lk. rewrite forallb_forall in Hc. specialize (Hc a (proj2 (in_to _ _) La)). rewrite forallb_forall in Hc.
    specialize (Hc k (proj2 (in_to _ _) Lk)). apply Z.eqb_eq in Hc. rewrite (proj1 (HN a k La Lk)) in Hc.
    rewrite (proj1 (HN _ _ (image_small A al a Ha La) (image_small V p k Hp Lk))) in Hc. exact Hc.
  - intros a k y La Lk Nk Ly. rewrite forallb_forall in Hs. specialize (Hs a (proj2 (in_to _ _) La)). apply (Hsym _ _ _ Hs); auto.
    now apply in_inputs.
  - intros q a y La Ly. rewrite forallb_forall in Hr. specialize (Hr a (proj2 (in_to _ _) La)). rewrite forallb_forall in Hr.
    specialize (Hr y (proj2 (in_to _ _) Ly)). apply andb_prop in Hr as [H1 H2]. destruct q; now apply same_range_correct.
Qed.
End Move.

Definition amount_of (q : quantity) (P : X -> R) (c : cell) : R :=
  match q with OfPosterior => posterior A xs f W P (fst c) (snd c) | OfConditional => conditional_of W P (fst c) (snd c) end.
(** A prior that is allowed and in a box, about outputs. *)
Definition in_box (post cond : list (list range)) (P : X -> R) : Prop :=
  allowed P /\ forall q a y, (a < A)%nat -> (y < Y)%nat -> inside (ranges_of q post cond (a, y)) (amount_of q P (a, y)).

Lemma image_prior post cond m P : move_check post cond m = true -> in_box post cond P ->
  exists Q, in_box post cond Q /\ info A Y xs f W Q = info A Y xs f W P /\ claimed (ent A xs Q) <= claimed (ent A xs P) /\
    forall q a y, (a < A)%nat -> (y < Y)%nat -> amount_of q Q (a, y) = amount_of q P (move m (a, y)).
Proof.
  intros Hm [HA HB]. pose proof (Hallowed P HA) as HP. destruct (move_facts post cond m Hm) as (Ha & Hp & Ht & HNs & HWs & Hr).
  destruct m as [[alpha pi] tau]. cbn [fst snd] in *. set (Q := moved xs f N letter_of alpha pi P).
  assert (HQ : is_law A xs Q) by (apply (moved_law A Y V xs f N W Hwc letter_of Hletter alpha pi); auto).
  assert (HE : ent A xs P <= ent A xs Q) by (apply (moved_ent A Y V xs f N W Hwc letter_of Hletter alpha pi); auto).
  destruct (Hmore P Q HA HQ HE) as [HAQ HC].
  assert (E : forall q a y, (a < A)%nat -> (y < Y)%nat -> amount_of q Q (a, y) = amount_of q P (image alpha a, image tau y)).
  { intros [|] a y La Ly; cbn [amount_of fst snd].
    - apply (moved_posterior A Y V xs f N W Hwc letter_of Hletter alpha pi tau); auto.
    - apply (moved_mixed A Y V xs f N W Hwc letter_of Hletter alpha pi tau); auto. }
  exists Q. split; [split; [exact HAQ|]|split; [|split; [exact HC|exact E]]].
  - intros q a y La Ly. rewrite (E q a y La Ly), <- (Hr q a y La Ly). cbn [move fst snd]. apply HB; now apply image_small.
  - apply (moved_info A Y V xs f N W Hwc letter_of Hletter alpha pi tau); auto.
Qed.

Lemma reached_small post cond ms c0 c : (forall m, In m ms -> move_check post cond m = true) -> reached ms c0 c ->
  (fst c0 < A)%nat -> (snd c0 < Y)%nat -> (fst c < A)%nat /\ (snd c < Y)%nat.
Proof.
  intros Hms R La Ly. induction R as [|c m Im R [IH1 IH2]]; auto. destruct (move_facts post cond m (Hms m Im)) as (Ha & _ & Ht & _).
  destruct m as [[alpha pi] tau]. cbn [move fst snd] in *. split; now apply image_small.
Qed.

(** What a prior of the box has at a cell of an orbit, another one that leaks as much has at the orbit's first cell. *)
Lemma orbit_prior q post cond ms c0 c : (forall m, In m ms -> move_check post cond m = true) -> (fst c0 < A)%nat -> (snd c0 < Y)%nat ->
  reached ms c0 c -> forall P, in_box post cond P ->
  exists Q, in_box post cond Q /\ info A Y xs f W Q = info A Y xs f W P /\ claimed (ent A xs Q) <= claimed (ent A xs P) /\
    amount_of q Q c0 = amount_of q P c.
Proof.
  intros Hms La Ly R. induction R as [|c m Im R IH]; intros P HP; [exists P; split; [exact HP|]; split; [reflexivity|]; split; [apply Rle_refl|reflexivity]|].
  destruct (image_prior post cond m P (Hms m Im) HP) as (Q & HQ & EI & EC & EA).
  destruct (IH Q HQ) as (Q' & HQ' & EI' & EC' & EA'). destruct (reached_small post cond ms c0 c Hms R La Ly) as [Lc1 Lc2].
  exists Q'. split; auto. split; [congruence|]. split; [lra|]. rewrite EA'. destruct c as [a y]. now apply EA.
Qed.

Definition cell_range (q : quantity) (box : list (list range)) (a y : nat) : range :=
  match q with OfPosterior => range_at (row_at box y) a | OfConditional => range_at (row_at box a) y end.
Lemma cut_cells_inside q h cs box (x : nat -> nat -> R) :
  (forall c g, In c cs -> inside g (x (fst c) (snd c)) -> inside (h g) (x (fst c) (snd c))) ->
  (forall a y, (a < A)%nat -> (y < Y)%nat -> inside (cell_range q box a y) (x a y)) ->
  forall a y, (a < A)%nat -> (y < Y)%nat -> inside (cell_range q (cut_cells q h cs box) a y) (x a y).
Proof.
  intros Hh H. induction cs as [|c cs IH]; [exact H|]. intros a y La Ly. specialize (IH (fun d g Hd => Hh d g (or_intror Hd)) a y La Ly).
  pose proof (fun g => Hh c g (or_introl eq_refl)) as Hc. cbn [cut_cells fold_right]. fold (cut_cells q h cs box).
  destruct q; cbn [cell_range cut_cell] in *; rewrite row_at_change.
  - destruct (Nat.eqb_spec (snd c) y) as [E|]; auto. unfold range_at at 1. rewrite nth_change.
    destruct (Nat.eqb_spec (fst c) a) as [E'|]; auto. rewrite E, E' in Hc. now apply Hc.
  - destruct (Nat.eqb_spec (fst c) a) as [E|]; auto. unfold range_at at 1. rewrite nth_change.
    destruct (Nat.eqb_spec (snd c) y) as [E'|]; auto. rewrite E, E' in Hc. now apply Hc.
Qed.
Lemma cut_box q h cs post cond P : (forall c g, In c cs -> inside g (amount_of q P c) -> inside (h g) (amount_of q P c)) ->
  in_box post cond P -> in_box (fst (with_cut q h cs post cond)) (snd (with_cut q h cs post cond)) P.
Proof.
  intros Hh [HA HB]. split; auto. intros q' a y La Ly. destruct q; cbn [with_cut fst snd].
  - destruct q'; [|exact (HB OfConditional a y La Ly)].
    apply (cut_cells_inside OfPosterior h cs post (fun a y => amount_of OfPosterior P (a, y))); [| |exact La|exact Ly].
    + intros [b z] g Hc. exact (Hh (b, z) g Hc).
    + intros b z Lb Lz. exact (HB OfPosterior b z Lb Lz).
  - destruct q'; [exact (HB OfPosterior a y La Ly)|].
    apply (cut_cells_inside OfConditional h cs cond (fun a y => amount_of OfConditional P (a, y))); [| |exact La|exact Ly].
    + intros [b z] g Hc. exact (Hh (b, z) g Hc).
    + intros b z Lb Lz. exact (HB OfConditional b z Lb Lz).
Qed.

(** ** Groups *)

Lemma whole_view_ok : roots_check Y channel (roots Y channel) = true -> view_ok whole_view W (fun _ => 0).
Proof.
  intro H. assert (Sing : concat (singletons Y) = seq 0 Y).
  { unfold singletons. rewrite <- flat_map_concat_map. induction (seq 0 Y); simpl; congruence. }
  split; [exact Hwc|]. split; [exact HW|]. split; [intro k; apply (encl_entry V (fun _ => zero) (fun _ => 0)); intros; exact (encl_Z 0)|].
  split; [auto|]. split; [|split; [|split; [|split]]].
  - unfold partitions, permutes. cbn [members whole_view]. rewrite Sing, seq_length, Nat.eqb_refl. apply forallb_forall. intros j Hj.
    apply existsb_exists. exists j. split; auto. apply Nat.eqb_refl.
  - cbn [members whole_view many]. unfold singletons. now rewrite map_length, seq_length.
  - intros k g Hg. cbn [members whole_view many] in *. unfold group, singletons. rewrite nth_map_seq by auto. simpl. ring.
  - intros a k y Ha Hk Hy. cbn [root whole_view many] in *. unfold roots_check in H. rewrite forallb_forall in H.
    exact (row_root_correct Y channel _ _ W k y (H a (proj2 (in_to _ _) Ha)) HW Hk Hy).
  - intros P HP. cbn [whole_view many]. replace (mean A xs f P (fun _ => 0)) with 0; [lra|].
    symmetry. apply sum_all_zero; intros; apply sum_all_zero; intros; ring.
Qed.

Lemma group_view_ok parts laws : partitions Y parts = true -> laws_given parts laws = true ->
  roots_check (length parts) (group_table parts channel) (roots (length parts) (group_table parts channel)) = true ->
  view_ok (group_view parts laws) (grouped parts W) (apart Y W parts (fun y => fixed (slope_at laws y))).
Proof.
  intros Hp Hl Hr. apply andb_prop in Hl as [Hl0 Hl1]. rewrite forallb_forall in Hl0, Hl1.
  assert (HG : forall k g, encl (entry2 (group_table parts channel) k g) (grouped parts W k g)) by (intros; now apply encl_group_table).
  split; [now apply (well_counted_grouped A Y V xs f N W Hwc)|]. split; [exact HG|]. split; [|split; [discriminate|]]; [|repeat split; auto].
  - intro k. apply (encl_entry V _ (apart Y W parts (fun y => fixed (slope_at laws y)))). intros j _. apply encl_minus; [now apply encl_within|].
    apply encl_isum_to; intros y _. apply encl_times; auto. apply (encl_entry Y _ (fun y => ln (fixed (slope_at laws y)))).
    intros. apply encl_log, encl_fixed.
  - cbn [root group_view many] in *. unfold roots_check in Hr. rewrite forallb_forall in Hr.
    apply (row_root_correct (length parts) (group_table parts channel) (row_at inputs a) _ (grouped parts W) k y (Hr a (proj2 (in_to _ _) H)) HG H0 H1).
  - cbn [root group_view many] in *. unfold roots_check in Hr. rewrite forallb_forall in Hr.
    apply (row_root_correct (length parts) (group_table parts channel) (row_at inputs a) _ (grouped parts W) k y (Hr a (proj2 (in_to _ _) H)) HG H0 H1).
  - intros P HP. cbn [many group_view]. apply (info_grouped A Y V xs f N W Hwc parts Hp P HP).
    + intros y Hy. rewrite <- fixed_0. apply fixed_lt, Z.ltb_lt, Hl0. now apply in_to.
    + intros g Hg. rewrite <- fixed_one. specialize (Hl1 g (proj2 (in_to _ _) Hg)). apply Z.leb_le in Hl1.
      eapply Rle_trans; [|apply fixed_le, Hl1]. right. clear. induction (group parts g) as [|y l IH]; simpl; [now rewrite fixed_0|].
      now rewrite fixed_plus, IH.
Qed.

Lemma place_of_nth l g : (place_of l g < length l)%nat -> nth (place_of l g) l [] = g.
Proof. induction l as [|h l IH]; simpl; [lia|]. destruct (list_eq_dec Nat.eq_dec h g); auto. intro L. apply IH. lia. Qed.

Lemma posterior_same W1 W2 P a y1 y2 : (forall k, W1 k y1 = W2 k y2) -> posterior A xs f W1 P a y1 = posterior A xs f W2 P a y2.
Proof.
  intro E. assert (U : forall b, u xs f W1 P b y1 = u xs f W2 P b y2) by (intro b; apply sum_ext; intros x _; now rewrite E).
  assert (T : s A xs f W1 P y1 = s A xs f W2 P y2) by (apply sum_to_ext; intros; apply U). unfold posterior. now rewrite T, U.
Qed.
Lemma whole_range a y x : 0 <= x <= 1 -> inside (range_at (row_at [] y) a) x.
Proof.
  intro H. replace (range_at (row_at [] y) a) with (0, one)%Z by (destruct y; destruct a; reflexivity).
  unfold inside. cbn [fst snd]. now rewrite fixed_0, fixed_one.
Qed.
Lemma kept_posterior_inside v W' e' parts laws post P : view_ok v W' e' -> partitions Y parts = true -> is_law A xs P -> in_posterior v W' P post ->
  in_posterior (group_view parts laws) (grouped parts W) P (kept_posterior v parts post).
Proof.
  intros (_ & _ & _ & _ & Hm & Hlen & Hg & _) Hp HP Hin a g Ha Hgl. cbn [many group_view] in Hgl.
  set (kept := fun g => let j := place_of (members v) g in if (j <? many v)%nat then row_at post j else []).
  assert (E : row_at (kept_posterior v parts post) g = kept (group parts g)).
  { unfold kept_posterior, row_at. fold kept. rewrite (nth_indep _ [] (kept [])) by (now rewrite map_length). now rewrite map_nth. }
  rewrite E. unfold kept. cbv zeta. destruct (Nat.ltb_spec (place_of (members v) (group parts g)) (many v)) as [L|L].
  - rewrite (posterior_same (grouped parts W) W' P a g (place_of (members v) (group parts g))).
    + now apply Hin.
    + intro k. rewrite Hg by auto. unfold grouped. f_equal. unfold group at 2. rewrite place_of_nth; auto. now rewrite Hlen.
  - pose proof (whole_range a 0 (posterior A xs f (grouped parts W) P a g)) as R. cbn [row_at nth] in R. apply R.
    now apply (posterior_is A (length parts) V xs f N (grouped parts W) (well_counted_grouped A Y V xs f N W Hwc parts Hp) P HP).
Qed.

Lemma conditional_sum n W' parts P a g : (g < n)%nat -> (forall k h, (h < n)%nat -> W' k h = sum (group parts h) (W k)) ->
  conditional_of W' P a g = sum (group parts g) (conditional_of W P a).
Proof.
  intros Hg E. unfold conditional_of. rewrite <- mixed_grouped. unfold mixed. apply sum_to_ext; intros k _. now rewrite E.
Qed.
Lemma kept_conditional_inside v W' e' parts laws cond P : view_ok v W' e' -> partitions Y parts = true -> is_law A xs P -> in_conditional v W' P cond ->
  in_conditional (group_view parts laws) (grouped parts W) P (kept_conditional v parts cond).
Proof.
  intros Hv Hp HP Hin a g Ha Hgl. pose proof Hv as (_ & _ & _ & _ & Hm & Hlen & Hg & Hroot & _). cbn [many group_view] in Hgl.
  pose proof (conditional_choice A Y V xs f N W Hwc P HP a Ha) as Cw.
  unfold kept_conditional, row_at at 1. rewrite nth_map_seq by auto.
  rewrite (conditional_sum (length parts) (grouped parts W) parts) by auto.
  apply (regrouped_inside Y (members v) _ parts (conditional_of W P a)); auto.
  - intros y Hy. apply (mixed_nonneg V (N a) _ Cw Y); auto. now apply rows_are.
  - apply (mixed_one V (N a) _ Cw). now apply rows_are.
  - intros h Hh. rewrite Hlen in Hh. rewrite <- (conditional_sum (many v) W' (members v)) by auto. apply common_inside; auto.
    apply (mixed_between V (N a) _ Cw W' h). intros k Hk Nk. apply (Hroot a k h); auto. now apply in_inputs.
Qed.

(** ** All proofs *)

Theorem check_correct p : forall v W' e' P post cond, view_ok v W' e' -> allowed P -> check p v post cond = true ->
  in_posterior v W' P post -> in_conditional v W' P cond -> info A Y xs f W P <= claimed (ent A xs P).
Proof.
  induction p as [a y t below IHb above IHa|a y t below IHb above IHa|q s a y t ms below IHb above IHa|parts laws p IH|theta mu sigma r rows|t];
    intros v W' e' P post cond Hv HA H Hp Hc; cbn [check] in H.
  - apply andb_prop in H as [H1 H2]. destruct (Nat.lt_ge_cases y (many v)) as [Hy|Hy].
    + destruct (inside_parts (row_at post y) (fun a => posterior A xs f W' P a y) a t A) as [I|I]; [intros; now apply Hp| |].
      * apply (IHb _ _ _ _ _ _ Hv HA H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z) as [<-|]; auto.
      * apply (IHa _ _ _ _ _ _ Hv HA H2); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z) as [<-|]; auto.
    + apply (IHb _ _ _ _ _ _ Hv HA H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec y z); auto. lia.
  - apply andb_prop in H as [H1 H2]. destruct (Nat.lt_ge_cases a A) as [Ha|Ha].
    + destruct (inside_parts (row_at cond a) (conditional_of W' P a) y t (many v)) as [I|I]; [intros; now apply Hc| |].
      * apply (IHb _ _ _ _ _ _ Hv HA H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c) as [<-|]; auto.
      * apply (IHa _ _ _ _ _ _ Hv HA H2); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c) as [<-|]; auto.
    + apply (IHb _ _ _ _ _ _ Hv HA H1); auto. intros c z Hc' Hz. rewrite row_at_change. destruct (Nat.eqb_spec a c); auto. lia.
  - set (all := orbit (A * Y) ms [(a, y)] [(a, y)]) in H.
    destruct (match s with Above => (all, [(a, y)]) | Below => ([(a, y)], all) end) as [lower upper] eqn:Es.
    destruct (with_cut q (at_most_t t) lower post cond) as [lp lc] eqn:El. destruct (with_cut q (at_least_t t) upper post cond) as [up uc] eqn:Eu.
    apply andb_prop in H as [H H2]. apply andb_prop in H as [H H1]. apply andb_prop in H as [H Hms]. apply andb_prop in H as [H Hy].
    apply andb_prop in H as [Hpl Ha]. apply Nat.ltb_lt in Ha, Hy. rewrite forallb_forall in Hms.
    pose proof Hv as (_ & _ & _ & Pl & _). destruct (Pl Hpl) as (EY & -> & _).
    assert (HB : in_box post cond P).
    { split; auto. intros [|] b z Lb Lz; [apply Hp|apply Hc]; auto; now rewrite EY. }
    assert (Reach : forall c, In c all -> reached ms (a, y) c).
    { apply orbit_reached; intros c [<-|[]]; constructor. }
    assert (Low : forall c g x, x <= fixed t -> In c lower -> inside g x -> inside (at_most_t t g) x).
    { intros c g x L _ [G1 G2]. split; cbn [at_most_t fst snd]; auto. now apply Z.min_case. }
    assert (Up : forall c g x, fixed t <= x -> In c upper -> inside g x -> inside (at_least_t t g) x).
    { intros c g x L _ [G1 G2]. split; cbn [at_least_t fst snd]; auto. now apply Z.max_case. }
    assert (Below_done : forall Q, in_box post cond Q -> (forall c, In c lower -> amount_of q Q c <= fixed t) -> info A Y xs f W Q <= claimed (ent A xs Q)).
    { intros Q HQ L. pose proof (cut_box q (at_most_t t) lower post cond Q (fun c g Hc I => Low c g _ (L c Hc) Hc I) HQ) as B. rewrite El in B. cbn [fst snd] in B.
      destruct B as [BA BB]. apply (IHb v W e' Q lp lc Hv BA H1); intros b z Lb Lz; rewrite EY in Lz;
        [exact (BB OfPosterior b z Lb Lz)|exact (BB OfConditional b z Lb Lz)]. }
    assert (Above_done : forall Q, in_box post cond Q -> (forall c, In c upper -> fixed t <= amount_of q Q c) -> info A Y xs f W Q <= claimed (ent A xs Q)).
    { intros Q HQ L. pose proof (cut_box q (at_least_t t) upper post cond Q (fun c g Hc I => Up c g _ (L c Hc) Hc I) HQ) as B. rewrite Eu in B. cbn [fst snd] in B.
      destruct B as [BA BB]. apply (IHa v W e' Q up uc Hv BA H2); intros b z Lb Lz; rewrite EY in Lz;
        [exact (BB OfPosterior b z Lb Lz)|exact (BB OfConditional b z Lb Lz)]. }
    destruct s; injection Es as <- <-.
    + destruct (existsb (fun c => if Rlt_dec (fixed t) (amount_of q P c) then true else false) all) eqn:E.
      * apply existsb_exists in E as (c & Ic & E). destruct (Rlt_dec _ _) as [L|]; [|discriminate].
        destruct (orbit_prior q post cond ms (a, y) c Hms Ha Hy (Reach c Ic) P HB) as (Q & HQ & EI & EC & EA).
        rewrite <- EI. eapply Rle_trans; [|exact EC]. apply Above_done; auto. intros d [<-|[]]. rewrite EA. lra.
      * apply Below_done; auto. intros c Ic. apply Rnot_lt_le. intro L.
        assert (F : existsb (fun c => if Rlt_dec (fixed t) (amount_of q P c) then true else false) all = true); [|congruence].
        apply existsb_exists. exists c. split; auto. now destruct (Rlt_dec _ _).
    + destruct (existsb (fun c => if Rlt_dec (amount_of q P c) (fixed t) then true else false) all) eqn:E.
      * apply existsb_exists in E as (c & Ic & E). destruct (Rlt_dec _ _) as [L|]; [|discriminate].
        destruct (orbit_prior q post cond ms (a, y) c Hms Ha Hy (Reach c Ic) P HB) as (Q & HQ & EI & EC & EA).
        rewrite <- EI. eapply Rle_trans; [|exact EC]. apply Below_done; auto. intros d [<-|[]]. rewrite EA. lra.
      * apply Above_done; auto. intros c Ic. apply Rnot_lt_le. intro L.
        assert (F : existsb (fun c => if Rlt_dec (amount_of q P c) (fixed t) then true else false) all = true); [|congruence].
        apply existsb_exists. exists c. split; auto. now destruct (Rlt_dec _ _).
  - cbv zeta in H. apply andb_prop in H as [H H2]. apply andb_prop in H as [H Hr]. apply andb_prop in H as [Hpa Hl].
    pose proof (group_view_ok parts laws Hpa Hl Hr) as Hg. apply (IH _ _ _ P _ _ Hg HA H2).
    + eapply kept_posterior_inside; eauto.
    + eapply kept_conditional_inside; eauto.
  - eapply joint_check_correct; eauto.
  - destruct (class_number t inputs) as [i|] eqn:E; [|discriminate]. destruct (class_number_correct t inputs i E) as (c & Ec & Bc).
    pose proof (Henough i 0 c P H Ec (Z.le_refl 0) HA) as B. rewrite fixed_0 in B. eapply Rle_trans; [apply (Bc P (Hallowed P HA))|lra].
    intros a x Ha Hx _. apply is_listed_in. apply (in_inputs a (f x) Ha). now apply (wc_row _ _ _ _ _ _ _ Hwc).
Qed.

Theorem record_check_correct p P : record_check p = true -> allowed P -> info A Y xs f W P <= claimed (ent A xs P).
Proof.
  intros H HA. unfold record_check in H. cbv zeta in H. apply andb_prop in H as [Hr H]. pose proof (Hallowed P HA) as HP.
  apply (check_correct p _ _ _ P [] [] (whole_view_ok Hr) HA H).
  - intros a y Ha Hy. cbn [many whole_view] in Hy. apply whole_range. now apply (posterior_is A Y V xs f N W Hwc P HP).
  - intros a y Ha Hy. cbn [many whole_view] in Hy. apply whole_range.
    apply (mixed_between V (N a) _ (conditional_choice A Y V xs f N W Hwc P HP a Ha) W y). intros k Hk Nk.
    destruct (rows_are a Ha) as [W0 W1]. split; [now apply W0|]. rewrite <- (W1 k Hk Nk). apply (sum_ge_member (seq 0 Y) (W k)); [now apply in_to|].
    intros z Hz. apply W0; auto. now apply in_to.
Qed.

End Record.
