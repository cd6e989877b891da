"""A second reader of models: written from docs/model-format.md and docs/certificate-format.md, by nobody who knows the package.

It enumerates the datasets of a small model, evaluates its channel with 200 digits, and looks for priors (and mechanisms) by the
definition alone. What it finds may contradict a proved interval; it never proves one. Nothing of `dalenius` or `dalenius_check` is
imported here, and nothing here is clever: wherever the pages give a shortcut, this takes the long way.

* `exact`: numbers as a file writes them
* `queries`, `mechanisms`, `model`: datasets, what is told of them, channels
* `laws`: the sets of laws that adversaries may hold, and how to climb in them
* `leakage`: information by definition, and the search for the worst prior
* `certificates`: witnesses
* `designs`: distortion, constraints and other mechanisms
* `comparison`: whatever contradicts a certificate
"""
