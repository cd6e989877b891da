"""The shelf of laws of the true data: one small file each; `LAWS` maps the model file's `kind` to the class.

A table of kind ``csv`` states no law but where to read one: `CsvLaw` turns it into `Iid` when a model is loaded.
"""

from dalenius.model.laws.base import Law
from dalenius.model.laws.csv import CsvLaw, law_from_csv
from dalenius.model.laws.iid import Iid
from dalenius.model.laws.uniform import Uniform

__all__ = ["LAWS", "CsvLaw", "Iid", "Law", "Uniform", "law_from_csv"]

LAWS: dict[str, type[Law]] = {law.kind: law for law in (Uniform, Iid)}
