(** The README's first example as a theorem: four bits, their parity, Laplace noise rounded to a bit, and every adversary who has at
    least one nat of entropy. `dalenius export` writes files like this one. *)
From Coq Require Import ZArith QArith List.
From Dalenius Require Import Definitions RowChecker Checker Certificates Witnesses Additive.
Import ListNotations.

Definition the_model : model := Model [2; 2; 2; 2]%nat parity 2 (laplace_threshold 1).

Theorem claim : leakage_between the_model (EntropyAtLeast (Nats 1)) (79541505 # 1000000000) (79541506 # 1000000000).
Proof.
  apply (certificate_correct the_model [0; 1]%Z (sum_tables (sums_of_parity [2; 2; 2; 2]%nat) [0; 1]%Z [0]%nat) _ _ _
    (Witness 0 [[0; 1]; [1; 0]]%Z)
    [Section 0 (Joint (2 ^ 100) 0 [] [2 ^ 99; 2 ^ 99]%Z [])]).
  - apply (by_sums _ _ (parity_additive _ _ _)). reflexivity.
  - vm_compute. reflexivity.
Qed.
Print Assumptions claim.
