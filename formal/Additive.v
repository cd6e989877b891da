(** Counting: every query here is a function of what the records' letters add up to, so that datasets are counted by sums of integers,
    however many there are. *)
From Coq Require Import Reals ZArith Arith Bool Lia List Permutation.
From Dalenius Require Import Definitions Sums Counting Enclosures Boxes Checker Certificates.
Import ListNotations.
Open Scope Z_scope.

(** ** Sums of integers *)

Definition zsum {A} (l : list A) (f : A -> Z) : Z := fold_right (fun a t => f a + t) 0 l.

Lemma zsum_cons {A} (a : A) l f : zsum (a :: l) f = f a + zsum l f.
Proof. reflexivity. Qed.
Lemma zsum_ext {A} (l : list A) f g : (forall a, In a l -> f a = g a) -> zsum l f = zsum l g.
Proof. induction l; simpl; intro H; [auto|rewrite H, IHl; auto]. Qed.
Lemma zsum_zero {A} (l : list A) f : (forall a, In a l -> f a = 0) -> zsum l f = 0.
Proof. induction l as [|a l IH]; simpl; intro H; [auto|]. rewrite H, IH; auto. Qed.
Lemma zsum_app {A} (l m : list A) f : zsum (l ++ m) f = zsum l f + zsum m f.
Proof. induction l; simpl; lia. Qed.
Lemma zsum_map {A B} (g : A -> B) l f : zsum (map g l) f = zsum l (fun a => f (g a)).
Proof. induction l; simpl; lia. Qed.
Lemma zsum_flat_map {A B} (g : A -> list B) l f : zsum (flat_map g l) f = zsum l (fun a => zsum (g a) f).
Proof. induction l; simpl; [auto|rewrite zsum_app; lia]. Qed.
Lemma zsum_plus {A} (l : list A) f g : zsum l (fun a => f a + g a) = zsum l f + zsum l g.
Proof. induction l; simpl; lia. Qed.
Lemma zsum_swap {A B} (l : list A) (m : list B) f :
  zsum l (fun a => zsum m (fun b => f a b)) = zsum m (fun b => zsum l (fun a => f a b)).
Proof. induction l; simpl; [now rewrite zsum_zero|now rewrite IHl, zsum_plus]. Qed.
Lemma zsum_nth (l : list Z) f : zsum l f = zsum (seq 0 (length l)) (fun a => f (nth a l 0)).
Proof.
  induction l as [|v l IH]; auto. rewrite zsum_cons, IH. cbn [length seq]. rewrite zsum_cons, <- seq_shift. now rewrite zsum_map.
Qed.
Lemma zsum_single n k f : (k < n)%nat -> zsum (seq 0 n) (fun a => if Nat.eqb a k then f a else 0) = f k.
Proof.
  intro H. replace n with (k + S (n - S k))%nat by lia. rewrite seq_app, zsum_app. cbn [seq].
  rewrite zsum_cons, Nat.add_0_l, Nat.eqb_refl.
  rewrite !zsum_zero; [lia| |]; intros a Ha; apply in_seq in Ha; destruct (Nat.eqb_spec a k); auto; lia.
Qed.

Lemma how_many_zsum p l : how_many p l = zsum l (fun x => if p x then 1 else 0).
Proof.
  unfold how_many. induction l as [|x l IH]; auto. rewrite zsum_cons. cbn [filter].
  destruct (p x); cbn [length]; lia.
Qed.
Lemma how_many_ext p q l : (forall x, In x l -> p x = q x) -> how_many p l = how_many q l.
Proof. intro H. rewrite !how_many_zsum. apply zsum_ext; intros x Hx. now rewrite H. Qed.

(** ** In how many ways something is the sum of a number from each list *)

Fixpoint ways (ws : list (list Z)) (p : Z -> bool) : Z :=
  match ws with
  | [] => if p 0 then 1 else 0
  | w :: ws => zsum w (fun v => ways ws (fun s => p (v + s)))
  end.

Lemma ways_ext ws : forall p q, (forall s, p s = q s) -> ways ws p = ways ws q.
Proof. induction ws as [|w ws IH]; intros p q H; simpl; [now rewrite H|]. apply zsum_ext; intros. apply IH. auto. Qed.

Lemma ways_permutation ws ws' : Permutation ws ws' -> forall p, ways ws p = ways ws' p.
Proof.
  induction 1 as [|w ws ws' H IH|w w' ws|ws ws' ws'' H IH H' IH']; intro p; auto.
  - simpl. apply zsum_ext; intros. apply IH.
  - simpl. rewrite zsum_swap. apply zsum_ext; intros v _. apply zsum_ext; intros v' _. apply ways_ext; intro s. f_equal. lia.
  - now rewrite IH.
Qed.

Lemma sums_counted ws : forall p, how_many (fun x => p (weighted ws x)) (datasets (map (@length Z) ws)) = ways ws p.
Proof.
  induction ws as [|w ws IH]; intro p; rewrite how_many_zsum; simpl; [lia|].
  rewrite zsum_flat_map, zsum_nth. apply zsum_ext; intros a _. rewrite zsum_map, <- IH, how_many_zsum. reflexivity.
Qed.

Definition others {B} (i : nat) (l : list B) : list B := firstn i l ++ skipn (S i) l.

Lemma letters_counted i a : forall ws p, (i < length ws)%nat -> (a < length (nth i ws []))%nat ->
  how_many (fun x => (letter i x =? a)%nat && p (weighted ws x)) (datasets (map (@length Z) ws))
  = ways (others i ws) (fun s => p (nth a (nth i ws []) 0 + s)).
Proof.
  induction i as [|i IH]; intros [|w ws] p Hi Ha; cbn [length] in Hi; try lia;
    rewrite how_many_zsum; cbn [map datasets]; rewrite zsum_flat_map; cbn [nth] in *.
  - change (others 0 (w :: ws)) with ws. rewrite <- (sums_counted ws (fun s => p (nth a w 0 + s))), how_many_zsum.
    rewrite <- (zsum_single (length w) a (fun a => zsum (datasets (map (@length Z) ws)) (fun x => if p (nth a w 0 + weighted ws x) then 1 else 0)) Ha).
    apply zsum_ext; intros b _. rewrite zsum_map. unfold letter. cbn [nth weighted].
    destruct (Nat.eqb b a); [reflexivity|]. now apply zsum_zero.
  - unfold others. cbn [firstn skipn app ways]. rewrite zsum_nth. apply zsum_ext; intros b _. rewrite zsum_map.
    specialize (IH ws (fun s => p (nth b w 0 + s)) ltac:(lia) Ha). rewrite how_many_zsum in IH.
    transitivity (ways (others i ws) (fun s => p (nth b w 0 + (nth a (nth i ws []) 0 + s)))); [exact IH|].
    apply ways_ext; intro s. f_equal. lia.
Qed.

Lemma split_nth {B} (l : list B) k d : (k < length l)%nat -> l = firstn k l ++ nth k l d :: skipn (S k) l.
Proof.
  intro H. rewrite <- (firstn_skipn k l) at 1. f_equal. revert l H. induction k as [|k IH]; intros [|x l] H; cbn [length] in H; try lia; auto.
  apply IH. lia.
Qed.

Lemma others_equal {B} (ws : list B) i j d : (i < length ws)%nat -> (j < length ws)%nat -> nth i ws d = nth j ws d ->
  Permutation (others i ws) (others j ws).
Proof.
  assert (P : forall i, (i < length ws)%nat -> Permutation (nth i ws d :: others i ws) ws).
  { clear i j. intros i Hi. rewrite (split_nth ws i d Hi) at 3. apply Permutation_middle. }
  intros Hi Hj E. apply (Permutation_cons_inv (a := nth i ws d)). rewrite (P i Hi), E, (P j Hj). reflexivity.
Qed.

(** ** Queries as functions of a sum *)

Record sums := Sums {
  contributions : list (list Z);  (* of each record's letters *)
  reduced : Z -> Z;               (* a sum, to what matters of it *)
  finished : Z -> Z               (* to the query's value *)
}.

Record additive (m : model) (q : sums) : Prop := {
  additive_alphabets : alphabets m = map (@length Z) (contributions q);
  additive_reduced : forall v s, reduced q (v + reduced q s) = reduced q (v + s);
  additive_query : forall x, In x (datasets (alphabets m)) -> query m x = finished q (reduced q (weighted (contributions q) x)) }.

(** How often each sum occurs, in ascending order. *)
Definition distribution := list (Z * Z).
Definition amount_of (p : Z -> bool) (d : distribution) : Z := zsum d (fun e => if p (fst e) then snd e else 0).

Fixpoint insert (s c : Z) (d : distribution) : distribution :=
  match d with
  | [] => [(s, c)]
  | (t, e) :: rest => match s ?= t with Eq => (t, c + e) :: rest | Lt => (s, c) :: d | Gt => (t, e) :: insert s c rest end
  end.
Lemma amount_insert p s c d : amount_of p (insert s c d) = (if p s then c else 0) + amount_of p d.
Proof.
  induction d as [|(t, e) d IH]; [reflexivity|]. cbn [insert]. unfold amount_of in *.
  destruct (Z.compare_spec s t) as [->|L|L]; rewrite !zsum_cons; cbn [fst snd]; [destruct (p t); lia|reflexivity|].
  rewrite IH. lia.
Qed.

Section Sums.
Variable q : sums.

Definition shifted (v : Z) (d from : distribution) : distribution :=
  fold_right (fun e => insert (reduced q (v + fst e)) (snd e)) from d.
Fixpoint spread (ws : list (list Z)) : distribution :=
  match ws with
  | [] => [(reduced q 0, 1)]
  | w :: ws => let d := spread ws in fold_right (fun v => shifted v d) [] w
  end.

Variable m : model.
Hypothesis Hm : additive m q.

Lemma spread_ways ws : forall p, amount_of p (spread ws) = ways ws (fun s => p (reduced q s)).
Proof.
  induction ws as [|w ws IH]; intro p; [unfold amount_of; cbn; destruct (p _); lia|]. cbn [spread ways]. cbv zeta.
  assert (S : forall v d from, amount_of p (shifted v d from) = zsum d (fun e => if p (reduced q (v + fst e)) then snd e else 0) + amount_of p from).
  { intros v d from. unfold shifted. induction d as [|e d IHd]; [reflexivity|]. cbn [fold_right]. rewrite amount_insert, IHd, zsum_cons. lia. }
  induction w as [|v w IHw]; [reflexivity|]. cbn [fold_right]. rewrite S, zsum_cons, IHw. f_equal.
  transitivity (amount_of (fun s => p (reduced q (v + s))) (spread ws)); [reflexivity|]. rewrite IH.
  apply ways_ext; intro s. now rewrite (additive_reduced _ _ Hm).
Qed.

(** What holds for all sums that occur. *)
Lemma spread_all ws p : forallb (fun e => p (fst e)) (spread ws) = true ->
  forall x, In x (datasets (map (@length Z) ws)) -> p (reduced q (weighted ws x)) = true.
Proof.
  intros H x Hx. rewrite forallb_forall in H. destruct (p (reduced q (weighted ws x))) eqn:E; auto. exfalso.
  assert (N : 0 < how_many (fun x => negb (p (reduced q (weighted ws x)))) (datasets (map (@length Z) ws))).
  { apply how_many_pos with x; auto. now rewrite E. }
  rewrite (sums_counted ws (fun s => negb (p (reduced q s)))), <- (spread_ways ws (fun s => negb (p s))) in N.
  unfold amount_of in N. rewrite zsum_zero in N; [lia|]. intros e He. now rewrite (H e He).
Qed.

Variable values : list Z.
Let V := length values.
Let ws := contributions q.

(** [values] lists all values of the query. *)
Definition values_by_sums : bool := forallb (fun e => (place values (finished q (fst e)) <? V)%nat) (spread ws).
Lemma values_by_sums_correct : values_by_sums = true -> all_values m values.
Proof.
  intros H x Hx. unfold row_of. rewrite (additive_query _ _ Hm x Hx). apply Nat.ltb_lt. rewrite (additive_alphabets _ _ Hm) in Hx.
  exact (spread_all ws (fun s => (place values (finished q s) <? V)%nat) H x Hx).
Qed.

(** A record's table, and those of all records: the listed ones, whose tables are others' where letters contribute the same. *)
Definition row_counts (d : distribution) (v : Z) : list Z :=
  fold_right (fun e => change 0 (place values (finished q (reduced q (v + fst e)))) (Z.add (snd e))) (repeat 0 V) d.
Lemma row_counts_nth d v k :
  nth k (row_counts d v) 0 = amount_of (fun s => Nat.eqb (place values (finished q (reduced q (v + s)))) k) d.
Proof.
  unfold row_counts. induction d as [|e d IH]; [apply nth_repeat|]. cbn [fold_right]. rewrite nth_change, IH. unfold amount_of.
  rewrite zsum_cons. destruct (Nat.eqb _ k); lia.
Qed.
Definition table_of (i : nat) : list (list Z) := let d := spread (others i ws) in map (row_counts d) (nth i ws []).
Definition sum_tables (listed : list nat) : list (list (list Z)) :=
  let known := map (fun i => (nth i ws [], table_of i)) listed in
  map (fun i => match find (fun e => if list_eq_dec Z.eq_dec (fst e) (nth i ws []) then true else false) known with
    | Some e => snd e
    | None => table_of i
    end) (seq 0 (length ws)).

Lemma table_of_right i j a k : (i < length ws)%nat -> nth i ws [] = nth j ws [] -> (a < length (nth i ws []))%nat -> (k < V)%nat ->
  nth k (row_at (table_of j) a) 0 = count m values i a k.
Proof.
  intros Hi E Ha Hk.
  assert (Hj : (j < length ws)%nat).
  { destruct (Nat.lt_ge_cases j (length ws)) as [|L]; auto. rewrite E, (nth_overflow ws []) in Ha by auto. simpl in Ha. lia. }
  unfold count. rewrite (how_many_ext _ (fun x => (letter i x =? a)%nat && Nat.eqb (place values (finished q (reduced q (weighted ws x)))) k)).
  2: { intros x Hx. unfold row_of. now rewrite (additive_query _ _ Hm x Hx). }
  rewrite (additive_alphabets _ _ Hm). fold ws.
  rewrite (letters_counted i a ws (fun s => Nat.eqb (place values (finished q (reduced q s))) k) Hi Ha).
  rewrite (ways_permutation _ _ (others_equal ws i j [] Hi Hj E)).
  set (v := nth a (nth i ws []) 0).
  transitivity (nth k (row_counts (spread (others j ws)) v) 0).
  { f_equal. unfold table_of, row_at. rewrite <- E. rewrite (nth_indep _ [] (row_counts (spread (others j ws)) 0)) by (now rewrite map_length).
    now rewrite (map_nth (row_counts (spread (others j ws)))). }
  rewrite row_counts_nth.
  rewrite spread_ways. apply ways_ext; intro s. now rewrite (additive_reduced _ _ Hm).
Qed.

Theorem by_sums listed : values_by_sums = true -> counts_right m values (sum_tables listed).
Proof.
  intro H. split; [now apply values_by_sums_correct|]. intros i a k Hi Ha Hk.
  rewrite (additive_alphabets _ _ Hm), map_length in Hi. fold ws in Hi.
  assert (Ha' : (a < length (nth i ws []))%nat).
  { unfold letter in Ha. rewrite (additive_alphabets _ _ Hm) in Ha.
    rewrite (nth_indep _ 0%nat (length (@nil Z))) in Ha by (now rewrite map_length). now rewrite map_nth in Ha. }
  unfold sum_tables. cbv zeta. unfold row_at at 2. rewrite nth_map_seq by auto.
  destruct (find _ _) as [e|] eqn:F; [|now apply table_of_right].
  apply find_some in F as [F E]. destruct (list_eq_dec _ _ _) as [E'|]; [|discriminate]. clear E.
  apply in_map_iff in F as (j & <- & _). now apply table_of_right.
Qed.
End Sums.

(** ** The queries *)

Definition letters_of (alphabets : list nat) : list (list Z) := map (fun m => map Z.of_nat (seq 0 m)) alphabets.
Lemma letters_of_length alphabets : alphabets = map (@length Z) (letters_of alphabets).
Proof. induction alphabets as [|m l IH]; auto. simpl. now rewrite map_length, seq_length, <- IH. Qed.

(** A sum of what each letter counts, which is the same for all records. *)
Lemma weighted_alike (h : nat -> Z) alphabets x : In x (datasets alphabets) ->
  weighted (map (fun m => map h (seq 0 m)) alphabets) x = zsum x h.
Proof.
  revert x. induction alphabets as [|m l IH]; intros x Hx; [destruct Hx as [<-|[]]; reflexivity|].
  apply in_datasets_cons in Hx as (a & z & -> & Ha & Hz). rewrite zsum_cons. cbn [map weighted]. f_equal; [|now apply IH].
  now rewrite nth_map_seq.
Qed.

Definition no_reduction (s : Z) : Z := s.
Definition sums_of_total alphabets := Sums (letters_of alphabets) no_reduction no_reduction.
Definition sums_of_modular_sum modulus alphabets := Sums (letters_of alphabets) (fun s => s mod modulus) no_reduction.
Definition sums_of_parity := sums_of_modular_sum 2.
Definition sums_of_threshold at_ alphabets := Sums (letters_of alphabets) no_reduction (fun s => if at_ <=? s then 1 else 0).
Definition sums_of_count_of letters alphabets :=
  Sums (map (fun m => map (fun a => if existsb (Nat.eqb a) letters then 1 else 0) (seq 0 m)) alphabets) no_reduction no_reduction.
Definition sums_of_weighted weights := Sums weights no_reduction no_reduction.

(** A dataset's number is a sum, too. *)
Fixpoint places_of (alphabets : list nat) : list (list Z) :=
  match alphabets with
  | [] => []
  | m :: rest => map (fun a => Z.of_nat a * size rest) (seq 0 m) :: places_of rest
  end.
Lemma places_of_length alphabets : alphabets = map (@length Z) (places_of alphabets).
Proof. induction alphabets as [|m l IH]; auto. cbn [places_of map]. now rewrite map_length, seq_length, <- IH. Qed.
Lemma index_is alphabets : forall x, In x (datasets alphabets) -> Z.of_nat (index alphabets x) = weighted (places_of alphabets) x.
Proof.
  induction alphabets as [|m rest IH]; intros x Hx; [destruct Hx as [<-|[]]; reflexivity|].
  apply in_datasets_cons in Hx as (a & z & -> & Ha & Hz). cbn [places_of weighted index]. rewrite nth_map_seq by exact Ha.
  rewrite Nat2Z.inj_add, Nat2Z.inj_mul, IH by auto. f_equal. f_equal.
  apply eq_IZR. rewrite <- INR_IZR_INZ. apply length_datasets.
Qed.
Definition sums_of_identity alphabets := Sums (places_of alphabets) no_reduction no_reduction.
Definition sums_of_table entries alphabets := Sums (places_of alphabets) no_reduction (fun s => nth (Z.to_nat s) entries 0).

Lemma total_additive alphabets outputs weight : additive (Model alphabets total outputs weight) (sums_of_total alphabets).
Proof.
  split; cbn; auto using letters_of_length. intros x Hx. symmetry. exact (weighted_alike Z.of_nat alphabets x Hx).
Qed.
Lemma modular_sum_additive modulus alphabets outputs weight :
  additive (Model alphabets (modular_sum modulus) outputs weight) (sums_of_modular_sum modulus alphabets).
Proof.
  split; cbn; [apply letters_of_length|intros; apply Zplus_mod_idemp_r|].
  intros x Hx. unfold no_reduction, modular_sum. f_equal. symmetry. exact (weighted_alike Z.of_nat alphabets x Hx).
Qed.
Definition parity_additive := modular_sum_additive 2.
Lemma threshold_additive at_ alphabets outputs weight :
  additive (Model alphabets (threshold at_) outputs weight) (sums_of_threshold at_ alphabets).
Proof.
  split; cbn; auto using letters_of_length. intros x Hx. unfold threshold, no_reduction.
  change (total x) with (zsum x Z.of_nat). now rewrite <- (weighted_alike Z.of_nat alphabets x Hx).
Qed.
Lemma count_of_additive letters alphabets outputs weight :
  additive (Model alphabets (count_of letters) outputs weight) (sums_of_count_of letters alphabets).
Proof.
  split; cbn; auto.
  - induction alphabets as [|m l IH]; auto. simpl. now rewrite map_length, seq_length, <- IH.
  - intros x Hx. unfold no_reduction. rewrite weighted_alike by auto. unfold count_of. clear Hx.
    induction x as [|a x IH]; auto. rewrite zsum_cons, <- IH. cbn [filter]. destruct (existsb _ _); cbn [length]; lia.
Qed.
Lemma weighted_additive weights outputs weight :
  additive (Model (map (@length Z) weights) (weighted weights) outputs weight) (sums_of_weighted weights).
Proof. split; auto. Qed.
Lemma identity_additive alphabets outputs weight :
  additive (Model alphabets (identity alphabets) outputs weight) (sums_of_identity alphabets).
Proof. split; cbn; auto using places_of_length. exact (index_is alphabets). Qed.
Lemma table_additive entries alphabets outputs weight :
  additive (Model alphabets (table alphabets entries) outputs weight) (sums_of_table entries alphabets).
Proof.
  split; cbn; auto using places_of_length. intros x Hx. unfold no_reduction. now rewrite <- index_is, Nat2Z.id.
Qed.
