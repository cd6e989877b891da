(** What is claimed: the definitions that a reader of a printed theorem needs, and no others.

    Records have letters from finite alphabets, a query maps a dataset to an integer, and a mechanism publishes one of finitely
    many outputs, with probabilities that depend on the query's value alone. An adversary is a law on the datasets, the *prior*;
    what the output tells her about record i is the mutual information I(X_i; Y), in nats. *)
From Coq Require Import Reals ZArith QArith Qreals List.
Import ListNotations.
Open Scope R_scope.

(** ** Finite sums *)

Fixpoint sum {A : Type} (l : list A) (f : A -> R) : R :=
  match l with
  | [] => 0
  | a :: rest => f a + sum rest f
  end.

(** The sum over 0, 1, ..., n - 1. *)
Definition sum_to (n : nat) (f : nat -> R) : R := sum (seq 0 n) f.

(** ** Exact numbers *)

(** Rational numbers and what is made of them. *)
Inductive expr :=
  | Number (q : Q)
  | Plus (e f : expr) | Minus (e f : expr) | Times (e f : expr) | Over (e f : expr)
  | Exp (e : expr) | Ln (e : expr).

Fixpoint value (e : expr) : R :=
  match e with
  | Number q => Q2R q
  | Plus e f => value e + value f
  | Minus e f => value e - value f
  | Times e f => value e * value f
  | Over e f => value e / value f
  | Exp e => exp (value e)
  | Ln e => ln (value e)
  end.

(** ** Models *)

(** A dataset has one letter per record; the letters of an alphabet of size m are 0, 1, ..., m - 1. *)
Definition dataset := list nat.

Fixpoint datasets (alphabets : list nat) : list dataset :=
  match alphabets with
  | [] => [[]]
  | m :: rest => flat_map (fun a => map (cons a) (datasets rest)) (seq 0 m)
  end.

(** Record i's letter. *)
Definition letter (i : nat) (x : dataset) : nat := nth i x 0%nat.

Record model := Model {
  alphabets : list nat;          (* the size of each record's alphabet *)
  query : dataset -> Z;
  outputs : nat;                 (* they are 0, 1, ..., outputs - 1 *)
  weight : Z -> nat -> expr      (* of an output, given the query's value *)
}.

(** The probability of output y, where the query's value is v: its weight, divided by the sum of the weights of all outputs. *)
Definition probability (m : model) (v : Z) (y : nat) : R :=
  value (weight m v y) / sum_to (outputs m) (fun z => value (weight m v z)).

(** For every dataset, the probabilities of the outputs are a law: nonnegative, with the sum 1. *)
Definition is_channel (m : model) : Prop :=
  forall x, In x (datasets (alphabets m)) ->
    (forall y, (y < outputs m)%nat -> 0 <= probability m (query m x) y) /\
    sum_to (outputs m) (probability m (query m x)) = 1.

(** ** Priors, and what they learn *)

Definition is_prior (alphabets : list nat) (P : dataset -> R) : Prop :=
  (forall x, In x (datasets alphabets) -> 0 <= P x) /\ sum (datasets alphabets) P = 1.

(** H(P), in nats. (The term of a dataset with P x = 0 is 0, whatever the logarithm of 0 is.) *)
Definition entropy (alphabets : list nat) (P : dataset -> R) : R := - sum (datasets alphabets) (fun x => P x * ln (P x)).

Definition over_datasets (m : model) (f : dataset -> R) : R := sum (datasets (alphabets m)) f.

(** P(X_i = a, Y = y), P(X_i = a) and P(Y = y). *)
Definition joint (m : model) (P : dataset -> R) (i a y : nat) : R :=
  over_datasets m (fun x => if Nat.eqb (letter i x) a then P x * probability m (query m x) y else 0).
Definition of_letter (alphabets : list nat) (P : dataset -> R) (i a : nat) : R :=
  sum (datasets alphabets) (fun x => if Nat.eqb (letter i x) a then P x else 0).
Definition of_output (m : model) (P : dataset -> R) (y : nat) : R :=
  over_datasets m (fun x => P x * probability m (query m x) y).

(** I(X_i; Y), in nats. (The term of a letter and an output with joint probability 0 is 0.) *)
Definition information (m : model) (P : dataset -> R) (i : nat) : R :=
  sum_to (letter i (alphabets m)) (fun a => sum_to (outputs m) (fun y =>
    joint m P i a y * ln (joint m P i a y / (of_letter (alphabets m) P i a * of_output m P y)))).

(** ** Adversaries *)

(** An amount of entropy: a number of nats, of bits, or a share of ln |X|, |X| the number of datasets. *)
Inductive amount := Nats (q : Q) | Bits (q : Q) | Share (q : Q).

Definition nats (alphabets : list nat) (b : amount) : R :=
  match b with
  | Nats q => Q2R q
  | Bits q => Q2R q * ln 2
  | Share q => Q2R q * ln (INR (length (datasets alphabets)))
  end.

(** Consecutive parts of a list, of these sizes. *)
Fixpoint blocks {B : Type} (sizes : list nat) (l : list B) : list (list B) :=
  match sizes with
  | [] => []
  | n :: sizes => firstn n l :: blocks sizes (skipn n l)
  end.
(** The number of record i's part, and the record's place in it. *)
Fixpoint block_of (sizes : list nat) (i : nat) : nat * nat :=
  match sizes with
  | [] => (0%nat, i)
  | n :: sizes => if Nat.ltb i n then (0%nat, i) else let (k, j) := block_of sizes (i - n) in (S k, j)
  end.

Fixpoint product (laws : list (dataset -> R)) (parts : list dataset) : R :=
  match laws, parts with
  | law :: laws, x :: parts => law x * product laws parts
  | _, _ => 1
  end.

(** Blocks of records are independent of one another; [own] says of the law of record i's own block what it says of the block's
    records, the record's place in it, and this law. *)
Definition independent_blocks (sizes alphabets : list nat) (own : list nat -> nat -> (dataset -> R) -> Prop) (i : nat) (P : dataset -> R) : Prop :=
  exists laws, Forall2 is_prior (blocks sizes alphabets) laws /\
    (forall x, In x (datasets alphabets) -> P x = product laws (blocks sizes x)) /\
    let (k, j) := block_of sizes i in own (nth k (blocks sizes alphabets) []) j (nth k laws (fun _ => 0)).

(** Weights of all datasets, in lexicographic order (record 0 slowest), divided by their sum. *)
Fixpoint index (alphabets : list nat) (x : dataset) : nat :=
  match alphabets, x with
  | _ :: alphabets, a :: x => (a * length (datasets alphabets) + index alphabets x)%nat
  | _, _ => 0%nat
  end.
Definition weighted_prior (alphabets : list nat) (weights : list Q) (x : dataset) : R :=
  let weight := fun x => Q2R (nth (index alphabets x) weights 0%Q) in weight x / sum (datasets alphabets) weight.

(** Laws p of a record's letters: of which no letter is rarer than a floor; between two ends; mixtures of listed laws; with a mean that
    is known to be between two ends; near a center, by the L1 norm, by the KL and by the chi-square divergence. Laws are listed as weights, which are divided by their sum. *)
Inductive law_class :=
  | Floor (least : Q)
  | Box (low high : list Q)
  | Polytope (vertices : list (list Q))
  | Moment (values : list Q) (low high : Q)
  | L1Ball (center : list Q) (radius : Q)
  | KLBall (center : list Q) (radius : Q)
  | ChiSquareBall (center : list Q) (radius : Q).

Definition weighted_law (letters : nat) (weights : list Q) (a : nat) : R :=
  let weight := fun a => Q2R (nth a weights 0%Q) in weight a / sum_to letters weight.

Definition in_class (C : law_class) (letters : nat) (p : nat -> R) : Prop :=
  match C with
  | Floor least => forall a, (a < letters)%nat -> Q2R least <= p a
  | Box low high => forall a, (a < letters)%nat -> Q2R (nth a low 0%Q) <= p a <= Q2R (nth a high 0%Q)
  | Polytope vertices => exists share, (forall k, (k < length vertices)%nat -> 0 <= share k) /\ sum_to (length vertices) share = 1 /\
      forall a, (a < letters)%nat -> p a = sum_to (length vertices) (fun k => share k * weighted_law letters (nth k vertices []) a)
  | Moment values low high => Q2R low <= sum_to letters (fun a => p a * Q2R (nth a values 0%Q)) <= Q2R high
  | L1Ball center radius => let q := weighted_law letters center in sum_to letters (fun a => Rabs (p a - q a)) <= Q2R radius
  | KLBall center radius => let q := weighted_law letters center in
      (forall a, (a < letters)%nat -> q a = 0 -> p a = 0) /\ sum_to letters (fun a => p a * ln (p a / q a)) <= Q2R radius
  | ChiSquareBall center radius => let q := weighted_law letters center in
      (forall a, (a < letters)%nat -> q a = 0 -> p a = 0) /\ sum_to letters (fun a => (p a - q a) ^ 2 / q a) <= Q2R radius
  end.

(** What she knows of all records is their entropy; of the record that she wants to know about, a class of laws; of its block, the other
    blocks being independent of it, any of these; or priors are listed. *)
Inductive adversary :=
  | EntropyAtLeast (b : amount)
  | LawIn (C : law_class)
  | IndependentBlocks (sizes : list nat) (own : adversary)
  | Listed (priors : list (list Q)).

(** Records that are independent of one another, the one that she wants to know about having a law of a class; any law. *)
Definition LawsOfClass (records : nat) (C : law_class) : adversary := IndependentBlocks (repeat 1%nat records) (LawIn C).
Definition ProductPriors (records : nat) : adversary := LawsOfClass records (Floor 0).

(** The priors of the adversary who wants to know about record i. *)
Fixpoint admits (A : adversary) (alphabets : list nat) (i : nat) (P : dataset -> R) : Prop :=
  match A with
  | EntropyAtLeast b => nats alphabets b <= entropy alphabets P
  | LawIn C => in_class C (letter i alphabets) (of_letter alphabets P i)
  | IndependentBlocks sizes own => independent_blocks sizes alphabets (admits own) i P
  | Listed priors => exists weights, In weights priors /\
      forall x, In x (datasets alphabets) -> P x = weighted_prior alphabets weights x
  end.

(** ** The claims of a certificate *)

(** No prior of the adversary's learns more than [upper] about any record. *)
Definition at_most (m : model) (A : adversary) (upper : Q) : Prop :=
  forall i P, (i < length (alphabets m))%nat -> is_prior (alphabets m) P -> admits A (alphabets m) i P -> information m P i <= Q2R upper.

(** One of them learns [lower], or more, about some record. *)
Definition at_least (m : model) (A : adversary) (lower : Q) : Prop :=
  exists i P, (i < length (alphabets m))%nat /\ is_prior (alphabets m) P /\ admits A (alphabets m) i P /\ Q2R lower <= information m P i.

(** The claim of a certificate: the channel is one, and the leakage is in an interval. *)
Definition leakage_between (m : model) (A : adversary) (lower upper : Q) : Prop :=
  is_channel m /\ at_least m A lower /\ at_most m A upper.

(** The claims of a certificate with a curve. Lines are pairs (c, m), and stand for c - m b: of the priors with at least b nats of
    entropy none learns more than the highest of them; and some points below the curve. *)
Definition curve_at_most (m : model) (lines : list (Q * Q)) : Prop :=
  forall i P b, (i < length (alphabets m))%nat -> is_prior (alphabets m) P -> 0 <= b <= entropy (alphabets m) P ->
    exists line, In line lines /\ information m P i <= Q2R (fst line) - Q2R (snd line) * b.
Definition leakage_curve (m : model) (lines : list (Q * Q)) (points : list (amount * Q)) : Prop :=
  curve_at_most m lines /\ forall b lower, In (b, lower) points -> at_least m (EntropyAtLeast b) lower.

(** ** Queries *)

Definition total (x : dataset) : Z := fold_right (fun a s => (Z.of_nat a + s)%Z) 0%Z x.

Definition modular_sum (modulus : Z) (x : dataset) : Z := (total x mod modulus)%Z.
Definition parity : dataset -> Z := modular_sum 2.
Definition threshold (at_ : Z) (x : dataset) : Z := if (at_ <=? total x)%Z then 1%Z else 0%Z.

(** How many records have a letter that is listed. *)
Definition count_of (letters : list nat) (x : dataset) : Z :=
  Z.of_nat (length (filter (fun a => existsb (Nat.eqb a) letters) x)).

(** What the letters of the records add up to, [weights] having a list of numbers for each record. *)
Fixpoint weighted (weights : list (list Z)) (x : dataset) : Z :=
  match weights, x with
  | w :: weights, a :: x => (nth a w 0 + weighted weights x)%Z
  | _, _ => 0%Z
  end.

Definition identity (alphabets : list nat) (x : dataset) : Z := Z.of_nat (index alphabets x).
Definition table (alphabets : list nat) (entries : list Z) (x : dataset) : Z := nth (index alphabets x) entries 0%Z.

(** ** Mechanisms: the weight of output y, where the query's value is v *)

Definition number (z : Z) : expr := Number (inject_Z z).

(** The place of v among the values of the query, which are listed in ascending order. *)
Fixpoint place (values : list Z) (v : Z) : nat :=
  match values with
  | [] => 0%nat
  | u :: values => if (u =? v)%Z then 0%nat else S (place values v)
  end.

(** A row for each of the values. *)
Definition matrix (values : list Z) (rows : list (list Q)) (v : Z) (y : nat) : expr :=
  Number (nth y (nth (place values v) rows []) 0%Q).

(** 1 - flip where y is the place of v, flip / (k - 1) elsewhere; k values. *)
Definition symmetric (values : list Z) (flip : Q) (v : Z) (y : nat) : expr :=
  if Nat.eqb (place values v) y then Number (1 - flip)
  else Number (flip / inject_Z (Z.of_nat (length values) - 1)).

(** Proportional to e^epsilon where y is the place of v, and to 1 elsewhere. *)
Definition randomized_response (values : list Z) (epsilon : Q) (v : Z) (y : nat) : expr :=
  if Nat.eqb (place values v) y then Exp (Number epsilon) else number 1.

(** 1 - e^(-epsilon/2) / 2 where y = v, e^(-epsilon/2) / 2 elsewhere. *)
Definition laplace_threshold (epsilon : Q) (v : Z) (y : nat) : expr :=
  let other := Over (Exp (Number (- epsilon / 2))) (number 2) in
  if (v =? Z.of_nat y)%Z then Minus (number 1) other else other.

(** Output y is the number low + y. Proportional to exp (- rho |low + y - v|). *)
Definition exponential (rho : Q) (low : Z) (v : Z) (y : nat) : expr :=
  Exp (Number (- (rho * inject_Z (Z.abs (low + Z.of_nat y - v))))).

(** Output y is the number low + y, up to high. With a = e^-epsilon: a^|low + y - v| / (1 + a) for the lowest and the highest
    output, a^|low + y - v| (1 - a) / (1 + a) for those between. *)
Definition geometric (epsilon : Q) (low high : Z) (v : Z) (y : nat) : expr :=
  let output := (low + Z.of_nat y)%Z in
  let a := Exp (Number (- epsilon)) in
  let power := Exp (Number (- (epsilon * inject_Z (Z.abs (output - v))))) in
  if ((output =? low) || (output =? high))%Z%bool then Over power (Plus (number 1) a)
  else Over (Times power (Minus (number 1) a)) (Plus (number 1) a).
