(** Independent blocks of records. Leakage is convex in the law of the other blocks, so that it is largest where their letters are
    known; what is left is a smaller model, a *piece*, whose records are those of one block. *)
From Coq Require Import Reals ZArith QArith Qreals Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Bounds Vertices Counting Enclosures Boxes Checker Certificates Additive Witnesses.
Import ListNotations.
Open Scope R_scope.

(** ** Datasets of consecutive parts *)

Lemma in_datasets_app pre post w : In w (datasets (pre ++ post)) <->
  exists x z, w = x ++ z /\ In x (datasets pre) /\ In z (datasets post).
Proof.
  revert w. induction pre as [|m pre IH]; intro w; cbn [app].
  - split; [intro H; exists [], w; simpl; auto|]. intros (x & z & -> & [<-|[]] & Hz). exact Hz.
  - rewrite in_datasets_cons. split.
    + intros (a & v & -> & Ha & Hv). apply IH in Hv as (x & z & -> & Hx & Hz). exists (a :: x), z. repeat split; auto.
      apply in_datasets_cons. exists a, x. auto.
    + intros (x & z & -> & Hx & Hz). apply in_datasets_cons in Hx as (a & x' & -> & Ha & Hx). exists a, (x' ++ z).
      repeat split; auto. apply IH. exists x', z. auto.
Qed.
Lemma dataset_length alphabets x : In x (datasets alphabets) -> length x = length alphabets.
Proof.
  revert x. induction alphabets as [|m l IH]; intros x Hx; [destruct Hx as [<-|[]]; auto|].
  apply in_datasets_cons in Hx as (a & z & -> & _ & Hz). simpl. auto.
Qed.

Lemma firstn_exact {B} n (x z : list B) : length x = n -> firstn n (x ++ z) = x.
Proof. intros <-. now rewrite firstn_app, Nat.sub_diag, firstn_all, firstn_O, app_nil_r. Qed.
Lemma skipn_exact {B} n (x z : list B) : length x = n -> skipn n (x ++ z) = z.
Proof. intros <-. now rewrite skipn_app, Nat.sub_diag, skipn_all. Qed.

Lemma sum_datasets_cons m rest f : sum (datasets (m :: rest)) f = sum_to m (fun a => sum (datasets rest) (fun x => f (a :: x))).
Proof. cbn [datasets]. rewrite sum_flat_map. apply sum_ext; intros. apply sum_map. Qed.
Lemma sum_datasets_app pre post f :
  sum (datasets (pre ++ post)) f = sum (datasets pre) (fun x => sum (datasets post) (fun z => f (x ++ z))).
Proof.
  revert f. induction pre as [|m pre IH]; intro f; cbn [app]; [simpl; now rewrite Rplus_0_r|]. rewrite !sum_datasets_cons.
  apply sum_to_ext; intros a _. apply IH.
Qed.

(** The law of a dataset that is known. *)
Definition known (x y : dataset) : R := if list_eq_dec Nat.eq_dec x y then 1 else 0.
Lemma known_cons a x b y : known (a :: x) (b :: y) = if Nat.eqb a b then known x y else 0.
Proof.
  unfold known. destruct (list_eq_dec Nat.eq_dec (a :: x) (b :: y)) as [E|N].
  - injection E as -> ->. rewrite Nat.eqb_refl. destruct (list_eq_dec _ y y); congruence.
  - destruct (Nat.eqb_spec a b) as [->|]; auto. destruct (list_eq_dec _ x y); congruence.
Qed.
Lemma known_sym x y : known x y = known y x.
Proof. unfold known. destruct (list_eq_dec _ x y), (list_eq_dec _ y x); congruence. Qed.
Lemma sum_known alphabets x f : In x (datasets alphabets) -> sum (datasets alphabets) (fun y => known x y * f y) = f x.
Proof.
  revert x f. induction alphabets as [|m l IH]; intros x f Hx.
  - destruct Hx as [<-|[]]. unfold known. simpl. ring.
  - apply in_datasets_cons in Hx as (a & z & -> & Ha & Hz). rewrite sum_datasets_cons, <- (IH z (fun y => f (a :: y)) Hz).
    rewrite <- (sum_to_single m a (fun b => sum (datasets l) (fun y => known z y * f (b :: y))) Ha).
    apply sum_to_ext; intros b _. destruct (Nat.eqb a b) eqn:E.
    + apply sum_ext; intros y _. now rewrite known_cons, E.
    + apply sum_all_zero; intros y _. rewrite known_cons, E. ring.
Qed.
Lemma known_prior alphabets x : In x (datasets alphabets) -> is_prior alphabets (known x).
Proof.
  intro Hx. split; [intros y _; unfold known; destruct (list_eq_dec _ x y); lra|].
  rewrite <- (sum_known alphabets x (fun _ => 1) Hx). apply sum_ext; intros; ring.
Qed.

Lemma prior_app pre post P Q R : is_prior pre P -> is_prior post Q ->
  (forall x z, In x (datasets pre) -> In z (datasets post) -> R (x ++ z) = P x * Q z) -> is_prior (pre ++ post) R.
Proof.
  intros [P0 P1] [Q0 Q1] E. split.
  - intros w Hw. apply in_datasets_app in Hw as (x & z & -> & Hx & Hz). rewrite E by auto. apply Rmult_le_pos; auto.
  - rewrite sum_datasets_app, <- P1. apply sum_ext; intros x Hx.
    rewrite (sum_ext _ _ (fun z => P x * Q z)) by auto. rewrite sum_scale, Q1. ring.
Qed.

(** ** A model's records in three parts, those before, of, and after a block *)

Section Parts.
Variables (m : model) (pre own post : list nat).
Hypothesis Hm : alphabets m = pre ++ own ++ post.

Lemma over_parts f : over_datasets m f = sum (datasets pre) (fun x => sum (datasets own) (fun y => sum (datasets post) (fun z => f (x ++ y ++ z)))).
Proof. unfold over_datasets. rewrite Hm, sum_datasets_app. apply sum_ext; intros. apply sum_datasets_app. Qed.

(** Three independent laws. *)
Variable law : dataset -> R.
Hypothesis Hlaw : is_prior own law.
Variable j : nat.
Hypothesis Hj : (j < length own)%nat.
Let i := (length pre + j)%nat.

Lemma letter_own x y z : In x (datasets pre) -> In y (datasets own) -> letter i (x ++ y ++ z) = letter j y.
Proof.
  intros Hx Hy. unfold letter, i. apply dataset_length in Hx, Hy. rewrite <- Hx, app_nth2_plus. apply app_nth1. lia.
Qed.
Lemma letter_of_own : letter i (alphabets m) = letter j own.
Proof. rewrite Hm. unfold letter, i. rewrite app_nth2_plus. now apply app_nth1. Qed.
Lemma i_small : (i < length (alphabets m))%nat.
Proof. rewrite Hm, !app_length. unfold i. lia. Qed.

Definition splits (first last : dataset -> R) (P : dataset -> R) : Prop :=
  is_prior pre first /\ is_prior post last /\
  forall x y z, In x (datasets pre) -> In y (datasets own) -> In z (datasets post) -> P (x ++ y ++ z) = first x * law y * last z.

Lemma splits_prior first last P : splits first last P -> is_prior (alphabets m) P.
Proof.
  intros (Hf & Hl & E). rewrite Hm. apply (prior_app pre (own ++ post) first (fun w => law (firstn (length own) w) * last (skipn (length own) w))); auto.
  - apply (prior_app own post law last); auto. intros y z Hy _. apply dataset_length in Hy.
    now rewrite firstn_exact, skipn_exact.
  - intros x w Hx Hw. apply in_datasets_app in Hw as (y & z & -> & Hy & Hz). rewrite E by auto. apply dataset_length in Hy.
    rewrite firstn_exact, skipn_exact by auto. ring.
Qed.

Lemma splits_letter first last P a : splits first last P ->
  of_letter (alphabets m) P i a = sum (datasets own) (fun y => if Nat.eqb (letter j y) a then law y else 0).
Proof.
  intros ([_ F1] & [_ L1] & E). unfold of_letter. change (sum (datasets (alphabets m))) with (over_datasets m). rewrite over_parts.
  transitivity (sum (datasets pre) (fun x => first x * sum (datasets own) (fun y => if Nat.eqb (letter j y) a then law y else 0)));
    [|rewrite sum_scale_r, F1; ring].
  apply sum_ext; intros x Hx. rewrite <- sum_scale. apply sum_ext; intros y Hy.
  rewrite (sum_ext _ _ (fun z => first x * (if Nat.eqb (letter j y) a then law y else 0) * last z)).
  - rewrite sum_scale, L1. ring.
  - intros z Hz. rewrite letter_own, E by auto. destruct (Nat.eqb _ _); ring.
Qed.

(** Where the others' letters are known it is the block's model by itself. *)
Definition piece_at (x z : dataset) : model := Model own (fun y => query m (x ++ y ++ z)) (outputs m) (weight m).

Lemma known_sum x z P f : splits (known x) (known z) P -> In x (datasets pre) -> In z (datasets post) ->
  (forall x' y z', In x' (datasets pre) -> In y (datasets own) -> In z' (datasets post) -> f (x' ++ y ++ z') = known x x' * known z z' * f (x' ++ y ++ z')) ->
  over_datasets m f = sum (datasets own) (fun y => f (x ++ y ++ z)).
Proof.
  intros S Hx Hz E. rewrite over_parts. rewrite <- (sum_known pre x (fun x => sum (datasets own) (fun y => f (x ++ y ++ z))) Hx).
  apply sum_ext; intros x' Hx'. rewrite <- sum_scale. apply sum_ext; intros y Hy.
  rewrite <- (sum_known post z (fun z => f (x' ++ y ++ z)) Hz), <- sum_scale. apply sum_ext; intros z' Hz'. etransitivity; [apply E; auto|ring].
Qed.

Lemma known_information x z P : splits (known x) (known z) P -> In x (datasets pre) -> In z (datasets post) ->
  information m P i = information (piece_at x z) law j.
Proof.
  intros S Hx Hz. destruct S as (Hf & Hl & E). pose proof (conj Hf (conj Hl E)) as S. fold (splits (known x) (known z) P) in S.
  assert (K : forall x y, known x y = known x y * known x y) by (intros; unfold known; destruct (list_eq_dec _ _ _); ring).
  assert (One : forall x, known x x = 1) by (intro; unfold known; destruct (list_eq_dec _ _ _); congruence).
  assert (J : forall a y', joint m P i a y' = joint (piece_at x z) law j a y').
  { intros a y'. unfold joint. rewrite (known_sum x z P _ S Hx Hz).
    - apply sum_ext; intros y Hy. rewrite letter_own, E, !One by auto. destruct (Nat.eqb _ _); [|reflexivity].
      change (1 * law y * 1 * probability m (query m (x ++ y ++ z)) y' = law y * probability m (query m (x ++ y ++ z)) y'). ring.
    - intros x' y z' Hx' Hy Hz'. rewrite E by auto. destruct (Nat.eqb _ _); [|ring]. rewrite (K x x') at 1. rewrite (K z z') at 1. ring. }
  assert (L : forall a, of_letter (alphabets m) P i a = of_letter own law j a) by (intro a; exact (splits_letter _ _ P a S)).
  assert (O : forall y', of_output m P y' = of_output (piece_at x z) law y').
  { intro y'. unfold of_output. rewrite (known_sum x z P _ S Hx Hz).
    - apply sum_ext; intros y Hy. rewrite E, !One by auto.
      change (1 * law y * 1 * probability m (query m (x ++ y ++ z)) y' = law y * probability m (query m (x ++ y ++ z)) y'). ring.
    - intros x' y z' Hx' Hy Hz'. rewrite E by auto. rewrite (K x x') at 1. rewrite (K z z') at 1. ring. }
  unfold information. rewrite letter_of_own. apply sum_to_ext; intros a _. apply sum_to_ext; intros y' _. now rewrite J, L, O.
Qed.

(** Leakage is no larger than where the others' letters are known. *)
Variable values : list Z.
Hypothesis Hv : all_values m values.
Hypothesis Hc : is_channel m.

Definition with_known (xz : dataset * dataset) (w : dataset) : R :=
  known (fst xz) (firstn (length pre) w) * law (firstn (length own) (skipn (length pre) w)) * known (snd xz) (skipn (length own) (skipn (length pre) w)).
Lemma with_known_splits x z : In x (datasets pre) -> In z (datasets post) -> splits (known x) (known z) (with_known (x, z)).
Proof.
  intros Hx Hz. split; [now apply known_prior|]. split; [now apply known_prior|]. intros x' y z' Hx' Hy _.
  apply dataset_length in Hx', Hy. unfold with_known. cbn [fst snd].
  now rewrite firstn_exact, !(skipn_exact (length pre)), firstn_exact, skipn_exact by auto.
Qed.

Lemma splits_bound first last P c : splits first last P ->
  (forall x z, In x (datasets pre) -> In z (datasets post) -> information (piece_at x z) law j <= c) -> information m P i <= c.
Proof.
  intros S H. pose proof (splits_prior _ _ _ S) as HP. destruct S as (Hf & Hl & E). pose proof (conj Hf (conj Hl E) : splits first last P) as S.
  assert (Hletters : forall a, (a < letter i (alphabets m))%nat -> exists k, (0 < count m values i a k)%Z).
  { intros a Ha. pose proof (datasets_exist _ _ HP) as NE. destruct (datasets (alphabets m)) as [|x0 t] eqn:D; [congruence|].
    destruct (letters_exist (alphabets m) i a x0 ltac:(rewrite D; simpl; auto) i_small Ha) as (y & Hy & Ey).
    exists (row_of m values y). apply how_many_pos with y; auto. now rewrite Ey, !Nat.eqb_refl. }
  pose proof (counted m values i Hv Hc Hletters) as Hwc.
  rewrite (information_is m values i Hv i_small Hc Hletters P HP).
  set (l := list_prod (datasets pre) (datasets post)). set (q := fun xz : dataset * dataset => first (fst xz) * last (snd xz)).
  assert (In_l : forall xz, In xz l -> In (fst xz) (datasets pre) /\ In (snd xz) (datasets post)).
  { intros [x z] I. apply in_prod_iff in I. exact I. }
  assert (SK : forall xz, In xz l -> splits (known (fst xz)) (known (snd xz)) (with_known xz)).
  { intros [x z] I. destruct (In_l _ I). now apply with_known_splits. }
  assert (q0 : forall xz, In xz l -> 0 <= q xz).
  { intros xz I. destruct (In_l _ I). apply Rmult_le_pos; [now apply Hf|now apply Hl]. }
  eapply Rle_trans.
  - apply (info_convex (letter i (alphabets m)) (outputs m) (length values) (having m i) (row_of m values) (count m values i) (rows m values) Hwc l q P with_known q0).
    + intros xz I. apply (prior_is m i i_small). exact (splits_prior _ _ _ (SK xz I)).
    + intros xz a I _. rewrite <- !of_letter_is. now rewrite (splits_letter _ _ _ a (SK xz I)), (splits_letter _ _ _ a S).
    + intros a w _ Hw. apply filter_In in Hw as [Hw _]. rewrite Hm in Hw. apply in_datasets_app in Hw as (x & v & -> & Hx & Hw).
      apply in_datasets_app in Hw as (y & z & -> & Hy & Hz). rewrite E by auto. unfold l. rewrite sum_list_prod.
      transitivity (sum (datasets pre) (fun x' => known x x' * (sum (datasets post) (fun z' => known z z' * (first x' * law y * last z'))))).
      * rewrite (sum_known pre x (fun x' => sum (datasets post) (fun z' => known z z' * (first x' * law y * last z'))) Hx).
        now rewrite (sum_known post z (fun z' => first x * law y * last z') Hz).
      * apply sum_ext; intros x' Hx'. rewrite <- sum_scale. apply sum_ext; intros z' Hz'.
        destruct (with_known_splits x' z' Hx' Hz') as (_ & _ & EK). rewrite EK by auto. unfold q. cbn [fst snd].
        rewrite (known_sym x x'), (known_sym z z'). ring.
  - apply Rle_trans with (sum l (fun xz => q xz * c)).
    + apply sum_le; intros xz I. apply Rmult_le_compat_l; auto.
      rewrite <- (information_is m values i Hv i_small Hc Hletters (with_known xz) (splits_prior _ _ _ (SK xz I))).
      destruct (In_l _ I) as [Ix Iz]. rewrite (known_information _ _ _ (SK xz I) Ix Iz). auto.
    + right. rewrite sum_scale_r. replace (sum l q) with 1; [ring|]. unfold l, q. rewrite sum_list_prod. cbn [fst snd].
      destruct Hf as [_ F1]. destruct Hl as [_ L1]. rewrite <- F1. apply sum_ext; intros. rewrite sum_scale, L1. ring.
Qed.
End Parts.

(** ** Blocks *)

Lemma blocks_app {B} s1 s2 (x z : list B) : length x = list_sum s1 -> blocks (s1 ++ s2) (x ++ z) = blocks s1 x ++ blocks s2 z.
Proof.
  revert x. induction s1 as [|n s1 IH]; intros x H.
  - destruct x; [reflexivity|discriminate].
  - change (list_sum (n :: s1)) with (n + list_sum s1)%nat in H. cbn [app blocks]. rewrite firstn_app, skipn_app.
    replace (n - length x)%nat with 0%nat by lia. cbn [firstn skipn]. rewrite app_nil_r. f_equal. apply IH. rewrite skipn_length. lia.
Qed.
Lemma blocks_length {B} sizes (l : list B) : length (blocks sizes l) = length sizes.
Proof. revert l. induction sizes as [|n s IH]; intro l; simpl; auto. Qed.
Lemma Forall2_length_eq {B C} (R : B -> C -> Prop) l l' : Forall2 R l l' -> length l = length l'.
Proof. induction 1; simpl; auto. Qed.
Lemma block_of_app s1 n s2 j : (j < n)%nat -> block_of (s1 ++ n :: s2) (list_sum s1 + j) = (length s1, j).
Proof.
  intro Hj. induction s1 as [|k s1 IH]; cbn [app block_of length list_sum fold_right].
  - destruct (Nat.ltb_spec (0 + j) n); auto. simpl in *; lia.
  - fold (list_sum s1). destruct (Nat.ltb_spec (k + list_sum s1 + j) k); [lia|].
    replace (k + list_sum s1 + j - k)%nat with (list_sum s1 + j)%nat by lia. now rewrite IH.
Qed.
Lemma product_app l1 l2 p1 p2 : length l1 = length p1 -> product (l1 ++ l2) (p1 ++ p2) = product l1 p1 * product l2 p2.
Proof.
  revert p1. induction l1 as [|law l1 IH]; intros [|x p1] H; cbn [length] in H; try lia; cbn [app product]; [ring|]. rewrite IH by lia. ring.
Qed.

Lemma blocks_prior sizes : forall alphabets laws, length alphabets = list_sum sizes -> Forall2 is_prior (blocks sizes alphabets) laws ->
  is_prior alphabets (fun x => product laws (blocks sizes x)).
Proof.
  induction sizes as [|n sizes IH]; intros alphabets laws H F; cbn [blocks] in F; inversion F; subst.
  - destruct alphabets; [|discriminate]. split; [intros; cbn; lra|cbn; ring].
  - change (list_sum (n :: sizes)) with (n + list_sum sizes)%nat in H. rewrite <- (firstn_skipn n alphabets) at 1.
    assert (Ln : length (firstn n alphabets) = n) by (apply firstn_length_le; lia).
    apply (prior_app _ _ y (fun x => product l' (blocks sizes x))); auto.
    + apply IH; auto. rewrite skipn_length. lia.
    + intros x z Hx Hz. apply dataset_length in Hx. cbn [blocks product]. now rewrite firstn_exact, skipn_exact by congruence.
Qed.

(** A block, and the priors under which the blocks are independent. *)
Section Block.
Variables (s1 s2 : list nat) (pre own post : list nat).
Hypothesis Hpre : length pre = list_sum s1.
Hypothesis Hpost : length post = list_sum s2.
Let sizes := s1 ++ length own :: s2.

Lemma own_blocks {B} (x y z : list B) : length x = length pre -> length y = length own ->
  blocks sizes (x ++ y ++ z) = blocks s1 x ++ y :: blocks s2 z.
Proof.
  intros Hx Hy. unfold sizes. rewrite blocks_app by congruence. cbn [blocks]. now rewrite firstn_exact, skipn_exact.
Qed.

Lemma own_splits laws P : Forall2 is_prior (blocks sizes (pre ++ own ++ post)) laws ->
  (forall x, In x (datasets (pre ++ own ++ post)) -> P x = product laws (blocks sizes x)) ->
  exists first last, splits pre own post (nth (length s1) laws (fun _ => 0)) first last P /\ is_prior own (nth (length s1) laws (fun _ => 0)).
Proof.
  intros F E. rewrite own_blocks in F by auto. apply Forall2_app_inv_l in F as (l1 & l2 & F1 & F2 & ->).
  inversion F2 as [|? law ? l3 Hlaw F3]; subst. clear F2.
  assert (L1 : length l1 = length s1) by (rewrite <- (Forall2_length_eq _ _ _ F1); apply blocks_length).
  rewrite <- L1, nth_middle. exists (fun x => product l1 (blocks s1 x)), (fun z => product l3 (blocks s2 z)).
  split; auto. split; [now apply blocks_prior|]. split; [now apply blocks_prior|]. intros x y z Hx Hy Hz.
  rewrite E by (apply in_datasets_app; exists x, (y ++ z); repeat split; auto; apply in_datasets_app; exists y, z; auto).
  apply dataset_length in Hx, Hy. rewrite own_blocks by auto. rewrite product_app by (rewrite L1; symmetry; apply blocks_length). cbn [product]. ring.
Qed.

(** The others' letters known. *)
Lemma known_app a x b y : length a = length b -> known (a ++ x) (b ++ y) = known a b * known x y.
Proof.
  revert b. induction a as [|c a IH]; intros [|d b] H; cbn [length] in H; try lia.
  - replace (known [] []) with 1 by reflexivity. cbn [app]. ring.
  - cbn [app]. rewrite !known_cons, IH by lia. destruct (Nat.eqb c d); ring.
Qed.
Lemma product_known s : forall x x', length x = list_sum s -> length x' = length x ->
  product (map known (blocks s x)) (blocks s x') = known x x'.
Proof.
  induction s as [|n s IH]; intros x x' Hx Hx'.
  - destruct x; [|discriminate]. destruct x'; [reflexivity|discriminate].
  - change (list_sum (n :: s)) with (n + list_sum s)%nat in Hx. cbn [blocks map product].
    rewrite IH by (rewrite !skipn_length; lia). rewrite <- known_app by (rewrite !firstn_length; lia). now rewrite !firstn_skipn.
Qed.
Lemma known_priors s : forall l x, length l = list_sum s -> In x (datasets l) -> Forall2 is_prior (blocks s l) (map known (blocks s x)).
Proof.
  induction s as [|n s IH]; intros l x Hl Hx; cbn [blocks map]; constructor;
    change (list_sum (n :: s)) with (n + list_sum s)%nat in Hl;
    rewrite <- (firstn_skipn n l) in Hx; apply in_datasets_app in Hx as (a & b & -> & Ha & Hb);
    pose proof (dataset_length _ _ Ha) as La; rewrite firstn_length_le in La by lia.
  - rewrite firstn_exact by auto. now apply known_prior.
  - rewrite skipn_exact by auto. apply IH; auto. rewrite skipn_length. lia.
Qed.

Lemma known_independent (C : list nat -> nat -> (dataset -> R) -> Prop) law j x z : (j < length own)%nat -> is_prior own law ->
  C own j law -> In x (datasets pre) -> In z (datasets post) ->
  exists P, splits pre own post law (known x) (known z) P /\ independent_blocks sizes (pre ++ own ++ post) C (length pre + j) P.
Proof.
  intros Hj Hlaw Hb Hx Hz. pose proof (dataset_length _ _ Hx) as Lx. pose proof (dataset_length _ _ Hz) as Lz.
  set (laws := map known (blocks s1 x) ++ law :: map known (blocks s2 z)).
  exists (fun w => product laws (blocks sizes w)). split.
  - split; [now apply known_prior|]. split; [now apply known_prior|]. intros x' y z' Hx' Hy Hz'.
    apply dataset_length in Hx', Hy, Hz'. rewrite own_blocks by auto. unfold laws.
    rewrite product_app by (rewrite map_length; transitivity (length s1); [|symmetry]; apply blocks_length). cbn [product].
    rewrite !product_known by congruence. ring.
  - exists laws. rewrite own_blocks by auto. split; [|split; auto].
    + apply Forall2_app; [now apply known_priors|]. constructor; auto. now apply known_priors.
    + unfold sizes. rewrite Hpre, block_of_app by auto.
      replace (nth (length s1) (blocks s1 pre ++ own :: blocks s2 post) []) with own.
      * replace (nth (length s1) laws (fun _ => 0)) with law; auto. unfold laws. symmetry.
        replace (length s1) with (length (map known (blocks s1 x))); [apply nth_middle|]. rewrite map_length. apply blocks_length.
      * symmetry. replace (length s1) with (length (blocks s1 pre)) by apply blocks_length. apply nth_middle.
Qed.
End Block.

(** ** Pieces *)

Lemma information_ext own q q' o w P j : (forall y, In y (datasets own) -> q y = q' y) ->
  information (Model own q o w) P j = information (Model own q' o w) P j.
Proof.
  intro E. unfold information. cbn [alphabets outputs]. apply sum_to_ext; intros a _. apply sum_to_ext; intros y _.
  assert (J : joint (Model own q o w) P j a y = joint (Model own q' o w) P j a y).
  { apply sum_ext; intros x Hx. cbn [query]. now rewrite (E x Hx). }
  assert (O : of_output (Model own q o w) P y = of_output (Model own q' o w) P y).
  { apply sum_ext; intros x Hx. cbn [query]. now rewrite (E x Hx). }
  now rewrite J, O.
Qed.

Lemma weighted_app ws1 ws2 x z : length x = length ws1 -> weighted (ws1 ++ ws2) (x ++ z) = (weighted ws1 x + weighted ws2 z)%Z.
Proof.
  revert x. induction ws1 as [|w ws1 IH]; intros [|a x] H; cbn [length] in H; try lia; [reflexivity|].
  cbn [app weighted]. rewrite IH by lia. ring.
Qed.

(** What proves, of a block's records where the others' letters add up to a number, the upper end; and the lower end, where the others
    have these letters. *)
Record piece_proof (B : Type) := PieceProof { of_block : nat; of_sum : Z; about_piece : B }.
Record piece_witness (B : Type) := PieceWitness { in_block : nat; for_others : dataset; of_the_block : B }.
Arguments PieceProof {B}. Arguments of_block {B}. Arguments of_sum {B}. Arguments about_piece {B}.
Arguments PieceWitness {B}. Arguments in_block {B}. Arguments for_others {B}. Arguments of_the_block {B}.

(** A program that checks what is said of a piece, given its channel and sums, and that what it accepts is true. *)
Definition checker (B : Type) := list (list interval) -> model -> sums -> B -> bool.
Definition sound {B} (values : list Z) (check : checker B) (claim : model -> Prop) : Prop := forall channel p s b,
  (forall k y, encl (entry2 channel k y) (rows p values k y)) -> additive p s -> values_by_sums s values = true -> is_channel p ->
  check channel p s b = true -> claim p.

Section Pieces.
Variables (m : model) (q : sums) (values : list Z) (sizes : list nat) (allowed : adversary).
Hypothesis Hq : additive m q.
Hypothesis Hv : all_values m values.
Let ws := contributions q.

(** The records before block k, of it, and after it. *)
Definition start (k : nat) : nat := list_sum (firstn k sizes).
Definition before {B} (k : nat) (l : list B) : list B := firstn (start k) l.
Definition within {B} (k : nat) (l : list B) : list B := firstn (nth k sizes 0%nat) (skipn (start k) l).
Definition after {B} (k : nat) (l : list B) : list B := skipn (nth k sizes 0%nat) (skipn (start k) l).
Lemma three {B} k (l : list B) : l = before k l ++ within k l ++ after k l.
Proof. unfold before, within, after. now rewrite !firstn_skipn. Qed.

(** The model of a block's records by themselves where the others' letters add up to t. *)
Definition piece (own : list (list Z)) (t : Z) : model :=
  Model (map (@length Z) own) (fun y => finished q (reduced q (t + weighted own y))) (outputs m) (weight m).
Definition piece_sums (own : list (list Z)) (t : Z) : sums := Sums own (reduced q) (fun s => finished q (reduced q (t + s))).
Lemma piece_additive own t : additive (piece own t) (piece_sums own t).
Proof. split; [reflexivity|exact (additive_reduced _ _ Hq)|]. intros x _. cbn. now rewrite (additive_reduced _ _ Hq). Qed.

Definition others_sum (k : nat) (x z : dataset) : Z := reduced q (weighted (before k ws ++ after k ws) (x ++ z)).

Hypothesis Hsizes : list_sum sizes = length ws.
Section One.
Variable k : nat.
Hypothesis Hk : (k < length sizes)%nat.
Let pre := before k (alphabets m).
Let own := within k (alphabets m).
Let post := after k (alphabets m).

Lemma parts_are : pre = map (@length Z) (before k ws) /\ own = map (@length Z) (within k ws) /\ post = map (@length Z) (after k ws).
Proof.
  unfold pre, own, post, before, within, after. rewrite (additive_alphabets _ _ Hq). fold ws.
  now rewrite !skipn_map, !firstn_map.
Qed.
Lemma parts_fit : length pre = list_sum (firstn k sizes) /\ length own = nth k sizes 0%nat /\ length post = list_sum (skipn (S k) sizes).
Proof.
  pose proof (split_nth sizes k 0%nat Hk) as E. assert (L : length (alphabets m) = list_sum sizes).
  { rewrite (additive_alphabets _ _ Hq), map_length. symmetry. exact Hsizes. }
  assert (T : list_sum sizes = (start k + (nth k sizes 0 + list_sum (skipn (S k) sizes)))%nat).
  { rewrite E at 1. rewrite list_sum_app. reflexivity. }
  unfold pre, own, post, before, within, after. rewrite firstn_length, firstn_length, !skipn_length. unfold start in *. lia.
Qed.
Lemma sizes_are : sizes = firstn k sizes ++ length own :: skipn (S k) sizes.
Proof. destruct parts_fit as (_ & -> & _). now apply split_nth. Qed.

Lemma piece_is x y z : In x (datasets pre) -> In y (datasets own) -> In z (datasets post) ->
  query m (x ++ y ++ z) = query (piece (within k ws) (others_sum k x z)) y.
Proof.
  intros Hx Hy Hz. rewrite (additive_query _ _ Hq).
  - pose proof (dataset_length _ _ Hx) as Lx. pose proof (dataset_length _ _ Hy) as Ly.
    destruct parts_are as (P1 & P2 & _). rewrite P1, map_length in Lx. rewrite P2, map_length in Ly. fold ws.
    rewrite (three k ws) at 1. rewrite !weighted_app by auto. cbn [piece query]. f_equal. unfold others_sum.
    rewrite (Z.add_comm (reduced q _)), (additive_reduced _ _ Hq), weighted_app by auto. f_equal. ring.
  - rewrite (three k (alphabets m)). apply in_datasets_app. exists x, (y ++ z). repeat split; auto.
    apply in_datasets_app. exists y, z. auto.
Qed.
Lemma piece_information x z law j : In x (datasets pre) -> In z (datasets post) ->
  information (piece_at m own x z) law j = information (piece (within k ws) (others_sum k x z)) law j.
Proof.
  intros Hx Hz. unfold piece. destruct parts_are as (_ & <- & _). apply information_ext. intros y Hy. now apply piece_is.
Qed.
End One.

Lemma own_block : forall l i, (i < list_sum l)%nat ->
  exists k j, (k < length l)%nat /\ i = (list_sum (firstn k l) + j)%nat /\ (j < nth k l 0)%nat.
Proof.
  induction l as [|n l IH]; intros i H; [simpl in H; lia|]. change (list_sum (n :: l)) with (n + list_sum l)%nat in H.
  destruct (Nat.lt_ge_cases i n) as [L|L]; [exists 0%nat, i; cbn; repeat split; auto; lia|].
  destruct (IH (i - n)%nat ltac:(lia)) as (k & j & Hk & E & Hj). exists (S k), j. cbn [length firstn nth].
  change (list_sum (n :: firstn k l)) with (n + list_sum (firstn k l))%nat. repeat split; auto; lia.
Qed.

(** ** From above *)

Context {B C : Type}.
Variables (channel : list (list interval)) (upper : Q) (above : checker B) (proofs : list (piece_proof B)).
Hypothesis HC : channel_check m (weight_table m values) = true.
Hypothesis HW : forall k y, encl (entry2 channel k y) (rows m values k y).
Hypothesis Habove : sound values above (fun p => at_most p allowed upper).

Definition piece_check (h : piece_proof B) : bool :=
  let s := piece_sums (within (of_block h) ws) (of_sum h) in
  values_by_sums s values && above channel (piece (within (of_block h) ws) (of_sum h)) s (about_piece h).
Lemma piece_check_correct h : piece_check h = true -> at_most (piece (within (of_block h) ws) (of_sum h)) allowed upper.
Proof.
  intro H. apply andb_prop in H as [H1 H2]. pose proof (piece_additive (within (of_block h) ws) (of_sum h)) as A.
  refine (Habove channel (piece _ _) _ _ HW A H1 _ H2). exact (channel_correct (piece _ _) values (values_by_sums_correct _ _ A values H1) HC).
Qed.

Definition constant (own : list (list Z)) (t : Z) : bool :=
  Qle_bool 0 upper &&
  match spread q own with
  | [] => true
  | e :: _ => forallb (fun d => finished q (reduced q (t + fst d)) =? finished q (reduced q (t + fst e)))%Z (spread q own)
  end.
Lemma constant_correct own t : constant own t = true -> at_most (piece own t) allowed upper.
Proof.
  intros H i P Hi HP _. apply andb_prop in H as [H0 H]. apply Qle_bool_correct in H0. rewrite RMicromega.Q2R_0 in H0.
  set (v := match spread q own with [] => 0%Z | e :: _ => finished q (reduced q (t + fst e)) end).
  assert (F : forallb (fun d => finished q (reduced q (t + fst d)) =? v)%Z (spread q own) = true).
  { unfold v. destruct (spread q own); auto. }
  rewrite (constant_information _ P i (probability m v) HP); auto. intros x y Hx _. change (probability m (query (piece own t) x) y = probability m v y). f_equal. cbn [piece query alphabets] in *.
  pose proof (spread_all q m Hq own (fun s => finished q (reduced q (t + s)) =? v)%Z F x Hx) as E. cbv beta in E.
  rewrite (additive_reduced _ _ Hq) in E. now apply Z.eqb_eq.
Qed.

Definition same_block (own own' : list (list Z)) : bool := if list_eq_dec (list_eq_dec Z.eq_dec) own own' then true else false.
Definition piece_covered (k : nat) (t : Z) : bool :=
  constant (within k ws) t
  || existsb (fun h => (of_sum h =? t)%Z && same_block (within (of_block h) ws) (within k ws)) proofs.
Definition pieces_check : bool :=
  (list_sum sizes =? length ws)%nat && forallb piece_check proofs
  && forallb (fun k => forallb (fun e => piece_covered k (fst e)) (spread q (before k ws ++ after k ws))) (seq 0 (length sizes)).

Theorem pieces_correct : pieces_check = true -> at_most m (IndependentBlocks sizes allowed) upper.
Proof.
  intros H i P Hi HP (laws & F & E & Hb). unfold pieces_check in H. apply andb_prop in H as [H Hcov]. apply andb_prop in H as [_ Hpieces].
  assert (Li : (i < list_sum sizes)%nat) by (rewrite Hsizes; rewrite (additive_alphabets _ _ Hq), map_length in Hi; exact Hi).
  destruct (own_block sizes i Li) as (k & j & Hk & -> & Hj).
  destruct (parts_fit k Hk) as (Lpre & Lown & Lpost). set (pre := before k (alphabets m)) in *. set (own := within k (alphabets m)) in *.
  set (post := after k (alphabets m)) in *. assert (Hm : alphabets m = pre ++ own ++ post) by apply three.
  pose proof (sizes_are k Hk) as S. fold own in S. set (s1 := firstn k sizes) in *. set (s2 := skipn (Datatypes.S k) sizes) in *. rewrite S, Hm in F, E. rewrite S, Hm, block_of_app in Hb by (now rewrite Lown).
  rewrite (own_blocks s1 s2 pre own Lpre pre own post eq_refl eq_refl) in Hb.
  replace (nth (length s1) (blocks s1 pre ++ own :: blocks s2 post) []) with own in Hb
    by (rewrite <- (blocks_length s1 pre); symmetry; apply nth_middle).
  destruct (own_splits s1 s2 pre own post Lpre Lpost laws P F E) as (first & last & Sp & Hlaw).
  set (law := nth (length s1) laws (fun _ => 0)) in *.
  assert (Hc : is_channel m) by (apply (channel_correct _ values Hv HC)).
  rewrite <- Lpre. rewrite <- Lown in Hj.
  apply (splits_bound m pre own post Hm law Hlaw j Hj values Hv Hc first last P); auto. intros x z Hx Hz.
  unfold own. rewrite piece_information by auto. rewrite forallb_forall in Hcov. specialize (Hcov k (proj2 (in_to _ _) Hk)). cbv beta in Hcov.
  destruct (parts_are k) as (P1 & P2 & P3). fold pre in P1. fold own in P2. fold post in P3.
  assert (Cov : piece_covered k (others_sum k x z) = true).
  { apply (spread_all q m Hq (before k ws ++ after k ws) (piece_covered k) Hcov). rewrite map_app, <- P1, <- P3.
    apply in_datasets_app. exists x, z. auto. }
  assert (H : at_most (piece (within k ws) (others_sum k x z)) allowed upper).
  { apply orb_prop in Cov as [Cov|Cov]; [now apply constant_correct|]. apply existsb_exists in Cov as (h & Hh & Cov).
    apply andb_prop in Cov as [C1 C2]. apply Z.eqb_eq in C1. unfold same_block in C2. destruct (list_eq_dec _ _ _) as [C3|]; [|discriminate].
    rewrite forallb_forall in Hpieces. pose proof (piece_check_correct h (Hpieces h Hh)) as H. now rewrite C1, C3 in H. }
  apply H; cbn [piece alphabets]; rewrite <- P2; auto.
Qed.

(** ** From below *)

Variables (below : checker C) (w : piece_witness C) (lower : Q).
Hypothesis Hbelow : sound values below (fun p => at_least p allowed lower).
Let k := in_block w.

Definition dataset_check : bool :=
  (length (for_others w) =? length (alphabets m))%nat && forallb (fun p => (fst p <? snd p)%nat) (combine (for_others w) (alphabets m)).
Lemma dataset_correct : dataset_check = true -> In (for_others w) (datasets (alphabets m)).
Proof.
  intro H. apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H1. revert H1 H2. generalize (for_others w) as x.
  induction (alphabets m) as [|n l IH]; intros [|a x] H1 H2; cbn [length] in H1; try lia; [simpl; auto|].
  cbn [combine forallb fst snd] in H2. apply andb_prop in H2 as [H2 H3]. apply in_datasets_cons. exists a, x.
  repeat split; auto. now apply Nat.ltb_lt.
Qed.

Definition piece_below_check : bool :=
  let t := others_sum k (before k (for_others w)) (after k (for_others w)) in
  let s := piece_sums (within k ws) t in
  (list_sum sizes =? length ws)%nat && (k <? length sizes)%nat && dataset_check && values_by_sums s values
  && below channel (piece (within k ws) t) s (of_the_block w).

Theorem piece_below_correct : piece_below_check = true -> at_least m (IndependentBlocks sizes allowed) lower.
Proof.
  intro H. unfold piece_below_check in H. cbv zeta in H. set (t := others_sum k _ _) in *.
  apply andb_prop in H as [H HB]. apply andb_prop in H as [H HV]. apply andb_prop in H as [H HD].
  apply andb_prop in H as [_ Hk]. apply Nat.ltb_lt in Hk. apply dataset_correct in HD.
  pose proof (piece_additive (within k ws) t) as A.
  assert (L : at_least (piece (within k ws) t) allowed lower).
  { refine (Hbelow channel (piece _ _) _ _ HW A HV _ HB). exact (channel_correct (piece _ _) values (values_by_sums_correct _ _ A values HV) HC). }
  destruct (parts_fit k Hk) as (Lpre & Lown & Lpost). destruct (parts_are k) as (P1 & P2 & P3).
  set (pre := before k (alphabets m)) in *. set (own := within k (alphabets m)) in *.
  set (post := after k (alphabets m)) in *. assert (Hm : alphabets m = pre ++ own ++ post) by apply three.
  rewrite Hm in HD. apply in_datasets_app in HD as (x & v & Ed & Hx & Hd). apply in_datasets_app in Hd as (y & z & -> & Hy & Hz).
  assert (Ex : before k (for_others w) = x).
  { rewrite Ed. unfold before. apply firstn_exact. rewrite (dataset_length _ _ Hx), Lpre. reflexivity. }
  assert (Ez : after k (for_others w) = z).
  { rewrite Ed. unfold after. rewrite (skipn_exact (start k)) by (rewrite (dataset_length _ _ Hx), Lpre; reflexivity).
    apply skipn_exact. now rewrite (dataset_length _ _ Hy), Lown. }
  unfold t in L. rewrite Ex, Ez in L. destruct L as (j & law & Hj & Hlaw & Hb & HI). cbn [piece alphabets] in Hj, Hlaw, Hb.
  rewrite <- P2 in Hj, Hlaw, Hb.
  destruct (known_independent (firstn k sizes) (skipn (S k) sizes) pre own post Lpre Lpost (admits allowed) law j x z Hj Hlaw Hb Hx Hz) as (P & Sp & Ind).
  exists (length pre + j)%nat, P. split; [now apply (i_small m pre own post Hm j)|]. split; [now apply (splits_prior m pre own post Hm law Hlaw _ _ P Sp)|].
  split.
  - cbn [admits]. rewrite (sizes_are k Hk). fold own. rewrite Hm. exact Ind.
  - rewrite (known_information m pre own post Hm law j Hj x z P Sp Hx Hz). unfold own. now rewrite piece_information.
Qed.
End Pieces.

(** ** A whole certificate *)

Section Certificate.
Context {B C : Type}.
Variables (m : model) (q : sums) (values : list Z) (sizes : list nat) (allowed : adversary) (lower upper : Q).
Variables (above : checker B) (below : checker C) (w : piece_witness C) (proofs : list (piece_proof B)).

Definition blocks_check : bool :=
  let weights := weight_table m values in
  let channel := channel_table m weights in
  values_by_sums q values && channel_check m weights
  && piece_below_check m q values sizes channel below w && pieces_check m q values sizes channel upper above proofs.

Theorem blocks_correct : additive m q ->
  sound values above (fun p => at_most p allowed upper) -> sound values below (fun p => at_least p allowed lower) ->
  blocks_check = true -> leakage_between m (IndependentBlocks sizes allowed) lower upper.
Proof.
  intros Hq Habove Hbelow H. unfold blocks_check in H. cbv zeta in H. apply andb_prop in H as [H HA]. apply andb_prop in H as [H HB].
  apply andb_prop in H as [HV HC]. pose proof (values_by_sums_correct q m Hq values HV) as Hv.
  pose proof (encl_channel m values) as HW.
  assert (Hs : list_sum sizes = length (contributions q)).
  { pose proof HA as G. unfold pieces_check in G. apply andb_prop in G as [G _]. apply andb_prop in G as [G _]. now apply Nat.eqb_eq. }
  split; [exact (channel_correct m values Hv HC)|]. split.
  - eapply piece_below_correct; eauto.
  - eapply pieces_correct; eauto.
Qed.
End Certificate.

(** Of blocks with enough entropy the proofs are sections, and the lower end's prior is a witness. *)
Section Entropy.
Variables (values : list Z) (b : amount) (lower upper : Q).

Definition sections_check (channel : list (list interval)) (p : model) (s : sums) (sections : list section) : bool :=
  above_check p values (sum_tables s values (map about sections)) channel sections (in_nats p b) upper.
Definition witness_check (channel : list (list interval)) (p : model) (s : sums) (w : witness) : bool :=
  let tables := sum_tables s values [for_record w] in shape_check p values tables w && below_check p values tables channel w b lower.

Lemma sections_sound : sound values sections_check (fun p => at_most p (EntropyAtLeast b) upper).
Proof.
  intros channel p s sections HW A HV Hc H. pose proof (by_sums _ _ A values (map about sections) HV) as [V T].
  eapply above_correct; [exact Hc|exact V|exact T|exact HW|apply encl_nats|exact H].
Qed.
Lemma witness_sound : sound values witness_check (fun p => at_least p (EntropyAtLeast b) lower).
Proof.
  intros channel p s w HW A HV Hc H. pose proof (by_sums _ _ A values [for_record w] HV) as [V T]. apply andb_prop in H as [HS HB].
  eapply below_correct; [exact Hc|exact V|exact T|exact HW|exact HS|exact HB].
Qed.
End Entropy.

Definition entropy_blocks_correct m q values sizes b lower upper w proofs (Hq : additive m q) :=
  blocks_correct m q values sizes (EntropyAtLeast b) lower upper _ _ w proofs Hq (sections_sound values b upper) (witness_sound values b lower).
