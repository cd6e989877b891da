(** Symmetries of a record's problem: letters, inputs and outputs renamed such that counts and rows stay. A prior that is moved by one
    leaks as much, has no less entropy, and its conditional laws and posteriors are the old ones, renamed. *)
From Coq Require Import Reals ZArith Arith Bool Lra Lia List.
From Dalenius Require Import Definitions Sums Rows Bounds.
Import ListNotations.
Open Scope R_scope.

Section Record.
Context {X : Type}.
Variables (A Y V : nat) (xs : nat -> list X) (f : X -> nat) (N : nat -> nat -> Z) (W : nat -> nat -> R).
Hypothesis Hwc : well_counted A Y V xs f N W.
Variable letter_of : X -> nat.
Hypothesis Hletter : forall a x, (a < A)%nat -> In x (xs a) -> letter_of x = a.
Variables alpha pi tau : list nat.
Hypothesis Halpha : permutes A alpha = true.
Hypothesis Hpi : permutes V pi = true.
Hypothesis Htau : permutes Y tau = true.
Hypothesis HNs : forall a k, (a < A)%nat -> (k < V)%nat -> N (image alpha a) (image pi k) = N a k.
Hypothesis HWs : forall a k y, (a < A)%nat -> (k < V)%nat -> (0 < N a k)%Z -> (y < Y)%nat -> W (image pi k) (image tau y) = W k y.
Variable P : X -> R.
Hypothesis HP : is_law A xs P.

Definition moved (x : X) : R :=
  class_mass xs f P (image alpha (letter_of x)) (image pi (f x)) / IZR (N (letter_of x) (f x)).
Let Q := moved.
Let a' a := image alpha a.
Let k' k := image pi k.
Lemma a_small a : (a < A)%nat -> (a' a < A)%nat.
Proof. now apply image_small. Qed.
Lemma k_small k : (k < V)%nat -> (k' k < V)%nat.
Proof. now apply image_small. Qed.

Lemma moved_at a x : (a < A)%nat -> In x (xs a) -> Q x = class_mass xs f P (a' a) (k' (f x)) / IZR (N a (f x)).
Proof. intros Ha Hx. unfold Q, moved. now rewrite (Hletter a x Ha Hx). Qed.

Lemma moved_class a k : (a < A)%nat -> (k < V)%nat -> class_mass xs f Q a k = class_mass xs f P (a' a) (k' k).
Proof.
  intros Ha Hk. set (c := class_mass xs f P (a' a) (k' k)). unfold class_mass.
  rewrite (sum_ext _ _ (fun x => (c / IZR (N a k)) * (if Nat.eqb (f x) k then 1 else 0))).
  - rewrite sum_scale, <- sum_filter, sum_const, Rmult_1_r, <- (class_count A Y V xs f N W Hwc a k Ha Hk).
    destruct (Z.lt_ge_cases 0 (N a k)) as [L|L].
    + apply IZR_lt in L. field. lra.
    + assert (E : c = 0).
      { apply (class_absent A Y V xs f N W Hwc); [now apply a_small|]. unfold a', k'. now rewrite HNs. }
      rewrite E. unfold Rdiv. ring.
  - intros x Hx. rewrite (moved_at a x Ha Hx). destruct (Nat.eqb_spec (f x) k) as [->|]; [fold c|]; ring.
Qed.
Lemma moved_mass a : (a < A)%nat -> mass xs Q a = mass xs P (a' a).
Proof.
  intro Ha. rewrite <- (class_sum A Y V xs f N W Hwc Q a Ha), <- (class_sum A Y V xs f N W Hwc P (a' a) (a_small a Ha)).
  rewrite (sum_to_ext V _ (fun k => class_mass xs f P (a' a) (image pi k))) by (intros; now apply moved_class).
  exact (sum_images V pi (class_mass xs f P (a' a)) Hpi).
Qed.
Lemma moved_law : is_law A xs Q.
Proof.
  split.
  - intros a x Ha Hx. rewrite (moved_at a x Ha Hx). destruct (wc_row _ _ _ _ _ _ _ Hwc a x Ha Hx) as [_ L]. apply IZR_lt in L.
    apply Rmult_le_pos; [|now apply Rlt_le, Rinv_0_lt_compat]. apply (class_nonneg A xs f P HP). now apply a_small.
  - rewrite <- (proj2 HP). rewrite (sum_to_ext A _ (fun a => mass xs P (image alpha a))) by (intros; now apply moved_mass).
    exact (sum_images A alpha (mass xs P) Halpha).
Qed.
Lemma moved_datasets a : (a < A)%nat -> INR (length (xs (a' a))) = INR (length (xs a)).
Proof.
  intro Ha. rewrite <- (count_sum A Y V xs f N W Hwc (a' a) (a_small a Ha)), <- (count_sum A Y V xs f N W Hwc a Ha).
  rewrite <- (sum_images V pi (fun k => IZR (N (a' a) k)) Hpi). apply sum_to_ext; intros k Hk. now rewrite <- (HNs a k).
Qed.
Lemma moved_conditional a k : (a < A)%nat -> (k < V)%nat -> conditional xs f N Q a k = conditional xs f N P (a' a) (k' k).
Proof.
  intros Ha Hk. unfold conditional. rewrite (moved_mass a Ha), (moved_class a k Ha Hk), (moved_datasets a Ha). unfold a', k'. now rewrite HNs.
Qed.
Lemma moved_mixed a y : (a < A)%nat -> (y < Y)%nat -> mixed V W (conditional xs f N Q a) y = mixed V W (conditional xs f N P (a' a)) (image tau y).
Proof.
  intros Ha Hy. unfold mixed.
  pose proof (choice_ext V (N a) (conditional xs f N Q a) (conditional_choice A Y V xs f N W Hwc Q moved_law a Ha)
    (fun k => W k y) (fun k => W (k' k) (image tau y))) as E.
  unfold mixed in E. rewrite E by (intros k Hk L; symmetry; now apply (HWs a)).
  rewrite (sum_to_ext V _ (fun k => conditional xs f N P (a' a) (k' k) * W (k' k) (image tau y))) by (intros; now rewrite moved_conditional).
  exact (sum_images V pi (fun k => conditional xs f N P (a' a) k * W k (image tau y)) Hpi).
Qed.
Lemma moved_u a y : (a < A)%nat -> (y < Y)%nat -> u xs f W Q a y = u xs f W P (a' a) (image tau y).
Proof.
  intros Ha Hy. rewrite (u_is_mixed A Y V xs f N W Hwc Q moved_law a y Ha), (u_is_mixed A Y V xs f N W Hwc P HP (a' a) _ (a_small a Ha)).
  now rewrite moved_mass, moved_mixed.
Qed.
Lemma moved_s y : (y < Y)%nat -> s A xs f W Q y = s A xs f W P (image tau y).
Proof.
  intro Hy. unfold s. rewrite (sum_to_ext A _ (fun a => u xs f W P (image alpha a) (image tau y))) by (intros; now apply moved_u).
  exact (sum_images A alpha (fun a => u xs f W P a (image tau y)) Halpha).
Qed.
Lemma moved_posterior a y : (a < A)%nat -> (y < Y)%nat -> posterior A xs f W Q a y = posterior A xs f W P (a' a) (image tau y).
Proof. intros Ha Hy. unfold posterior. now rewrite (moved_s y Hy), (moved_u a y Ha Hy). Qed.

Lemma moved_info : info A Y xs f W Q = info A Y xs f W P.
Proof.
  unfold info. set (t := fun a y => u xs f W P a y * (ln (u xs f W P a y) - ln (mass xs P a) - ln (s A xs f W P y))).
  transitivity (sum_to A (fun a => sum_to Y (t (image alpha a)))); [|exact (sum_images A alpha (fun a => sum_to Y (t a)) Halpha)].
  apply sum_to_ext; intros a Ha.
  rewrite <- (sum_images Y tau (t (image alpha a)) Htau). apply sum_to_ext; intros y Hy. unfold t.
  rewrite (moved_u a y Ha Hy), (moved_mass a Ha), (moved_s y Hy). reflexivity.
Qed.

Lemma moved_ent : ent A xs P <= ent A xs Q.
Proof.
  unfold ent. unfold sum_to at 1 2. rewrite <- !sum_opp.
  apply Rle_trans with (sum_to A (fun a => sum_to V (fun k => class_mass xs f P a k * (ln (IZR (N a k)) - ln (class_mass xs f P a k))))).
  { apply sum_to_le; intros a Ha. apply (class_entropy A Y V xs f N W Hwc P HP a Ha). }
  rewrite <- (sum_images A alpha (fun a => sum_to V (fun k => class_mass xs f P a k * (ln (IZR (N a k)) - ln (class_mass xs f P a k)))) Halpha).
  right. apply sum_to_ext; intros a Ha. fold (a' a).
  rewrite <- (sum_images V pi (fun k => class_mass xs f P (a' a) k * (ln (IZR (N (a' a) k)) - ln (class_mass xs f P (a' a) k))) Hpi).
  (* The moved prior is spread evenly. *)
  set (h := fun k => - (class_mass xs f P (a' a) (k' k) / IZR (N a k) * ln (class_mass xs f P (a' a) (k' k) / IZR (N a k)))).
  rewrite (sum_to_ext V _ (fun k => IZR (N a k) * h k)).
  - rewrite <- (wc_sum _ _ _ _ _ _ _ Hwc a h Ha), <- sum_opp. apply sum_ext; intros x Hx. unfold h. now rewrite (moved_at a x Ha Hx).
  - intros k Hk. fold (k' k). unfold h. rewrite (HNs a k Ha Hk : N (a' a) (k' k) = N a k). set (c := class_mass xs f P (a' a) (k' k)).
    destruct (Z.lt_ge_cases 0 (N a k)) as [L|L].
    + pose proof (class_nonneg A xs f P HP (a' a) (k' k) (a_small a Ha)) as C0. fold c in C0. apply IZR_lt in L.
      destruct C0 as [C0|<-]; [rewrite ln_over by auto; field; lra|]. unfold Rdiv. rewrite !Rmult_0_l. ring.
    + assert (E : c = 0). { apply (class_absent A Y V xs f N W Hwc); [now apply a_small|]. unfold a', k'. now rewrite HNs. }
      rewrite E. unfold Rdiv. rewrite !Rmult_0_l. ring.
Qed.
End Record.
