(** Intervals that contain real numbers: coq-interval's, with ends that are floating-point numbers of any precision, rounded
    outward. [encl i x] says that x is in i. Where an operation is not defined (a division by what may be 0, the logarithm of what
    may not be positive) its interval is the whole line, so that no lemma here has a condition. *)
From Coq Require Import Reals ZArith QArith Qreals Bool Lra Lia List.
From Interval Require Import Xreal Interval.Interval Float.Basic Float.Sig Float.Specific_ops Float.Specific_bigint Interval.Float_full.
From Dalenius Require Import Definitions Sums.
Import ListNotations.
Open Scope R_scope.

Module F := SpecificFloat BigIntRadix2.
Module I := FloatIntervalFull F.

Definition interval := I.type.
Definition precision : I.precision := F.PtoP 80.
Definition encl (i : interval) (x : R) : Prop := contains (I.convert i) (Xreal x).

Definition anything : interval := I.nai.
Definition of_Z (z : Z) : interval := I.fromZ precision z.
Definition plus (i j : interval) : interval := I.add precision i j.
Definition minus (i j : interval) : interval := I.sub precision i j.
Definition times (i j : interval) : interval := I.mul precision i j.
Definition over (i j : interval) : interval := I.div precision i j.
Definition log (i : interval) : interval := I.ln precision i.
Definition either (i j : interval) : interval := I.join i j.

Lemma encl_anything x : encl anything x.
Proof. unfold encl, anything. now rewrite I.nai_correct. Qed.
Lemma encl_Z z : encl (of_Z z) (IZR z).
Proof. apply I.fromZ_correct. Qed.
Lemma encl_plus i j x y : encl i x -> encl j y -> encl (plus i j) (x + y).
Proof. exact (I.add_correct precision i j (Xreal x) (Xreal y)). Qed.
Lemma encl_minus i j x y : encl i x -> encl j y -> encl (minus i j) (x - y).
Proof. exact (I.sub_correct precision i j (Xreal x) (Xreal y)). Qed.
Lemma encl_times i j x y : encl i x -> encl j y -> encl (times i j) (x * y).
Proof. exact (I.mul_correct precision i j (Xreal x) (Xreal y)). Qed.

(** An interval with an undefined number is the whole line. *)
Lemma whole i x : contains (I.convert i) Xnan -> encl i x.
Proof. unfold encl. destruct (I.convert i); simpl; tauto. Qed.

Lemma encl_over i j x y : encl i x -> encl j y -> encl (over i j) (x / y).
Proof.
  intros Hi Hj. pose proof (I.div_correct precision i j _ _ Hi Hj) as D. simpl in D. unfold Xdiv' in D.
  destruct (is_zero y) eqn:E; [now apply whole|exact D].
Qed.
Lemma encl_log i x : encl i x -> encl (log i) (ln x).
Proof.
  intro Hi. pose proof (I.ln_correct precision i _ Hi) as D. simpl in D. unfold Xln' in D.
  destruct (is_positive x) eqn:E; [exact D|now apply whole].
Qed.
Lemma encl_either_l i j x : encl i x -> encl (either i j) x.
Proof. intro H. apply I.join_correct. now left. Qed.
Lemma encl_either_r i j x : encl j x -> encl (either i j) x.
Proof. intro H. apply I.join_correct. now right. Qed.
Lemma encl_max i j x y : encl i x -> encl j y -> encl (either i j) (Rmax x y).
Proof. intros Hi Hj. unfold Rmax. destruct (Rle_dec x y); [now apply encl_either_r|now apply encl_either_l]. Qed.

(** ** Decisions *)

Definition not_above (i j : interval) : bool :=
  match I.sign_large (minus i j) with Xlt | Xeq => true | _ => false end.
Lemma not_above_correct i j x y : not_above i j = true -> encl i x -> encl j y -> x <= y.
Proof.
  unfold not_above. intros H Hi Hj. pose proof (encl_minus i j x y Hi Hj) as D.
  pose proof (I.sign_large_correct (minus i j)) as S. destruct (I.sign_large (minus i j)); try discriminate; specialize (S _ D).
  - injection S as S. lra.
  - destruct S as [_ S]. simpl in S. lra.
Qed.

Definition positive (i : interval) : bool := match I.sign_strict i with Xgt => true | _ => false end.
Lemma positive_correct i x : positive i = true -> encl i x -> 0 < x.
Proof.
  unfold positive. intros H Hi. pose proof (I.sign_strict_correct i) as S.
  destruct (I.sign_strict i); try discriminate. destruct (S _ Hi) as [_ S']. exact S'.
Qed.

Definition zero : interval := of_Z 0.
Definition nonnegative (i : interval) : bool := not_above zero i.
Lemma nonnegative_correct i x : nonnegative i = true -> encl i x -> 0 <= x.
Proof. intros H Hi. exact (not_above_correct zero i 0 x H (encl_Z 0) Hi). Qed.

(** Exactly zero. *)
Definition nothing (i : interval) : bool := match I.sign_large i with Xeq => true | _ => false end.
Lemma nothing_correct i x : nothing i = true -> encl i x -> x = 0.
Proof.
  unfold nothing. intros H Hi. pose proof (I.sign_large_correct i) as S.
  destruct (I.sign_large i); try discriminate. specialize (S _ Hi). injection S as S. exact S.
Qed.

(** e^x. Where x is far from 0 the interval is wide: sums of floating-point numbers write out all digits between their terms. *)
Definition far : Z := 10000.
Definition power_of_e (i : interval) : interval :=
  if negb (not_above i (of_Z far)) then anything
  else if not_above (of_Z (- far)) i then I.exp precision i
  else if not_above i (of_Z (- far)) then either zero (I.exp precision (of_Z (- far)))
  else either zero (I.exp precision i).
Global Opaque far.
Lemma encl_between i x y z : encl i x -> encl i y -> x <= z <= y -> encl i z.
Proof. intros Hx Hy H. exact (contains_connected (I.convert i) x y Hx Hy z H). Qed.
Lemma encl_exp i x : encl i x -> encl (power_of_e i) (exp x).
Proof.
  intro H. pose proof (I.exp_correct precision i (Xreal x) H) as E. unfold power_of_e.
  destruct (negb _); [apply encl_anything|]. destruct (not_above (of_Z (- far)) i); [exact E|].
  destruct (not_above i (of_Z (- far))) eqn:L; [|now apply encl_either_r].
  apply (encl_between _ 0 (exp (IZR (- far)))).
  - apply encl_either_l. exact (encl_Z 0).
  - apply encl_either_r. exact (I.exp_correct precision _ (Xreal (IZR (- far))) (encl_Z (- far))).
  - pose proof (exp_pos x). destruct (not_above_correct _ _ x _ L H (encl_Z (- far))) as [U|U]; [apply exp_increasing in U|rewrite <- U]; lra.
Qed.

(** ** Sums, tables *)

Fixpoint isum {A : Type} (l : list A) (f : A -> interval) : interval :=
  match l with
  | [] => zero
  | [a] => f a
  | a :: rest => plus (f a) (isum rest f)
  end.
Lemma encl_isum {A} (l : list A) f g : (forall a, In a l -> encl (f a) (g a)) -> encl (isum l f) (sum l g).
Proof.
  induction l as [|a l IH]; intro H; [exact (encl_Z 0)|].
  destruct l as [|b l].
  - simpl. rewrite Rplus_0_r. apply H; simpl; auto.
  - change (isum (a :: b :: l) f) with (plus (f a) (isum (b :: l) f)).
    change (sum (a :: b :: l) g) with (g a + sum (b :: l) g).
    apply encl_plus; [apply H; simpl; auto|]. apply IH; intros; apply H; simpl; auto.
Qed.
Definition isum_to (n : nat) (f : nat -> interval) : interval := isum (seq 0 n) f.
Lemma encl_isum_to n f g : (forall k, (k < n)%nat -> encl (f k) (g k)) -> encl (isum_to n f) (sum_to n g).
Proof. intro H. apply encl_isum. intros k Hk. apply H, in_to, Hk. Qed.

(** The whole part of an interval's upper end, or 0 where there is none to write out. *)
Definition whole_part (i : interval) : Z :=
  match F.toF (I.upper i) with
  | Basic.Float s k e => if (e <? 1000)%Z then Z.shiftl (if s then Zneg k else Zpos k) e else 0%Z
  | _ => 0%Z
  end.

(** ln of a sum of n e^x, with a whole number near the largest x taken out. *)
Definition log_sum_exp (l : list (Z * interval)) : interval :=
  match l with
  | [] => anything
  | p :: rest =>
      let c := of_Z (fold_left (fun z q => Z.max z (whole_part (snd q))) rest (whole_part (snd p))) in
      plus c (log (isum l (fun q => times (of_Z (fst q)) (power_of_e (minus (snd q) c)))))
  end.
Lemma encl_log_sum_exp {A} (l : list A) (n : A -> Z) (i : A -> interval) (x : A -> R) :
  (forall a, In a l -> encl (i a) (x a)) -> (forall a, In a l -> (0 < n a)%Z) ->
  encl (log_sum_exp (map (fun a => (n a, i a)) l)) (ln (sum l (fun a => IZR (n a) * exp (x a)))).
Proof.
  intros H Hn. destruct l as [|a l]; [apply encl_anything|].
  unfold log_sum_exp. cbn [map]. cbv zeta. set (k := fold_left _ _ _).
  pose proof (encl_Z k) as Hz. set (c := of_Z k) in *. set (z := IZR k) in *. clearbody c z.
  replace (ln (sum (a :: l) (fun a => IZR (n a) * exp (x a)))) with (z + ln (sum (a :: l) (fun a => IZR (n a) * exp (x a - z)))).
  - apply encl_plus; auto. apply encl_log. change ((n a, i a) :: map _ l) with (map (fun a => (n a, i a)) (a :: l)).
    assert (G : forall t, (forall a, In a t -> encl (i a) (x a)) ->
      encl (isum (map (fun a => (n a, i a)) t) (fun q => times (of_Z (fst q)) (power_of_e (minus (snd q) c)))) (sum t (fun a => IZR (n a) * exp (x a - z)))).
    { intros t Ht. induction t as [|b t IH]; [exact (encl_Z 0)|].
      assert (B : encl (times (of_Z (n b)) (power_of_e (minus (i b) c))) (IZR (n b) * exp (x b - z))).
      { apply encl_times; [apply encl_Z|]. apply encl_exp, encl_minus; auto. apply Ht; simpl; auto. }
      destruct t as [|d t]; [cbn [map isum sum fst snd]; rewrite Rplus_0_r; exact B|].
      apply encl_plus; [exact B|]. apply IH. intros; apply Ht; simpl; auto. }
    apply G. exact H.
  - rewrite <- (ln_exp z) at 1. rewrite <- ln_mult; [|apply exp_pos|].
    + f_equal. rewrite <- sum_scale. apply sum_ext; intros b _. unfold Rminus. rewrite exp_plus, exp_Ropp. field.
      apply Rgt_not_eq, exp_pos.
    + apply sum_pos; [discriminate|]. intros b Hb. apply Rmult_lt_0_compat; [now apply IZR_lt, Hn|apply exp_pos].
Qed.

(** A function on 0, ..., n - 1 that is evaluated once, as a list. *)
Definition tabulate (n : nat) (f : nat -> interval) : list interval := map f (seq 0 n).
Definition entry (t : list interval) (k : nat) : interval := nth k t anything.
Lemma encl_entry n f g k : (forall j, (j < n)%nat -> encl (f j) (g j)) -> encl (entry (tabulate n f) k) (g k).
Proof.
  intro H. unfold entry, tabulate. destruct (Nat.lt_ge_cases k n) as [L|L].
  - rewrite (nth_indep _ anything (f k)) by (rewrite map_length, seq_length; auto).
    rewrite (map_nth f), seq_nth by auto. now apply H.
  - rewrite nth_overflow by (rewrite map_length, seq_length; auto). apply encl_anything.
Qed.
Definition tabulate2 (m n : nat) (f : nat -> nat -> interval) : list (list interval) :=
  map (fun j => tabulate n (f j)) (seq 0 m).
Definition entry2 (t : list (list interval)) (j k : nat) : interval := entry (nth j t []) k.
Lemma encl_entry2 m n f g j k : (forall i l, (i < m)%nat -> (l < n)%nat -> encl (f i l) (g i l)) ->
  encl (entry2 (tabulate2 m n f) j k) (g j k).
Proof.
  intro H. unfold entry2, tabulate2. destruct (Nat.lt_ge_cases j m) as [L|L].
  - rewrite (nth_indep _ [] (tabulate n (f j))) by (rewrite map_length, seq_length; auto).
    rewrite (map_nth (fun j => tabulate n (f j))), seq_nth by auto. apply (encl_entry n (f j) (g j)). auto.
  - rewrite nth_overflow with (l := map _ _) by (rewrite map_length, seq_length; auto).
    unfold entry. simpl. destruct k; apply encl_anything.
Qed.

(** ** Exact numbers *)

Definition of_Q (q : Q) : interval := match Qden q with 1%positive => of_Z (Qnum q) | d => over (of_Z (Qnum q)) (of_Z (Zpos d)) end.
Lemma encl_Q q : encl (of_Q q) (Q2R q).
Proof.
  unfold of_Q, Q2R. destruct (Qden q) eqn:E; try (apply encl_over; apply encl_Z).
  rewrite Rinv_1, Rmult_1_r. apply encl_Z.
Qed.

Fixpoint evaluate (e : expr) : interval :=
  match e with
  | Number q => of_Q q
  | Plus e f => plus (evaluate e) (evaluate f)
  | Minus e f => minus (evaluate e) (evaluate f)
  | Times e f => times (evaluate e) (evaluate f)
  | Over e f => over (evaluate e) (evaluate f)
  | Exp e => power_of_e (evaluate e)
  | Ln e => log (evaluate e)
  end.
Lemma encl_evaluate e : encl (evaluate e) (value e).
Proof.
  induction e; simpl; auto using encl_Q, encl_plus, encl_minus, encl_times, encl_over, encl_exp, encl_log.
Qed.

(** x ln x; of a number that is exactly 0 it is exactly 0. *)
Definition times_own_log (i : interval) : interval := if nothing i then zero else times i (log i).
Lemma encl_xlnx i x : encl i x -> encl (times_own_log i) (xlnx x).
Proof.
  intro H. unfold times_own_log. destruct (nothing i) eqn:E.
  - rewrite (nothing_correct i x E H). unfold xlnx. rewrite Rmult_0_l. exact (encl_Z 0).
  - apply encl_times; auto. now apply encl_log.
Qed.

(** ** The numbers of a certificate: multiples of 2^-100 *)

Definition unit_exponent : Z := 100.
Definition fixed (z : Z) : R := IZR z / IZR (2 ^ unit_exponent).
Definition one : Z := 2 ^ unit_exponent.
Definition of_fixed (z : Z) : interval := over (of_Z z) (of_Z one).
Lemma encl_fixed z : encl (of_fixed z) (fixed z).
Proof. apply encl_over; apply encl_Z. Qed.

Lemma one_pos : 0 < IZR one.
Proof. apply IZR_lt. reflexivity. Qed.
Lemma fixed_le x y : (x <= y)%Z -> fixed x <= fixed y.
Proof.
  intro H. unfold fixed. fold one. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat, one_pos|]. now apply IZR_le.
Qed.
Lemma fixed_lt x y : (x < y)%Z -> fixed x < fixed y.
Proof.
  intro H. unfold fixed. fold one. apply Rmult_lt_compat_r; [apply Rinv_0_lt_compat, one_pos|]. now apply IZR_lt.
Qed.
Lemma fixed_0 : fixed 0 = 0.
Proof. unfold fixed, Rdiv. apply Rmult_0_l. Qed.
Lemma fixed_one : fixed one = 1.
Proof. unfold fixed. fold one. field. apply Rgt_not_eq, one_pos. Qed.
Lemma fixed_minus x y : fixed (x - y) = fixed x - fixed y.
Proof. unfold fixed. rewrite minus_IZR. field. apply Rgt_not_eq. exact one_pos. Qed.
Lemma fixed_plus x y : fixed (x + y) = fixed x + fixed y.
Proof. unfold fixed. rewrite plus_IZR. field. apply Rgt_not_eq. exact one_pos. Qed.
Lemma fixed_inj_le x y : fixed x <= fixed y -> (x <= y)%Z.
Proof. intro H. apply Z.nlt_ge. intro L. apply fixed_lt in L. lra. Qed.

(** Never written out by tactics. *)
Global Opaque fixed one.
